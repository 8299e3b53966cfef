#include "workload/generator/timed_program.h"

#include "tests/testing/matchers.h"
#include "tests/testing/schedules.h"
#include "tests/testing/small_models.h"
#include "workload/generator/explain.h"
#include "workload/generator/inference.h"
#include "workload/generator/training.h"

namespace astra {
namespace {

using ::astra::testing::FixedTime;
using ::astra::testing::ScheduleNamed;
using ::astra::testing::SmallLlama;
using ::astra::testing::SmallMoe;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ParallelDimension kTensor = ParallelDimension::kTensor;

Step Computes(int64_t nanoseconds) {
  return {.compute = Nanoseconds(nanoseconds)};
}

Step Communicates(StepKind kind, CollectiveKind collective, int64_t bytes) {
  return {.kind = kind, .communication = {collective, kTensor, Bytes(bytes)}};
}

// TP 2, two sequences of 32 positions: hidden states of 8192 B.
TrainingSetup SmallSetup() {
  TrainingSetup setup;
  setup.world_size = 4;
  setup.tensor = 2;
  setup.micro_batch = 2;
  setup.global_batch = 8;
  setup.positions = 32;
  return setup;
}

TEST(TimedProgramTest, SuccessiveOperatorsAreOneComputation) {
  const FixedTime time;
  const Program program = ValueOrDie(
      TimeProgram(ValueOrDie(TrainingBlueprint(SmallLlama(), SmallSetup())),
                  ModuleTimes(time)));
  const ProgramModule& column = program.module(ModuleId(1));
  EXPECT_EQ(column.name, "attention_column");
  // The norm, the product and the rotation; then the sum of the gradient runs
  // behind the weight gradient.
  EXPECT_THAT(column.passes[IndexOf(ModulePass::kForward)],
              ElementsAre(Computes(3)));
  EXPECT_THAT(column.passes[IndexOf(ModulePass::kRecompute)], IsEmpty());
  EXPECT_THAT(
      column.passes[IndexOf(ModulePass::kInputGradient)],
      ElementsAre(Computes(3), Communicates(StepKind::kLaunch,
                                            CollectiveKind::kAllReduce, 8192)));
  EXPECT_THAT(
      column.passes[IndexOf(ModulePass::kWeightGradient)],
      ElementsAre(Computes(1), Communicates(StepKind::kWait,
                                            CollectiveKind::kAllReduce, 0)));
  // The residual stands alone behind the all-reduce.
  const ProgramModule& row = program.module(ModuleId(2));
  EXPECT_EQ(row.name, "attention_row");
  EXPECT_THAT(row.passes[IndexOf(ModulePass::kForward)],
              ElementsAre(Computes(2),
                          Communicates(StepKind::kBlocking,
                                       CollectiveKind::kAllReduce, 8192),
                          Computes(1)));
}

TEST(TimedProgramTest, KeepsTheRoutingOfModelsWithExperts) {
  const FixedTime time;
  const auto routing_of = [&](const absl::StatusOr<Blueprint>& blueprint) {
    return ValueOrDie(TimeProgram(ValueOrDie(blueprint), ModuleTimes(time)))
        .routing();
  };
  ModelSpec model = SmallMoe();
  model.experts->groups = 4;
  model.experts->top_groups = 2;
  // A token of 64 elements has 2 B of each, both ways.
  const ExpertRouting routing = {.experts = 8,
                                 .top_k = 2,
                                 .groups = 4,
                                 .top_groups = 2,
                                 .dispatch_bytes = 128,
                                 .combine_bytes = 128};
  TrainingSetup setup = SmallSetup();
  setup.sequence_parallel = true;
  EXPECT_EQ(routing_of(TrainingBlueprint(model, setup)), routing);
  EXPECT_EQ(routing_of(InferenceBlueprint(model, {})), routing);
  EXPECT_EQ(routing_of(TrainingBlueprint(SmallLlama(), setup)), std::nullopt);
}

TEST(TimedProgramTest, KeepsStagesAndSizes) {
  const FixedTime time;
  TrainingSetup setup = SmallSetup();
  setup.pipeline = 2;
  setup.overlap_gradients = true;
  setup.tensor = 1;
  const Blueprint blueprint =
      ValueOrDie(TrainingBlueprint(SmallLlama(), setup));
  const Program program = ValueOrDie(TimeProgram(blueprint, ModuleTimes(time)));
  EXPECT_EQ(program.sizes().pipeline, 2);
  EXPECT_EQ(program.sizes().micro_batches, 2);
  EXPECT_EQ(program.pipeline_message(), Bytes(8192));
  EXPECT_FALSE(program.forward_only());
  ASSERT_EQ(program.stages().size(), 2);
  EXPECT_EQ(program.stages()[0], blueprint.stages[0]);
  EXPECT_EQ(program.module(ModuleId(0)).name, "embedding_begin");
  const auto& reduced =
      program.module(ModuleId(0)).passes[IndexOf(ModulePass::kWeightGradient)];
  ASSERT_EQ(reduced.size(), 1);
  EXPECT_EQ(reduced[0].when, StepWhen::kLast);
}

TEST(TimedProgramTest, SaysScheduleGpuAndWork) {
  const FixedTime time;
  TrainingSetup setup = SmallSetup();
  setup.tensor = 1;
  setup.pipeline = 2;
  setup.schedule = ScheduleNamed("zb-v");
  GpuSpec gpu;
  gpu.memory_gb = 80;
  gpu.peak_tflops = {60, 989.4, 1979};
  gpu.calibration.communication_slowdown = 0.125;
  const Program program = ValueOrDie(
      TimeProgram(ValueOrDie(TrainingBlueprint(SmallLlama(), setup)),
                  ModuleTimes(time), ProgramGpuOf(gpu, Precision::kBf16),
                  WorkOfTraining(SmallLlama(), setup)));
  EXPECT_EQ(program.schedule(), ScheduleNamed("zb-v"));
  EXPECT_EQ(program.sizes().virtual_stages, 2);
  EXPECT_EQ(program.stage(0).runs.back().chunk, 1);
  EXPECT_EQ(program.gpu(), (ProgramGpu{.memory = Bytes(85'899'345'920),
                                       .peak_tflops = 989.4,
                                       .communication_slowdown = 0.125}));
  EXPECT_EQ(program.work().tokens, 8 * 32);
  EXPECT_GT(program.work().model_flops, 0);
}

TEST(TimedProgramTest, InferenceIsForwardOnly) {
  const FixedTime time;
  InferenceSetup setup;
  setup.positions = 32;
  const Program program = ValueOrDie(TimeProgram(
      ValueOrDie(InferenceBlueprint(SmallLlama(), setup)), ModuleTimes(time)));
  EXPECT_TRUE(program.forward_only());
  EXPECT_EQ(program.modules().size(), 6);
}

}  // namespace
}  // namespace astra
