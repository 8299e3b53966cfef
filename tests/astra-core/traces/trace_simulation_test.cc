// Traces on the engine: by hand, and against the programs they are made of.

#include "astra-core/traces/trace_simulation.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "astra-core/engine/breakdown.h"
#include "astra-core/engine/critical_path.h"
#include "astra-core/engine/simulation.h"
#include "astra-core/traces/program_trace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "network-frontends/analytical/analytical_backend.h"
#include "network-frontends/flow/flow_backend.h"
#include "tests/astra-core/engine/pipelined_runs.h"
#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"
#include "tests/workload/traces/trace_drawing.h"
#include "workload/simai_text/simai_text_file.h"
#include "workload/traces/deadlock.h"

namespace astra::testing {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::Pointwise;

absl::StatusOr<SimulationResult> TryRun(const ExecutionTrace& trace,
                                        const Topology& topology,
                                        Lowering lowering) {
  SimulationOptions options;
  options.lowering = lowering;
  options.record_timeline = true;
  Routes routes(topology);
  return SimulateTrace(trace, LanesOf(trace), options, routes, [&] {
    return std::make_unique<AnalyticalBackend>(routes);
  });
}

// 100 GB/s each way, no delay: an all-reduce of 1 MB over 2 ranks, and a
// message of 1 MB, take 10 us.
SimulationResult RunDrawn(const TraceDrawing& drawing) {
  const auto num_ranks = static_cast<uint32_t>(drawing.trace().ranks.size());
  return ValueOrDie(TryRun(drawing.trace(),
                           OneServer(num_ranks, "800Gbps", "0ns"),
                           Lowering::kFlowGraph));
}

constexpr int64_t kMegabyte = 1'000'000;

// Rank 0: a kernel to 20 us, beside it the sum, which begins at 5 us with rank
// 1. A kernel waits for it until 15 us, but the stream is busy until 20 us.
TEST(TraceSimulationTest, CollectivesRunBesideKernels) {
  TraceDrawing drawing(2);
  drawing.Kernel(0, 20);
  const uint32_t sum = drawing.Sum(0, kMegabyte);
  drawing.Kernel(0, 4, {sum});
  const uint32_t late = drawing.Kernel(1, 5);
  const uint32_t other = drawing.Sum(1, kMegabyte, {late});
  drawing.Kernel(1, 3, {other});
  const SimulationResult result = RunDrawn(drawing);
  EXPECT_EQ(result.ranks[0].finish, Microseconds(24));
  EXPECT_EQ(result.ranks[0].exposed, TimePs(0));
  EXPECT_EQ(result.ranks[1].finish, Microseconds(18));
  EXPECT_EQ(result.ranks[1].exposed, Microseconds(10));
}

// A collective follows another of a different group while a kernel of 100 us
// runs: it does not wait for the kernel.
TEST(TraceSimulationTest, ACallWaitsForCallsOfOtherLanesAlone) {
  TraceDrawing drawing(2);
  drawing.Kernel(0, 100);
  const uint32_t sum = drawing.Sum(0, kMegabyte);
  drawing.Message(0, TraceNodeKind::kSend, 1, 7, kMegabyte, {sum});
  drawing.Sum(1, kMegabyte);
  const uint32_t got =
      drawing.Message(1, TraceNodeKind::kReceive, 0, 7, kMegabyte);
  drawing.Kernel(1, 1, {got});
  EXPECT_EQ(RunDrawn(drawing).ranks[1].finish, Microseconds(21));
}

// The CPU and copies have streams of their own; a kernel waits for the later.
TEST(TraceSimulationTest, HostAndCopiesRunBesideKernels) {
  TraceDrawing drawing(2);
  drawing.Kernel(0, 10);
  const uint32_t host = drawing.Timed(0, TraceNodeKind::kHost, 12);
  const uint32_t host2 = drawing.Timed(0, TraceNodeKind::kHost, 4);
  const uint32_t copy = drawing.Timed(0, TraceNodeKind::kMemory, 6, {host});
  drawing.Kernel(0, 1, {host2, copy});
  const SimulationResult result = RunDrawn(drawing);
  EXPECT_EQ(result.ranks[0].finish, Microseconds(19));
  EXPECT_EQ(result.ranks[0].held, Microseconds(8));
  EXPECT_EQ(result.ranks[0].compute, Microseconds(11));
}

// Describes the critical path of a result.
std::vector<std::string> PathOf(const SimulationResult& result) {
  std::vector<std::string> lines;
  for (const PathPiece& piece : CriticalPath(result)) {
    lines.push_back(fmt::format("{}-{} rank {} {}", ToMicroseconds(piece.begin),
                                ToMicroseconds(piece.end),
                                result.ranks[piece.rank].rank,
                                Name(piece.kind)));
  }
  return lines;
}

// The last kernel waits for the copy, which waits for work of the CPU.
TEST(TraceSimulationTest, TheCriticalPathGoesThroughHostAndCopies) {
  TraceDrawing drawing(1);
  drawing.Kernel(0, 10);
  const uint32_t host = drawing.Timed(0, TraceNodeKind::kHost, 12);
  const uint32_t copy = drawing.Timed(0, TraceNodeKind::kMemory, 6, {host});
  drawing.Kernel(0, 1, {copy});
  const SimulationResult result = RunDrawn(drawing);
  EXPECT_THAT(PathOf(result),
              ElementsAre("0-12 rank 0 host", "12-18 rank 0 host",
                          "18-19 rank 0 compute"));
  const std::vector<Span>& spans = result.timeline.ranks[0].spans;
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans[1].begin, Microseconds(10));
  EXPECT_EQ(spans[1].end, Microseconds(18));
  const std::vector<TimePart> parts = TimePartsOf(result.ranks[0], result);
  ASSERT_EQ(parts.size(), 2u);  // Kernels of one name.
  EXPECT_EQ(parts[1].category, TimeCategory::kHost);
  EXPECT_EQ(parts[1].time, Microseconds(8));
}

