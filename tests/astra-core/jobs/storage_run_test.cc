// Jobs that write checkpoints and read data on the fabric that carries their
// collectives: what that takes, and what it costs them.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "astra-core/jobs/jobs_run.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "network-frontends/registry/registry.h"
#include "tests/testing/matchers.h"
#include "tests/testing/topologies.h"
#include "topology/storage.h"

namespace astra::testing {
namespace {

using ::testing::HasSubstr;

// 4 ms at the 200 Gbps of a storage server.
constexpr Bytes kWrite(100'000'000);
constexpr TimePs kWriteTime = Microseconds(4000);
// Two links of 500 ns, and 81.92 ns for the last packet, of 4,096 bytes, on the
// first of them, at 400 Gbps.
constexpr TimePs kNear(1'081'920);
// Four links, and the last packet on three of them.
constexpr TimePs kFar(2'245'760);

// `ranks` ranks that compute for `compute` and then sum up `bytes`.
Program ProgramOf(int64_t ranks, TimePs compute, Bytes bytes = Bytes(0)) {
  ProgramParts parts;
  parts.sizes.num_ranks = ranks;
  parts.forward_only = true;
  ProgramModule module{.name = "sum", .passes = {}, .memory = {}, .update = {}};
  module.passes[0] = {{.kind = StepKind::kCompute, .compute = compute}};
  if (bytes > Bytes(0)) {
    module.passes[0].push_back(
        {.kind = StepKind::kBlocking,
         .compute = {},
         .communication = {CollectiveKind::kAllReduce, ParallelDimension::kData,
                           bytes}});
  }
  parts.modules = {module};
  parts.stages = {{1, {{1, {ModuleId(0)}}}, {}}};
  return ValueOrDie(Program::Create(std::move(parts)));
}

// GPUs 0 and 1, each a server, below leaf 4, and 2 and 3 below leaf 5, which
// spine 6 joins; storage 7 is below leaf 4, and 8, if there are two, below 5.
Topology TwoLeaves(uint32_t num_storage = 1) {
  const Topology plain = Drawing(4, 1, 0, 3)
                             .Cables({{0, 4}, {1, 4}, {2, 5}, {3, 5}})
                             .Cables({{4, 6}, {5, 6}})
                             .Build();
  return ValueOrDie(WithStorage(
      plain, {.servers = num_storage, .nics = 1, .cable = {"200Gbps"}}));
}

Job JobOn(const Topology& topology, const std::vector<uint32_t>& gpus,
          Program program, int64_t iterations, StorageUse storage) {
  return {.name = "a",
          .work = TrainingWork{.program = std::move(program),
                               .iterations = iterations,
                               .storage = std::move(storage)},
          .part = ValueOrDie(PartOfCluster(topology, gpus, 1))};
}

// Without headers, so that times can be worked out by hand.
JobsRequest RequestOf(const Topology& topology, std::vector<Job> jobs,
                      Fidelity fidelity = Fidelity::kFlow) {
  JobsRequest request{.jobs = std::move(jobs),
                      .topology = topology,
                      .fidelity = fidelity,
                      .network = {},
                      .on_progress = nullptr};
  request.network.packet = DefaultNetwork();
  request.network.packet.nic.header = Bytes(0);
  request.network.flow = {.header = Bytes(0)};
  return request;
}

StorageUse Checkpoint(Bytes bytes, StorageRanks ranks, bool blocks,
                      int64_t every = 1) {
  return {.checkpoint = CheckpointUse{.amount = {bytes, ranks},
                                      .every = every,
                                      .blocks = blocks,
                                      .pause = {}},
          .data = std::nullopt};
}

// A checkpoint that begins at each of `times`.
StorageUse TimedCheckpoint(std::vector<TimePs> times, bool blocks) {
  StorageUse use = Checkpoint(kWrite, StorageRanks::kFirstReplica, blocks);
  use.checkpoint->times = std::move(times);
  return use;
}

StorageUse Restore(Bytes bytes, StorageRanks ranks) {
  return {.checkpoint = std::nullopt,
          .restore = RestoreUse{{bytes, ranks}},
          .data = std::nullopt};
}

StorageUse Data(Bytes bytes, int64_t ahead) {
  return {.checkpoint = std::nullopt,
          .data = DataUse{{bytes, StorageRanks::kFirstStage}, ahead}};
}

JobResult RunOne(const JobsRequest& request) {
  return ValueOrDie(RunJobs(request)).jobs[0];
}

TimePs TimeOf(const StorageTransfer& transfer) {
  return transfer.end - transfer.begin;
}

// Rank 0 writes at 200 Gbps while nobody computes.
TEST(StorageRunTest, ABlockingCheckpointCostsItsWrite) {
  const Topology topology = TwoLeaves();
  const JobsRequest request = RequestOf(
      topology,
      {JobOn(topology, {0, 1}, ProgramOf(2, Microseconds(100), Bytes(1 << 20)),
             4, Checkpoint(kWrite, StorageRanks::kFirstReplica, true, 2))});
  const JobResult job = RunOne(request);
  const JobResult without = ValueOrDie(RunWithoutStorage(request)).jobs[0];
  ASSERT_EQ(job.transfers.size(), 2u);
  for (const StorageTransfer& transfer : job.transfers) {
    EXPECT_EQ(TimeOf(transfer), kWriteTime + kNear);
    EXPECT_EQ(transfer.waited, kWriteTime + kNear);
    EXPECT_EQ(transfer.bytes, kWrite);
  }
  EXPECT_EQ(job.transfers[1].iteration, 2);
  EXPECT_EQ(job.iterations[0].begin, kWriteTime + kNear);
  EXPECT_EQ(job.iterations[2].begin - job.iterations[1].end,
            kWriteTime + kNear);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(job.iterations[i].end - job.iterations[i].begin,
              without.iterations[i].end - without.iterations[i].begin);
  }
  EXPECT_EQ(2 * (job.MeanIteration() - without.MeanIteration()),
            kWriteTime + kNear);
  // GPU 0 to leaf 4, and leaf 4 to storage 7.
  EXPECT_EQ(job.storage_link_bytes[0], 2.0 * 100'000'000);
  EXPECT_EQ(job.storage_link_bytes[12], 2.0 * 100'000'000);
  EXPECT_EQ(job.storage_link_bytes[2], 0);
}

// The port of the storage server carries all of it; the last bytes come from
// leaf 5, over four links.
TEST(StorageRunTest, WritersShareThePortOfTheirServer) {
  const Topology topology = TwoLeaves();
  const JobResult job = RunOne(RequestOf(
      topology, {JobOn(topology, {0, 1, 2, 3}, ProgramOf(4, Microseconds(1)), 1,
                       Checkpoint(kWrite, StorageRanks::kAll, true))}));
  ASSERT_EQ(job.transfers.size(), 1u);
  EXPECT_EQ(TimeOf(job.transfers[0]), kWriteTime + kFar);
}

// Two servers take twice the rate: ranks 0 and 2 write to storage 7, and 1 and
// 3 to storage 8.
TEST(StorageRunTest, ServersAddUp) {
  const Topology topology = TwoLeaves(2);
  const JobResult job = RunOne(RequestOf(
      topology, {JobOn(topology, {0, 1, 2, 3}, ProgramOf(4, Microseconds(1)), 1,
                       Checkpoint(kWrite, StorageRanks::kAll, true))}));
  EXPECT_EQ(TimeOf(job.transfers[0]), Microseconds(2000) + kFar);
}

TEST(StorageRunTest, TwoJobsShareAServer) {
  const Topology topology = TwoLeaves();
  const StorageUse use = Checkpoint(kWrite, StorageRanks::kFirstReplica, true);
  const JobsResult run = ValueOrDie(RunJobs(RequestOf(
      topology,
      {JobOn(topology, {0, 1}, ProgramOf(2, Microseconds(1)), 1, use),
       JobOn(topology, {2, 3}, ProgramOf(2, Microseconds(1)), 1, use)})));
  EXPECT_EQ(TimeOf(run.jobs[0].transfers[0]), 2 * kWriteTime + kNear);
  EXPECT_EQ(TimeOf(run.jobs[1].transfers[0]), 2 * kWriteTime + kFar);
}

// The job below leaf 5 does not meet what the other one writes below leaf 4,
// and the writer itself sends nothing else.
TEST(StorageRunTest, JobsThatShareNoLinkWithItLoseNothing) {
  const Topology topology = TwoLeaves();
  for (const Fidelity fidelity : {Fidelity::kFlow, Fidelity::kPacket}) {
    const JobsRequest request = RequestOf(
        topology,
        {JobOn(topology, {0, 1}, ProgramOf(2, Microseconds(100)), 3,
               Checkpoint(Bytes(1'000'000), StorageRanks::kAll, false, 3)),
         JobOn(topology, {2, 3}, ProgramOf(2, Microseconds(1), Bytes(1 << 20)),
               3, {})},
        fidelity);
    const JobsResult with = ValueOrDie(RunJobs(request));
    const JobsResult without = ValueOrDie(RunWithoutStorage(request));
    for (size_t job = 0; job < 2; ++job) {
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(with.jobs[job].iterations[i].begin,
                  without.jobs[job].iterations[i].begin);
        EXPECT_EQ(with.jobs[job].iterations[i].end,
                  without.jobs[job].iterations[i].end);
      }
    }
    EXPECT_EQ(with.jobs[0].transfers[0].waited, TimePs(0));
  }
}

