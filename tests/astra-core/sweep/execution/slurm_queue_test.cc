#include "astra-core/sweep/execution/slurm_queue.h"

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Texts(const std::vector<SlurmTask>& tasks) {
  std::vector<std::string> texts;
  texts.reserve(tasks.size());
  for (const SlurmTask& task : tasks) {
    texts.push_back(fmt::format("{} {} {} <{}>", task.job, task.index,
                                task.state, task.reason));
  }
  return texts;
}

TEST(SlurmJobTest, IsANumberAndMaybeACluster) {
  const SlurmJob one = ValueOrDie(ParseSlurmJob("123\n"));
  EXPECT_EQ(one.id, "123");
  EXPECT_EQ(one.cluster, "");
  const SlurmJob other = ValueOrDie(ParseSlurmJob("123;far\n"));
  EXPECT_EQ(other.id, "123");
  EXPECT_EQ(other.cluster, "far");
  EXPECT_THAT(
      ParseSlurmJob("Hello\n123\n"),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               R"(sbatch printed "Hello\x0a123\x0a": expected the number of )"
               "a job"));
  EXPECT_FALSE(ParseSlurmJob("").ok());
}

TEST(QueueCommandTest, AsksForAllJobsInOne) {
  EXPECT_THAT(QueueCommand({{"12", ""}, {"9", ""}}),
              ElementsAre("squeue", "--noheader", "--array", "--jobs=12,9",
                          "--format=%i|%T|%r"));
  EXPECT_EQ(QueueCommand({{"12", "near"}, {"9", "far"}, {"8", "far"}}).back(),
            "--clusters=far,near");
}

TEST(SlurmTasksTest, AreReadWithWhateverReason) {
  EXPECT_THAT(
      Texts(ValueOrDie(ParseSlurmTasks(
          {.exit_code = 0,
           .out = "5_2|PENDING|ReqNodeNotAvail, UnavailableNodes:node2\n"
                  "5_10|RUNNING|None\n",
           .error = ""}))),
      ElementsAre("5 2 PENDING <ReqNodeNotAvail, UnavailableNodes:node2>",
                  "5 10 RUNNING <None>"));
}

TEST(SlurmTasksTest, AreNoneWhereTheJobIsOverOrForgotten) {
  EXPECT_THAT(ValueOrDie(ParseSlurmTasks({})), IsEmpty());
  EXPECT_THAT(ValueOrDie(ParseSlurmTasks(
                  {.exit_code = 1,
                   .out = "",
                   .error = "slurm_load_jobs error: Invalid job id "
                            "specified\n"})),
              IsEmpty());
}

TEST(SlurmTasksTest, AreNotKnownWhereSqueueFailsOrSaysSomethingElse) {
  EXPECT_THAT(
      ParseSlurmTasks({.exit_code = 1,
                       .out = "5_1|RUNNING|None\n",
                       .error = "slurm_load_jobs error: Unable to contact "
                                "slurm controller (connect failure)\n"}),
      StatusIs(absl::StatusCode::kUnavailable,
               "squeue: slurm_load_jobs error: Unable to contact slurm "
               "controller (connect failure)"));
  for (const char* line :
       {"5_[1-3]|PENDING|Priority", "5|PENDING|Priority", "5_1|PENDING", "|",
        "_1|PENDING|Priority", "5_99999999999|PENDING|Priority"}) {
    EXPECT_THAT(ParseSlurmTasks({.exit_code = 0, .out = line, .error = ""}),
                StatusIs(absl::StatusCode::kUnavailable,
                         fmt::format("squeue printed \"{}\": expected a task "
                                     "such as 123_4|PENDING|Resources",
                                     line)));
  }
}

TEST(UsualReasonTest, IsOneThatPasses) {
  EXPECT_TRUE(IsUsualReason("None"));
  EXPECT_TRUE(IsUsualReason("JobArrayTaskLimit"));
  EXPECT_FALSE(IsUsualReason("JobHeldUser"));
  EXPECT_FALSE(IsUsualReason("PartitionNodeLimit"));
}

TEST(WhatItSaysTest, IsOneLineThatNamesTheProgram) {
  EXPECT_EQ(WhatItSays("sbatch", {.exit_code = 1,
                                  .out = "",
                                  .error = "sbatch: error: a\n\nsbatch: "
                                           "error:\tb\n"}),
            "sbatch: error: a; sbatch: error: b");
  EXPECT_EQ(WhatItSays("squeue", {.exit_code = 1, .out = "", .error = "a"}),
            "squeue: a");
  EXPECT_EQ(WhatItSays("squeue", {.exit_code = 127, .out = "", .error = "\n"}),
            "squeue: exit code 127");
}

}  // namespace
}  // namespace astra
