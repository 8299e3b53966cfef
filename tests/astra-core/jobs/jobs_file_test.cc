// The file of --jobs, and rank files.

#include "astra-core/jobs/jobs_file.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;

std::string ErrorOf(const std::string& text) {
  return std::string(
      ParseJobs("j.yaml", "simai_jobs: 1\n" + text).status().message());
}

TEST(JobsFileTest, ReadsAllKeys) {
  const JobsFile file = ValueOrDie(ParseJobs("in/j.yaml", R"(
simai_jobs: 1
placement: random
alone: false
jobs:
  - {name: a, workload: a.yaml, servers: [0-2, 7], gpus_of_server: 0-3}
  - {name: b, workload: /b.txt, rank_file: b.ranks, start: 5ms, iterations: 3}
  - {name: c, workload: c.yaml}
)"));
  EXPECT_EQ(file.placement, PlacementPolicy::kRandom);
  EXPECT_FALSE(file.runs_alone);
  ASSERT_EQ(file.jobs.size(), 3u);
  EXPECT_EQ(file.jobs[0].place, "in/j.yaml:6:12");
  EXPECT_EQ(file.jobs[0].workload, "in/a.yaml");
  EXPECT_THAT(file.jobs[0].servers, ElementsAre(0, 1, 2, 7));
  EXPECT_THAT(file.jobs[0].gpus_of_server, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(file.jobs[1].workload, "/b.txt");
  EXPECT_EQ(file.jobs[1].rank_file, "in/b.ranks");
  EXPECT_EQ(file.jobs[1].start, Microseconds(5000));
  EXPECT_EQ(file.jobs[1].iterations, 3);
}

TEST(JobsFileTest, MistakesHaveAPlace) {
  EXPECT_EQ(ErrorOf("jobs: []\n"),
            "j.yaml:2:7: expected a list of 1 to 1000 jobs");
  EXPECT_EQ(
      ErrorOf("jobs: [{name: a, workload: w, server: 3}]\n"),
      "j.yaml:2:39: unknown field of a job \"server\"; did you mean "
      "\"servers\"? (known: checkpoint, data, gpus_of_server, iterations, "
      "name, rank_file, restore, servers, serving, start, workload)");
  EXPECT_EQ(ErrorOf("jobs: [{name: a, workload: w, servers: 3-1}]\n"),
            "j.yaml:2:40: expected numbers such as 8 or 0-3, not \"3-1\"");
  EXPECT_EQ(ErrorOf("jobs: [{name: a/b, workload: w}]\n"),
            "j.yaml:2:15: expected the name of a folder, not \"a/b\"");
  EXPECT_EQ(ErrorOf("jobs: [{name: a, workload: w}, {name: a, workload: w}]\n"),
            "j.yaml:2:39: two jobs are named a");
  EXPECT_EQ(
      ErrorOf("jobs: [{name: a, workload: w, servers: 1, rank_file: r}]\n"),
      "j.yaml:2:40: no effect beside rank_file");
  EXPECT_EQ(ErrorOf("placement: random\n"
                    "jobs: [{name: a, workload: w, servers: 1},\n"
                    "       {name: b, workload: w, rank_file: r}]\n"),
            "j.yaml:2:12: no effect: every job has servers or a rank_file");
  EXPECT_EQ(ErrorOf("jobs: [{name: a, workload: w, start: 1}]\n").substr(0, 13),
            "j.yaml:2:38: ");
}

TEST(JobsFileTest, ReadsWhatJobsDoWithStorage) {
  const JobsFile file = ValueOrDie(ParseJobs("j.yaml", R"(
simai_jobs: 1
jobs:
  - name: a
    workload: a.yaml
    checkpoint: {every: 5, bytes: 98GB, writers: first-replica, stripes: 4,
                 blocking: true, pause: 20ms}
    data: {bytes: 64MiB, readers: first-stage, stripes: 2, ahead: 0}
  - {name: b, workload: b.yaml, checkpoint: {every: 1, bytes: 1B}, data: {bytes: 2B}}
  - {name: c, workload: c.yaml}
)"));
  const CheckpointUse& checkpoint = *file.jobs[0].storage.checkpoint;
  EXPECT_EQ(checkpoint.every, 5);
  EXPECT_EQ(checkpoint.amount.bytes, Bytes(98'000'000'000));
  EXPECT_EQ(checkpoint.amount.ranks, StorageRanks::kFirstReplica);
  EXPECT_EQ(checkpoint.amount.stripes, 4u);
  EXPECT_TRUE(checkpoint.blocks);
  EXPECT_EQ(checkpoint.pause, Microseconds(20'000));
  const DataUse& data = *file.jobs[0].storage.data;
  EXPECT_EQ(data.amount.bytes, Bytes(64 << 20));
  EXPECT_EQ(data.amount.ranks, StorageRanks::kFirstStage);
  EXPECT_EQ(data.amount.stripes, 2u);
  EXPECT_EQ(data.ahead, 0);
  const StorageUse& otherwise = file.jobs[1].storage;
  EXPECT_EQ(otherwise.checkpoint->amount.ranks, StorageRanks::kAll);
  EXPECT_FALSE(otherwise.checkpoint->blocks);
  EXPECT_EQ(otherwise.checkpoint->pause, TimePs(0));
  EXPECT_EQ(otherwise.data->amount.ranks, StorageRanks::kAll);
  EXPECT_EQ(otherwise.data->ahead, 1);
  EXPECT_TRUE(file.jobs[2].storage.empty());
}

TEST(JobsFileTest, MistakesOfStorageHaveAPlace) {
  const auto error_of = [](const std::string& keys) {
    return ErrorOf("jobs: [{name: a, workload: w, " + keys + "}]\n");
  };
  EXPECT_EQ(error_of("checkpoint: {bytes: 1GB}"),
            "j.yaml:2:43: expected every or at");
  EXPECT_EQ(error_of("checkpoint: {every: 1}"),
            "j.yaml:2:43: expected bytes, or parameters and state");
  EXPECT_EQ(error_of("checkpoint: {every: 1, bytes: 0GB}"),
            "j.yaml:2:61: expected above 0");
  EXPECT_EQ(error_of("data: {bytes: 5}"),
            "j.yaml:2:45: \"5\" is not a size: expected a whole number and a "
            "unit of B, kB, MB, GB, KiB, MiB or GiB, such as 64MiB");
  EXPECT_EQ(
      error_of("checkpoint: {every: 1, bytes: 1GB, writers: rank0}"),
      "j.yaml:2:75: unknown writers \"rank0\" (known: all, first-replica)");
  EXPECT_EQ(error_of("data: {bytes: 1GB, writers: all}"),
            "j.yaml:2:59: unknown field of the data \"writers\" (known: ahead, "
            "bytes, readers, stripes)");
  EXPECT_EQ(
      error_of("data: {bytes: 1GB, stripes: 0}"),
      "j.yaml:2:59: stripes is \"0\": expected a whole number from 1 to 1024");
  EXPECT_EQ(error_of("checkpoint: {every: 1, bytes: 1GB, pause: 2000s}"),
            "j.yaml:2:73: expected at most 1000 s");
  EXPECT_EQ(error_of("checkpoint: [1]"),
            "j.yaml:2:43: a checkpoint is a list, expected a mapping");
}

TEST(JobsFileTest, ReadsTimesOfCheckpointsAndRestores) {
  const JobsFile file = ValueOrDie(ParseJobs("j.yaml", R"(
simai_jobs: 1
jobs:
  - name: a
    workload: a.yaml
    checkpoint: {at: [3ms, 40ms], parameters: 6.7e9, state: bf16-adam}
    restore: {readers: every-replica, stripes: 2}
  - name: b
    workload: b.yaml
    start: 3ms
    checkpoint: {at: 3ms, bytes: 2GB, blocking: true}
    restore: {parameters: 7, state: bf16-weights}
)"));
  const StorageUse& a = file.jobs[0].storage;
  EXPECT_THAT(a.checkpoint->times,
              ElementsAre(Microseconds(3000), Microseconds(40'000)));
  EXPECT_EQ(a.checkpoint->amount.bytes, Bytes(93'800'000'000));  // 14 B each.
  EXPECT_EQ(a.restore->amount.bytes, Bytes(93'800'000'000));
  EXPECT_EQ(a.restore->amount.ranks, StorageRanks::kEveryReplica);
  EXPECT_EQ(a.restore->amount.stripes, 2u);
  const StorageUse& b = file.jobs[1].storage;
  EXPECT_THAT(b.checkpoint->times, ElementsAre(Microseconds(3000)));
  EXPECT_TRUE(b.checkpoint->blocks);
  EXPECT_EQ(b.restore->amount.bytes, Bytes(14));
  EXPECT_EQ(b.restore->amount.ranks, StorageRanks::kAll);
}

TEST(JobsFileTest, MistakesOfTimesAndStatesHaveAPlace) {
  const auto error_of = [](const std::string& keys) {
    return ErrorOf("jobs: [{name: a, workload: w, " + keys + "}]\n");
  };
  EXPECT_EQ(error_of("checkpoint: {at: 1ms, every: 1, bytes: 1B}"),
            "j.yaml:2:60: no effect beside at");
  EXPECT_EQ(error_of("checkpoint: {at: 1ms, pause: 1ms, bytes: 1B}"),
            "j.yaml:2:60: no effect beside at");
  EXPECT_EQ(error_of("checkpoint: {at: [], bytes: 1B}"),
            "j.yaml:2:48: expected 1 to 10000 times");
  EXPECT_EQ(error_of("checkpoint: {at: [2ms, 2ms], bytes: 1B}"),
            "j.yaml:2:48: expected 2ms to be later than the time before it");
  EXPECT_EQ(error_of("start: 5ms, checkpoint: {at: 4ms, bytes: 1B}"),
            "j.yaml:2:60: expected times from the start of the job to 1000 s");
  EXPECT_EQ(error_of("checkpoint: {every: 1, bytes: 1B, state: fp32-adam}"),
            "j.yaml:2:61: no effect beside parameters and state");
  EXPECT_EQ(error_of("checkpoint: {every: 1, state: fp32-adam}"),
            "j.yaml:2:43: a checkpoint has no \"parameters\"");
  EXPECT_EQ(error_of("restore: {parameters: 7e9, state: adam}"),
            "j.yaml:2:65: unknown state \"adam\"; did you mean \"bf16-adam\"? "
            "(known: bf16-adam, "
            "bf16-adam-bf16-moments, bf16-adam-gradients, bf16-weights, "
            "fp32-adam, fp32-sgd, fp32-weights)");
  EXPECT_EQ(error_of("restore: {readers: all}"),
            "j.yaml:2:40: expected bytes, or parameters and state");
  EXPECT_EQ(error_of("restore: {bytes: 1B, readers: first-stage}"),
            "j.yaml:2:61: unknown readers \"first-stage\" (known: all, "
            "first-replica, every-replica)");
  EXPECT_EQ(error_of("iterations: 4, restore: {bytes: 1B}, "
                     "checkpoint: {every: 4, bytes: 1B}"),
            "j.yaml:2:80: no effect: after a restore the first checkpoint "
            "would be written before iteration 4, and the job has 4");
}

TEST(JobsFileTest, AJobServesWithTheKeysOfItsDeployment) {
  const JobsFile file = ValueOrDie(ParseJobs("in/j.yaml", R"(
simai_jobs: 1
jobs:
  - name: chat
    serving: {model: llama3-8b, num_gpu_blocks: 100, steps: true}
    servers: 0-1
    start: 2ms
  - {name: train, workload: a.yaml, iterations: until_served}
)"));
  const std::vector<ServingKey>& keys = file.jobs[0].serving;
  ASSERT_EQ(keys.size(), 3u);
  EXPECT_EQ(keys[0].name, "model");
  EXPECT_EQ(keys[0].text, "llama3-8b");
  EXPECT_EQ(keys[0].place, "in/j.yaml:5:22");
  EXPECT_EQ(keys[1].name, "num-gpu-blocks");
  EXPECT_EQ(keys[2].text, "true");
  EXPECT_EQ(file.jobs[0].workload, "");
  EXPECT_EQ(file.jobs[0].start, Microseconds(2000));
  EXPECT_THAT(file.jobs[0].servers, ElementsAre(0, 1));
  EXPECT_TRUE(file.jobs[1].serving.empty());
  EXPECT_TRUE(file.jobs[1].until_served);
}

TEST(JobsFileTest, MistakesOfServingHaveAPlace) {
  EXPECT_EQ(ErrorOf("jobs: [{name: a, serving: {tp: 8}, workload: w}]\n"),
            "j.yaml:2:46: no effect beside serving");
  EXPECT_EQ(ErrorOf("jobs: [{name: a, serving: {tp: 8}, iterations: 2}]\n"),
            "j.yaml:2:48: no effect beside serving");
  EXPECT_EQ(ErrorOf("jobs: [{name: a, serving: {tp: [8]}}]\n"),
            "j.yaml:2:32: tp is a list, expected one value");
  EXPECT_EQ(ErrorOf("jobs: [{name: a, serving: {max-num-seqs: 1, max_num_seqs: "
                    "2}}]\n"),
            "j.yaml:2:59: max-num-seqs is given twice");
  EXPECT_EQ(ErrorOf("jobs: [{name: a, serving: {}}]\n"),
            "j.yaml:2:27: expected a model and requests");
  EXPECT_EQ(ErrorOf("jobs: [{name: a, serving: llama}]\n"),
            "j.yaml:2:27: the serving of a job is a value, expected a mapping");
  EXPECT_EQ(
      ErrorOf("jobs: [{name: a, workload: w, iterations: until_served}]\n"),
      "j.yaml:2:43: expected a number: no job of the file serves");
  EXPECT_EQ(
      ErrorOf("jobs: [{name: a, workload: w, iterations: until}]\n"),
      "j.yaml:2:43: iterations is \"until\": expected a whole number from "
      "1 to 1000000");
}

TEST(JobsFileTest, ARankFileHasAGpuForEachRank) {
  EXPECT_THAT(ValueOrDie(ParseRankFile("r", "# GPUs\n4\n5\n\n0\n1\n")),
              ElementsAre(4, 5, 0, 1));
  EXPECT_EQ(ParseRankFile("r", "4\nx\n").status().message(),
            "r:2:1: expected the number of the GPU of rank 1, not \"x\"");
  EXPECT_EQ(ParseRankFile("r", "4 5\n").status().message(),
            "r:1:3: expected one number a line, not \"5\" behind it");
  EXPECT_EQ(ParseRankFile("r", "").status().message(),
            "r:1:1: expected the GPU of rank 0");
}

}  // namespace
}  // namespace astra::testing