// Rank 1 waits for the message of rank 0, which waits for the sum.
TEST(TraceSimulationTest, TheCriticalPathGoesFromRankToRank) {
  TraceDrawing drawing(2);
  drawing.Kernel(0, 3);
  const uint32_t sum = drawing.Sum(0, kMegabyte, {0});
  drawing.Message(0, TraceNodeKind::kSend, 1, 7, kMegabyte, {sum});
  drawing.Sum(1, kMegabyte);
  const uint32_t got =
      drawing.Message(1, TraceNodeKind::kReceive, 0, 7, kMegabyte);
  drawing.Kernel(1, 1, {got});
  EXPECT_THAT(PathOf(RunDrawn(drawing)),
              ElementsAre("0-3 rank 0 compute", "3-13 rank 0 collective",
                          "13-23 rank 1 message", "23-24 rank 1 compute"));
}

// With an ideal network the kernels and the copy are left; without them the
// sum and the message, one after the other.
TEST(TraceSimulationTest, BoundsLeaveOutTheNetworkOrAllElse) {
  TraceDrawing drawing(2);
  drawing.Kernel(0, 3);
  const uint32_t sum = drawing.Sum(0, kMegabyte, {0});
  drawing.Message(0, TraceNodeKind::kSend, 1, 7, kMegabyte, {sum});
  drawing.Sum(1, kMegabyte);
  const uint32_t got =
      drawing.Message(1, TraceNodeKind::kReceive, 0, 7, kMegabyte);
  const uint32_t copy = drawing.Timed(1, TraceNodeKind::kMemory, 5, {got});
  drawing.Kernel(1, 1, {copy});
  const Topology topology = OneServer(2, "800Gbps", "0ns");
  Routes routes(topology);
  const Bounds bounds = ValueOrDie(TraceBounds(
      drawing.trace(), LanesOf(drawing.trace()), SimulationOptions(), routes,
      [&] { return std::make_unique<AnalyticalBackend>(routes); }));
  EXPECT_EQ(bounds.ideal_network, Microseconds(9));
  EXPECT_EQ(bounds.ideal_compute, Microseconds(20));
}

