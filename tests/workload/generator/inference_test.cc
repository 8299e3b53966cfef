#include "workload/generator/inference.h"

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tests/testing/matchers.h"
#include "tests/testing/small_models.h"

namespace astra {
namespace {

using ::astra::testing::CollectiveTexts;
using ::astra::testing::ModuleOf;
using ::astra::testing::OperatorOf;
using ::astra::testing::RunTexts;
using ::astra::testing::SmallDeepSeek;
using ::astra::testing::SmallGpt;
using ::astra::testing::SmallLlama;
using ::astra::testing::SmallMoe;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ModulePass kForward = ModulePass::kForward;

// Two prompts of 32 positions on TP 2.
InferenceSetup SmallSetup() {
  InferenceSetup setup;
  setup.world_size = 2;
  setup.tensor = 2;
  setup.batch = 2;
  setup.positions = 32;
  return setup;
}

InferenceSetup Decode() {
  InferenceSetup setup = SmallSetup();
  setup.phase = InferencePhase::kDecode;
  return setup;
}

Blueprint Infer(const ModelSpec& model, const InferenceSetup& setup) {
  return ValueOrDie(InferenceBlueprint(model, setup));
}

std::vector<std::string> CollectivesOf(const Blueprint& blueprint,
                                       std::string_view module) {
  return CollectiveTexts(ModuleOf(blueprint.modules, module), kForward);
}

TEST(InferenceTest, RunsForwardOnce) {
  const Blueprint blueprint = Infer(SmallLlama(), SmallSetup());
  EXPECT_TRUE(blueprint.forward_only);
  EXPECT_EQ(blueprint.sizes.micro_batches, 1);
  EXPECT_THAT(RunTexts(blueprint, blueprint.stages.at(0)),
              ElementsAre("1 x embedding_layer",
                          "4 x attention_column attention_row mlp_column "
                          "mlp_row",
                          "1 x final_column"));
  EXPECT_THAT(blueprint.stages[0].after, IsEmpty());
  const StageTotals totals = Sum(blueprint, blueprint.stages[0]);
  EXPECT_EQ(totals.backward_flops, 0);
  EXPECT_EQ(totals.saved_bytes, 0);
}

// 64 tokens of 64 x 2 B after attention and after the feed-forward part; the
// logits of 2 last positions, 512 x 2 B each.
TEST(InferenceTest, PrefillsAllPositions) {
  const Blueprint blueprint = Infer(SmallLlama(), SmallSetup());
  EXPECT_THAT(CollectivesOf(blueprint, "embedding_layer"),
              ElementsAre("all-reduce TP 8192 B"));
  EXPECT_THAT(CollectivesOf(blueprint, "attention_column"), IsEmpty());
  EXPECT_THAT(CollectivesOf(blueprint, "attention_row"),
              ElementsAre("all-reduce TP 8192 B"));
  EXPECT_THAT(CollectivesOf(blueprint, "mlp_row"),
              ElementsAre("all-reduce TP 8192 B"));
  EXPECT_THAT(CollectivesOf(blueprint, "final_column"),
              ElementsAre("all-gather TP 2048 B"));
  // A token in a block: a key and a value of 8, of 2 B, on each rank.
  EXPECT_EQ(Sum(blueprint, blueprint.stages[0]).kv_cache_bytes, 4 * 64 * 32);
  // Half of 64 x 96 + 64 x 64 + 3 x 64 x 192 weights for each of 64 tokens in
  // 4 blocks; half of 64 x 512 for 2; 2 x 4 heads x 528 pairs x 2 x 16.
  EXPECT_EQ(Sum(blueprint, blueprint.stages[0]).forward_flops,
            2.0 * 64 * 4 * 23552 + 2.0 * 2 * 16384 + 4.0 * 2 * 4 * 528 * 32);
}

TEST(InferenceTest, PrefillsBehindWhatIsCached) {
  InferenceSetup setup = SmallSetup();
  setup.cached = 100;
  const Blueprint blueprint = Infer(SmallLlama(), setup);
  const Operator& op = OperatorOf(ModuleOf(blueprint.modules, "attention_row"),
                                  kForward, "attention");
  EXPECT_EQ(std::get<Attention>(op.shape).queries, 32);
  EXPECT_EQ(std::get<Attention>(op.shape).keys, 132);
  EXPECT_EQ(Sum(blueprint, blueprint.stages[0]).kv_cache_bytes,
            4 * 2 * 132 * 32);
}

TEST(InferenceTest, DecodesOnePositionOfEachSequence) {
  const Blueprint blueprint = Infer(SmallLlama(), Decode());
  // 2 tokens of 64 x 2 B.
  EXPECT_THAT(CollectivesOf(blueprint, "mlp_row"),
              ElementsAre("all-reduce TP 256 B"));
  EXPECT_THAT(CollectivesOf(blueprint, "final_column"),
              ElementsAre("all-gather TP 2048 B"));
  // 32 positions in the cache, and its own.
  EXPECT_EQ(Sum(blueprint, blueprint.stages[0]).kv_cache_bytes,
            4 * 2 * 33 * 32);
}

TEST(InferenceTest, ExpertsAreSpreadAndNotSplit) {
  InferenceSetup setup = Decode();
  setup.expert = 2;
  const Blueprint blueprint = Infer(SmallMoe(), setup);
  // Each rank sends one of 2 tokens to 2 experts: 2 x 64 x 2 B.
  EXPECT_THAT(CollectivesOf(blueprint, "moe_router"), IsEmpty());
  EXPECT_THAT(CollectivesOf(blueprint, "moe_dispatch"),
              ElementsAre("dispatch EP 256 B"));
  EXPECT_THAT(CollectivesOf(blueprint, "moe_combine"),
              ElementsAre("combine EP 256 B", "all-gather TP 256 B"));
  EXPECT_EQ(ModuleOf(blueprint.modules, "moe_experts").expert_parameters,
            4 * 6144);
}

// Without EP each of 2 ranks has half of the columns of all 8 experts, as vLLM
// shards them: no token travels, and one all-reduce sums 2 tokens of 64 x 2 B.
TEST(InferenceTest, TensorParallelismSplitsExpertsUnlessEpSpreadsThem) {
  const Blueprint blueprint = Infer(SmallMoe(), Decode());
  EXPECT_THAT(CollectivesOf(blueprint, "moe_dispatch"), IsEmpty());
  EXPECT_THAT(CollectivesOf(blueprint, "moe_gather"), IsEmpty());
  EXPECT_THAT(CollectivesOf(blueprint, "moe_experts"), IsEmpty());
  EXPECT_THAT(CollectivesOf(blueprint, "moe_combine"),
              ElementsAre("all-reduce TP 256 B"));
  EXPECT_EQ(ModuleOf(blueprint.modules, "moe_experts").expert_parameters,
            8 * 6144 / 2);
  // Both tokens go to 2 experts each, on every rank.
  const Operator& up = OperatorOf(ModuleOf(blueprint.modules, "moe_experts"),
                                  kForward, "experts_up");
  EXPECT_EQ(std::get<Gemm>(up.shape).groups * std::get<Gemm>(up.shape).m, 4);
  EXPECT_EQ(std::get<Gemm>(up.shape).n, 2 * 32 / 2);

  InferenceSetup whole = Decode();
  whole.expert_tensor = 1;
  EXPECT_EQ(ModuleOf(Infer(SmallMoe(), whole).modules, "moe_experts")
                .expert_parameters,
            8 * 6144);
}

// Half of SmallLlama's 254,528 parameters, but the norms of 9 x 64, which both
// ranks have; the cache as above. The logits need most: 2 of 64 numbers in and
// 256 out, and the 64 tokens that went in.
TEST(InferenceTest, SaysTheMemoryOfARank) {
  const Blueprint blueprint = Infer(SmallLlama(), SmallSetup());
  ModuleMemory sum;
  for (const ModuleRun& run : blueprint.stages[0].runs) {
    for (const ModuleId id : run.modules) {
      const ModuleMemory& memory = blueprint.modules[id.index()].memory;
      sum.weights += run.times * memory.weights;
      sum.cache += run.times * memory.cache;
      EXPECT_GE(memory.workspace, Bytes(2 * 64 * 64));
    }
  }
  const StageTotals totals = Sum(blueprint, blueprint.stages[0]);
  EXPECT_EQ(sum.weights, Bytes(2 * totals.parameters));
  EXPECT_EQ(totals.parameters, (254528 - 9 * 64) / 2 + 9 * 64);
  EXPECT_EQ(sum.cache, Bytes(4 * 64 * 32));

  InferenceSetup fp8 = SmallSetup();
  fp8.precision = Precision::kFp8;
  const Blueprint halved = Infer(SmallLlama(), fp8);
  EXPECT_EQ(2 * ModuleOf(halved.modules, "mlp_row").memory.weights,
            ModuleOf(blueprint.modules, "mlp_row").memory.weights);
  EXPECT_EQ(ModuleOf(halved.modules, "final_column").memory.weights,
            ModuleOf(blueprint.modules, "final_column").memory.weights);
}

TEST(InferenceTest, SharedExpertsRunBeforeTheRouter) {
  const Blueprint blueprint = Infer(SmallDeepSeek(), Decode());
  EXPECT_EQ(RunTexts(blueprint, blueprint.stages.at(0)).at(2),
            "2 x attention_linear_q_lora attention_q_column "
            "attention_linear_kv_lora attention_kv_column attention_o_row "
            "shared_column shared_row moe_router moe_dispatch moe_gather "
            "moe_experts moe_combine");
  // A token in a block: 16 + 4 elements of 2 B on every rank.
  EXPECT_EQ(Sum(blueprint, blueprint.stages[0]).kv_cache_bytes,
            3 * 2 * 33 * 40);
}

TEST(InferenceTest, StagesPassHiddenStates) {
  InferenceSetup setup = SmallSetup();
  setup.world_size = 4;
  setup.pipeline = 2;
  const Blueprint blueprint = Infer(SmallLlama(), setup);
  EXPECT_EQ(blueprint.pipeline_message, Bytes(8192));
  EXPECT_EQ(blueprint.stages.size(), 2);
}

struct BadSetup {
  ModelSpec model;
  std::function<void(InferenceSetup&)> spoil;
  std::string message;
};

class BadInferenceTest : public ::testing::TestWithParam<BadSetup> {};

TEST_P(BadInferenceTest, IsRefused) {
  InferenceSetup setup = SmallSetup();
  GetParam().spoil(setup);
  const std::string& message = GetParam().message;
  // Too many tokens are no matter of the layout.
  const bool is_layout = message.find("at once") == std::string::npos &&
                         message.find("learned") == std::string::npos;
  EXPECT_THAT(InferenceBlueprint(GetParam().model, setup),
              StatusIs(is_layout ? absl::StatusCode::kFailedPrecondition
                                 : absl::StatusCode::kInvalidArgument,
                       message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadInferenceTest,
    ::testing::Values(
        BadSetup{SmallLlama(), [](InferenceSetup& s) { s.world_size = 3; },
                 "TP 2 x PP 1 does not divide the 3 GPUs: there is no whole "
                 "DP"},
        BadSetup{SmallGpt(),
                 [](InferenceSetup& s) { s.world_size = s.tensor = 8; },
                 "TP 8 does not divide the 4 attention heads"},
        BadSetup{SmallLlama(), [](InferenceSetup& s) { s.expert = 2; },
                 "EP 2 has no effect: small-llama has no experts"},
        BadSetup{SmallLlama(),
                 [](InferenceSetup& s) {
                   s.world_size = 16;
                   s.pipeline = 8;
                 },
                 "PP 8 is more than the 4 layers"},
        BadSetup{SmallLlama(), [](InferenceSetup& s) { s.batch = 0; },
                 "0 sequences of 32 positions at once: expected 1 to 16777216 "
                 "positions of a sequence and 1 to 1073741824 in all"},
        BadSetup{
            SmallGpt(), [](InferenceSetup& s) { s.cached = 100; },
            "132 positions are beyond the 128 learned ones (max_positions)"}));

}  // namespace
}  // namespace astra
