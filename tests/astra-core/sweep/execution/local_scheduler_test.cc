#include "astra-core/sweep/execution/local_scheduler.h"

#include <signal.h>

#include <algorithm>

#include "tests/astra-core/sweep/execution/fake_programs.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::FakeSweep;
using ::astra::testing::ReadText;
using ::astra::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class LocalSchedulerTest : public ::testing::Test {
 protected:
  // Runs points 1 to `num_points`.
  absl::Status Run(uint32_t num_points, const SchedulerOptions& options) {
    points_.clear();
    points_.reserve(num_points);
    std::vector<const PreparedPoint*> pointers;
    for (uint32_t number = 1; number <= num_points; ++number) {
      points_.push_back(FakeSweep::Point(number));
      pointers.push_back(&points_.back());
    }
    const SweepEvents events{
        .on_record =
            [this](const PointRecord& record) {
              records_.push_back(record);
              return absl::OkStatus();
            },
        .on_running =
            [this](int64_t running) { most_ = std::max(most_, running); },
        .on_note = [](std::string_view) {},
    };
    return RunLocally(sweep_.Run(pointers), options, events);
  }

  std::vector<std::string> Reasons() const {
    std::vector<std::string> reasons;
    for (const PointRecord& record : records_) {
      reasons.push_back(record.key + ": " + record.reason);
    }
    return reasons;
  }

  FakeSweep sweep_;
  std::vector<PreparedPoint> points_;
  std::vector<PointRecord> records_;
  int64_t most_ = 0;  // Points that ran at once.
};

constexpr SchedulerOptions Jobs(int64_t jobs) {
  return {.local = {.jobs = jobs, .memory_bytes = int64_t{1} << 40}};
}

TEST_F(LocalSchedulerTest, RunsEachPointOnce) {
  EXPECT_EQ(Run(5, Jobs(2)), absl::OkStatus());
  EXPECT_THAT(Reasons(), UnorderedElementsAre(
                             "key1: ", "key2: ", "key3: ", "key4: ", "key5: "));
  EXPECT_EQ(most_, 2);
}

TEST_F(LocalSchedulerTest, StartsOnlyWhatFitsIntoMemory) {
  SchedulerOptions options = Jobs(8);
  options.local.memory_bytes = 3 * kFirstMemoryBytes + 1;
  sweep_.WriteScript("fake_run", "sleep 0.3; exit 7\n");
  EXPECT_EQ(Run(4, options), absl::OkStatus());
  EXPECT_EQ(most_, 3);
}

TEST_F(LocalSchedulerTest, RunsOneAtLeastHoweverLittleMemoryThereIs) {
  SchedulerOptions options = Jobs(2);
  options.local.memory_bytes = 1;
  EXPECT_EQ(Run(2, options), absl::OkStatus());
  EXPECT_EQ(records_.size(), 2);
  EXPECT_EQ(most_, 1);
}

// The first time, a point is killed while another runs; alone it gets through.
TEST_F(LocalSchedulerTest, RunsAloneWhatTheKernelKilledBesideOthers) {
  sweep_.WriteScript(
      "fake_run",
      "n=$2; while [ $# -gt 4 ]; do shift; done\n"
      "if [ $n = 1 ]; then sleep 0.5; fi\n"
      "if [ $n = 2 ] && [ ! -e tried ]; then\n"
      "  touch tried; kill -9 $$\n"
      "fi\n"
      "echo '{\"program\": \"fake\", \"result\": {}}' >\"$2/run.json\"\n");
  EXPECT_EQ(Run(2, Jobs(2)), absl::OkStatus());
  EXPECT_THAT(Reasons(), ElementsAre("key1: ", "key2: "));
}

TEST_F(LocalSchedulerTest, SaysWhichSignalKilledAPointThatRanAlone) {
  sweep_.WriteScript("fake_run", "kill -9 $$\n");
  EXPECT_EQ(Run(1, Jobs(1)), absl::OkStatus());
  EXPECT_THAT(Reasons(),
              ElementsAre("key1: fake_run was killed by signal 9 (Killed)"));
  EXPECT_EQ(records_[0].exit_code, 137);
}

TEST_F(LocalSchedulerTest, EndsWhatTakesTooLong) {
  SchedulerOptions options = Jobs(1);
  options.timeout = std::chrono::milliseconds(50);
  sweep_.WriteScript("fake_run", "exec sleep 60\n");
  EXPECT_EQ(Run(1, options), absl::OkStatus());
  EXPECT_THAT(Reasons(),
              ElementsAre("key1: took longer than --timeout 0.05 s"));
}

TEST_F(LocalSchedulerTest, KillsWhatRunsWhenItIsToldToStop) {
  sweep_.WriteScript("fake_run",
                     "echo $$ >pid; kill -TERM $PPID; exec sleep 60\n");
  EXPECT_THAT(Run(1, Jobs(1)),
              StatusIs(absl::StatusCode::kCancelled, "stopped by SIGTERM"));
  EXPECT_TRUE(records_.empty());
  const pid_t pid = std::stoi(ReadText(sweep_.PathOf("pid")));
  EXPECT_EQ(kill(pid, 0), -1);
}

}  // namespace
}  // namespace astra
