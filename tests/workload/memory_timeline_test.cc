#include "workload/memory_timeline.h"

#include <string>
#include <vector>

#include "tests/testing/matchers.h"
#include "tests/testing/schedules.h"

namespace astra {
namespace {

using ::astra::testing::ScheduleNamed;
using ::astra::testing::ValueOrDie;

ProgramModule Module(const std::string& name, const ModuleMemory& memory) {
  ProgramModule module;
  module.name = name;
  module.memory = memory;
  return module;
}

// Each of `stages` stages has twice "block", which keeps 10, and once "last",
// which keeps 5. A micro-batch keeps 25 and is at 20 + 1 or 25 + 7.
ProgramParts PipelineOf(int64_t stages, int64_t micro_batches,
                        PipelineSchedule schedule = ScheduleNamed("1f1b")) {
  ProgramParts parts;
  parts.sizes = {
      .num_ranks = stages, .pipeline = stages, .micro_batches = micro_batches};
  parts.schedule = schedule;
  parts.modules = {Module("block", {.weights = Bytes(100),
                                    .gradients = Bytes(200),
                                    .optimizer = Bytes(600),
                                    .saved = Bytes(10),
                                    .workspace = Bytes(1)}),
                   Module("last", {.weights = Bytes(1000),
                                   .saved = Bytes(5),
                                   .workspace = Bytes(7)})};
  parts.stages = {{.count = stages,
                   .runs = {{.times = 2, .modules = {ModuleId(0)}},
                            {.modules = {ModuleId(1)}}}}};
  return parts;
}
constexpr int64_t kFixed = 2 * (100 + 200 + 600) + 1000;

std::vector<StageMemory> MemoryOfParts(ProgramParts parts) {
  return MemoryOf(ValueOrDie(Program::Create(std::move(parts))));
}

std::vector<int64_t> InFlight(ProgramParts parts) {
  std::vector<int64_t> counts;
  for (const StageMemory& memory : MemoryOfParts(std::move(parts))) {
    counts.push_back(memory.in_flight);
    EXPECT_EQ(memory.peak(),
              Bytes(kFixed + (memory.in_flight - 1) * 25 + 25 + 7));
  }
  return counts;
}

TEST(MemoryTimelineTest, SumsWhatIsThereAllTheTime) {
  const StageMemory memory = MemoryOfParts(PipelineOf(1, 1)).at(0);
  EXPECT_EQ(memory.weights, Bytes(2 * 100 + 1000));
  EXPECT_EQ(memory.gradients, Bytes(2 * 200));
  EXPECT_EQ(memory.optimizer, Bytes(2 * 600));
  EXPECT_EQ(memory.fixed(), Bytes(kFixed));
}

TEST(MemoryTimelineTest, FindsTheModuleAndWhatIsThereThen) {
  ProgramParts parts = PipelineOf(1, 3);
  StageMemory memory = MemoryOfParts(parts).at(0);
  EXPECT_EQ(memory.slot, (Slot{SlotKind::kBackward, 0, 0}));
  EXPECT_EQ(memory.module, ModuleId(1));
  EXPECT_EQ(memory.saved, Bytes(25));
  EXPECT_EQ(memory.workspace, Bytes(7));
  // Above 25 + 7 once the last module has gone back, of which 5 are released.
  parts.modules[0].memory.workspace = Bytes(13);
  memory = MemoryOfParts(parts).at(0);
  EXPECT_EQ(memory.module, ModuleId(0));
  EXPECT_EQ(memory.saved, Bytes(20));
  EXPECT_EQ(memory.workspace, Bytes(13));
}

TEST(MemoryTimelineTest, In1F1BAStageKeepsAsManyAsThereAreStagesFromItOn) {
  EXPECT_EQ(InFlight(PipelineOf(4, 8)), (std::vector<int64_t>{4, 3, 2, 1}));
  EXPECT_EQ(InFlight(PipelineOf(4, 2)), (std::vector<int64_t>{2, 2, 2, 1}));
}

TEST(MemoryTimelineTest, InGPipeAStageKeepsAll) {
  EXPECT_EQ(InFlight(PipelineOf(3, 50, ScheduleNamed("gpipe"))),
            (std::vector<int64_t>{50, 50, 50}));
}

// Zero bubble releases with the gradient of the weights: no stage is above the
// first one of 1F1B.
TEST(MemoryTimelineTest, InZbH1AStageKeepsAsManyAsThereAreStages) {
  EXPECT_EQ(InFlight(PipelineOf(4, 12, ScheduleNamed("zb-h1"))),
            (std::vector<int64_t>{4, 4, 4, 4}));
}

// The gradient of the input alone releases nothing on its way.
TEST(MemoryTimelineTest, TheInputGradientKeepsAll) {
  ProgramParts parts = PipelineOf(2, 4, ScheduleNamed("zb-h1"));
  parts.modules[0].memory.workspace = Bytes(13);
  const auto memories = MemoryOfParts(parts);
  for (const MemoryPoint& point : memories.at(1).points) {
    const int64_t others = (point.in_flight - 1) * 25;
    const bool is_split = point.slot.kind == SlotKind::kInputGradient;
    EXPECT_EQ(point.bytes, Bytes(kFixed + others + (is_split ? 25 : 20) + 13));
  }
}

// Two stages, two chunks that keep 10 and 3. Stage 0 runs forward 0.0 0.1 1.0
// 1.1 0.2 (chunk.micro-batch), back 1.0, forward 0.3, and is at 4 x 10 + 3 when
// it goes back in 1.1. Stage 1 runs forward 0.0 0.1 1.0, back 1.0, the same for
// 1.1, forward 0.2, and is at 3 x 10 when it goes back in 0.0.
TEST(MemoryTimelineTest, InterleavedByHand) {
  ProgramParts parts = PipelineOf(2, 4, ScheduleNamed("interleaved"));
  parts.sizes.virtual_stages = 2;
  parts.modules = {Module("first", {.saved = Bytes(10)}),
                   Module("second", {.saved = Bytes(3)})};
  parts.stages = {{.count = 2,
                   .runs = {{.modules = {ModuleId(0)}, .chunk = 0},
                            {.modules = {ModuleId(1)}, .chunk = 1}}}};
  const std::vector<StageMemory> memories = MemoryOfParts(parts);
  EXPECT_EQ(memories.at(0).peak(), Bytes(43));
  EXPECT_EQ(memories.at(0).in_flight, 5);
  EXPECT_EQ(memories.at(0).slot, (Slot{SlotKind::kBackward, 1, 1}));
  EXPECT_EQ(memories.at(1).peak(), Bytes(30));
  EXPECT_EQ(memories.at(1).in_flight, 3);
  EXPECT_EQ(memories.at(1).slot, (Slot{SlotKind::kBackward, 0, 0}));
}

// Stage 0 of two runs F0 F2' F1 B2' (F3' B0) B3' I1 W1. Before F3' and
// in B0, three micro-batches keep 10 each, with F3' four. Beside each slot of
// the pair, the other one waits in the dispatch, whose workspace is 7.
TEST(MemoryTimelineTest, SlotsSideBySideKeepTheWorkspaceOfTheOneThatWaits) {
  ProgramParts parts = PipelineOf(2, 4, ScheduleNamed("dualpipe"));
  parts.sizes = {.num_ranks = 4,
                 .expert = 2,
                 .pipeline = 2,
                 .virtual_stages = 2,
                 .micro_batches = 4};
  parts.modules = {
      Module("attention", {.saved = Bytes(10), .workspace = Bytes(9)}),
      Module("dispatch", {.workspace = Bytes(7)})};
  const std::vector<ModuleId> modules = {ModuleId(0), ModuleId(1)};
  parts.stages = {{.count = 2,
                   .runs = {{.modules = modules, .chunk = 0},
                            {.modules = modules, .chunk = 1}}}};
  const auto bytes_of = [&](StepKind kind) {
    parts.modules[1].passes[IndexOf(ModulePass::kForward)] = {
        {.kind = kind,
         .communication = {CollectiveKind::kDispatch,
                           ParallelDimension::kExpert, Bytes(1)}}};
    const std::vector<StageMemory> memories = MemoryOfParts(parts);
    std::vector<int64_t> bytes;
    for (const MemoryPoint& point : memories.at(0).points) {
      bytes.push_back(point.bytes.count());
    }
    return bytes;
  };
  // A launch lets nothing wait.
  EXPECT_EQ(bytes_of(StepKind::kLaunch),
            (std::vector<int64_t>{19, 29, 39, 39, 39, 39, 29, 19, 19}));
  EXPECT_EQ(bytes_of(StepKind::kBlocking),
            (std::vector<int64_t>{19, 29, 39, 39, 46, 46, 29, 19, 19}));
}

TEST(MemoryTimelineTest, ASteadyStateIsNotRepeated) {
  for (const PipelineSchedule schedule :
       {ScheduleNamed("1f1b"), ScheduleNamed("zb-h1")}) {
    const std::vector<StageMemory> few =
        MemoryOfParts(PipelineOf(4, 24, schedule));
    const std::vector<StageMemory> many =
        MemoryOfParts(PipelineOf(4, 5000, schedule));
    for (size_t i = 0; i < few.size(); ++i) {
      EXPECT_EQ(many.at(i).peak(), few.at(i).peak());
      EXPECT_LT(many.at(i).points.size(), 100);
    }
  }
}

TEST(MemoryTimelineTest, TheOptimizerCounts) {
  ProgramParts parts = PipelineOf(1, 1);
  parts.modules.push_back(Module("optimizer", {.workspace = Bytes(32)}));
  parts.stages[0].after = {ModuleId(2)};
  // As high as the micro-batch, which counts.
  StageMemory memory = MemoryOfParts(parts).at(0);
  EXPECT_TRUE(memory.slot.has_value());
  EXPECT_EQ(memory.after, Bytes(kFixed + 32));
  parts.modules[2].memory.workspace = Bytes(33);
  memory = MemoryOfParts(parts).at(0);
  EXPECT_FALSE(memory.slot.has_value());
  EXPECT_EQ(memory.module, ModuleId(2));
  EXPECT_EQ(memory.in_flight, 0);
  EXPECT_EQ(memory.saved, Bytes(0));
  EXPECT_EQ(memory.peak(), Bytes(kFixed + 33));
}

TEST(MemoryTimelineTest, InferenceKeepsNothing) {
  ProgramParts parts = PipelineOf(2, 4);
  parts.forward_only = true;
  EXPECT_EQ(InFlight(parts), (std::vector<int64_t>{1, 1}));
}

// The optimizer finds no room in what the micro-batches needed.
TEST(MemoryTimelineTest, ReservesForTheOptimizerAnew) {
  ProgramParts parts = PipelineOf(1, 1);
  parts.modules = {Module("block", {.weights = Bytes(900),
                                    .saved = Bytes(30),
                                    .workspace = Bytes(10)}),
                   Module("optimizer", {.workspace = Bytes(7)})};
  parts.stages = {
      {.runs = {{.modules = {ModuleId(0)}}}, .after = {ModuleId(1)}}};
  EXPECT_EQ(ReservedMemory(MemoryOfParts(parts).at(0)), Bytes(1000 + 7));
}

TEST(MemoryTimelineTest, DescribesEachStage) {
  constexpr int64_t kGiB = int64_t{1} << 30;
  ProgramParts parts = PipelineOf(2, 4);
  parts.gpu.memory = Bytes(80'000'000'000);
  parts.modules = {Module("block", {.weights = Bytes(10 * kGiB),
                                    .gradients = Bytes(20 * kGiB),
                                    .optimizer = Bytes(15 * kGiB),
                                    .saved = Bytes(16 * kGiB),
                                    .workspace = Bytes(kGiB / 2)})};
  parts.stages = {{.count = 2, .runs = {{.modules = {ModuleId(0)}}}}};
  const Program program = ValueOrDie(Program::Create(parts));
  EXPECT_EQ(
      DescribeMemory(program, MemoryOf(program)),
      "memory of a rank in GiB: allocated for tensors, and reserved by "
      "PyTorch\n"
      "  stage  weights gradients optimizer    saved workspace allocated "
      "reserved "
      " at the peak\n"
      "      0    10.00     20.00     15.00    32.00      0.50     77.50    "
      "82.45 "
      " backward of micro-batch 0, block, 2 in flight\n"
      "      1    10.00     20.00     15.00    16.00      0.50     61.50    "
      "65.43 "
      " backward of micro-batch 0, block, 1 in flight\n");
  EXPECT_EQ(DescribeExcess(program, MemoryOf(program)),
            "stage 0 allocates 77.5 GiB, more than the GPU's 74.5 GiB");
  parts.gpu.memory = Bytes(0);  // Not known.
  const Program unknown = ValueOrDie(Program::Create(parts));
  EXPECT_EQ(DescribeExcess(unknown, MemoryOf(unknown)), "");
}

// The cache is there while every module runs, also the first.
TEST(MemoryTimelineTest, InferenceKeepsTheCacheAllTheTime) {
  constexpr int64_t kGiB = int64_t{1} << 30;
  ProgramParts parts;
  parts.sizes = {.num_ranks = 1};
  parts.forward_only = true;
  parts.modules = {
      Module("first", {.weights = Bytes(10 * kGiB),
                       .workspace = Bytes(2 * kGiB),
                       .cache = Bytes(3 * kGiB)}),
      Module("last", {.workspace = Bytes(kGiB), .cache = Bytes(kGiB)})};
  parts.stages = {{.runs = {{.modules = {ModuleId(0), ModuleId(1)}}}}};
  const Program program = ValueOrDie(Program::Create(parts));
  EXPECT_EQ(
      DescribeMemory(program, MemoryOf(program)),
      "memory of a rank in GiB, with the KV cache of the step's sequences\n"
      "  stage  weights  KV cache workspace allocated  at the peak\n"
      "      0    10.00      4.00      2.00     16.00  first\n");
}

}  // namespace
}  // namespace astra
