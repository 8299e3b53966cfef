#include "workload/program.h"

#include <string>
#include <vector>

#include "tests/testing/matchers.h"
#include "workload/pipeline/schedule.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

constexpr size_t kForward = IndexOf(ModulePass::kForward);

Step Compute(int64_t us) {
  return {.kind = StepKind::kCompute, .compute = Microseconds(us)};
}

Step Blocking(ParallelDimension dimension, int64_t bytes,
              CollectiveKind kind = CollectiveKind::kAllReduce) {
  return {.kind = StepKind::kBlocking,
          .communication = {kind, dimension, Bytes(bytes)}};
}

// One module on one GPU.
ProgramParts SmallParts() {
  ProgramParts parts;
  parts.modules.resize(1);
  parts.modules[0].name = "mlp";
  parts.modules[0].passes[kForward] = {Compute(1)};
  parts.stages = {{.runs = {{.modules = {ModuleId(0)}}}}};
  return parts;
}

void ExpectRefused(ProgramParts parts, const std::string& message) {
  EXPECT_THAT(Program::Create(std::move(parts)),
              StatusIs(absl::StatusCode::kInvalidArgument, message));
}

TEST(ProgramTest, KeepsItsParts) {
  ProgramParts parts = SmallParts();
  parts.pipeline_message = Bytes(3);
  parts.sizes.micro_batches = 32768;
  const Program program = ValueOrDie(Program::Create(parts));
  EXPECT_EQ(program.pipeline_message(), Bytes(3));
  EXPECT_EQ(program.sizes().micro_batches, 32768);
  EXPECT_EQ(program.module(ModuleId(0)), parts.modules[0]);
  EXPECT_EQ(program.stages()[0], parts.stages[0]);
  EXPECT_FALSE(program.forward_only());
}

TEST(ProgramTest, TheSizeOfEtpIsThatOfTpUnlessGiven) {
  ProgramParts parts = SmallParts();
  parts.sizes = {.num_ranks = 8, .tensor = 4};
  EXPECT_EQ(ValueOrDie(Program::Create(parts)).sizes().expert_tensor, 4);
  parts.sizes.expert_tensor = 1;
  EXPECT_EQ(ValueOrDie(Program::Create(parts)).sizes().expert_tensor, 1);
}

TEST(ProgramTest, ForgetsWhatHasNoMeaningForAStep) {
  ProgramParts parts = SmallParts();
  Step step = Blocking(ParallelDimension::kData, 5);
  step.compute = Microseconds(1);
  step.kind = StepKind::kWait;
  parts.modules[0].passes[kForward] = {step};
  const Program program = ValueOrDie(Program::Create(parts));
  Step wait = {.kind = StepKind::kWait};
  wait.communication.dimension = ParallelDimension::kData;
  EXPECT_EQ(program.modules()[0].passes[kForward][0], wait);
}

TEST(ProgramTest, KnowsTraining) {
  const auto is_training = [](ProgramParts parts) {
    return IsTraining(ValueOrDie(Program::Create(std::move(parts))));
  };
  ProgramParts parts = SmallParts();
  EXPECT_TRUE(is_training(parts));
  parts.forward_only = true;
  EXPECT_FALSE(is_training(parts));

  parts = SmallParts();
  parts.schedule = SimaiSchedule();
  std::vector<Step>& backward =
      parts.modules[0].passes[IndexOf(ModulePass::kInputGradient)];
  backward = {Compute(1), Blocking(ParallelDimension::kTensor, 0)};
  EXPECT_FALSE(is_training(parts));
  backward = {Blocking(ParallelDimension::kTensor, 1)};
  EXPECT_TRUE(is_training(parts));
}

TEST(ProgramTest, RefusesBadSteps) {
  ProgramParts parts = SmallParts();
  std::vector<Step>& steps = parts.modules[0].passes[kForward];
  steps = {Compute(1), Compute(-1)};
  ExpectRefused(parts,
                "module \"mlp\", forward step 2: the time is -1000000ps, "
                "expected 0 to 1000000000000000000ps");
  steps = {Blocking(ParallelDimension::kTensor, -1)};
  ExpectRefused(parts,
                "module \"mlp\", forward step 1: the size is -1B, expected 0 "
                "to 1152921504606846976B");
  steps = {Blocking(ParallelDimension::kPipeline, 1)};
  ExpectRefused(parts,
                "module \"mlp\", forward step 1: over PP, where there is "
                "nothing but the pipeline message");
  steps = {Blocking(ParallelDimension::kTensor, 1, CollectiveKind::kSendRecv)};
  ExpectRefused(parts,
                "module \"mlp\", forward step 1: send-recv, which is for the "
                "pipeline message only");
}

