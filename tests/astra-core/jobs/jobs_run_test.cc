// Several jobs on one network: what they lose to one another, and that they
// lose nothing where they share no link.

#include "astra-core/jobs/jobs_run.h"

#include <set>
#include <string>
#include <vector>

#include "astra-core/run/run.h"
#include "fmt/core.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "network-frontends/registry/registry.h"
#include "tests/testing/matchers.h"
#include "tests/testing/topologies.h"

namespace astra::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr Bytes kBytes(64 << 20);

// Two ranks that compute for 1 us and then sum up `bytes`, `times` times.
Program SummingProgram(Bytes bytes, int64_t times = 1) {
  ProgramParts parts;
  parts.sizes.num_ranks = 2;
  parts.forward_only = true;
  ProgramModule module{.name = "sum", .passes = {}, .memory = {}, .update = {}};
  module.passes[0] = {{.kind = StepKind::kCompute, .compute = Microseconds(1)},
                      {.kind = StepKind::kBlocking,
                       .compute = {},
                       .communication = {CollectiveKind::kAllReduce,
                                         ParallelDimension::kData, bytes}}};
  parts.modules = {module};
  parts.stages = {{1, {{times, {ModuleId(0)}}}, {}}};
  return ValueOrDie(Program::Create(std::move(parts)));
}

// GPUs 0 and 1, each a server, below one leaf, and 2 and 3 below another; a
// cable joins the leaves. GPU 0 has `slow`.
Topology TwoLeaves(const std::string& slow = "400Gbps") {
  Drawing drawing(4, 1, 0, 2);
  drawing.Cable(0, 4, slow).Cable(1, 4).Cable(2, 5).Cable(3, 5).Cable(4, 5);
  return drawing.Build();
}

Job JobOn(const Topology& topology, const std::vector<uint32_t>& gpus,
          Program program, std::string name) {
  return {.name = std::move(name),
          .work = TrainingWork{.program = std::move(program)},
          .part = ValueOrDie(PartOfCluster(topology, gpus, 1))};
}

JobsRequest RequestOf(const Topology& topology, Fidelity fidelity,
                      std::vector<Job> jobs) {
  JobsRequest request{.jobs = std::move(jobs),
                      .topology = topology,
                      .fidelity = fidelity,
                      .network = {},
                      .on_progress = nullptr};
  request.network.packet = DefaultNetwork();
  request.network.flow = FlowOptionsOf(request.network.packet);
  return request;
}

double SlowdownOf(const JobsRequest& request, size_t job) {
  const JobsResult together = ValueOrDie(RunJobs(request));
  const JobsResult alone = ValueOrDie(RunAlone(request, job));
  return static_cast<double>(together.jobs[job].MeanIteration().count()) /
         static_cast<double>(alone.jobs[0].MeanIteration().count());
}

struct Case {
  Fidelity fidelity;
  double tolerance;
};

class SharedLeafTest : public ::testing::TestWithParam<Case> {};

// Each job alone fills the cable between the leaves. Together each has half.
TEST_P(SharedLeafTest, TwoEqualJobsHaveHalfTheCableEach) {
  const Topology topology = TwoLeaves();
  const JobsRequest request =
      RequestOf(topology, GetParam().fidelity,
                {JobOn(topology, {0, 2}, SummingProgram(kBytes), "a"),
                 JobOn(topology, {1, 3}, SummingProgram(kBytes), "b")});
  EXPECT_NEAR(SlowdownOf(request, 0), 2, 2 * GetParam().tolerance);
  // Each direction of the cable carries the reduced and the gathered half.
  const JobsResult together = ValueOrDie(RunJobs(request));
  for (const JobResult& job : together.jobs) {
    EXPECT_EQ(job.link_bytes[8], static_cast<double>(kBytes.count()));
    EXPECT_EQ(job.link_bytes[9], static_cast<double>(kBytes.count()));
  }
  EXPECT_EQ(together.jobs[0].link_bytes[2], 0);
  EXPECT_NEAR(SlowdownOf(request, 1), 2, 2 * GetParam().tolerance);
}

