#include "workload/memory_events.h"

#include <map>
#include <string>
#include <vector>

#include "fmt/core.h"
#include "tests/testing/matchers.h"
#include "tests/testing/schedules.h"
#include "workload/memory_timeline.h"

namespace astra {
namespace {

using ::astra::testing::ScheduleNamed;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

ProgramModule Module(const std::string& name, const ModuleMemory& memory) {
  ProgramModule module;
  module.name = name;
  module.memory = memory;
  module.passes[IndexOf(ModulePass::kForward)] = {{.compute = TimePs(10)}};
  module.passes[IndexOf(ModulePass::kRecompute)] = {{.compute = TimePs(10)}};
  module.passes[IndexOf(ModulePass::kInputGradient)] = {{.compute = TimePs(5)}};
  module.passes[IndexOf(ModulePass::kWeightGradient)] = {
      {.compute = TimePs(5)}};
  return module;
}

Program ProgramOf(int64_t stages, int64_t chunks, int64_t micro_batches,
                  PipelineSchedule schedule) {
  ProgramParts parts;
  parts.sizes = {.num_ranks = stages,
                 .pipeline = stages,
                 .virtual_stages = chunks,
                 .micro_batches = micro_batches};
  parts.schedule = schedule;
  parts.modules = {Module("block", {.weights = Bytes(100),
                                    .saved = Bytes(10),
                                    .workspace = Bytes(3)}),
                   Module("head", {.weights = Bytes(50), .saved = Bytes(4)})};
  ProgramModule optimizer;
  optimizer.name = "optimizer";
  optimizer.memory.workspace = Bytes(7);
  parts.modules.push_back(optimizer);
  ProgramStage stage{.count = stages, .after = {ModuleId(2)}};
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    stage.runs.push_back(
        {.times = 2, .modules = {ModuleId(0)}, .chunk = chunk});
    stage.runs.push_back({.modules = {ModuleId(1)}, .chunk = chunk});
  }
  parts.stages = {stage};
  return ValueOrDie(Program::Create(std::move(parts)));
}

TEST(MemoryEventsTest, ListsAMicroBatchModuleByModule) {
  const Program program = ProgramOf(1, 1, 1, ScheduleNamed("1f1b"));
  std::vector<std::string> lines;
  for (const MemoryEvent& event :
       MemoryEventsOf(program, 0, 1, /*most=*/1000).events) {
    lines.push_back(
        fmt::format("{}{} {} {} {} at {}", event.is_release ? '-' : '+',
                    event.block, program.module(event.module).name,
                    Name(event.use), event.bytes.count(), event.computed));
  }
  // A backward pass of a module has 3 computations.
  EXPECT_THAT(
      lines,
      ElementsAre("+0 block weights 200 at 0", "+1 head weights 50 at 0",
                  "+2 block saved 10 at 0", "+3 block workspace 3 at 0",
                  "-3 block workspace 3 at 1", "+4 block saved 10 at 1",
                  "+5 block workspace 3 at 1", "-5 block workspace 3 at 2",
                  "+6 head saved 4 at 2", "-6 head saved 4 at 6",
                  "+7 block workspace 3 at 6", "-7 block workspace 3 at 9",
                  "-4 block saved 10 at 9", "+8 block workspace 3 at 9",
                  "-8 block workspace 3 at 12", "-2 block saved 10 at 12",
                  "+9 optimizer workspace 7 at 0",
                  "-9 optimizer workspace 7 at 0"));
}

TEST(MemoryEventsTest, LiveBlocksRiseToThePeakInEverySchedule) {
  for (const PipelineSchedule schedule : PipelineSchedules()) {
    SCOPED_TRACE(Name(schedule));
    const int64_t chunks = schedule->chunks > 0 ? schedule->chunks : 2;
    const Program program = ProgramOf(4, chunks, 16, schedule);
    const std::vector<StageMemory> memories = MemoryOf(program);
    for (int64_t stage = 0; stage < 4; ++stage) {
      int64_t live = 0;
      int64_t peak = 0;
      std::map<size_t, int64_t> blocks;
      for (const MemoryEvent& event :
           MemoryEventsOf(program, stage, 16, 100'000).events) {
        const int64_t bytes = event.bytes.count();
        if (event.is_release) {
          ASSERT_EQ(blocks.count(event.block), 1U);
          EXPECT_EQ(blocks[event.block], bytes);
          blocks.erase(event.block);
          live -= bytes;
        } else {
          EXPECT_TRUE(blocks.emplace(event.block, bytes).second);
          live += bytes;
        }
        peak = std::max(peak, live);
      }
      const StageMemory& memory = memories[static_cast<size_t>(stage)];
      EXPECT_EQ(Bytes(peak), memory.peak());
      EXPECT_EQ(Bytes(live), memory.fixed());
    }
  }
}

TEST(MemoryEventsTest, CountsWhatIsBeyondTheLimit) {
  const Program program = ProgramOf(1, 1, 1, ScheduleNamed("1f1b"));
  const MemoryEvents some = MemoryEventsOf(program, 0, 1, /*most=*/5);
  EXPECT_EQ(some.events.size(), 5U);
  EXPECT_EQ(some.left_out, 13U);
}

}  // namespace
}  // namespace astra
