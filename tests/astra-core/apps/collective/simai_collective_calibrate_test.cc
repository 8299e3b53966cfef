// simai_collective --calibrate as a user runs them.

#include "astra-core/apps/collective/simai_collective_calibrate.h"

#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/nccl_algorithm.h"
#include "collectives/systems/system_library.h"
#include "tests/astra-core/apps/collective/collective_program.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"
#include "tests/testing/programs.h"

namespace astra {
namespace {

using ::astra::testing::ProgramResult;
using ::astra::testing::ValueOrDie;
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

  // Writes the folder `run` of a physical run of 4 ranks.
  void WritePhysicalRun(std::string_view collectives, int per_server = 1) {
    std::filesystem::create_directory(folder_.PathOf("run"));
    WriteText(folder_.PathOf("run/run.json"),
              fmt::format(R"({{"program": "simai_physical", "topology": )"
                          R"({{"gpus": 4, "gpus_per_server": {}}}}})",
                          per_server));
    WriteText(folder_.PathOf("run/collectives.csv"),
              fmt::format("collective,ranks,algorithm,protocol,bytes,time_us\n"
                          "{}",
                          collectives));
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
      Run("--calibrate t.csv --system dgx-h100 --out d");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("fitted to 8 measurements\n"));
  EXPECT_THAT(result.out, HasSubstr("interconnect launch_us"));
  EXPECT_THAT(
      result.error,
      HasSubstr("warning: t.csv: 1 of 9 rows are left out, which cannot "
                "be used or were not measured on the links of "
                "dgx-h100\n"));
  ExpectRefused("--calibrate t.csv --system dgx-b200",
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
            "system is like; measure at least 2 sizes\n");
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

// Of 4 hosts of a rank each, whose NIC has 12.5 GB/s. A message takes NCCL's 14
// us and twice the latency of the transport. A ring has 6 messages one after
// the other and 2 * 3 / 4 of the bytes on each link; an all-to-all sends all
// its 3 messages at once, in 1 us each, with 3 / 4 of the bytes.
TEST_F(SimaiCalibrateTest, PhysicalRunsGiveBackTheirConstants) {
  constexpr double kLatencyUs = 40;
  constexpr double kRingBytesPerUs = 0.4 * 12500;
  constexpr double kDirectBytesPerUs = 0.3 * 12500;
  const double message_us = 14 + 2 * kLatencyUs;
  std::string rows =
      "all-reduce,2,ring,-,1024,1\n"
      "all-reduce,4,halving_doubling,-,1024,1\n"
      "all-gather,4,ring,-,0,1\n";
  for (int64_t bytes = 1024; bytes <= 256 * kMiB; bytes *= 4) {
    const auto size = static_cast<double>(bytes);
    const double ring_us = 8.4 + 6 * message_us + 1.5 * size / kRingBytesPerUs;
    const double direct_us =
        8.4 + message_us + 3 + 0.75 * size / kDirectBytesPerUs;
    // The median of the three counts.
    for (const double factor : {1.0, 0.5, 30.0}) {
      rows += fmt::format("all-reduce,4,ring,-,{},{:.6f}\n", bytes,
                          factor * ring_us);
    }
    rows += fmt::format("all-to-all,4,direct,-,{},{:.6f}\n", bytes, direct_us);
  }
  WritePhysicalRun(rows);
  const ProgramResult result = Run("--calibrate run/ --system h100-ethernet");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.error,
            "simai_collective: warning: run/: 3 of 43 collectives are left "
            "out: those of all 4 ranks count, by NCCL's algorithms or straight "
            "from rank to rank\n");
  EXPECT_THAT(result.out,
              EndsWith("results    results/run_fit: h100-ethernet.yaml\n"
                       "finished   run_fit: 20 rows\n"));
  const Transport fitted =
      ValueOrDie(
          LoadSystem(folder_.PathOf("results/run_fit/h100-ethernet.yaml")))
          .transport;
  EXPECT_NEAR(fitted.latency_us / kLatencyUs, 1, 0.02);
  EXPECT_NEAR(fitted.paces.of(NcclAlgorithm::kRing).efficiency / 0.4, 1, 0.02);
  EXPECT_NEAR(fitted.paces.direct.efficiency / 0.3, 1, 0.02);
}

TEST_F(SimaiCalibrateTest, RefusesPhysicalRunsThatTellNothingOfTheNetwork) {
  const std::string run = "--calibrate run --system h100-ethernet";
  WritePhysicalRun("all-reduce,4,ring,-,1024,9\n", 8);
  ExpectRefused(run,
                "run: its topology has all 4 GPUs on one server: expected "
                "several, since what is fitted is the network between them");
  WritePhysicalRun("all-reduce,2,ring,-,1024,9\n");
  ExpectRefused(run,
                "run: none of its 1 collectives can be used: those of all 4 "
                "ranks count, by NCCL's algorithms or straight from rank to "
                "rank");
}

TEST_F(SimaiCalibrateTest, RefusesWhatTheSourceSaysItself) {
  WritePhysicalRun("all-reduce,4,ring,-,1024,9\n");
  ExpectRefused("--calibrate run --system h100-ethernet --servers 4",
                "--servers has no effect: run: a folder of simai_physical says "
                "what ran");
  WriteText(folder_.PathOf("t.csv"),
            "gpu,nodes,gpus_total,nic_gbps,collective,bytes,time_us\n");
  ExpectRefused("--calibrate t.csv --system dgx-h100 --nccl NCCL_ALGO=Ring",
                "--nccl has no effect: t.csv: the rows of a table say what "
                "they ran on");
  WriteText(folder_.PathOf("i.json"), "{}\n");
  ExpectRefused("--calibrate i.json --system dgx-h100 --launch graph",
                "--launch has no effect: i.json: lines of NCCL's inspector say "
                "it");
}

// The rank that came earlier waited for the other one. Times of kernels hold no
// launch.
TEST_F(SimaiCalibrateTest, TakesTheShortestTimeOfACallOfTheInspector) {
  constexpr double kSlower = 1.25;
  const std::string sweep = "--system dgx-h100 -b 1M -e 4G --launch queued ";
  std::string lines;
  int serial = 0;
  for (const LogRow& row : Predict(sweep)) {
    ++serial;
    for (const int rank : {0, 1}) {
      lines += fmt::format(
          R"({{"header":{{"id":"0x1","rank":{},"n_ranks":8,"nnodes":1}},)"
          R"("coll_perf":{{"coll":"AllReduce","coll_sn":{},)"
          R"("coll_msg_size_bytes":{},"coll_exec_time_us":{:.0f},)"
          R"("coll_timing_source":"kernel_gpu"}}}})"
          "\n",
          rank, serial, row.bytes, (rank + 1) * kSlower * row.time_us);
    }
  }
  WriteText(folder_.PathOf("i.json"), lines);
  EXPECT_EQ(Run("--calibrate i.json --system dgx-h100 --out d").exit_code, 0);
  const std::string one = " -b 1G -e 1G --launch queued";
  EXPECT_NEAR(TimeOf("--system d/dgx-h100.yaml" + one) /
                  TimeOf("--system dgx-h100" + one),
              kSlower, 0.05);
}

}  // namespace
}  // namespace astra
