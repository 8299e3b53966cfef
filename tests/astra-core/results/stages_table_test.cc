#include "astra-core/results/stages_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_split.h"
#include "fmt/core.h"
#include "tests/testing/matchers.h"
#include "tests/testing/schedules.h"

namespace astra {
namespace {

using ::astra::testing::ScheduleNamed;
using ::astra::testing::ValueOrDie;

std::vector<Step> Compute(int64_t us) {
  return {{.compute = TimePs(us * kPsPerUs)}};
}

// Two stages; chunk 0 has two blocks, chunk 1 a block and the head.
Program TwoChunks() {
  ProgramModule block{.name = "block",
                      .memory = {.weights = Bytes(100),
                                 .gradients = Bytes(200),
                                 .optimizer = Bytes(300),
                                 .saved = Bytes(10),
                                 .workspace = Bytes(3)}};
  block.passes = {Compute(10), Compute(2), Compute(7), Compute(5)};
  ProgramModule head{
      .name = "head, last",
      .memory = {
          .weights = Bytes(50), .saved = Bytes(4), .workspace = Bytes(8)}};
  head.passes[IndexOf(ModulePass::kForward)] = Compute(4);
  ProgramParts parts;
  parts.sizes = {
      .num_ranks = 2, .pipeline = 2, .virtual_stages = 2, .micro_batches = 2};
  parts.schedule = ScheduleNamed("interleaved");
  parts.modules = {block, head};
  parts.stages = {
      {.count = 2,
       .runs = {{.times = 2, .modules = {ModuleId(0)}, .chunk = 0},
                {.modules = {ModuleId(0), ModuleId(1)}, .chunk = 1}}}};
  return ValueOrDie(Program::Create(std::move(parts)));
}

TEST(StagesTableTest, HasALineForEachStageAndChunk) {
  const Program program = TwoChunks();
  const std::vector<StageMemory> memories = MemoryOf(program);
  const std::vector<std::string> lines =
      absl::StrSplit(StagesCsv(program, memories, {}), '\n');
  ASSERT_EQ(lines.size(), 8U);
  const StageMemory& memory = memories[0];
  EXPECT_EQ(lines[0].substr(0, 24), "stage,chunk,forward_us,r");
  // 3 blocks and the head. The parts of the peak add up to it.
  EXPECT_EQ(
      lines[1],
      fmt::format(
          "0,,34.000000,6.000000,36.000000,,350,600,900,0,34,8,"
          "{},{},{},{},\"head, last\",\"{}\"",
          memory.saved.count(), memory.workspace.count(),
          350 + 600 + 900 + memory.saved.count() + memory.workspace.count(),
          ReservedMemory(memory).count(), MomentOf(program, memory)));
  EXPECT_EQ(lines[2],
            "0,0,20.000000,4.000000,24.000000,,200,400,600,0,20,3,,,,,,");
  EXPECT_EQ(lines[3],
            "0,1,14.000000,2.000000,12.000000,,150,200,300,0,14,8,,,,,,");
}

// A rank computes from 0 to 10 us in two micro-batches, of which it waits 4 us.
TEST(StagesTableTest, WaitingIsTheAverageOfMicroBatches) {
  ProgramParts parts;
  parts.sizes = {.num_ranks = 1, .micro_batches = 2};
  parts.modules = {{.name = "block"}};
  parts.stages = {{.runs = {{.modules = {ModuleId(0)}}}}};
  const Program program = ValueOrDie(Program::Create(std::move(parts)));
  const auto us = [](int64_t time) { return TimePs(time * 1'000'000); };
  SimulationResult result;
  result.ranks = {{.stage = 0}};
  result.collectives.resize(2);
  result.collectives[0].communication.dimension = ParallelDimension::kTensor;
  result.collectives[1].communication.dimension = ParallelDimension::kPipeline;
  RankTimeline timeline;
  timeline.calls = {{.record = 0}, {.record = 1}};
  timeline.spans = {
      {.begin = us(0), .end = us(3), .chunk = 0, .micro_batch = 0},
      {.begin = us(3), .end = us(7), .chunk = 0, .micro_batch = 0, .call = 0},
      {.begin = us(7), .end = us(8), .chunk = 0, .micro_batch = 1, .call = 1},
      {.begin = us(8), .end = us(10), .chunk = 0, .micro_batch = 1}};
  result.timeline.ranks = {timeline};
  const std::vector<std::string> lines =
      absl::StrSplit(StagesCsv(program, {}, result), '\n');
  EXPECT_EQ(lines[1],
            "0,,0.000000,0.000000,0.000000,2.000000,0,0,0,0,0,0,,,,,,");
}

}  // namespace
}  // namespace astra