// Job a cannot send more than 100 Gbps, and b has the other 300 of 400.
TEST_P(SharedLeafTest, AJobThatNeedsLessLeavesTheRest) {
  const Topology topology = TwoLeaves("100Gbps");
  const JobsRequest request =
      RequestOf(topology, GetParam().fidelity,
                {JobOn(topology, {0, 2}, SummingProgram(kBytes), "a"),
                 JobOn(topology, {1, 3}, SummingProgram(kBytes), "b")});
  EXPECT_NEAR(SlowdownOf(request, 0), 1, GetParam().tolerance);
  EXPECT_NEAR(SlowdownOf(request, 1), 4.0 / 3, 4.0 / 3 * GetParam().tolerance);
}

INSTANTIATE_TEST_SUITE_P(Networks, SharedLeafTest,
                         ::testing::Values(Case{Fidelity::kFlow, 0.002},
                                           Case{Fidelity::kPacket, 0.05}),
                         [](const auto& named) {
                           return std::string(Name(named.param.fidelity));
                         });

// What the live view shows: work grows from iteration to iteration, and each
// job ends a collective in each of its iterations.
TEST(JobsRunTest, TellsOfItsWorkAndOfCollectivesThatEnd) {
  const Topology topology = TwoLeaves();
  JobsRequest request =
      RequestOf(topology, Fidelity::kFlow,
                {JobOn(topology, {0, 1}, SummingProgram(kBytes), "a"),
                 JobOn(topology, {2, 3}, SummingProgram(kBytes), "b")});
  for (Job& job : request.jobs) job.training()->iterations = 3;
  WorkDone work;
  request.on_progress = [&](const RunProgress& progress) {
    EXPECT_GE(progress.work.events, work.events);
    EXPECT_GE(progress.work.messages, work.messages);
    work = progress.work;
    return absl::OkStatus();
  };
  size_t num_ended = 0;
  request.on_collective = [&](const CollectiveRecord& record) {
    EXPECT_EQ(record.communication.bytes, kBytes);
    ++num_ended;
  };
  const JobsResult run = ValueOrDie(RunJobs(request));
  EXPECT_EQ(num_ended, 6u);
  // The last report may come before the last iterations end.
  EXPECT_GE(3 * work.messages, 2 * run.network.num_flows);
  EXPECT_LE(work.messages, run.network.num_flows);
  EXPECT_GT(work.events, work.messages);
}

// No iteration of any job is as long as another, also of the same program.
TEST(JobsRunTest, JitterIsAnotherInEachIteration) {
  const Topology topology = TwoLeaves();
  JobsRequest request =
      RequestOf(topology, Fidelity::kFlow,
                {JobOn(topology, {0, 1}, SummingProgram(kBytes), "a"),
                 JobOn(topology, {2, 3}, SummingProgram(kBytes), "b")});
  for (Job& job : request.jobs) {
    job.training()->iterations = 3;
    job.training()->options.jitter = 0.1;
  }
  std::set<TimePs> times;
  const JobsResult run = ValueOrDie(RunJobs(request));
  for (const JobResult& job : run.jobs) {
    for (const auto& iteration : job.iterations) {
      times.insert(iteration.end - iteration.begin);
    }
  }
  EXPECT_EQ(times.size(), 6u);
  EXPECT_EQ(ValueOrDie(RunAlone(request, 1)).jobs[0].MeanIteration(),
            run.jobs[1].MeanIteration());
}

