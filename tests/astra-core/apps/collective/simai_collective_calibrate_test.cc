// simai_collective --calibrate and --calibrate-table as a user runs them.

#include "astra-core/apps/collective/simai_collective_calibrate.h"

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/astra-core/apps/collective/collective_program.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"
#include "tests/testing/programs.h"

namespace astra {
namespace {

using ::astra::testing::ProgramResult;
using ::astra::testing::WriteText;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr int64_t kMiB = 1 << 20;

struct LogRow {
  int64_t bytes;
  double time_us;
};

// Returns a log of nccl-tests that lists no ranks.
std::string LogOf(const std::vector<LogRow>& rows) {
  std::string log;
  for (const LogRow& row : rows) {
    log += fmt::format("{} {} float sum -1 {} 1 1 0 {} 1 1 0\n", row.bytes,
                       row.bytes / 4, row.time_us, row.time_us);
  }
  return log;
}

class SimaiCalibrateTest : public CollectiveProgramTest {
 protected:
  // Returns what `arguments` predict, by size.
  std::vector<LogRow> Predict(const std::string& arguments) {
    Print(arguments + " --out sweep");
    std::istringstream csv(Read("sweep/collective.csv"));
    std::string line;
    std::getline(csv, line);
    std::vector<LogRow> rows;
    while (std::getline(csv, line)) {
      std::vector<std::string> cells;
      std::istringstream row(line);
      while (std::getline(row, line, ',')) cells.push_back(line);
      rows.push_back({std::stoll(cells.at(0)), std::stod(cells.at(5))});
    }
    return rows;
  }

  double TimeOf(const std::string& arguments) {
    return Predict(arguments).at(0).time_us;
  }

  // Writes `a.log` with what dgx-h100 predicts for collectives `op` of 8 GPUs,
  // `factor` times as long.
  void WriteSlowerLog(const std::string& op, double factor) {
    std::vector<LogRow> rows =
        Predict("--system dgx-h100 -b 64K -e 4G --op " + op);
    for (LogRow& row : rows) row.time_us *= factor;
    WriteText(folder_.PathOf("a.log"), LogOf(rows));
  }
};

TEST_F(SimaiCalibrateTest, WritesSystemsThatItThenReads) {
  WriteSlowerLog("all_reduce", 1.1);
  EXPECT_EQ(Run("--calibrate a.log --system dgx-h100 --gpus 8 --op all_reduce "
                "--out d")
                .exit_code,
            0);
  EXPECT_THAT(folder_.Names(), ElementsAre("a.log", "d", "sweep"));
  EXPECT_THAT(Print("--system d/dgx-h100.yaml -b 1M -e 1M"),
              EndsWith("finished   all_reduce: 1 row\n"));
}

// Both take a quarter longer than before the fit, as the log does.
TEST_F(SimaiCalibrateTest, ClosedFormAndMessagesTakeTheFittedConstants) {
  for (const std::string op : {"all_reduce", "alltoall"}) {
    SCOPED_TRACE(op);
    WriteSlowerLog(op, 1.25);
    EXPECT_EQ(
        Run("--calibrate a.log --system dgx-h100 --gpus 8 --out d --op " + op)
            .exit_code,
        0);
    for (const std::string size : {"16M", "1G"}) {
      SCOPED_TRACE(size);
      const std::string sweep =
          fmt::format(" --op {} -b {} -e {} ", op, size, size);
      const double measured = 1.25 * TimeOf("--system dgx-h100" + sweep);
      const std::string mine = "--system d/dgx-h100.yaml" + sweep;
      const double closed_form = TimeOf(mine);
      EXPECT_NEAR(closed_form / measured, 1, 0.05);
      EXPECT_NEAR(TimeOf(mine + "--fidelity analytical") / closed_form, 1,
                  0.03);
      EXPECT_NEAR(TimeOf(mine + "--fidelity flow") / closed_form, 1, 0.03);
    }
  }
}

TEST_F(SimaiCalibrateTest, SaysHowFarRowsLeftOutOfTheFitAreOff) {
  WriteSlowerLog("all_reduce", 1.1);
  const ProgramResult result =
      Run("--calibrate a.log --system dgx-h100 --gpus 8 --op all_reduce --out "
          "d");
  EXPECT_THAT(
      result.out,
      ContainsRegex("error +before +after +left out\n"
                    "median +[0-9.]+ % +[0-9.]+ % +[0-9.]+ %\n"
                    "90th percentile +[0-9.]+ % +[0-9.]+ % +[0-9.]+ %\n"
                    "left out: errors on rows that the fit did not see, "
                    "which was repeated without them\n"));
  EXPECT_THAT(Read("d/dgx-h100.yaml"),
              ContainsRegex(
                  "origin: \"fitted to 17 measurements; error on them: median "
                  "[0-9.]+ %, 90th percentile [0-9.]+ %; on rows left out of "
                  "the fit: median [0-9.]+ %, 90th percentile [0-9.]+ %\"\n"));
}

TEST_F(SimaiCalibrateTest, TakesTheRowsOfATableThatAreOfTheSystem) {
  std::string table =
      "gpu,nodes,gpus_total,nic_gbps,collective,bytes,time_us\n"
      "A100-SXM4-80GB,1,8,none,all_reduce,8,900\n";
  for (const int kib : {1, 2, 3, 4, 5, 6, 7, 8}) {
    table += fmt::format("H100-SXM5-80GB,1,8,none,alltoall,{},13\n",
                         int64_t{1024} * kib);
  }
  WriteText(folder_.PathOf("t.csv"), table);
  const ProgramResult result =
      Run("--calibrate-table t.csv --system dgx-h100 --out d");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("fitted to 8 measurements\n"));
  EXPECT_THAT(result.out, HasSubstr("interconnect launch_us"));
  EXPECT_THAT(
      result.error,
      HasSubstr("warning: t.csv: 1 of 9 rows are left out, which cannot "
                "be used or were not measured on the links of "
                "dgx-h100\n"));
  ExpectRefused("--calibrate-table t.csv --system dgx-b200",
                "t.csv: none of its 9 rows was measured on the links of "
                "dgx-b200");
}

// One row, of 8 GiB, determines the one constant that it is fitted to by
// itself: the error is 0 whatever the system is.
TEST_F(SimaiCalibrateTest, WarnsOfAsManyConstantsAsRows) {
  WriteText(folder_.PathOf("a.log"), LogOf({{8192 * kMiB, 24730}}));
  const ProgramResult result =
      Run("--calibrate a.log --system dgx-h100 --gpus 2 --op all_reduce");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.error,
            "simai_collective: warning: 1 constant was fitted to 1 different "
            "measurement: the fit meets these rows, whatever the rest of the "
            "system is like; give a log of at least 2 sizes\n");
  EXPECT_THAT(result.out, ContainsRegex("median +[0-9.]+ % +0\\.0 % +-\n"));
  EXPECT_THAT(result.out, HasSubstr("left out: none, since there is only one "
                                    "measurement\n"));
}