// A sum of 1 MB over two of three ranks is 1 MB each way on the links of both;
// the message is 3 MB on two links.
TEST(TraceSimulationTest, ClosedFormsLayWhatIsSentOnLinks) {
  TraceDrawing drawing(3);
  const ProcessGroupId two = drawing.AddGroup({0, 1});
  drawing.Sum(0, kMegabyte, {}, two);
  drawing.Sum(1, kMegabyte, {}, two);
  drawing.Message(1, TraceNodeKind::kSend, 2, 0, 3 * kMegabyte);
  drawing.Message(2, TraceNodeKind::kReceive, 1, 0, 3 * kMegabyte);
  const Topology topology = OneServer(3, "800Gbps", "0ns");
  const SimulationResult result =
      ValueOrDie(TryRun(drawing.trace(), topology, Lowering::kClosedForm));
  std::map<std::string, double> megabytes;
  for (uint32_t i = 0; i < result.link_bytes.size(); ++i) {
    if (result.link_bytes[i] == 0) continue;
    megabytes[topology.LinkName(LinkId(i))] = result.link_bytes[i] / kMegabyte;
  }
  EXPECT_THAT(megabytes, ElementsAre(Pair(HasSubstr("GPU 0 -> "), 1),
                                     Pair(HasSubstr("GPU 1 -> "), 4),
                                     Pair(HasSubstr(" -> GPU 0"), 1),
                                     Pair(HasSubstr(" -> GPU 1"), 1),
                                     Pair(HasSubstr(" -> GPU 2"), 3)));
}

// What takes no time passes on what it waits for.
TEST(TraceSimulationTest, MarksPassDependenciesOn) {
  TraceDrawing drawing(2);
  const uint32_t sum = drawing.Sum(0, kMegabyte);
  const uint32_t mark = drawing.Timed(0, TraceNodeKind::kMark, 0, {sum});
  drawing.Kernel(0, 2, {mark});
  drawing.Sum(1, kMegabyte);
  EXPECT_EQ(RunDrawn(drawing).ranks[0].finish, Microseconds(12));
}

// Rank 0 sums up before it sends, and rank 1 the other way round.
TEST(TraceSimulationTest, RanksThatWaitForOneAnotherAreNamed) {
  TraceDrawing drawing(2);
  const uint32_t sum = drawing.Sum(0, kMegabyte);
  drawing.Message(0, TraceNodeKind::kSend, 1, 0, 8, {sum});
  const uint32_t got = drawing.Message(1, TraceNodeKind::kReceive, 0, 0, 8);
  drawing.Sum(1, kMegabyte, {got});
  const absl::Status status =
      TryRun(drawing.trace(), OneServer(2, "800Gbps", "0ns"),
             Lowering::kFlowGraph)
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr("2 rank(s) wait; rank 0 waits since 0.000 us in layer n "
                "(fwd) for the all-reduce of 1000000B over DP, 2 ranks "
                "from rank 0, which lacks rank 1 to join; rank 1 waits "
                "since 0.000 us in layer n (fwd) for the send-recv of "
                "8B over PP, 2 ranks from rank 0, which lacks rank 0 "
                "to join"));
}

