#include "astra-core/sweep/execution/slurm_scheduler.h"

#include <cstdlib>

#include "tests/astra-core/sweep/execution/fake_programs.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::FakeSweep;
using ::astra::testing::ReadText;
using ::astra::testing::StatusIs;
using ::astra::testing::WriteText;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr std::chrono::milliseconds kNever = std::chrono::minutes(10);

// sbatch and squeue are scripts, which run in the folder slurm_ beside that of
// the sweep. `record KEY` in them is a point that ends.
class SlurmSchedulerTest : public ::testing::Test {
 protected:
  SlurmSchedulerTest() : slurm_(sweep_.PathOf("slurm")) {
    std::filesystem::create_directory(slurm_);
    setenv("PATH", (slurm_ + ":" + path_).c_str(), 1);
    for (int number = 1; number <= 9; ++number) {
      const PointRecord record = {.key = "key" + std::to_string(number),
                                  .finished = true};
      WriteText(slurm_ + "/" + record.key, FormatPointRecord(record));
    }
    WriteScript("sbatch", "echo 123");
    WriteScript("squeue", "");
  }

  ~SlurmSchedulerTest() override { setenv("PATH", path_.c_str(), 1); }

  void WriteScript(std::string_view name, std::string_view body) const {
    const std::string path = fmt::format("{}/{}", slurm_, name);
    WriteText(path, fmt::format("#!/bin/sh\nset -e\ncd '{}'\n"
                                "record() {{\n"
                                "  to='{}'/points/$1; mkdir -p \"$to\"\n"
                                "  cp $1 \"$to/new\"; mv \"$to/new\" "
                                "\"$to/record.json\"\n"
                                "}}\n"
                                "echo \"$*\" >>{}.calls\n{}\n",
                                slurm_, folder(), name, body));
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  // Runs points 1 to `num_points`, two in each task.
  absl::Status Run(uint32_t num_points) {
    points_.clear();
    points_.reserve(num_points);
    std::vector<const PreparedPoint*> pointers;
    for (uint32_t number = 1; number <= num_points; ++number) {
      points_.push_back(FakeSweep::Point(number, number == 1));
      pointers.push_back(&points_.back());
    }
    notes_.clear();
    records_.clear();
    const SweepEvents events{
        .on_record =
            [this](const PointRecord& record) {
              records_.push_back(record);
              return absl::OkStatus();
            },
        .on_running = [this](int64_t n) { most_ = std::max(most_, n); },
        .on_note = [this](std::string_view note) { notes_.emplace_back(note); },
    };
    return RunOnSlurmTimed(sweep_.Run(pointers), options_, events, timing_);
  }

  std::string folder() const { return sweep_.folder().path(); }

  // How many times squeue was called.
  size_t NumCalls(std::string_view program) const {
    const std::string calls =
        ReadText(fmt::format("{}/{}.calls", slurm_, program));
    return static_cast<size_t>(std::count(calls.begin(), calls.end(), '\n'));
  }

  std::vector<std::string> Results() const {
    std::vector<std::string> results;
    for (const PointRecord& record : records_) {
      results.push_back(record.key + ": " +
                        (record.finished ? "finished" : record.reason));
    }
    return results;
  }

  FakeSweep sweep_;
  std::string slurm_;
  std::string path_ = getenv("PATH");
  SchedulerOptions options_ = {.slurm = {.points_per_task = 2}};
  SlurmTiming timing_ = {.poll = std::chrono::milliseconds(5),
                         .first_query = std::chrono::milliseconds(5),
                         .last_query = std::chrono::milliseconds(5),
                         .lag = kNever,
                         .patience = kNever};
  std::vector<PreparedPoint> points_;
  std::vector<std::string> notes_;
  std::vector<PointRecord> records_;
  int64_t most_ = 0;
};

TEST_F(SlurmSchedulerTest, SubmitsOneArrayAndPassesOnWhatItsTasksRecord) {
  WriteScript("sbatch", "record key2; echo 123");
  WriteScript("squeue",
              "if [ ! -e second ]; then\n"
              "  echo '123_1|RUNNING|None'; echo '123_2|RUNNING|None'\n"
              "  touch second\n"
              "else\n"
              "  record key3; record key1\n"
              "fi");
  EXPECT_EQ(Run(3), absl::OkStatus());
  EXPECT_THAT(Results(),
              UnorderedElementsAre("key1: finished", "key2: finished",
                                   "key3: finished"));
  EXPECT_EQ(most_, 2);
  const std::string mine = folder() + "/slurm/1";
  EXPECT_THAT(notes_,
              ElementsAre("submitted  job 123: 2 tasks of up to 2 points, logs "
                          "in " +
                          mine));
  EXPECT_EQ(ReadText(mine + "/tasks"), "1-2\n3\n");
  EXPECT_EQ(ReadText(mine + "/keys"), "key1 key2\nkey3\n");
  EXPECT_EQ(ReadText(mine + "/sweep.yaml"), "simai_sweep: 1\n");
  EXPECT_EQ(ReadText(mine + "/job"), "123\n");
  EXPECT_THAT(ReadText(mine + "/job.sh"),
              ::testing::HasSubstr("--array=1-2\n"));
  EXPECT_EQ(NumCalls("sbatch"), 1);
}

TEST_F(SlurmSchedulerTest, APointFailsWhoseTaskEndedWithoutIt) {
  timing_.lag = std::chrono::milliseconds(20);
  WriteScript("sbatch",
              "record key1; cd '" + folder() +
                  "'/slurm/1; printf 'task 1 of\\nslurmstepd: error: *** "
                  "CANCELLED\\t***\\n\\n' >1.log; echo 'task 2 of' >2.log\n"
                  "echo 123");
  EXPECT_EQ(Run(3), absl::OkStatus());
  const std::string log = folder() + "/slurm/1";
  EXPECT_THAT(
      Results(),
      ElementsAre("key1: finished",
                  "key2: task 1 of Slurm job 123 ended without a result: see " +
                      log + "/1.log: slurmstepd: error: *** CANCELLED ***",
                  "key3: task 2 of Slurm job 123 ended without a result: see " +
                      log + "/2.log"));
  EXPECT_EQ(records_[1].exit_code, 1);
  EXPECT_THAT(records_[1].commands,
              ElementsAre("fake_run --x 2 --output '" + folder() +
                          "/points/key2' --result fake"));
  EXPECT_EQ(records_[1].version, "0.0");
  EXPECT_FALSE(std::filesystem::exists(folder() + "/points/key2"));
}

TEST_F(SlurmSchedulerTest, ATaskThatSlurmForgotIsOver) {
  timing_.lag = std::chrono::milliseconds(20);
  WriteScript("squeue",
              "echo 'slurm_load_jobs error: Invalid job id specified' >&2\n"
              "exit 1");
  EXPECT_EQ(Run(1), absl::OkStatus());
  EXPECT_EQ(records_.size(), 1);
}

// The first answer has no task, and the record comes with the third.
TEST_F(SlurmSchedulerTest, WaitsForARecordThatShowsUpLate) {
  WriteScript("squeue",
              "if [ $(wc -l <squeue.calls) = 3 ]; then record key1; fi");
  EXPECT_EQ(Run(1), absl::OkStatus());
  EXPECT_THAT(Results(), ElementsAre("key1: finished"));
}

// It is gone for one answer only, and its record comes after the lag.
TEST_F(SlurmSchedulerTest, ATaskThatIsBackInTheQueueIsNotLost) {
  timing_.lag = std::chrono::milliseconds(300);
  WriteScript("squeue",
              "n=$(wc -l <squeue.calls)\n"
              "if [ $n = 3 ]; then (sleep 0.4; record key1) & fi\n"
              "if [ $n != 2 ]; then echo '123_1|PENDING|BeginTime'; fi");
  EXPECT_EQ(Run(1), absl::OkStatus());
  EXPECT_THAT(Results(), ElementsAre("key1: finished"));
}

TEST_F(SlurmSchedulerTest, SaysOnceWhatKeepsATaskFromRunning) {
  WriteScript("squeue",
              "echo '123_1|PENDING|Resources'; echo '123_2|PENDING|JobHeldUser'"
              "; echo '123_3|PENDING|JobHeldUser'\n"
              "if [ $(wc -l <squeue.calls) = 3 ]; then record key1; fi");
  EXPECT_EQ(Run(1), absl::OkStatus());
  ASSERT_EQ(notes_.size(), 2);
  EXPECT_EQ(notes_[1], "waits      task 2 of job 123: Slurm says JobHeldUser");
}

TEST_F(SlurmSchedulerTest, BearsWithAQueueThatDoesNotAnswerForAWhile) {
  WriteScript("squeue",
              "echo 'slurm_load_jobs error: Unable to contact' >&2\n"
              "if [ $(wc -l <squeue.calls) = 3 ]; then record key1; fi\n"
              "exit 1");
  EXPECT_EQ(Run(1), absl::OkStatus());
  ASSERT_EQ(notes_.size(), 2);
  EXPECT_EQ(notes_[1],
            "no answer  squeue: slurm_load_jobs error: Unable to contact; "
            "asking again");
}

TEST_F(SlurmSchedulerTest, GivesUpOnAQueueThatDoesNotAnswer) {
  timing_.patience = std::chrono::milliseconds(60);
  WriteScript("squeue",
              "echo 'slurm_load_jobs error: Unable to contact' >&2; exit 1");
  EXPECT_THAT(
      Run(1),
      StatusIs(absl::StatusCode::kAborted,
               "Slurm's queue has not answered for 0 s (squeue: "
               "slurm_load_jobs error: Unable to contact); job 123 may go on: "
               "simai_sweep resume --scheduler slurm waits for it again"));
  EXPECT_THAT(records_, IsEmpty());
}

TEST_F(SlurmSchedulerTest, StopsWaitingWhenItIsToldTo) {
  WriteScript("squeue", "echo '123_1|RUNNING|None'; kill -TERM $PPID");
  EXPECT_THAT(Run(1),
              StatusIs(absl::StatusCode::kCancelled, "stopped by SIGTERM"));
  EXPECT_EQ(notes_.back(),
            fmt::format("goes on    job 123: simai_sweep resume '{}' "
                        "--scheduler slurm waits for it, scancel 123 ends it",
                        folder()));
}

TEST_F(SlurmSchedulerTest, LeavesTheTasksAloneWhereItIsNotToWait) {
  options_.slurm.wait = false;
  EXPECT_EQ(Run(4), absl::OkStatus());
  EXPECT_THAT(notes_,
              ElementsAre("submitted  job 123: 2 tasks of 2 points, logs in " +
                              folder() + "/slurm/1",
                          "to collect simai_sweep status '" + folder() + "'",
                          "to wait    simai_sweep resume '" + folder() +
                              "' --scheduler slurm"));
  EXPECT_FALSE(std::filesystem::exists(slurm_ + "/squeue.calls"));
}

TEST_F(SlurmSchedulerTest, SubmitsNothingThatAnEarlierArrayStillHolds) {
  options_.slurm.wait = false;
  EXPECT_EQ(Run(5), absl::OkStatus());
  options_.slurm.wait = true;
  WriteScript("sbatch", "echo 124");
  // Of the first array, the middle task is left.
  WriteScript("squeue",
              "if [ $(wc -l <squeue.calls) -le 2 ]; then\n"
              "  echo '123_2|RUNNING|None'\n"
              "else\n"
              "  for n in 1 2 3 4 5; do record key$n; done\n"
              "fi");
  EXPECT_EQ(Run(5), absl::OkStatus());
  EXPECT_EQ(records_.size(), 5);
  EXPECT_THAT(
      notes_,
      ElementsAre("queued     2 points in job 123 already, logs in " +
                      folder() + "/slurm/1",
                  "submitted  job 124: 2 tasks of up to 2 points, logs in " +
                      folder() + "/slurm/2"));
  EXPECT_EQ(ReadText(folder() + "/slurm/2/tasks"), "1-2\n5\n");
  EXPECT_EQ(ReadText(folder() + "/slurm/2/keys"), "key1 key2\nkey5\n");
}

TEST_F(SlurmSchedulerTest, SubmitsWhatAnEarlierArrayLeft) {
  timing_.lag = std::chrono::milliseconds(20);
  options_.slurm.wait = false;
  EXPECT_EQ(Run(2), absl::OkStatus());
  options_.slurm.wait = true;
  WriteScript("sbatch", "echo 124");
  WriteScript("squeue",
              "if [ $(wc -l <squeue.calls) = 1 ]; then\n"
              "  echo '123_1|RUNNING|None'\n"
              "fi");
  WriteScript("sbatch", "record key2; echo 124");
  EXPECT_EQ(Run(2), absl::OkStatus());
  EXPECT_THAT(
      Results(),
      ElementsAre("key2: finished",
                  "key1: task 1 of Slurm job 124 ended without a result; there "
                  "is no " +
                      folder() + "/slurm/2/1.log"));
  EXPECT_THAT(
      notes_,
      ElementsAre("queued     2 points in job 123 already, logs in " +
                      folder() + "/slurm/1",
                  "left over  2 points of the earlier array: its tasks are "
                  "gone",
                  "submitted  job 124: 1 task of 2 points, logs in " +
                      folder() + "/slurm/2"));
  EXPECT_EQ(ReadText(folder() + "/slurm/2/tasks"), "1-2\n");
  EXPECT_EQ(NumCalls("sbatch"), 2);
}

TEST_F(SlurmSchedulerTest, LeavesNothingWhereSlurmRefuses) {
  WriteScript("sbatch",
              "echo 'sbatch: error: invalid partition specified: x' >&2\n"
              "exit 1");
  EXPECT_THAT(Run(1),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "sbatch: error: invalid partition specified: x"));
  EXPECT_TRUE(std::filesystem::is_empty(folder() + "/slurm"));
}

TEST_F(SlurmSchedulerTest, PassesOnAWarning) {
  WriteScript("sbatch", "record key1; echo 'sbatch: be kind' >&2; echo 123");
  EXPECT_EQ(Run(1), absl::OkStatus());
  EXPECT_EQ(notes_.back(), "warning    sbatch: be kind");
}

TEST_F(SlurmSchedulerTest, SaysThatSlurmIsMissing) {
  std::filesystem::remove(slurm_ + "/sbatch");
  setenv("PATH", slurm_.c_str(), 1);
  EXPECT_THAT(Run(1),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "sbatch: cannot be run: No such file or directory"));
}

}  // namespace
}  // namespace astra
