#include "workload/generator/model_parts.h"

#include <string>
#include <utility>
#include <vector>

#include "tests/testing/matchers.h"
#include "tests/testing/schedules.h"
#include "tests/testing/small_models.h"
#include "workload/generator/layout_rules.h"

namespace astra {
namespace {

using ::astra::testing::ScheduleNamed;
using ::astra::testing::SmallLlama;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::Each;
using ::testing::ElementsAre;

ModelSpec LlamaOf(int64_t layers) {
  ModelSpec model = SmallLlama();
  model.layers = layers;
  return model;
}

TrainingSetup Staged(int64_t stages, int64_t virtual_stages = 1) {
  TrainingSetup setup;
  setup.world_size = stages;
  setup.pipeline = stages;
  setup.virtual_stages = virtual_stages;
  setup.global_batch = 4 * stages;
  setup.positions = 32;
  return setup;
}

TrainingSetup Scheduled(PipelineSchedule schedule, int64_t stages) {
  TrainingSetup setup = Staged(stages);
  setup.schedule = schedule;
  return setup;
}

// "E 0-2" holds the embedding and blocks 0 and 1, "6-8 L" the logits.
std::string Text(const ModelPart& part) {
  return fmt::format("{}{}-{}{}", part.has_embedding ? "E " : "",
                     part.first_layer, part.end_layer,
                     part.has_logits ? " L" : "");
}

// By stage, what its chunks hold.
std::vector<std::string> Texts(const ModelSpec& model,
                               const TrainingSetup& setup) {
  EXPECT_EQ(CheckTraining(model, setup), absl::OkStatus());
  std::vector<std::string> texts;
  for (const std::vector<ModelPart>& stage : PartsOfStages(model, setup)) {
    std::vector<std::string> chunks;
    chunks.reserve(stage.size());
    for (const ModelPart& part : stage) chunks.push_back(Text(part));
    texts.push_back(fmt::format("{}", fmt::join(chunks, ", ")));
  }
  return texts;
}

TEST(PartsOfStagesTest, StagesFollowOneAnother) {
  for (const PipelineSchedule schedule :
       {ScheduleNamed("gpipe"), ScheduleNamed("1f1b"),
        ScheduleNamed("zb-h1")}) {
    EXPECT_THAT(Texts(LlamaOf(8), Scheduled(schedule, 4)),
                ElementsAre("E 0-2", "2-4", "4-6", "6-8 L"));
  }
  EXPECT_THAT(Texts(LlamaOf(3), Staged(1)), ElementsAre("E 0-3 L"));
}

// Narayanan et al., arXiv 2104.04473, figure 4: chunk c of stage s is c p + s.
TEST(PartsOfStagesTest, InterleavedChunksGoRound) {
  EXPECT_THAT(Texts(LlamaOf(12), Staged(2, 3)),
              ElementsAre("E 0-2, 4-6, 8-10", "2-4, 6-8, 10-12 L"));
  EXPECT_THAT(Texts(LlamaOf(6), Staged(3, 2)),
              ElementsAre("E 0-1, 3-4", "1-2, 4-5", "2-3, 5-6 L"));
}

// Down the stages and up again: both ends are on stage 0.
TEST(PartsOfStagesTest, ZbVReturns) {
  EXPECT_THAT(Texts(LlamaOf(12), Scheduled(ScheduleNamed("zb-v"), 3)),
              ElementsAre("E 0-2, 10-12 L", "2-4, 8-10", "4-6, 6-8"));
}

// DeepSeek-V3, arXiv 2412.19437, figure 5: from both ends, all of it twice.
TEST(PartsOfStagesTest, DualPipeHoldsEachPartTwice) {
  EXPECT_THAT(
      Texts(LlamaOf(8), Scheduled(ScheduleNamed("dualpipe"), 4)),
      ElementsAre("E 0-2, 6-8 L", "2-4, 4-6", "4-6, 2-4", "6-8 L, E 0-2"));
}

std::vector<int64_t> LayersOf(int64_t layers, const TrainingSetup& setup) {
  return ValueOrDie(PartLayers(LlamaOf(layers), setup));
}

TEST(PartLayersTest, AreEqualWhereTheyCanBe) {
  EXPECT_THAT(LayersOf(8, Staged(4)), ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(LayersOf(3, Staged(1)), ElementsAre(3));
  EXPECT_THAT(LayersOf(8, Staged(2, 2)), ElementsAre(2, 2, 2, 2));
}

// Llama 3 405B: 126 + 2 = 16 x 8, of which each stage has 8 chunks of one; the
// first chunk is the embedding alone, and the last one the logits.
TEST(PartLayersTest, TheEndsHaveOneLessWhereThatComesOut) {
  EXPECT_THAT(LayersOf(126, Staged(16)),
              ElementsAre(7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7));
  EXPECT_THAT(LayersOf(4, Staged(3)), ElementsAre(1, 2, 1));
  std::vector<int64_t> parts = LayersOf(126, Staged(16, 8));
  ASSERT_EQ(parts.size(), 128);
  EXPECT_EQ(parts.front(), 0);
  EXPECT_EQ(parts.back(), 0);
  parts.front() = parts.back() = 1;
  EXPECT_THAT(parts, Each(1));
  // 30 + 2 = 8 x 4.
  EXPECT_THAT(LayersOf(30, Scheduled(ScheduleNamed("zb-v"), 4)),
              ElementsAre(3, 4, 4, 4, 4, 4, 4, 3));
}

// 61 = 16 x 3 + 13, DeepSeek-V3 over 16 stages.
TEST(PartLayersTest, TheRestGoesBehindTheFirst) {
  const auto expected =
      ElementsAre(3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3);
  EXPECT_THAT(LayersOf(61, Staged(16)), expected);
  EXPECT_THAT(LayersOf(61, Scheduled(ScheduleNamed("dualpipe"), 16)), expected);
  EXPECT_THAT(LayersOf(61, Scheduled(ScheduleNamed("zb-v"), 8)), expected);
  EXPECT_THAT(LayersOf(5, Staged(2)), ElementsAre(2, 3));
}

TEST(PartLayersTest, MayBeGivenByStageOrByPart) {
  TrainingSetup setup = Staged(2);
  setup.stage_layers = {1, 3};
  EXPECT_THAT(LayersOf(4, setup), ElementsAre(1, 3));
  setup = Staged(2, 2);
  setup.stage_layers = {1, 2, 3, 4};
  EXPECT_THAT(LayersOf(10, setup), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Texts(LlamaOf(10), setup),
              ElementsAre("E 0-1, 3-6", "1-3, 6-10 L"));
  // Stage 0: 1 + 2, with the embedding; stage 1: 3 + 2, with the logits.
  setup.stage_layers = {3, 5};
  EXPECT_THAT(LayersOf(8, setup), ElementsAre(1, 3, 2, 2));
  setup.stage_layers = {0, 1, 1, 0};
  EXPECT_THAT(Texts(LlamaOf(2), setup),
              ElementsAre("E 0-0, 1-2", "0-1, 2-2 L"));
}

TEST(PartLayersTest, TheEndsMayBeGiven) {
  TrainingSetup setup = Staged(4);
  setup.first_stage_layers = 1;
  EXPECT_THAT(LayersOf(10, setup), ElementsAre(1, 3, 3, 3));
  setup.last_stage_layers = 5;
  EXPECT_THAT(LayersOf(10, setup), ElementsAre(1, 2, 2, 5));
  setup.virtual_stages = 2;
  setup.first_stage_layers = 2;
  setup.last_stage_layers = 4;
  EXPECT_THAT(LayersOf(10, setup), ElementsAre(1, 1, 1, 2, 1, 1, 1, 2));
}

// Qwen3-235B: 94 blocks, the embedding and the logits are 16 x 6.
TEST(PartLayersTest, TheEndsMayCountAsBlocks) {
  TrainingSetup setup = Staged(16);
  setup.account_for_embedding = true;
  setup.account_for_loss = true;
  EXPECT_THAT(LayersOf(94, setup),
              ElementsAre(5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 5));
  setup = Staged(4);
  setup.account_for_embedding = true;
  EXPECT_THAT(LayersOf(15, setup), ElementsAre(3, 4, 4, 4));
  setup.account_for_loss = true;
  EXPECT_THAT(Texts(LlamaOf(2), setup),
              ElementsAre("E 0-0", "0-1", "1-2", "2-2 L"));
}

TEST(PartLayersTest, RefusesWhatDoesNotComeOut) {
  TrainingSetup list = Staged(2, 2);
  list.stage_layers = {1, 2, 3};
  TrainingSetup hole = Staged(2, 2);
  hole.stage_layers = {2, 0, 3, 5};
  TrainingSetup few = Staged(2, 4);
  few.stage_layers = {8, 2};
  TrainingSetup ends = Staged(4);
  ends.first_stage_layers = 3;
  TrainingSetup both = Staged(2);
  both.first_stage_layers = 3;
  both.last_stage_layers = 6;
  TrainingSetup counted = Staged(4);
  counted.account_for_loss = true;
  for (const auto& [setup, message] :
       {std::pair{Staged(2, 4),
                  "VPP 4 does not divide the 5 layers of a pipeline stage"},
        std::pair{list,
                  "the stages have 1,2,3 layers: expected PP 2, or PP x VPP 4, "
                  "numbers that add up to 10"},
        std::pair{hole, "a chunk of a pipeline stage has no layer"},
        std::pair{few, "a pipeline stage has 2 layers, fewer than VPP 4"},
        std::pair{ends,
                  "7 of 10 layers are left for the 3 other pipeline stages of "
                  "PP 4: expected as many on each"},
        std::pair{both,
                  "1 of 10 layers are left for the 0 other pipeline stages of "
                  "PP 2: expected as many on each"},
        std::pair{counted,
                  "10 layers and 1 that the embedding and the loss count for "
                  "are no multiple of the 4 parts of the pipeline"}}) {
    EXPECT_THAT(PartLayers(LlamaOf(10), setup),
                StatusIs(absl::StatusCode::kInvalidArgument, message));
  }
}

// "0-2 again" are two blocks that run again together, "2-3" one that does not.
std::vector<std::string> GroupTexts(const ModelPart& part,
                                    const TrainingSetup& setup) {
  std::vector<std::string> texts;
  for (const BlockGroup& group : GroupsOf(part, setup)) {
    texts.push_back(fmt::format("{}-{}{}", group.first_layer, group.end_layer,
                                group.runs_again ? " again" : ""));
  }
  return texts;
}

TEST(GroupsOfTest, BlocksRunAgainByTheMethod) {
  const ModelPart part = {.first_layer = 3, .end_layer = 6};
  TrainingSetup setup = Staged(2);
  EXPECT_THAT(GroupTexts(part, setup), ElementsAre("3-4", "4-5", "5-6"));
  setup.recompute = Recompute::kFull;
  EXPECT_THAT(GroupTexts(part, setup),
              ElementsAre("3-4 again", "4-5 again", "5-6 again"));
  setup.recompute_layers = 2;
  EXPECT_THAT(GroupTexts(part, setup), ElementsAre("3-5 again", "5-6 again"));
  setup.recompute_method = RecomputeMethod::kBlock;
  EXPECT_THAT(GroupTexts(part, setup),
              ElementsAre("3-4 again", "4-5 again", "5-6"));
  setup.recompute = Recompute::kSelective;
  EXPECT_THAT(GroupTexts(part, setup),
              ElementsAre("3-4 again", "4-5 again", "5-6"));
}

}  // namespace
}  // namespace astra