// Efficiency, ramp_us and ramp_MiB of messages from rank to rank. A repeated
// size determines no more.
TEST_F(SimaiCalibrateTest, RefusesMoreConstantsThanMeasurements) {
  WriteText(
      folder_.PathOf("a.log"),
      LogOf({{256 * kMiB, 1300}, {2048 * kMiB, 7800}, {2048 * kMiB, 7800}}));
  ExpectRefused("--calibrate a.log --system dgx-h100 --gpus 8 --op alltoall",
                "a.log: 3 constants cannot be fitted to 2 different "
                "measurements: measure more sizes, at least 3");
}

TEST_F(SimaiCalibrateTest, WarnsOfSizesThatOccurMoreThanOnce) {
  std::vector<LogRow> rows;
  for (const int64_t kib : {1, 2, 3, 4, 5, 6, 7, 8}) {
    rows.push_back({1024 * kib, 25});
  }
  rows.push_back(rows[0]);
  rows.push_back(rows[0]);
  rows.push_back(rows[1]);
  WriteText(folder_.PathOf("a.log"), LogOf(rows));
  const std::string run =
      "--calibrate a.log --system dgx-h100 --gpus 8 --op all_reduce";
  EXPECT_EQ(Run(run).error,
            "simai_collective: warning: a.log: all_reduce of 1024 B on 8 GPUs "
            "occurs 3 times: all rows count\n"
            "simai_collective: warning: a.log: all_reduce of 2048 B on 8 GPUs "
            "occurs 2 times: both rows count\n");
  for (size_t i = 2; i < 6; ++i) rows.push_back(rows[i]);
  WriteText(folder_.PathOf("a.log"), LogOf(rows));
  EXPECT_THAT(Run(run).error,
              EndsWith("occurs 2 times: both rows count\n"
                       "simai_collective: warning: a.log: 6 sizes occur more "
                       "than once, of which 5 are named: all rows count\n"));
}

}  // namespace
}  // namespace astra
