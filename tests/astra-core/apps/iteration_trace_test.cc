#include "astra-core/apps/iteration_trace.h"

#include <map>
#include <set>
#include <string>

#include "nlohmann/json.hpp"
#include "tests/astra-core/engine/pipelined_runs.h"

namespace astra {
namespace {

using ::astra::testing::PipelinedProgram;
using ::astra::testing::RunWithTimeline;
using Json = nlohmann::json;

// The events of a kind.
std::vector<Json> Events(const Json& trace, const std::string& kind) {
  std::vector<Json> events;
  for (const Json& event : trace.at("traceEvents")) {
    if (event.at("ph") == kind) events.push_back(event);
  }
  return events;
}

SimulationResult RunStages(int stages, int micro_batches) {
  return RunWithTimeline(PipelinedProgram(
      {.stages = stages, .chunks = 1, .micro_batches = micro_batches}));
}

TEST(IterationTraceTest, ComputationsAndWaitsFillTheTimeOfARank) {
  const SimulationResult result = RunStages(3, 4);
  const Json trace = Json::parse(IterationTrace(result));
  std::map<int, double> sums;
  for (const Json& slice : Events(trace, "X")) {
    if (slice.at("tid") != 0) continue;
    sums[slice.at("pid")] += slice.at("dur").get<double>();
    if (slice.at("name") == "wait") {
      EXPECT_EQ(slice.at("cname"), "grey");
      EXPECT_TRUE(slice.at("args").contains("for"));
    }
  }
  ASSERT_EQ(sums.size(), result.ranks.size());
  for (size_t i = 0; i < result.ranks.size(); ++i) {
    EXPECT_NEAR(sums[static_cast<int>(i)],
                ToMicroseconds(result.ranks[i].finish), 1e-6);
  }
  EXPECT_EQ(trace.at("otherData").at("slices left out"), 0);
}

// Whether a slice of the event's track encloses it.
bool IsOnASlice(const Json& event, const std::vector<Json>& slices) {
  for (const Json& slice : slices) {
    const double begin = slice.at("ts").get<double>();
    const double end = begin + slice.at("dur").get<double>();
    if (slice.at("pid") == event.at("pid") &&
        slice.at("tid") == event.at("tid") && event.at("ts") >= begin &&
        event.at("ts") <= end) {
      return true;
    }
  }
  return false;
}

TEST(IterationTraceTest, AnArrowJoinsEachSendToItsReceive) {
  const Json trace = Json::parse(IterationTrace(RunStages(3, 4)));
  const std::vector<Json> slices = Events(trace, "X");
  const std::vector<Json> begins = Events(trace, "s");
  const std::vector<Json> ends = Events(trace, "f");
  // Between two pairs of stages, four micro-batches, both ways.
  ASSERT_EQ(begins.size(), 2u * 4 * 2);
  ASSERT_EQ(ends.size(), begins.size());
  for (size_t i = 0; i < begins.size(); ++i) {
    EXPECT_EQ(begins[i].at("id"), ends[i].at("id"));
    EXPECT_NE(begins[i].at("pid"), ends[i].at("pid"));
    EXPECT_TRUE(IsOnASlice(begins[i], slices));
    EXPECT_TRUE(IsOnASlice(ends[i], slices));
  }
}

TEST(IterationTraceTest, MarksWhatWasCountedAndNotRun) {
  const SimulationResult result = RunStages(2, 500);
  ASSERT_TRUE(result.timeline.skipped.has_value());
  const Json trace = Json::parse(IterationTrace(result));
  EXPECT_EQ(Events(trace, "i").size(), result.ranks.size());
  EXPECT_THAT(
      trace.at("otherData").at("repetitions left out").get<std::string>(),
      ::testing::StartsWith(
          fmt::format("{} more of ", result.timeline.skipped->times)));

  // What is shown and what is left out make the whole.
  const std::string line = DescribeSkipped(result);
  double end = 0, total = 0, period = 0;
  int64_t times = 0;
  ASSERT_EQ(std::sscanf(line.c_str(),
                        "trace ends at %lf of %lf ms: %ld repetitions of %lf "
                        "ms are left out; --unroll has them",
                        &end, &total, &times, &period),
            4)
      << line;
  EXPECT_NEAR(total, ToMicroseconds(result.total()) * 1e-3, 1e-3);
  EXPECT_NEAR(end + static_cast<double>(times) * period, total,
              1e-3 * static_cast<double>(times));
  EXPECT_EQ(DescribeSkipped(RunStages(3, 4)), "");
}

TEST(IterationTraceTest, ShowsSomeRanksOfAllStagesUntilTheSameTime) {
  SimulationOptions options;
  options.lowering = Lowering::kFlowGraph;  // 24 ranks, each by itself.
  const SimulationResult result = RunWithTimeline(
      PipelinedProgram({.stages = 6, .chunks = 1, .micro_batches = 8}),
      options);
  const Json trace =
      Json::parse(IterationTrace(result, {.max_ranks = 12, .max_slices = 300}));
  std::set<int> processes;
  std::map<uint32_t, int> ranks_of_stage;
  double last = 0;
  for (const Json& slice : Events(trace, "X")) {
    last = std::max(last, slice.at("ts").get<double>());
    const int process = slice.at("pid");
    if (!processes.insert(process).second) continue;
    ++ranks_of_stage[result.ranks[static_cast<size_t>(process)].stage];
  }
  for (uint32_t stage = 0; stage < 3; ++stage) {
    EXPECT_EQ(ranks_of_stage[stage], 2);
  }
  EXPECT_LE(Events(trace, "X").size(), 300u);
  EXPECT_GT(Events(trace, "X").size(), 200u);
  const Json& remarks = trace.at("otherData");
  EXPECT_EQ(remarks.at("ranks"), "12 of 24 classes, up to rank 23");
  EXPECT_GT(remarks.at("slices left out"), 0);
  EXPECT_LT(last, std::stod(remarks.at("shown until").get<std::string>()));
}

}  // namespace
}  // namespace astra
