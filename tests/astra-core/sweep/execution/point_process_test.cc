#include "astra-core/sweep/execution/point_process.h"

#include <stdlib.h>
#include <sys/wait.h>

#include <filesystem>
#include <string>

#include "astra-core/base/host_name.h"
#include "fmt/core.h"
#include "tests/astra-core/sweep/execution/fake_programs.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::FakeSweep;
using ::astra::testing::ReadText;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PointProcessTest : public ::testing::Test {
 protected:
  // Runs all steps of a point.
  PointRecord Run(const PreparedPoint& point) {
    const SweepRun run = sweep_.Run({});
    EXPECT_EQ(run.folder.Create(), absl::OkStatus());
    PointProcess process = PointProcess::Start(run, point).value();
    while (true) {
      int status = 0;
      rusage usage{};
      EXPECT_EQ(wait4(process.pid(), &status, 0, &usage), process.pid());
      auto record = process.Ended(status, usage).value();
      if (record) return *record;
    }
  }

  std::string Log(const PreparedPoint& point) const {
    return ReadText(sweep_.folder().PointFolder(point.key()) + "/log.txt");
  }

  FakeSweep sweep_;
};

TEST_F(PointProcessTest, GivesEachStepItsOutputsAndTheRunItsInputs) {
  const PreparedPoint point = FakeSweep::Point(3, true);
  const std::string& folder = sweep_.folder().path();
  EXPECT_THAT(StepCommand(sweep_.Run({}), point, 0),
              ElementsAre("fake_topo", "-g", "8", "--output",
                          folder + "/inputs/topo.topology"));
  EXPECT_THAT(StepCommand(sweep_.Run({}), point, 1),
              ElementsAre("fake_run", "--x", "3", "--topology",
                          folder + "/inputs/topo.topology", "--output",
                          folder + "/points/key3", "--result", "fake"));
}

TEST_F(PointProcessTest, RecordsMetricsCostsAndCommands) {
  const PointRecord record = Run(FakeSweep::Point(3));
  EXPECT_TRUE(record.finished);
  EXPECT_EQ(record.reason, "");
  ASSERT_EQ(record.metrics.size(), 1);
  EXPECT_EQ(record.metrics[0].name, "iteration_ms");
  EXPECT_EQ(record.metrics[0].value, 2);
  EXPECT_GT(record.cost.wall_s, 0);
  EXPECT_GT(record.cost.peak_memory_mib, 0);
  EXPECT_NE(record.cost.host, "");
  // The folder's name holds a blank.
  EXPECT_THAT(
      record.commands,
      ElementsAre("cd '" + sweep_.Run({}).origin + "'",
                  "fake_run --x 3 --output '" +
                      sweep_.folder().PointFolder("key3") + "' --result fake"));
  std::string fault;
  const auto read = ReadPointRecord(sweep_.folder(), "key3", &fault);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(FormatPointRecord(*read), FormatPointRecord(record));
}

TEST_F(PointProcessTest, HidesSimAIsVariablesFromItsPrograms) {
  setenv("AS_SEND_LAT", "3", 1);
  setenv("OF_A_TEST", "seen", 1);
  sweep_.WriteScript("fake_run",
                     "echo \"<$AS_SEND_LAT> $OF_A_TEST\"; exit 1\n");
  EXPECT_EQ(Run(FakeSweep::Point(1)).reason, "fake_run: <> seen");
  unsetenv("AS_SEND_LAT");
  unsetenv("OF_A_TEST");
}

TEST_F(PointProcessTest, MakesAnInputOnceForAllPoints) {
  EXPECT_TRUE(Run(FakeSweep::Point(1, true)).finished);
  EXPECT_TRUE(Run(FakeSweep::Point(2, true)).finished);
  EXPECT_EQ(ReadText(sweep_.PathOf("made_inputs")), "made\n");
}

TEST_F(PointProcessTest, GivesTheErrorOfTheStepThatFailed) {
  sweep_.WriteScript("fake_topo",
                     "echo fine; echo 'fake_topo: error: no GPUs' >&2\n"
                     "echo more; exit 2\n");
  const PreparedPoint point = FakeSweep::Point(1, true);
  const PointRecord record = Run(point);
  EXPECT_FALSE(record.finished);
  EXPECT_EQ(record.exit_code, 2);
  EXPECT_EQ(record.reason, "fake_topo: no GPUs");
  EXPECT_THAT(Log(point), HasSubstr("\nfine\nfake_topo: error: no GPUs\n"));
}

