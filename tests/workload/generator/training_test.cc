#include "workload/generator/training.h"

#include <string>
#include <vector>

#include "tests/testing/matchers.h"
#include "tests/testing/schedules.h"
#include "tests/testing/small_models.h"

namespace astra {
namespace {

using ::astra::testing::ModuleOf;
using ::astra::testing::RunTexts;
using ::astra::testing::ScheduleNamed;
using ::astra::testing::SmallDeepSeek;
using ::astra::testing::SmallGpt;
using ::astra::testing::SmallLlama;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

// DP 4. Two sequences of 32 positions in a micro-batch.
TrainingSetup SmallSetup() {
  TrainingSetup setup;
  setup.world_size = 4;
  setup.micro_batch = 2;
  setup.global_batch = 16;
  setup.positions = 32;
  return setup;
}

Blueprint Train(const ModelSpec& model, const TrainingSetup& setup) {
  return ValueOrDie(TrainingBlueprint(model, setup));
}

// SmallLlama: 32,768 in the embedding, 47,232 in each of 4 blocks, 32,832 in
// the logits and their norm: 254,528 in all.

TEST(TrainingTest, CountsEqualBlocksTogether) {
  const Blueprint blueprint = Train(SmallLlama(), SmallSetup());
  ASSERT_EQ(blueprint.stages.size(), 1);
  EXPECT_THAT(RunTexts(blueprint, blueprint.stages[0]),
              ElementsAre("1 x embedding_layer",
                          "4 x attention_column attention_row mlp_column "
                          "mlp_row",
                          "1 x final_column cross_entropy"));
  EXPECT_EQ(blueprint.pipeline_message, Bytes(0));
  EXPECT_EQ(blueprint.sizes.micro_batches, 2);
  EXPECT_FALSE(blueprint.forward_only);
}

TEST(TrainingTest, SomeBlocksOfEachStageRunAgain) {
  TrainingSetup setup = SmallSetup();
  setup.pipeline = 2;
  setup.recompute = Recompute::kFull;
  setup.recompute_method = RecomputeMethod::kBlock;
  setup.recompute_layers = 1;
  const Blueprint blueprint = Train(SmallLlama(), setup);
  ASSERT_EQ(blueprint.stages.size(), 2);
  constexpr char kAgain[] =
      "1 x attention_column attention_row mlp_column mlp_row";
  constexpr char kOnce[] =
      "1 x attention_column_2 attention_row_2 mlp_column_2 mlp_row_2";
  EXPECT_THAT(RunTexts(blueprint, blueprint.stages[0]),
              ElementsAre("1 x embedding_layer", kAgain, kOnce));
  EXPECT_THAT(RunTexts(blueprint, blueprint.stages[1]),
              ElementsAre(kAgain, kOnce, "1 x final_column cross_entropy"));
  const auto again = [&](const char* name) {
    return Flops(ModuleOf(blueprint.modules, name), ModulePass::kRecompute);
  };
  EXPECT_EQ(again("mlp_row"), 2.0 * 64 * 64 * 192);
  EXPECT_EQ(again("mlp_row_2"), 0);
}

// A layer for a further token has a projection of 2 x 64 x 64 weights and two
// norms of 64, a block of 47,232, and where the stage has no embedding a copy
// of it. The head is that of the model.
TEST(TrainingTest, PredictsFurtherTokensAtTheEnd) {
  TrainingSetup setup = SmallSetup();
  setup.pipeline = 2;
  const int64_t before =
      Sum(Train(SmallLlama(), setup), Train(SmallLlama(), setup).stages.back())
          .parameters;
  setup.mtp_layers = 2;
  const Blueprint blueprint = Train(SmallLlama(), setup);
  const ProgramStage& last = blueprint.stages.back();
  EXPECT_THAT(
      RunTexts(blueprint, last),
      ElementsAre("2 x attention_column attention_row mlp_column mlp_row",
                  "1 x final_column cross_entropy",
                  "1 x embedding_layer mtp_projection attention_column "
                  "attention_row mlp_column mlp_row",
                  "1 x final_column_2 cross_entropy",
                  "1 x embedding_layer_2 mtp_projection attention_column "
                  "attention_row mlp_column mlp_row",
                  "1 x final_column_2 cross_entropy"));
  EXPECT_EQ(Sum(blueprint, last).parameters - before,
            32768 + 2 * (2 * 64 * 64 + 2 * 64 + 47232));
}

TEST(TrainingTest, StagesHaveTheirBlocks) {
  TrainingSetup setup = SmallSetup();
  setup.pipeline = 4;
  const Blueprint blueprint = Train(SmallLlama(), setup);
  ASSERT_EQ(blueprint.stages.size(), 3);
  EXPECT_EQ(blueprint.stages[1].count, 2);
  EXPECT_THAT(RunTexts(blueprint, blueprint.stages[0]),
              ElementsAre("1 x embedding_layer",
                          "1 x attention_column attention_row mlp_column "
                          "mlp_row"));
  EXPECT_THAT(RunTexts(blueprint, blueprint.stages[1]),
              ElementsAre("1 x attention_column attention_row mlp_column "
                          "mlp_row"));
}

TEST(TrainingTest, BlocksDiffer) {
  const Blueprint blueprint = Train(SmallDeepSeek(), SmallSetup());
  EXPECT_THAT(RunTexts(blueprint, blueprint.stages[0]),
              ElementsAre("1 x embedding_layer",
                          "1 x attention_linear_q_lora attention_q_column "
                          "attention_linear_kv_lora attention_kv_column "
                          "attention_o_row mlp_column mlp_row",
                          "2 x attention_linear_q_lora attention_q_column "
                          "attention_linear_kv_lora attention_kv_column "
                          "attention_o_row moe_router moe_dispatch moe_gather "
                          "moe_experts moe_combine shared_column shared_row",
                          "1 x final_column cross_entropy"));
}

TEST(TrainingTest, BlocksWithAndWithoutWindowsAreToldApart) {
  ModelSpec model = SmallLlama();
  std::get<FullAttention>(model.attention).window = 4;
  std::get<FullAttention>(model.attention).window_every = 2;
  const Blueprint blueprint = Train(model, SmallSetup());
  const std::vector<std::string> runs =
      RunTexts(blueprint, blueprint.stages[0]);
  ASSERT_EQ(runs.size(), 6);
  EXPECT_EQ(runs[1], "1 x attention_column attention_row mlp_column mlp_row");
  EXPECT_EQ(runs[2], "1 x attention_column attention_row_2 mlp_column mlp_row");
  EXPECT_EQ(runs[3], runs[1]);
}

// 2 b s h = 2 x 2 x 32 x 64 B, of which each rank sends its part.
TEST(TrainingTest, SendsHiddenStatesBetweenStages) {
  TrainingSetup setup = SmallSetup();
  setup.pipeline = 2;
  EXPECT_EQ(Train(SmallLlama(), setup).pipeline_message, Bytes(8192));
  setup.tensor = 2;
  EXPECT_EQ(Train(SmallLlama(), setup).pipeline_message, Bytes(8192));
  setup.sequence_parallel = true;
  EXPECT_EQ(Train(SmallLlama(), setup).pipeline_message, Bytes(4096));
  setup.tensor = 1;
  setup.context = 2;
  EXPECT_EQ(Train(SmallLlama(), setup).pipeline_message, Bytes(4096));
}

// The runs of a stage, with their chunks: "0: 1 x embedding_layer".
std::vector<std::string> ChunkTexts(const Blueprint& blueprint, size_t stage) {
  std::vector<std::string> texts =
      RunTexts(blueprint, blueprint.stages.at(stage));
  for (size_t i = 0; i < texts.size(); ++i) {
    texts[i] =
        fmt::format("{}: {}", blueprint.stages[stage].runs[i].chunk, texts[i]);
  }
  return texts;
}

constexpr char kBlocks[] = "attention_column attention_row mlp_column mlp_row";

TEST(ChunkTest, EqualRunsOfTwoChunksStayApart) {
  TrainingSetup setup = SmallSetup();
  setup.pipeline = 2;
  setup.virtual_stages = 2;
  const Blueprint blueprint = Train(SmallLlama(), setup);
  EXPECT_EQ(blueprint.schedule, ScheduleNamed("interleaved"));
  ASSERT_EQ(blueprint.stages.size(), 2);
  EXPECT_THAT(
      ChunkTexts(blueprint, 0),
      ElementsAre("0: 1 x embedding_layer", fmt::format("0: 1 x {}", kBlocks),
                  fmt::format("1: 1 x {}", kBlocks)));
  EXPECT_THAT(ChunkTexts(blueprint, 1),
              ElementsAre(fmt::format("0: 1 x {}", kBlocks),
                          fmt::format("1: 1 x {}", kBlocks),
                          "1: 1 x final_column cross_entropy"));
}

TEST(ChunkTest, BothEndsOfAVAreOnTheFirstStage) {
  TrainingSetup setup = SmallSetup();
  setup.pipeline = 2;
  setup.schedule = ScheduleNamed("zb-v");
  const Blueprint blueprint = Train(SmallLlama(), setup);
  EXPECT_EQ(blueprint.sizes.virtual_stages, 2);
  EXPECT_THAT(
      ChunkTexts(blueprint, 0),
      ElementsAre("0: 1 x embedding_layer", fmt::format("0: 1 x {}", kBlocks),
                  fmt::format("1: 1 x {}", kBlocks),
                  "1: 1 x final_column cross_entropy"));
  EXPECT_THAT(ChunkTexts(blueprint, 1),
              ElementsAre(fmt::format("0: 1 x {}", kBlocks),
                          fmt::format("1: 1 x {}", kBlocks)));
}

// Both copies of a part are reduced over DP: 2 x (2 x 47,232) and both ends.
TEST(ChunkTest, DualPipeHoldsTheModelTwice) {
  TrainingSetup setup = SmallSetup();
  setup.pipeline = 2;
  setup.schedule = ScheduleNamed("dualpipe");
  const Blueprint blueprint = Train(SmallLlama(), setup);
  ASSERT_EQ(blueprint.stages.size(), 2);
  EXPECT_THAT(
      ChunkTexts(blueprint, 0),
      ElementsAre("0: 1 x embedding_layer", fmt::format("0: 2 x {}", kBlocks),
                  fmt::format("1: 2 x {}", kBlocks),
                  "1: 1 x final_column cross_entropy"));
  for (const ProgramStage& stage : blueprint.stages) {
    EXPECT_EQ(Sum(blueprint, stage).parameters, 254'528);
  }
}

// A table that words are looked up in and scored by is a copy on another stage
// alone.
TEST(ChunkTest, TiedTablesOfOneStageAreOne) {
  TrainingSetup setup = SmallSetup();
  const auto logits = [&] {
    return ModuleOf(Train(SmallGpt(), setup).modules, "final_column")
        .parameters;
  };
  EXPECT_EQ(logits(), 128);
  setup.pipeline = 2;
  EXPECT_EQ(logits(), 128 + 512 * 64);
  setup.schedule = ScheduleNamed("zb-v");
  EXPECT_EQ(logits(), 128);
}

TEST(TrainingTest, RefusesBadModelsAndSetups) {
  ModelSpec model = SmallGpt();
  model.layers = 0;
  EXPECT_THAT(TrainingBlueprint(model, SmallSetup()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "layers is 0: expected 1 to 1000"));
  TrainingSetup setup = SmallSetup();
  setup.global_batch = 15;
  EXPECT_THAT(
      TrainingBlueprint(SmallGpt(), setup),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               "the global batch 15 is no multiple of DP 4 x micro-batch 2"));
}

}  // namespace
}  // namespace astra