// Sums and messages in a random order on each rank, with kernels between them;
// a node depends on some of those before it.
TraceDrawing RandomTrace(uint32_t seed) {
  constexpr uint32_t kRanks = 3;
  constexpr uint32_t kExchanges = 5;
  std::mt19937 random(seed);
  TraceDrawing drawing(kRanks);
  drawing.AddGroup({0, 1});
  drawing.AddGroup({1, 2});
  std::vector<uint32_t> draws;
  for (uint32_t i = 0; i < kExchanges; ++i)
    draws.push_back(static_cast<uint32_t>(random() % 6));
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    std::vector<uint32_t> order(kExchanges);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    uint32_t num_nodes = 0;
    for (const uint32_t i : order) {
      std::vector<uint32_t> after;
      for (uint32_t node = 0; node < num_nodes; ++node) {
        if (random() % 4 == 0) after.push_back(node);
      }
      constexpr TraceNodeKind kKinds[] = {TraceNodeKind::kCompute,
                                          TraceNodeKind::kHost,
                                          TraceNodeKind::kMemory};
      for (const TraceNodeKind kind : kKinds) {
        if (random() % 4 != 0) continue;
        drawing.Timed(rank, kind, static_cast<int64_t>(1 + random() % 3),
                      std::exchange(after, {}));
        after.push_back(num_nodes++);
      }
      const uint32_t sender = draws[i] % kRanks;
      const uint32_t receiver = (sender + 1) % kRanks;
      if (draws[i] < kRanks) {
        const ProcessGroup& group = drawing.trace().groups[draws[i]];
        if (!std::binary_search(group.ranks.begin(), group.ranks.end(),
                                RankId(rank))) {
          continue;
        }
        drawing.Sum(rank, 8, after, ProcessGroupId(draws[i]));
      } else if (rank == sender) {
        drawing.Message(rank, TraceNodeKind::kSend, receiver, i, 8, after);
      } else if (rank == receiver) {
        drawing.Message(rank, TraceNodeKind::kReceive, sender, i, 8, after);
      } else {
        continue;
      }
      ++num_nodes;
    }
  }
  return drawing;
}

// The timeline of each rank, and the critical path, have no gaps.
void ExpectExplained(const SimulationResult& result) {
  for (size_t i = 0; i < result.ranks.size(); ++i) {
    TimePs end;
    for (const Span& span : result.timeline.ranks[i].spans) {
      ASSERT_EQ(span.begin, end);
      ASSERT_LT(span.begin, span.end);
      end = span.end;
    }
    ASSERT_EQ(end, result.ranks[i].finish);
    TimePs parts;
    for (const TimePart& part : TimePartsOf(result.ranks[i], result)) {
      parts += part.time;
    }
    ASSERT_EQ(parts, result.total());
  }
  TimePs end;
  for (const PathPiece& piece : CriticalPath(result)) {
    ASSERT_EQ(piece.begin, end);
    end = piece.end;
  }
  ASSERT_EQ(end, result.total());
}

TEST(TraceSimulationTest, ARunComesToItsEndExactlyIfTheCheckSaysSo) {
  int num_ended = 0;
  constexpr int kTraces = 400;
  for (uint32_t seed = 0; seed < kTraces; ++seed) {
    const TraceDrawing drawing = RandomTrace(seed);
    ASSERT_EQ(CheckRanksAgree(drawing.trace()), absl::OkStatus());
    const bool ends = CheckEnds(drawing.trace()).ok();
    for (const Lowering lowering :
         {Lowering::kClosedForm, Lowering::kFlowGraph}) {
      const auto result =
          TryRun(drawing.trace(), OneServer(3, "800Gbps", "0ns"), lowering);
      ASSERT_EQ(result.status().code(),
                ends ? absl::StatusCode::kOk : absl::StatusCode::kInternal)
          << "seed " << seed << ": " << result.status();
      if (ends) ExpectExplained(*result);
    }
    num_ended += static_cast<int>(ends);
  }
  EXPECT_GT(num_ended, kTraces / 10);
  EXPECT_LT(num_ended, kTraces * 9 / 10);
}

// Everything that results say of ranks, but for names.
void ExpectEqual(const SimulationResult& trace, const SimulationResult& whole) {
  EXPECT_EQ(trace.total(), whole.total());
  ASSERT_EQ(trace.ranks.size(), whole.ranks.size());
  for (size_t i = 0; i < trace.ranks.size(); ++i) {
    SCOPED_TRACE(fmt::format("rank {}", i));
    EXPECT_EQ(trace.ranks[i].finish, whole.ranks[i].finish);
    EXPECT_EQ(trace.ranks[i].compute, whole.ranks[i].compute);
    EXPECT_EQ(trace.ranks[i].slowed, whole.ranks[i].slowed);
    EXPECT_EQ(trace.ranks[i].exposed, whole.ranks[i].exposed);
  }
  EXPECT_EQ(trace.collectives.size(), whole.collectives.size());
}