TEST(ProgramTest, RefusesBadModules) {
  ProgramParts parts = SmallParts();
  parts.modules.push_back(parts.modules[0]);
  ExpectRefused(parts, "module \"mlp\" is there twice");
  parts.modules[1].name = "other";
  ExpectRefused(parts, "module \"other\" is run by no stage");
  parts.modules[1].name = "";
  ExpectRefused(parts,
                "module \"\": expected a name without control characters");

  parts = SmallParts();
  parts.forward_only = true;
  parts.modules[0].passes[IndexOf(ModulePass::kRecompute)] = {Compute(1)};
  ExpectRefused(parts,
                "module \"mlp\" has a backward pass, but inference has none");
  parts.forward_only = false;
  parts.stages[0].after = {ModuleId(0)};
  ExpectRefused(parts,
                "stage entry 1: module \"mlp\" of \"after\" has a backward "
                "pass, which would never run");
}

TEST(ProgramTest, RefusesBadStages) {
  ProgramParts parts = SmallParts();
  parts.stages[0].runs[0].modules = {ModuleId(7)};
  ExpectRefused(parts, "stage entry 1: module 7 does not exist: there are 1");
  parts.stages[0].runs[0].modules = {};
  ExpectRefused(parts, "stage entry 1: it runs no module");
  parts = SmallParts();
  parts.stages[0].runs[0].times = 0;
  ExpectRefused(parts, "stage entry 1: 0 times, expected 1 to 2097152");
  parts = SmallParts();
  parts.stages[0].count = 0;
  ExpectRefused(parts, "stage entry 1: the count is 0, expected at least 1");
  parts.stages[0].count = 2;
  ExpectRefused(parts, "the counts of the stages add up to 2, but PP is 1");
  parts.stages.clear();
  ExpectRefused(parts, "the counts of the stages add up to 0, but PP is 1");
}

TEST(ProgramTest, RefusesTooMuch) {
  ProgramParts parts = SmallParts();
  parts.stages[0].runs[0].times = Program::kMaxOccurrences;
  EXPECT_EQ(Program::Create(parts).status(), absl::OkStatus());
  parts.stages[0].after = {ModuleId(0)};
  ExpectRefused(parts, "stage entry 1: it runs more than 2097152 modules");
  parts.stages[0].after = {};
  parts.modules[0].passes[kForward].resize(9);
  ExpectRefused(parts, "stage entry 1: it runs more than 16777216 steps");

  parts = SmallParts();
  parts.modules[0].passes[kForward] = {Compute(1'000'000'000'000)};
  EXPECT_EQ(Program::Create(parts).status(), absl::OkStatus());
  parts.sizes.micro_batches = 2;
  ExpectRefused(parts,
                "stage entry 1: it computes for more than "
                "1000000000000000000ps");
  parts.modules[0].passes[kForward] = {
      Blocking(ParallelDimension::kData, int64_t{1} << 60)};
  ExpectRefused(parts,
                "stage entry 1: its collectives are of more than "
                "1152921504606846976B in all");
}

// What a rank keeps is summed over its modules, and what is saved also over the
// micro-batches; see MemoryOf().
TEST(ProgramTest, RefusesMoreMemoryThanCanBeCounted) {
  ProgramParts parts = SmallParts();
  parts.sizes.micro_batches = 2;
  parts.modules[0].memory.saved = Program::kMaxMemory;
  parts.stages[0].runs[0].times = 1 << 15;
  EXPECT_EQ(Program::Create(parts).status(), absl::OkStatus());
  parts.sizes.micro_batches = 3;
  ExpectRefused(parts,
                "stage entry 1: its modules keep more than "
                "1152921504606846976B in all");
  parts = SmallParts();
  parts.modules[0].memory.weights = Program::kMaxMemory;
  parts.stages[0].runs[0].times = 1 << 16;
  EXPECT_EQ(Program::Create(parts).status(), absl::OkStatus());
  parts.modules[0].memory.workspace = Bytes(1);
  ExpectRefused(parts,
                "stage entry 1: its modules keep more than "
                "1152921504606846976B in all");
}

TEST(ProgramTest, RefusesBadSizes) {
  ProgramParts parts = SmallParts();
  parts.sizes.tensor = 2;
  ExpectRefused(parts,
                "TP 2 x PP 1 does not divide the 1 GPUs: there is no whole DP");
  parts = SmallParts();
  parts.pipeline_message = Bytes(-1);
  ExpectRefused(parts,
                "the pipeline message is -1B, expected 0 to "
                "1152921504606846976B");
}

}  // namespace
}  // namespace astra