// On GPUs below one leaf each, the jobs meet nowhere: what a job sees does not
// depend on the other, whenever that starts.
TEST(JobsRunTest, JobsThatShareNoLinkDoNotKnowOfOneAnother) {
  const Topology topology = TwoLeaves();
  for (const Fidelity fidelity : {Fidelity::kFlow, Fidelity::kPacket}) {
    JobsRequest request =
        RequestOf(topology, fidelity,
                  {JobOn(topology, {0, 1}, SummingProgram(kBytes, 3), "a"),
                   JobOn(topology, {3, 2}, SummingProgram(Bytes(5000)), "b")});
    request.jobs[1].start = Microseconds(7);
    request.jobs[1].training()->iterations = 4;
    const JobsResult together = ValueOrDie(RunJobs(request));
    for (size_t job = 0; job < 2; ++job) {
      const JobResult alone = ValueOrDie(RunAlone(request, job)).jobs[0];
      const JobResult& beside = together.jobs[job];
      ASSERT_EQ(beside.iterations.size(), alone.iterations.size());
      for (size_t i = 0; i < alone.iterations.size(); ++i) {
        EXPECT_EQ(beside.iterations[i].begin, alone.iterations[i].begin);
        EXPECT_EQ(beside.iterations[i].end, alone.iterations[i].end);
      }
      ASSERT_EQ(beside.result.collectives.size(),
                alone.result.collectives.size());
      for (size_t i = 0; i < alone.result.collectives.size(); ++i) {
        EXPECT_EQ(beside.result.collectives[i].time,
                  alone.result.collectives[i].time);
      }
    }
    EXPECT_EQ(together.jobs[1].iterations[0].begin, Microseconds(7));
  }
}

// One job on all GPUs, in order, is a run as any other.
TEST(JobsRunTest, OneJobOnTheWholeClusterIsAnOrdinaryRun) {
  Drawing drawing(2, 1, 0, 1);
  const Topology topology = drawing.Cable(0, 2).Cable(1, 2).Build();
  for (const Fidelity fidelity : {Fidelity::kFlow, Fidelity::kPacket}) {
    const JobsRequest request =
        RequestOf(topology, fidelity,
                  {JobOn(topology, {0, 1}, SummingProgram(kBytes, 2), "a")});
    const JobsResult jobs = ValueOrDie(RunJobs(request));
    RunRequest one{.program = request.jobs[0].training()->program,
                   .topology = topology,
                   .fidelity = fidelity,
                   .network = request.network,
                   .simulation = {}};
    const RunResult run = ValueOrDie(astra::Run(one));
    ASSERT_TRUE(run.status.ok());
    EXPECT_EQ(jobs.jobs[0].MeanIteration(), run.result.total());
    EXPECT_EQ(jobs.link_bytes, run.result.link_bytes);
  }
}

TEST(JobsRunTest, AnErrorNamesTheJob) {
  const Topology topology = TwoLeaves();
  JobsRequest request =
      RequestOf(topology, Fidelity::kFlow,
                {JobOn(topology, {0, 2}, SummingProgram(kBytes), "a"),
                 JobOn(topology, {1, 3}, SummingProgram(kBytes), "b")});
  request.jobs[1].training()->options.overlap.fill(0.5);
  EXPECT_THAT(RunJobs(request), StatusIs(absl::StatusCode::kInvalidArgument,
                                         HasSubstr("job b: the overlap of")));
}

// A GPU dies 0.5 us into the second iteration. Its times count from its begin,
// which the error says.
TEST(JobsRunTest, AStuckIterationSaysWhenItBegan) {
  const Topology topology = TwoLeaves();
  JobsRequest request =
      RequestOf(topology, Fidelity::kFlow,
                {JobOn(topology, {0, 2}, SummingProgram(kBytes), "a")});
  request.jobs[0].training()->iterations = 2;
  const TimePs first =
      ValueOrDie(RunJobs(request)).jobs[0].iterations.front().end;
  request.jobs[0].training()->options.speed_changes = {
      {first + TimePs(500'000), RankId(1), 0}};
  EXPECT_THAT(
      RunJobs(request),
      StatusIs(absl::StatusCode::kInternal,
               AllOf(HasSubstr(fmt::format(
                         "job a: iteration 1, which began at {:.3f} us (times "
                         "below count from there): nothing is left to happen",
                         ToMicroseconds(first))),
                     HasSubstr("rank 1 is dead since 0.500 us"))));
}

}  // namespace
}  // namespace astra::testing
