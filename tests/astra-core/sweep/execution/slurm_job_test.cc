#include "astra-core/sweep/execution/slurm_job.h"

#include <cstdlib>

#include "astra-core/sweep/execution/captured_command.h"
#include "tests/astra-core/sweep/execution/fake_programs.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::FakeSweep;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::astra::testing::WriteText;
using ::testing::ElementsAre;

// Of points 1 to `num_points`.
std::vector<std::vector<uint32_t>> Tasks(uint32_t num_points,
                                         int64_t points_per_task) {
  std::vector<PreparedPoint> points;
  for (uint32_t number = 1; number <= num_points; ++number) {
    points.push_back(FakeSweep::Point(number));
  }
  std::vector<const PreparedPoint*> pointers;
  pointers.reserve(points.size());
  for (const PreparedPoint& point : points) pointers.push_back(&point);
  return TasksOf(pointers, points_per_task);
}

TEST(TasksOfTest, HaveEquallyManyPointsButForTheLast) {
  EXPECT_THAT(Tasks(7, 3), ElementsAre(ElementsAre(1, 2, 3),
                                       ElementsAre(4, 5, 6), ElementsAre(7)));
  EXPECT_THAT(Tasks(4, 2), ElementsAre(ElementsAre(1, 2), ElementsAre(3, 4)));
  EXPECT_THAT(Tasks(2, 100), ElementsAre(ElementsAre(1, 2)));
}

TEST(TasksOfTest, AreAsManyAsSlurmTakesUnlessTold) {
  EXPECT_EQ(Tasks(999, 0).size(), 999);
  EXPECT_EQ(Tasks(1000, 0).size(), 1000);
  EXPECT_EQ(Tasks(1001, 0).size(), 501);  // Of two.
  EXPECT_EQ(Tasks(1001, 0).back().size(), 1);
  EXPECT_EQ(Tasks(1001, 1).size(), 1001);
}

TEST(PointListTest, JoinsConsecutiveNumbers) {
  EXPECT_EQ(PointList({7}), "7");
  EXPECT_EQ(PointList({3, 5, 6, 7, 8, 9}), "3,5-9");
  EXPECT_EQ(PointList({1, 2, 4, 5, 7}), "1-2,4-5,7");
}

constexpr std::string_view kScript = R"(#!/bin/bash
#SBATCH --array=1-20%4
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1

set -euo pipefail

echo "task $SLURM_ARRAY_TASK_ID of job $SLURM_ARRAY_JOB_ID," \
  "restart ${SLURM_RESTART_COUNT:-0}, on ${SLURMD_NODENAME:-$HOSTNAME}"
folder='/a b/slurm/1'
points=$(sed -n "${SLURM_ARRAY_TASK_ID}p" "$folder/tasks")

# In place of this shell, so that Slurm's signals reach it.
exec /bin/simai_sweep run "$folder/sweep.yaml" --point "$points" \
  '--name=my sweep' \
  --relative-to '/it'\''s' \
  --output '/a b' \
  --programs /bin \
  --keep 1024B --timeout 1500ms --jobs 1 --quiet
)";

TEST(JobScriptTest, QuotesWhatNeedsIt) {
  const SweepFolder folder("/a b");
  const SweepRun run{.folder = folder,
                     .name = "my sweep",
                     .origin = "/it's",
                     .program_folder = "/bin",
                     .sweep_program = "/bin/simai_sweep",
                     .keep_bytes = 1024};
  SchedulerOptions options;
  options.slurm.throttle = 4;
  options.timeout = std::chrono::milliseconds(1500);
  EXPECT_EQ(JobScript(run, options, "/a b/slurm/1", 20), kScript);
}

TEST(JobScriptTest, SaysNothingOfWhatWasNotAskedFor) {
  const SweepFolder folder("/a");
  const SweepRun run{.folder = folder};
  const std::string script = JobScript(run, {}, "/a/slurm/1", 3);
  EXPECT_THAT(script, ::testing::HasSubstr("#SBATCH --array=1-3\n"));
  EXPECT_THAT(script, ::testing::HasSubstr("\n  --keep 0B --jobs 1 --quiet\n"));
}