// The write takes 200 of the 400 Gbps of the NIC of rank 0, so that the ring
// has the other 200 for as long as it lasts.
TEST(StorageRunTest, CollectivesShareTheNicOfTheWriter) {
  const Topology topology = TwoLeaves();
  const JobsRequest request = RequestOf(
      topology,
      {JobOn(topology, {0, 1}, ProgramOf(2, TimePs(1000), Bytes(64 << 20)), 2,
             Checkpoint(kWrite, StorageRanks::kFirstReplica, false, 2))});
  const JobResult job = RunOne(request);
  const TimePs alone =
      ValueOrDie(RunWithoutStorage(request)).jobs[0].MeanIteration();
  const TimePs first = job.iterations[0].end - job.iterations[0].begin;
  ASSERT_LT(first, TimeOf(job.transfers[0]));
  EXPECT_NEAR(static_cast<double>(first.count()),
              2.0 * static_cast<double>(alone.count()),
              0.01 * static_cast<double>(alone.count()));
  EXPECT_EQ(TimeOf(job.transfers[0]), kWriteTime + kNear);
}

TEST(StorageRunTest, FlowAndPacketAgree) {
  const Topology topology = TwoLeaves(2);
  TimePs times[2];
  for (const Fidelity fidelity : {Fidelity::kFlow, Fidelity::kPacket}) {
    JobsRequest request = RequestOf(
        topology,
        {JobOn(topology, {0, 1, 2, 3}, ProgramOf(4, Microseconds(1)), 1,
               Checkpoint(Bytes(400'000'000), StorageRanks::kAll, true))},
        fidelity);
    request.network.packet = DefaultNetwork();
    request.network.flow = FlowOptionsOf(request.network.packet);
    times[fidelity == Fidelity::kPacket ? 1 : 0] =
        TimeOf(RunOne(request).transfers[0]);
  }
  EXPECT_NEAR(static_cast<double>(times[1].count()),
              static_cast<double>(times[0].count()),
              0.05 * static_cast<double>(times[0].count()));
}

