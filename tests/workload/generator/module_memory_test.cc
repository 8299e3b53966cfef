#include "workload/generator/module_memory.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/testing/matchers.h"
#include "tests/testing/small_models.h"
#include "workload/generator/training.h"
#include "workload/memory_timeline.h"

namespace astra {
namespace {

using ::astra::testing::ModuleOf;
using ::astra::testing::SmallLlama;
using ::astra::testing::SmallMoe;
using ::astra::testing::ValueOrDie;

// Two sequences of 32 positions, 64 tokens, on each of `ranks`.
TrainingSetup SmallSetup(int64_t ranks = 1) {
  TrainingSetup setup;
  setup.world_size = ranks;
  setup.micro_batch = 2;
  setup.global_batch = 2 * ranks;
  setup.positions = 32;
  return setup;
}

ModuleMemory MemoryOfModule(std::string_view name, const TrainingSetup& setup,
                            const ModelSpec& model = SmallLlama()) {
  const Blueprint blueprint = ValueOrDie(TrainingBlueprint(model, setup));
  return ModuleOf(blueprint.modules, name).memory;
}

// Parameters of SmallLlama.
constexpr int64_t kRow = 192 * 64;  // mlp_row.
constexpr int64_t kBlock = (64 + 64 * 96) + 64 * 64 + (64 + 64 * 384) + kRow;
constexpr int64_t kAll = 4 * kBlock + 512 * 64 + (64 + 512 * 64);

TEST(ModuleMemoryTest, CountsParameters) {
  TrainingSetup setup = SmallSetup(4);
  setup.zero = Zero::kNone;
  ModuleMemory memory = MemoryOfModule("mlp_row", setup);
  EXPECT_EQ(memory.weights, Bytes(2 * kRow));
  EXPECT_EQ(memory.gradients, Bytes(4 * kRow));
  EXPECT_EQ(memory.optimizer, Bytes(12 * kRow));
  setup.gradient_bytes = 2;
  EXPECT_EQ(MemoryOfModule("mlp_row", setup).gradients, Bytes(2 * kRow));
}

TEST(ModuleMemoryTest, MomentsMayBeInBf16) {
  TrainingSetup setup = SmallSetup();
  setup.moment_bytes = 2;
  EXPECT_EQ(MemoryOfModule("mlp_row", setup).optimizer,
            Bytes((4 + 2 + 2) * kRow));
}

// The weights of the optimizer are then those of the model.
TEST(ModuleMemoryTest, ShardsMayBeInFp32) {
  TrainingSetup setup = SmallSetup(4);
  setup.zero = Zero::kParameters;
  setup.gradient_bytes = 2;
  setup.fp32_shards = true;
  const ModuleMemory memory = MemoryOfModule("mlp_row", setup);
  EXPECT_EQ(memory.weights, Bytes(0));
  EXPECT_EQ(memory.gradients, Bytes(4 * kRow / 4));
  EXPECT_EQ(memory.optimizer, Bytes(12 * kRow / 4));
}

TEST(ModuleMemoryTest, TheLossMayTakeMoreThanItKeeps) {
  TrainingSetup setup = SmallSetup();
  setup.loss_workspace = 8;
  EXPECT_EQ(MemoryOfModule("cross_entropy", setup).workspace,
            Bytes(64 * 8 * 512));
}

TEST(ModuleMemoryTest, ZeroSharesAmongDataAndContextParallelRanks) {
  TrainingSetup setup = SmallSetup(4);
  setup.context = 2;
  setup.global_batch = 4;
  ModuleMemory memory = MemoryOfModule("mlp_row", setup);
  EXPECT_EQ(memory.weights, Bytes(2 * kRow));
  EXPECT_EQ(memory.gradients, Bytes(4 * kRow));
  EXPECT_EQ(memory.optimizer, Bytes(12 * kRow / 4));
  setup.zero = Zero::kGradients;
  memory = MemoryOfModule("mlp_row", setup);
  EXPECT_EQ(memory.weights, Bytes(2 * kRow));
  EXPECT_EQ(memory.gradients, Bytes(4 * kRow / 4));
  setup.zero = Zero::kParameters;
  memory = MemoryOfModule("mlp_row", setup);
  EXPECT_EQ(memory.weights, Bytes(2 * kRow / 4));
}

// Two of 8 experts, of 3 x 64 x 32 each, on each of 4 ranks; held twice
// among 8.
TEST(ModuleMemoryTest, ExpertsAreSharedAmongTheirOwnReplicas) {
  TrainingSetup setup = SmallSetup(8);
  setup.expert = 4;
  EXPECT_EQ(MemoryOfModule("moe_experts", setup, SmallMoe()).optimizer,
            Bytes(12 * 2 * 3 * 64 * 32 / 2));
  EXPECT_EQ(MemoryOfModule("moe_router", setup, SmallMoe()).optimizer,
            Bytes(12 * (64 + 64 * 8) / 8));
}

TEST(ModuleMemoryTest, Fp8KeepsTwoCopiesOfTheWeightsOfProducts) {
  TrainingSetup setup = SmallSetup();
  setup.precision = Precision::kFp8;
  EXPECT_EQ(MemoryOfModule("mlp_column", setup).weights,
            Bytes(2 * 64 + 4 * 64 * 384));
  // The logits stay in BF16.
  EXPECT_EQ(MemoryOfModule("final_column", setup).weights,
            Bytes(2 * (64 + 64 * 512)));
}

TEST(ModuleMemoryTest, TheWorkspaceIsTheLargestOfTheOperators) {
  TrainingSetup setup = SmallSetup(2);
  // The gradient of the residual stream is there in each module of a block.
  constexpr int64_t kResidual = 64 * 2 * 64;
  // SwiGLU: the gradients of its output and of both inputs.
  EXPECT_EQ(MemoryOfModule("mlp_column", setup).workspace,
            Bytes(64 * 2 * 3 * 192 + kResidual));
  // The gradients of the product's output and input.
  EXPECT_EQ(MemoryOfModule("mlp_row", setup).workspace,
            Bytes(64 * 2 * (64 + 192) + kResidual));
  // The logits in BF16 beside those in FP32, which are saved.
  EXPECT_EQ(MemoryOfModule("cross_entropy", setup).workspace,
            Bytes(64 * 2 * 512));
  EXPECT_EQ(MemoryOfModule("cross_entropy", setup).saved, Bytes(64 * 4 * 512));
  setup.tensor = 2;
  setup.sequence_parallel = true;
  setup.global_batch = 2;
  // TP 2 splits the activation, and sequence parallelism the residual stream.
  // The product would need less: it gathers its 64 inputs, beside the gradients
  // of these and of 192 outputs, but the 192 inputs of SwiGLU are gone by then.
  EXPECT_EQ(MemoryOfModule("mlp_column", setup).workspace,
            Bytes(64 * 2 * 3 * 96 + kResidual / 2));
}

// The hidden states of 64 tokens come and go while a chunk computes.
TEST(ModuleMemoryTest, MessagesAreUnderWayWithSeveralChunks) {
  TrainingSetup setup = SmallSetup(2);
  setup.pipeline = 2;
  setup.global_batch = 4;
  const Bytes one = MemoryOfModule("mlp_row", setup).workspace;
  setup.virtual_stages = 2;
  EXPECT_EQ(MemoryOfModule("mlp_row", setup).workspace,
            one + Bytes(2 * 64 * 2 * 64));
  setup.overlap_messages = false;
  EXPECT_EQ(MemoryOfModule("mlp_row", setup).workspace, one);
}

// Bytes that the four modules of a block keep without recomputation: the inputs
// of norms and products, ...
constexpr int64_t kColumnSaved = 64 * 2 * (64 + 64);
constexpr int64_t kRowSaved = 64 * (2 * (64 + 2 * 16) + 4 * 8 + 2 * 64);
constexpr int64_t kUpSaved = 64 * 2 * (64 + 64 + 2 * 192);
constexpr int64_t kDownSaved = 64 * 2 * 192;
constexpr int64_t kInput = 64 * 2 * 64;

TEST(ModuleMemoryTest, ARecomputedBlockIsThereAsFarAsItIsStillNeeded) {
  TrainingSetup setup = SmallSetup();
  EXPECT_EQ(MemoryOfModule("attention_column", setup).saved,
            Bytes(kColumnSaved));
  const Bytes column = MemoryOfModule("attention_column", setup).workspace;
  const Bytes down = MemoryOfModule("mlp_row", setup).workspace;
  setup.recompute = Recompute::kFull;
  // The input of the block is saved, all else is not.
  EXPECT_EQ(MemoryOfModule("attention_column", setup).saved, Bytes(kInput));
  EXPECT_EQ(MemoryOfModule("attention_column", setup).workspace,
            column + Bytes(kColumnSaved - kInput));
  EXPECT_EQ(MemoryOfModule("mlp_row", setup).saved, Bytes(0));
  EXPECT_EQ(
      MemoryOfModule("mlp_row", setup).workspace,
      down + Bytes(kColumnSaved - kInput + kRowSaved + kUpSaved + kDownSaved));
}

// The blocks of a group run again together, so that the whole first block is
// there while the second one goes backward.
TEST(ModuleMemoryTest, BlocksThatRunAgainTogetherKeepOneInput) {
  TrainingSetup setup = SmallSetup();
  const Bytes down = MemoryOfModule("mlp_row", setup).workspace;
  setup.recompute = Recompute::kFull;
  setup.recompute_layers = 2;
  EXPECT_EQ(MemoryOfModule("attention_column", setup).saved, Bytes(kInput));
  EXPECT_EQ(MemoryOfModule("attention_column_2", setup).saved, Bytes(0));
  constexpr int64_t kWhole = kColumnSaved + kRowSaved + kUpSaved + kDownSaved;
  EXPECT_EQ(MemoryOfModule("mlp_row", setup).workspace,
            down + Bytes(kWhole - kInput));
  EXPECT_EQ(MemoryOfModule("mlp_row_2", setup).workspace,
            down + Bytes(2 * kWhole - kInput));
}

TEST(ModuleMemoryTest, RecomputedScoresAreThereInTheirModuleAlone) {
  TrainingSetup setup = SmallSetup();
  setup.flash_attention = false;
  const ModuleMemory row = MemoryOfModule("attention_row", setup);
  const ModuleMemory down = MemoryOfModule("mlp_row", setup);
  setup.recompute = Recompute::kSelective;
  const Bytes scores = Bytes(2 * 2 * 8 * 32 * 32);
  const ModuleMemory again = MemoryOfModule("attention_row", setup);
  EXPECT_EQ(again.saved, row.saved - scores);
  EXPECT_EQ(again.workspace, row.workspace + scores);
  EXPECT_EQ(MemoryOfModule("mlp_row", setup), down);
}

TEST(ModuleMemoryTest, ShardedUnitsAreWholeWhileTheyRun) {
  TrainingSetup setup = SmallSetup(4);
  const Bytes own = MemoryOfModule("mlp_row", setup).workspace;
  setup.zero = Zero::kGradients;
  EXPECT_EQ(MemoryOfModule("mlp_row", setup).workspace,
            own + Bytes(4 * kBlock));
  // And the next block.
  setup.zero = Zero::kParameters;
  EXPECT_EQ(MemoryOfModule("mlp_row", setup).workspace,
            own + Bytes(4 * kBlock + 2 * 2 * kBlock));
}

TEST(ModuleMemoryTest, AGroupMayShareTheOptimizer) {
  TrainingSetup setup = SmallSetup(4);
  setup.zero_group = 2;
  const ModuleMemory memory = MemoryOfModule("mlp_row", setup);
  EXPECT_EQ(memory.gradients, Bytes(4 * kRow));
  EXPECT_EQ(memory.optimizer, Bytes(12 * kRow / 2));
}

TEST(ModuleMemoryTest, TheOptimizerMakesGradientsInFp32) {
  TrainingSetup setup = SmallSetup(4);
  EXPECT_EQ(MemoryOfModule("optimizer", setup).workspace, Bytes(0));
  setup.gradient_bytes = 2;
  EXPECT_EQ(MemoryOfModule("optimizer", setup).workspace, Bytes(4 * kAll / 4));
  setup.optimizer_workspace = 8;
  EXPECT_EQ(MemoryOfModule("optimizer", setup).workspace,
            Bytes((4 + 8) * kAll / 4));
}

// The products of SmallLlama have five shapes, whatever the number of blocks.
TEST(ModuleMemoryTest, EachShapeOfWeightsMayKeepOneGradient) {
  TrainingSetup setup = SmallSetup();
  EXPECT_EQ(MemoryOfModule("optimizer", setup).gradients, Bytes(0));
  setup.transformer_engine = {2, 2};
  EXPECT_EQ(MemoryOfModule("optimizer", setup).gradients, Bytes(0));
  setup.transformer_engine = {2, 3};
  constexpr int64_t kShapes = 64 * 96 + 64 * 64 + 64 * 384 + kRow + 512 * 64;
  EXPECT_EQ(MemoryOfModule("optimizer", setup).gradients, Bytes(2 * kShapes));
}

// The experts of SmallMoe have two shapes, 64 x 64 and 32 x 64. Its attention
// has the first of them, too.
TEST(ModuleMemoryTest, ExpertsKeepTheirGradientsLater) {
  TrainingSetup setup = SmallSetup();
  setup.transformer_engine = {2, 9};
  const Bytes before = MemoryOfModule("optimizer", setup, SmallMoe()).gradients;
  setup.transformer_engine = {2, 10};
  EXPECT_EQ(MemoryOfModule("optimizer", setup, SmallMoe()).gradients - before,
            Bytes(2 * 32 * 64));
}

// Attention in one kernel keeps its output; Transformer Engine kept the one
// after the exchange until 2.8.
TEST(ModuleMemoryTest, TheReleaseTellsWhichOutputsContextParallelismKeeps) {
  TrainingSetup setup = SmallSetup();
  EXPECT_TRUE(setup.module_context().keeps_both_outputs);
  setup.transformer_engine = {2, 7};
  EXPECT_FALSE(setup.module_context().keeps_both_outputs);
  setup.transformer_engine = {2, 8};
  EXPECT_TRUE(setup.module_context().keeps_both_outputs);
}

// Its shape from the configuration of Meta-Llama-3-8B on Hugging Face.
ModelSpec Llama3() {
  ModelSpec model = SmallLlama();
  model.layers = 32;
  model.hidden = 4096;
  model.vocabulary = 128256;
  model.attention = FullAttention{.heads = 32, .kv_heads = 8, .head_dim = 128};
  model.feed_forward = {.ffn = 14336, .gated = true};
  return model;
}

TrainingSetup LlamaSetup() {
  TrainingSetup setup;
  setup.world_size = 8;
  setup.global_batch = 32;
  setup.positions = 4096;
  return setup;
}

std::vector<StageMemory> MemoryOfTraining(const ModelSpec& model,
                                          const TrainingSetup& setup) {
  const Blueprint blueprint = ValueOrDie(TrainingBlueprint(model, setup));
  ProgramParts parts;
  parts.sizes = blueprint.sizes;
  parts.schedule = blueprint.schedule;
  parts.pipeline_message = blueprint.pipeline_message;
  parts.stages = blueprint.stages;
  for (const MockModule& module : blueprint.modules) {
    parts.modules.emplace_back().name = module.name;
    parts.modules.back().memory = module.memory;
  }
  return MemoryOf(ValueOrDie(Program::Create(std::move(parts))));
}

double ToGiB(Bytes bytes) {
  return static_cast<double>(bytes.count()) / (1 << 30);
}

// SimuMax 1.2 keeps, in a block with flash attention and fused kernels,
//
//   s (2 (4 h + h + (h + 2 kv) + 3 ffn) + 2 heads)
//
// bytes; here the sum of exponentials has 4 B, as flash attention stores it.
// For llama3-8B on 8 GPUs with TP 1, PP 2, DP 4, one sequence of 4096 in a
// micro-batch and 8 of those, it gives the figures below.
TEST(ModuleMemoryTest, IsThatOfSimuMax) {
  TrainingSetup setup = LlamaSetup();
  setup.pipeline = 2;
  int64_t saved = 0;
  for (const MockModule& module :
       BlockModules(Llama3(), 0, setup.module_context())) {
    saved += module.saved_bytes;
  }
  constexpr int64_t kElements = 6 * 4096 + 2 * 1024 + 3 * 14336;
  EXPECT_EQ(saved, 4096 * (2 * kElements + 4 * 32));
  EXPECT_NEAR(static_cast<double>(saved) / 570.69e6, 1, 0.001);

  const std::vector<StageMemory> stages = MemoryOfTraining(Llama3(), setup);
  constexpr double kPeaks[] = {50.885, 45.164};
  ASSERT_EQ(stages.size(), 2);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(ToGiB(stages[i].weights) / 7.480, 1, 0.001);
    EXPECT_NEAR(ToGiB(stages[i].gradients) / 14.960, 1, 0.001);
    EXPECT_NEAR(ToGiB(stages[i].optimizer) / 11.220, 1, 0.001);
    EXPECT_NEAR(ToGiB(stages[i].peak()) / kPeaks[i], 1, 0.002);
  }
}

Bytes Peak(const TrainingSetup& setup) {
  Bytes peak;
  for (const StageMemory& memory : MemoryOfTraining(Llama3(), setup)) {
    peak = std::max(peak, memory.peak());
  }
  return peak;
}

TEST(ModuleMemoryTest, SplittingAndRecomputingLowerThePeak) {
  TrainingSetup setup = LlamaSetup();
  for (const Zero zero :
       {Zero::kNone, Zero::kOptimizer, Zero::kGradients, Zero::kParameters}) {
    setup.zero = zero;
    const Bytes whole = Peak(setup);
    if (zero != Zero::kParameters) {
      TrainingSetup next = setup;
      next.zero = static_cast<Zero>(static_cast<int>(zero) + 1);
      EXPECT_LT(Peak(next), whole) << static_cast<int>(zero);
    }
    TrainingSetup split = setup;
    split.tensor = 2;
    split.sequence_parallel = true;
    EXPECT_LT(Peak(split), whole);
    split = setup;
    split.context = 2;
    EXPECT_LT(Peak(split), whole);
    TrainingSetup again = setup;
    again.recompute = Recompute::kFull;
    EXPECT_LT(Peak(again), whole);
  }
  setup.flash_attention = false;
  const Bytes whole = Peak(setup);
  setup.recompute = Recompute::kSelective;
  const Bytes selective = Peak(setup);
  setup.recompute = Recompute::kFull;
  EXPECT_LT(selective, whole);
  EXPECT_LT(Peak(setup), selective);
}

}  // namespace
}  // namespace astra