TEST(JobScriptTest, RunsTheTasksOwnLineOfPoints) {
  const FakeSweep sweep;
  const std::string folder = sweep.PathOf("it's 'one");
  std::filesystem::create_directory(folder);
  WriteText(folder + "/tasks", "1-2\n3,5\n6\n");
  sweep.WriteScript("simai_sweep", "for word; do echo \"<$word>\"; done\n");
  SweepRun run = sweep.Run({});
  run.sweep_program = run.program_folder + "/simai_sweep";
  WriteText(folder + "/job.sh", JobScript(run, {}, folder, 3));
  const std::pair<const char*, const char*> variables[] = {
      {"SLURM_ARRAY_TASK_ID", "2"},
      {"SLURM_ARRAY_JOB_ID", "123"},
      {"SLURM_RESTART_COUNT", "1"},
      {"SLURMD_NODENAME", "node9"},
  };
  for (const auto& [name, value] : variables) setenv(name, value, 1);
  const CommandResult result =
      ValueOrDie(CapturedCommand::Start({"bash", folder + "/job.sh"}, ""))
          .Wait();
  for (const auto& [name, value] : variables) unsetenv(name);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(
      result.out,
      fmt::format(
          "task 2 of job 123, restart 1, on node9\n"
          "<run>\n<{}/sweep.yaml>\n<--point>\n<3,5>\n<--name=fake>\n"
          "<--relative-to>\n<{}>\n<--output>\n<{}>\n"
          "<--programs>\n<{}>\n<--keep>\n<{}B>\n<--jobs>\n<1>\n<--quiet>\n",
          folder, run.origin, run.folder.path(), run.program_folder,
          run.keep_bytes));
}

TEST(SubmitCommandTest, HasWhatTheUserNamed) {
  const SweepFolder folder("/50% of it");
  const SweepRun run{.folder = folder, .name = "my sweep"};
  SlurmOptions options;
  EXPECT_THAT(SubmitCommand(run, options, "/50% of it/slurm/1"),
              ElementsAre("sbatch", "--parsable", "--job-name=my sweep",
                          "--chdir=/50% of it/slurm/1",
                          "--output=/50%% of it/slurm/1/%a.log",
                          "/50% of it/slurm/1/job.sh"));
  options.partition = "big";
  options.account = "me";
  options.time = "01:00:00";
  options.memory = "4G";
  options.sbatch = " --qos=low  --exclude n1";
  std::vector<std::string> words = SubmitCommand(run, options, "/x");
  words.erase(words.begin(), words.begin() + 5);
  EXPECT_THAT(words, ElementsAre("--partition=big", "--account=me",
                                 "--time=01:00:00", "--mem=4G", "--qos=low",
                                 "--exclude", "n1", "/x/job.sh"));
}

TEST(SubmitTest, RefusesAFolderThatSlurmCannotTake) {
  const SweepFolder folder("/a\\b");
  const SweepRun run{.folder = folder};
  EXPECT_THAT(
      Submit(run, {}).status(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "/a\\b/slurm: Slurm takes no folder with a backslash in its "
               "name"));
}

TEST(ReadSubmissionsTest, AreThoseWithAJobByNumber) {
  const FakeSweep sweep;
  const std::string slurm = sweep.folder().path() + "/slurm";
  for (const char* number : {"1", "2", "10", "x"}) {
    std::filesystem::create_directories(slurm + "/" + number);
  }
  WriteText(slurm + "/10/job", "77;far\n");
  WriteText(slurm + "/2/job", "76\n");
  WriteText(slurm + "/2/keys", "a b\nc\n");
  WriteText(slurm + "/x/job", "78\n");
  const std::vector<SlurmSubmission> submissions =
      ReadSubmissions(sweep.folder());
  ASSERT_EQ(submissions.size(), 2);
  EXPECT_EQ(submissions[0].job.id, "76");
  EXPECT_EQ(submissions[1].job.id, "77");
  EXPECT_EQ(submissions[1].job.cluster, "far");
  EXPECT_EQ(LogFile(submissions[1], 3), slurm + "/10/3.log");
  EXPECT_THAT(ReadTaskKeys(submissions[0]),
              ElementsAre(ElementsAre("a", "b"), ElementsAre("c")));
  EXPECT_TRUE(ReadTaskKeys(submissions[1]).empty());
}

}  // namespace
}  // namespace astra