// A checkpoint of every iteration of 1 ms is written one after another, in 4
// ms, after a pause of 0.5 ms.
TEST(StorageRunTest, ACheckpointWaitsForTheOneBeforeIt) {
  const Topology topology = TwoLeaves();
  StorageUse use = Checkpoint(kWrite, StorageRanks::kFirstReplica, false);
  use.checkpoint->pause = Microseconds(500);
  const JobResult job = RunOne(RequestOf(
      topology,
      {JobOn(topology, {0, 1}, ProgramOf(2, Microseconds(1000)), 2, use)}));
  ASSERT_EQ(job.transfers.size(), 2u);
  EXPECT_EQ(job.transfers[0].begin, Microseconds(500));
  EXPECT_EQ(job.transfers[0].waited, Microseconds(500));
  EXPECT_EQ(job.iterations[0].begin, Microseconds(500));
  EXPECT_EQ(job.transfers[1].begin,
            Microseconds(500) + kWriteTime + kNear + Microseconds(500));
  EXPECT_EQ(job.transfers[1].waited,
            job.transfers[1].begin - Microseconds(1500));
  EXPECT_EQ(job.iterations[1].begin, job.transfers[1].begin);
}

// The times lie within iterations of 10 ms. The second checkpoint waits until
// the first is written, and no iteration waits.
TEST(StorageRunTest, ATimedCheckpointBeginsAtItsTime) {
  const Topology topology = TwoLeaves();
  const JobResult job = RunOne(RequestOf(
      topology, {JobOn(topology, {0, 1}, ProgramOf(2, Microseconds(10'000)), 2,
                       TimedCheckpoint({Microseconds(3000), Microseconds(4000)},
                                       /*blocks=*/false))}));
  ASSERT_EQ(job.transfers.size(), 2u);
  const TimePs first_end = Microseconds(3000) + kWriteTime + kNear;
  EXPECT_EQ(job.transfers[0].begin, Microseconds(3000));
  EXPECT_EQ(job.transfers[0].end, first_end);
  EXPECT_EQ(job.transfers[0].iteration, 1);
  EXPECT_EQ(job.transfers[1].begin, first_end);
  EXPECT_EQ(job.transfers[1].end, first_end + kWriteTime + kNear);
  EXPECT_EQ(job.transfers[1].waited, TimePs(0));
  EXPECT_EQ(job.iterations[1].begin, Microseconds(10'000));
  EXPECT_EQ(job.iterations[1].end, Microseconds(20'000));
}

// It begins 2 ms before the end of an iteration of 5 ms.
TEST(StorageRunTest, ATimedCheckpointThatBlocksHoldsTheNextIteration) {
  const Topology topology = TwoLeaves();
  const JobResult job = RunOne(RequestOf(
      topology, {JobOn(topology, {0, 1}, ProgramOf(2, Microseconds(5000)), 2,
                       TimedCheckpoint({Microseconds(3000)}, true))}));
  ASSERT_EQ(job.transfers.size(), 1u);
  const TimePs end = Microseconds(3000) + kWriteTime + kNear;
  EXPECT_EQ(job.transfers[0].end, end);
  EXPECT_EQ(job.transfers[0].waited, end - Microseconds(5000));
  EXPECT_EQ(job.iterations[1].begin, end);
}

// It begins while the iteration waits for its data, which comes before it ends.
TEST(StorageRunTest, ATimedCheckpointHoldsAnIterationThatWaitsForData) {
  const Topology topology = TwoLeaves();
  StorageUse use = TimedCheckpoint({Microseconds(2000)}, /*blocks=*/true);
  use.data = Data(kWrite, /*ahead=*/0).data;
  const JobResult job = RunOne(RequestOf(
      topology,
      {JobOn(topology, {0, 1}, ProgramOf(2, Microseconds(1000)), 1, use)}));
  ASSERT_EQ(job.transfers.size(), 2u);
  EXPECT_EQ(job.transfers[0].kind, StorageKind::kData);
  EXPECT_EQ(job.transfers[0].end, kWriteTime + kNear);
  EXPECT_EQ(job.transfers[0].waited, TimePs(0));
  const TimePs written = Microseconds(2000) + kWriteTime + kNear;
  EXPECT_EQ(job.transfers[1].end, written);
  EXPECT_EQ(job.transfers[1].waited, written);
  EXPECT_EQ(job.iterations[0].begin, written);
}

TEST(StorageRunTest, ATimedCheckpointIsWrittenAfterTheLastIteration) {
  const Topology topology = TwoLeaves();
  const JobsResult run = ValueOrDie(RunJobs(RequestOf(
      topology, {JobOn(topology, {0, 1}, ProgramOf(2, Microseconds(1000)), 1,
                       TimedCheckpoint({Microseconds(20'000)}, true))})));
  EXPECT_EQ(run.jobs[0].iterations[0].end, Microseconds(1000));
  EXPECT_EQ(run.jobs[0].transfers[0].begin, Microseconds(20'000));
  EXPECT_EQ(run.jobs[0].transfers[0].iteration, 1);
  EXPECT_EQ(run.end, Microseconds(20'000) + kWriteTime + kNear);
}

// The first iteration waits for the restore. Of iterations 0 to 3, the first
// checkpoint is due before iteration 2.
TEST(StorageRunTest, ARestoreIsReadBeforeTheFirstIteration) {
  const Topology topology = TwoLeaves();
  StorageUse use =
      Checkpoint(kWrite, StorageRanks::kFirstReplica, true, /*every=*/2);
  use.restore = RestoreUse{{kWrite, StorageRanks::kAll}};
  const JobResult job = RunOne(RequestOf(
      topology,
      {JobOn(topology, {0, 1}, ProgramOf(2, Microseconds(1000)), 4, use)}));
  ASSERT_EQ(job.transfers.size(), 2u);
  EXPECT_EQ(job.transfers[0].kind, StorageKind::kRestore);
  EXPECT_EQ(job.transfers[0].begin, TimePs(0));
  EXPECT_EQ(job.transfers[0].end, kWriteTime + kNear);
  EXPECT_EQ(job.transfers[0].waited, kWriteTime + kNear);
  EXPECT_EQ(job.iterations[0].begin, kWriteTime + kNear);
  EXPECT_EQ(job.transfers[1].kind, StorageKind::kCheckpoint);
  EXPECT_EQ(job.transfers[1].iteration, 2);
  EXPECT_EQ(job.transfers[1].begin, kWriteTime + kNear + Microseconds(2000));
  // Storage 7 to leaf 4, and leaf 4 to GPU 0, which reads half.
  EXPECT_EQ(job.storage_link_bytes[13], 100'000'000.0);
  EXPECT_EQ(job.storage_link_bytes[1], 50'000'000.0);
}

// Each of two replicas, of one rank, reads all: in turn from one server, and at
// once from two, of which one is far from its reader.
TEST(StorageRunTest, EveryReplicaReadsTheWholeCheckpoint) {
  for (const uint32_t num_storage : {1u, 2u}) {
    const Topology topology = TwoLeaves(num_storage);
    const JobResult job = RunOne(RequestOf(
        topology, {JobOn(topology, {0, 1}, ProgramOf(2, Microseconds(1000)), 1,
                         Restore(kWrite, StorageRanks::kEveryReplica))}));
    ASSERT_EQ(job.transfers.size(), 1u);
    EXPECT_EQ(TimeOf(job.transfers[0]),
              num_storage == 1 ? 2 * kWriteTime + kNear : kWriteTime + kFar);
    EXPECT_EQ(job.transfers[0].bytes, Bytes(200'000'000));
  }
}

// An iteration of 1 ms waits for its read of 4 ms.
TEST(StorageRunTest, DataThatIsNotReadAheadIsWaitedFor) {
  const Topology topology = TwoLeaves();
  const JobsRequest request = RequestOf(
      topology, {JobOn(topology, {0, 1}, ProgramOf(2, Microseconds(1000)), 3,
                       Data(kWrite, /*ahead=*/0))});
  const JobResult job = RunOne(request);
  ASSERT_EQ(job.transfers.size(), 3u);
  for (const StorageTransfer& transfer : job.transfers) {
    EXPECT_EQ(TimeOf(transfer), kWriteTime + kNear);
    EXPECT_EQ(transfer.waited, kWriteTime + kNear);
  }
  EXPECT_EQ(job.MeanIteration(), Microseconds(1000) + kWriteTime + kNear);
}

// Data that is read beside an iteration that is longer costs nothing; beside
// one that is shorter, reads follow one another.
TEST(StorageRunTest, DataThatIsReadAheadIsHidden) {
  const Topology topology = TwoLeaves();
  for (const int64_t compute_us : {5000, 1000}) {
    const TimePs compute = Microseconds(compute_us);
    const JobResult job = RunOne(
        RequestOf(topology, {JobOn(topology, {0, 1}, ProgramOf(2, compute), 3,
                                   Data(kWrite, /*ahead=*/1))}));
    ASSERT_EQ(job.transfers.size(), 3u);  // Of iterations 1 to 3.
    EXPECT_EQ(job.transfers[0].iteration, 1);
    const TimePs pace = std::max(compute, kWriteTime + kNear);
    EXPECT_EQ(job.iterations[1].begin, pace);
    EXPECT_EQ(job.iterations[2].begin, 2 * pace);
    EXPECT_EQ(job.transfers[0].waited, pace - compute);
  }
}

// Two iterations ahead of one of 3 ms, a read of 4 ms has 6 ms at first; then
// reads follow one another.
TEST(StorageRunTest, ReadsFollowOneAnother) {
  const Topology topology = TwoLeaves();
  const JobResult job = RunOne(RequestOf(
      topology, {JobOn(topology, {0, 1}, ProgramOf(2, Microseconds(3000)), 4,
                       Data(kWrite, /*ahead=*/2))}));
  ASSERT_EQ(job.transfers.size(), 4u);  // Of iterations 2 to 5.
  const TimePs read = kWriteTime + kNear;
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(job.transfers[i].end, static_cast<int64_t>(i + 1) * read);
  }
  EXPECT_EQ(job.iterations[1].begin, Microseconds(3000));
  EXPECT_EQ(job.iterations[2].begin, Microseconds(6000));
  EXPECT_EQ(job.iterations[3].begin, Microseconds(9000));
}

TEST(StorageRunTest, AStorageServerOutOfReachIsAnError) {
  // Two rails, each a switch; the storage server is on the first.
  const Topology plain = Drawing(4, 2, 2, 2)
                             .Cables({{0, 4}, {1, 4}, {2, 5}, {3, 5}})
                             .Cables({{0, 6}, {2, 6}, {1, 7}, {3, 7}})
                             .Build();
  const Topology topology = ValueOrDie(
      WithStorage(plain, {.servers = 1, .nics = 1, .cable = {"200Gbps"}}));
  Job job{.name = "a",
          .work = TrainingWork{.program = ProgramOf(4, Microseconds(1)),
                               .storage = Checkpoint(kWrite, StorageRanks::kAll,
                                                     true)},
          .part = ValueOrDie(PartOfCluster(topology, {0, 1, 2, 3}, 2))};
  EXPECT_THAT(RunJobs(RequestOf(topology, {std::move(job)})),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "job a: no path leads from GPU 1 to storage 8 without "
                       "passing through another GPU"));
}

TEST(StorageRunTest, WhatNeverArrivesIsAnError) {
  const Topology topology = TwoLeaves();
  JobsRequest request = RequestOf(
      topology, {JobOn(topology, {0, 1}, ProgramOf(2, Microseconds(1)), 1,
                       Checkpoint(kWrite, StorageRanks::kAll, true))});
  request.network.flow.link_events = {{.time = Microseconds(10),
                                       .a = NodeId(4),
                                       .b = NodeId(7),
                                       .rate_factor = 0}};
  EXPECT_THAT(
      RunJobs(request),
      StatusIs(absl::StatusCode::kInternal,
               HasSubstr("job a: 2 of 2 messages of the checkpoint before "
                         "iteration 0 never arrive; the network says: ")));
}

}  // namespace
}  // namespace astra::testing
