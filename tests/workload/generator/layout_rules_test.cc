#include "workload/generator/layout_rules.h"

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/testing/matchers.h"
#include "tests/testing/schedules.h"
#include "tests/testing/small_models.h"

namespace astra {
namespace {

using ::astra::testing::ScheduleNamed;
using ::astra::testing::SmallDeepSeek;
using ::astra::testing::SmallGpt;
using ::astra::testing::SmallLlama;
using ::astra::testing::SmallMoe;
using ::astra::testing::StatusIs;

// TP 2 x CP 2 x DP 2 x PP 2, in 4 micro-batches of 2 sequences.
TrainingSetup SmallSetup() {
  TrainingSetup setup;
  setup.world_size = 16;
  setup.tensor = 2;
  setup.context = 2;
  setup.pipeline = 2;
  setup.micro_batch = 2;
  setup.global_batch = 16;
  setup.positions = 32;
  return setup;
}

TEST(CheckTrainingTest, ExpertsHaveTheirOwnView) {
  TrainingSetup setup = SmallSetup();
  setup.sequence_parallel = true;
  setup.expert = 8;
  setup.expert_tensor = 1;
  EXPECT_EQ(CheckTraining(SmallMoe(), setup), absl::OkStatus());
  EXPECT_EQ(setup.module_context().expert_tensor, 1);
}

TEST(CheckTrainingTest, KeyHeadsMayBeFewerThanRanks) {
  TrainingSetup setup = SmallSetup();
  setup.context = 1;
  setup.tensor = 8;  // 2 key heads, on 4 ranks each.
  EXPECT_EQ(CheckTraining(SmallLlama(), setup), absl::OkStatus());
}

TEST(CheckTrainingTest, TheEndsOfVirtualStagesMayLackABlock) {
  ModelSpec model = SmallLlama();
  model.layers = 14;  // 3, 4, 4 and 3.
  TrainingSetup setup = SmallSetup();
  setup.context = 1;
  setup.pipeline = 4;
  setup.virtual_stages = 2;
  EXPECT_EQ(CheckTraining(model, setup), absl::OkStatus());
  setup.virtual_stages = 3;
  EXPECT_THAT(CheckTraining(model, setup),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "VPP 3 does not divide the 4 layers of a pipeline "
                       "stage"));
}

struct BadSetup {
  std::string name;
  ModelSpec model;
  std::function<void(TrainingSetup&)> spoil;
  std::string message;
};

void PrintTo(const BadSetup& setup, std::ostream* out) { *out << setup.name; }

std::string NameOf(const ::testing::TestParamInfo<BadSetup>& test) {
  return test.param.name;
}

class BadTrainingSetupTest : public ::testing::TestWithParam<BadSetup> {};

TEST_P(BadTrainingSetupTest, IsRefused) {
  TrainingSetup setup = SmallSetup();
  GetParam().spoil(setup);
  const std::string& message = GetParam().message;
  // Too many tokens are no matter of the layout.
  const bool is_layout = message.find("at once") == std::string::npos &&
                         message.find("learned") == std::string::npos;
  EXPECT_THAT(CheckTraining(GetParam().model, setup),
              StatusIs(is_layout ? absl::StatusCode::kFailedPrecondition
                                 : absl::StatusCode::kInvalidArgument,
                       message));
}

ModelSpec Narrow() {
  ModelSpec model = SmallLlama();
  model.attention = FullAttention{.heads = 8, .kv_heads = 8, .head_dim = 8};
  model.feed_forward.ffn = 190;
  return model;
}

ModelSpec OddKeys() {
  ModelSpec model = SmallLlama();
  model.attention = FullAttention{.heads = 12, .kv_heads = 6, .head_dim = 8};
  return model;
}

ModelSpec Linear() {
  ModelSpec model = SmallLlama();
  model.other_attention = LinearAttention{.key_heads = 3,
                                          .value_heads = 6,
                                          .key_head_dim = 8,
                                          .value_head_dim = 8,
                                          .conv_kernel = 4,
                                          .full_attention_every = 4};
  return model;
}

ModelSpec OddShared() {
  ModelSpec model = SmallDeepSeek();
  model.experts->shared_ffn = 33;
  return model;
}

ModelSpec OddWords() {
  ModelSpec model = SmallLlama();
  model.vocabulary = 511;
  return model;
}

INSTANTIATE_TEST_SUITE_P(
    Layout, BadTrainingSetupTest,
    ::testing::Values(
        BadSetup{"Ranks", SmallLlama(),
                 [](TrainingSetup& s) { s.world_size = 0; },
                 "all_gpus is 0: expected a number from 1 to 16777216"},
        BadSetup{"World", SmallLlama(),
                 [](TrainingSetup& s) { s.world_size = 18; },
                 "TP 2 x PP 2 does not divide the 18 GPUs: there is no whole "
                 "DP"},
        BadSetup{"RecomputedLayers", SmallLlama(),
                 [](TrainingSetup& s) {
                   s.recompute = Recompute::kFull;
                   s.recompute_layers = 3;
                 },
                 "full recomputation of 3 layers: a pipeline stage has 2 at "
                 "most"},
        BadSetup{"Context", SmallLlama(),
                 [](TrainingSetup& s) { s.context = 3; },
                 "CP 3 does not divide 4 = 16 GPUs / (TP 2 x PP 2): there is "
                 "no whole DP"},
        BadSetup{"Expert", SmallMoe(), [](TrainingSetup& s) { s.expert = 8; },
                 "EP 8 does not divide DP 4 = 16 GPUs / (TP 2 x PP 2)"},
        BadSetup{"ExpertTensor", SmallMoe(),
                 [](TrainingSetup& s) {
                   s.expert = 4;
                   s.expert_tensor = 4;
                 },
                 "ETP 4 x EP 4 does not divide the 8 GPUs of a stage"},
        BadSetup{"Stages", SmallLlama(),
                 [](TrainingSetup& s) {
                   s.pipeline = 8;
                   s.context = 1;
                 },
                 "PP 8 is more than the 4 layers"},
        BadSetup{"StageCount", SmallLlama(),
                 [](TrainingSetup& s) {
                   s.stage_layers = {1, 1, 2};
                 },
                 "the stages have 1,1,2 layers: expected PP 2 numbers that add "
                 "up to 4"},
        BadSetup{"StageSum", SmallLlama(),
                 [](TrainingSetup& s) {
                   s.stage_layers = {2, 1};
                 },
                 "the stages have 2,1 layers: expected PP 2 numbers that add "
                 "up to 4"},
        BadSetup{"EmptyStage", SmallLlama(),
                 [](TrainingSetup& s) {
                   s.stage_layers = {4, 0};
                 },
                 "a pipeline stage has no layer"},
        BadSetup{"VirtualAlone", SmallLlama(),
                 [](TrainingSetup& s) {
                   s.pipeline = 1;
                   s.virtual_stages = 2;
                 },
                 "VPP 2 without pipeline stages: PP is 1"},
        BadSetup{"VirtualLayers", SmallLlama(),
                 [](TrainingSetup& s) { s.virtual_stages = 4; },
                 "VPP 4 does not divide the 2 layers of a pipeline stage"},
        BadSetup{"VirtualBatches", SmallLlama(),
                 [](TrainingSetup& s) {
                   s.virtual_stages = 2;
                   s.global_batch = 12;
                 },
                 "3 micro-batches are no multiple of PP 2, as virtual stages "
                 "need"},
        BadSetup{
            "Chunks", SmallLlama(),
            [](TrainingSetup& s) {
              s.virtual_stages = 2;
              s.schedule = ScheduleNamed("zb-h1");
            },
            "schedule zb-h1: the number of chunks per stage is 2: expected 1"},
        BadSetup{"CountedEnds", SmallLlama(),
                 [](TrainingSetup& s) { s.account_for_loss = true; },
                 "4 layers and 1 that the embedding and the loss count for are "
                 "no multiple of the 2 parts of the pipeline"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Model, BadTrainingSetupTest,
    ::testing::Values(
        BadSetup{"Heads", SmallGpt(),
                 [](TrainingSetup& s) {
                   s.tensor = 8;
                   s.context = 1;
                 },
                 "TP 8 does not divide the 4 attention heads"},
        BadSetup{"KeyHeads", OddKeys(),
                 [](TrainingSetup& s) {
                   s.tensor = 4;
                   s.context = 1;
                 },
                 "TP 4 does not divide the 6 key-value heads"},
        BadSetup{"LatentHeads", SmallDeepSeek(),
                 [](TrainingSetup& s) {
                   s.tensor = 8;
                   s.context = 1;
                 },
                 "TP 8 does not divide the 4 attention heads"},
        BadSetup{"LinearHeads", Linear(), [](TrainingSetup&) {},
                 "TP 2 does not divide the 3 heads of linear attention"},
        BadSetup{"Columns", Narrow(),
                 [](TrainingSetup& s) {
                   s.tensor = 4;
                   s.context = 1;
                 },
                 "TP 4 does not divide the 190 columns of the feed-forward "
                 "part"},
        BadSetup{"NoExperts", SmallLlama(),
                 [](TrainingSetup& s) { s.expert = 4; },
                 "EP 4 has no effect: small-llama has no experts"},
        BadSetup{"Experts", SmallMoe(),
                 [](TrainingSetup& s) {
                   s.world_size = 24;
                   s.expert = 3;
                 },
                 "EP 3 does not divide the 8 experts"},
        BadSetup{"ExpertColumns", SmallMoe(),
                 [](TrainingSetup& s) {
                   s.world_size = 24;
                   s.expert_tensor = 3;
                 },
                 "ETP 3 does not divide the 32 columns of an expert"},
        BadSetup{"SharedColumns", OddShared(), [](TrainingSetup&) {},
                 "TP 2 does not divide the 33 columns of the shared experts"},
        BadSetup{"Words", OddWords(),
                 [](TrainingSetup& s) { s.vocabulary_divisor = 0; },
                 "TP 2 does not divide the 511 words of the vocabulary"},
        BadSetup{"ZeroGroup", SmallLlama(),
                 [](TrainingSetup& s) { s.zero_group = 3; },
                 "the ZeRO group 3 does not divide the 4 ranks with the same "
                 "parameters"},
        BadSetup{"ZeroGroupOfStage0", SmallLlama(),
                 [](TrainingSetup& s) {
                   s.zero = Zero::kNone;
                   s.zero_group = 2;
                 },
                 "a ZeRO group has no effect with ZeRO 0: it is of ZeRO 1"},
        BadSetup{"LearnedPositions", SmallGpt(),
                 [](TrainingSetup& s) { s.positions = 256; },
                 "sequence length 256 is beyond the 128 learned positions "
                 "(max_positions)"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Training, BadTrainingSetupTest,
    ::testing::Values(
        BadSetup{"SequenceParallel", SmallLlama(),
                 [](TrainingSetup& s) {
                   s.sequence_parallel = true;
                   s.micro_batch = 2;
                   s.positions = 30;
                 },
                 "TP x CP 4 does not divide the 30 positions of a sequence, as "
                 "sequence parallelism needs"},
        BadSetup{"Positions", SmallLlama(),
                 [](TrainingSetup& s) { s.positions = 31; },
                 "CP 2 does not divide the 31 positions of a sequence"},
        BadSetup{"EarlyAndLate", SmallLlama(),
                 [](TrainingSetup& s) { s.positions = 30; },
                 "twice CP 4 does not divide the 30 positions of a sequence "
                 "(each rank has an early and a late part)"},
        BadSetup{"AllToAll", SmallGpt(),
                 [](TrainingSetup& s) {
                   s.tensor = 1;
                   s.context = 8;
                   s.context_method = ContextMethod::kAllToAll;
                 },
                 "CP 8 does not divide the 4 attention heads of a TP rank, "
                 "which all-to-all context parallelism splits"},
        BadSetup{"Batch", SmallLlama(),
                 [](TrainingSetup& s) { s.global_batch = 18; },
                 "the global batch 18 is no multiple of DP 2 x micro-batch 2"},
        BadSetup{"NoBatch", SmallLlama(),
                 [](TrainingSetup& s) { s.global_batch = 0; },
                 "the global batch has no sequence"},
        BadSetup{"Tokens", SmallLlama(),
                 [](TrainingSetup& s) {
                   s.micro_batch = 65;
                   s.positions = 1 << 24;
                 },
                 "65 sequences of 16777216 positions at once: expected 1 to "
                 "16777216 positions of a sequence and 1 to 1073741824 in "
                 "all"},
        BadSetup{"NoPositions", SmallLlama(),
                 [](TrainingSetup& s) { s.positions = 0; },
                 "2 sequences of 0 positions at once: expected 1 to 16777216 "
                 "positions of a sequence and 1 to 1073741824 in all"},
        BadSetup{"NoMicroBatch", SmallLlama(),
                 [](TrainingSetup& s) { s.micro_batch = 0; },
                 "0 sequences of 32 positions at once: expected 1 to 16777216 "
                 "positions of a sequence and 1 to 1073741824 in all"},
        BadSetup{"ContextWithoutFlash", SmallLlama(),
                 [](TrainingSetup& s) { s.flash_attention = false; },
                 "CP 2 needs flash attention"},
        BadSetup{"ZeroWithStages", SmallLlama(),
                 [](TrainingSetup& s) { s.zero = Zero::kGradients; },
                 "ZeRO 2 needs PP 1, not 2: gradients are reduced in every "
                 "micro-batch"},
        BadSetup{"OverlapAlone", SmallLlama(),
                 [](TrainingSetup& s) { s.tensor_overlap = true; },
                 "the overlap of tensor-parallel collectives needs sequence "
                 "parallelism"},
        BadSetup{"OverlapOfOne", SmallLlama(),
                 [](TrainingSetup& s) {
                   s.tensor_overlap = true;
                   s.sequence_parallel = true;
                   s.tensor = 1;
                 },
                 "the overlap of tensor-parallel collectives has no effect: TP "
                 "is 1"},
        BadSetup{"NoSharedExperts", SmallMoe(),
                 [](TrainingSetup& s) {
                   s.sequence_parallel = true;
                   s.shared_expert_overlap = true;
                 },
                 "the overlap of shared experts has no effect: small-moe has "
                 "none"},
        BadSetup{"SharedExpertsAlone", SmallDeepSeek(),
                 [](TrainingSetup& s) {
                   s.sequence_parallel = true;
                   s.shared_expert_overlap = true;
                 },
                 "the overlap of shared experts has no effect: EP is 1"},
        BadSetup{"ExpertsAlone", SmallMoe(), [](TrainingSetup&) {},
                 "experts with TP 2 need sequence parallelism"}),
    NameOf);

}  // namespace
}  // namespace astra