TEST_F(PointProcessTest, TellsAnIllegalLayoutFromOtherBadInput) {
  const std::string script =
      "echo 'fake_run: error: illegal layout: TP 3 does not divide 8' >&2\n";
  sweep_.WriteScript("fake_run", script + "exit 2\n");
  PointRecord record = Run(FakeSweep::Point(1));
  EXPECT_TRUE(record.illegal);
  EXPECT_FALSE(record.finished);
  EXPECT_EQ(record.exit_code, 2);
  EXPECT_EQ(record.reason, "TP 3 does not divide 8");

  sweep_.WriteScript("fake_run", script + "exit 1\n");
  EXPECT_FALSE(Run(FakeSweep::Point(1)).illegal);
  sweep_.WriteScript("fake_run",
                     "echo 'fake_run: error: a.yaml: illegal layout: x' >&2\n"
                     "exit 2\n");
  record = Run(FakeSweep::Point(1));
  EXPECT_FALSE(record.illegal);
  EXPECT_EQ(record.reason, "fake_run: a.yaml: illegal layout: x");
}

TEST_F(PointProcessTest, RemovesWhatAKilledRunLeft) {
  const std::string left =
      fmt::format("{}/run.json.{}.999999999.tmp",
                  sweep_.folder().PointFolder("key1"), HostName());
  std::filesystem::create_directories(sweep_.folder().PointFolder("key1"));
  testing::WriteText(left, "{");
  EXPECT_TRUE(Run(FakeSweep::Point(1)).finished);
  EXPECT_FALSE(std::filesystem::exists(left));
}

TEST_F(PointProcessTest, GivesTheLastLineWhereThereIsNoError) {
  sweep_.WriteScript("fake_run", "echo one; echo two; exit 3\n");
  EXPECT_EQ(Run(FakeSweep::Point(1)).reason, "fake_run: two");
  sweep_.WriteScript("fake_run", "exit 3\n");
  EXPECT_EQ(Run(FakeSweep::Point(1)).reason, "fake_run: exit code 3");
}

TEST_F(PointProcessTest, FailsWhereTheRunLeftNoResults) {
  sweep_.WriteScript("fake_run", "exit 0\n");
  const PointRecord record = Run(FakeSweep::Point(1));
  EXPECT_FALSE(record.finished);
  EXPECT_EQ(record.exit_code, 1);
  EXPECT_THAT(record.reason, HasSubstr("run.json"));
}

TEST_F(PointProcessTest, RemovesLargeResultFilesAndSaysSo) {
  sweep_.WriteScript(
      "fake_run",
      "while [ $# -gt 4 ]; do shift; done; cd \"$2\"\n"
      "echo '{\"program\": \"fake\", \"result\": {}}' >run.json\n"
      "truncate -s 1048576 kept.csv\n"
      "truncate -s 1048577 large.csv\n");
  const PreparedPoint point = FakeSweep::Point(1);
  EXPECT_TRUE(Run(point).finished);
  const std::string folder = sweep_.folder().PointFolder(point.key());
  EXPECT_TRUE(std::filesystem::exists(folder + "/kept.csv"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/large.csv"));
  EXPECT_THAT(Log(point), HasSubstr("\nremoved large.csv: 1048577 bytes, above "
                                    "--keep 1048576B\n"));
}

TEST_F(PointProcessTest, FailsWhereTheProgramIsMissing) {
  std::filesystem::remove(sweep_.PathOf("bin") + "/fake_run");
  EXPECT_EQ(Run(FakeSweep::Point(1)).reason,
            "fake_run: cannot be run: No such file or directory");
}

TEST_F(PointProcessTest, GivesItsProgramsNothingToRead) {
  sweep_.WriteScript("fake_run", "cat; echo over; exit 1\n");
  EXPECT_EQ(Run(FakeSweep::Point(1)).reason, "fake_run: over");
}

}  // namespace
}  // namespace astra