SimulationResult RunProgram(const Program& program, const Topology& topology,
                            const SimulationOptions& options) {
  Routes routes(topology);
  return ValueOrDie(Simulate(program, options, routes, [&] {
    return std::make_unique<FlowBackend>(topology, FlowOptions());
  }));
}

SimulationResult RunTraceOf(const Program& program, const Topology& topology,
                            const SimulationOptions& options) {
  Routes routes(topology);
  const ExecutionTrace trace = ValueOrDie(TraceOf(program));
  EXPECT_EQ(CheckRanksAgree(trace), absl::OkStatus());
  return ValueOrDie(SimulateTrace(trace, LanesOf(trace), options, routes, [&] {
    return std::make_unique<FlowBackend>(topology, FlowOptions());
  }));
}

class TraceOfProgramTest : public ::testing::TestWithParam<PipelineCase> {};

TEST_P(TraceOfProgramTest, TakesAsLongAsTheProgram) {
  const Program program = PipelinedProgram(GetParam());
  const Topology topology =
      Star(static_cast<uint32_t>(program.sizes().num_ranks / 4), 4);
  SimulationOptions options;
  options.unroll = true;
  options.communication_slowdown = 0.1;
  options.lowering = Lowering::kFlowGraph;
  ExpectEqual(RunTraceOf(program, topology, options),
              RunProgram(program, topology, options));
  options.lowering = Lowering::kClosedForm;
  const SimulationResult trace = RunTraceOf(program, topology, options);
  const SimulationResult whole = RunProgram(program, topology, options);
  EXPECT_EQ(trace.total(), whole.total());
  EXPECT_THAT(trace.link_bytes,
              Pointwise(DoubleNear(1), whole.link_bytes));  // Of megabytes.
}

// In the middle of the iteration, which the program need not run in full.
TEST_P(TraceOfProgramTest, IsStoppedWithTheSameShareDone) {
  const Program program = PipelinedProgram(GetParam());
  const Topology topology =
      Star(static_cast<uint32_t>(program.sizes().num_ranks / 4), 4);
  Routes routes(topology);
  const NetworkFactory new_network = [&] {
    return std::make_unique<FlowBackend>(topology, FlowOptions());
  };
  const ExecutionTrace trace = ValueOrDie(TraceOf(program));
  for (const Lowering lowering :
       {Lowering::kClosedForm, Lowering::kFlowGraph}) {
    SimulationOptions options;
    options.lowering = lowering;
    options.stop_at =
        TimePs(RunProgram(program, topology, options).total().count() / 2);
    const absl::Status stopped =
        Simulate(program, options, routes, new_network).status();
    EXPECT_EQ(stopped.code(), absl::StatusCode::kAborted);
    EXPECT_EQ(SimulateTrace(trace, LanesOf(trace), options, routes, new_network)
                  .status(),
              stopped);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Schedules, TraceOfProgramTest,
    ::testing::Values(PipelineCase{ScheduleNamed("gpipe"), 3, 1, 4},
                      PipelineCase{ScheduleNamed("1f1b"), 4, 1, 8},
                      PipelineCase{ScheduleNamed("interleaved"), 2, 3, 8},
                      PipelineCase{ScheduleNamed("interleaved"), 4, 2, 8},
                      PipelineCase{ScheduleNamed("zb-h1"), 3, 1, 5},
                      PipelineCase{ScheduleNamed("zb-v"), 3, 2, 6},
                      PipelineCase{ScheduleNamed("dualpipe"), 4, 2, 8}),
    [](const auto& each) { return fmt::format("Case{}", each.index); });

}  // namespace
}  // namespace astra::testing
