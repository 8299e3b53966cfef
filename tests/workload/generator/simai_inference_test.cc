// Inference steps in the text formats of SimAI and of its Vidur.

#include <string>
#include <vector>

#include "tests/testing/matchers.h"
#include "tests/testing/small_models.h"
#include "workload/generator/inference.h"
#include "workload/generator/simai_workload.h"
#include "workload/generator/training.h"
#include "workload/generator/vidur_workload.h"

namespace astra {
namespace {

using ::astra::testing::FixedTime;
using ::astra::testing::SmallDeepSeek;
using ::astra::testing::SmallLlama;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

// The next token of 2 sequences of 32 positions, on TP 2: hidden states of
// 2 x 64 x 2 B = 256 B.
InferenceSetup Decode() {
  InferenceSetup setup;
  setup.phase = InferencePhase::kDecode;
  setup.world_size = 2;
  setup.tensor = 2;
  setup.batch = 2;
  setup.positions = 32;
  return setup;
}

ModelSpec WithLayers(ModelSpec model, int64_t layers) {
  model.layers = layers;
  return model;
}

// The forward pass of each layer, with nanoseconds.
std::vector<std::string> Layers(const ModelSpec& model,
                                const InferenceSetup& setup) {
  const FixedTime time;
  const Blueprint blueprint = ValueOrDie(InferenceBlueprint(model, setup));
  std::vector<std::string> texts;
  const SimaiText workload =
      ValueOrDie(SimaiTextOf(blueprint, 0, ModuleTimes(time)));
  for (const SimaiLayer& layer : workload.layers) {
    const SimaiPhase& forward = layer.phase(Phase::kForward);
    texts.push_back(
        fmt::format("{} {}", layer.name, forward.compute.count() / 1000));
    if (!forward.communication) continue;
    texts.back() +=
        fmt::format(" {} {}", Name(forward.communication->dimension),
                    forward.communication->bytes.count());
  }
  return texts;
}

// 4 operators in front of attention and 3 behind it; 3 and 2.
TEST(SimaiInferenceTest, WritesTwoLayersForABlock) {
  EXPECT_THAT(
      Layers(WithLayers(SmallLlama(), 2), Decode()),
      ElementsAre("embedding_layer 1 TP 256", "attention_layer 7 TP 256",
                  "dense_mlp 5 TP 256", "attention_layer 7 TP 256",
                  "dense_mlp 5 TP 256", "final_column 3 TP 2048"));
}

// EP 2: a rank sends 1 token to 2 experts, 2 x 64 x 2 B.
TEST(SimaiInferenceTest, WritesExperts) {
  InferenceSetup setup = Decode();
  setup.expert = 2;
  const std::vector<std::string> layers =
      Layers(WithLayers(SmallDeepSeek(), 2), setup);
  ASSERT_EQ(layers.size(), 9);
  // The combination gathers all tokens on all ranks.
  EXPECT_THAT(
      std::vector<std::string>(layers.begin() + 3, layers.end()),
      ElementsAre("attention_layer 13 TP 256", "shared_experts 4 TP 256",
                  "moe_route 4 EP 256", "moe_expert1 6 EP 256",
                  "moe_expert2 0 TP 256", "final_column 3 TP 2048"));
}

std::string Vidur(const ModelSpec& model, const InferenceSetup& setup) {
  const FixedTime time;
  return ValueOrDie(FormatVidurWorkload(
      ValueOrDie(InferenceBlueprint(model, setup)), ModuleTimes(time)));
}

TEST(VidurWorkloadTest, NumbersTheBlocks) {
  EXPECT_EQ(Vidur(WithLayers(SmallLlama(), 2), Decode()),
            "layer_id\tlayer_name\tcomp_time\tcomm_size\n"
            "0\tattention\t7\t256\n"
            "0\tmlp\t5\t256\n"
            "1\tattention\t7\t256\n"
            "1\tmlp\t5\t256\n");
}

TEST(VidurWorkloadTest, NumbersBlocksOverStages) {
  InferenceSetup setup = Decode();
  setup.tensor = 1;
  setup.pipeline = 2;
  EXPECT_EQ(Vidur(WithLayers(SmallLlama(), 2), setup),
            "layer_id\tlayer_name\tcomp_time\tcomm_size\n"
            "0\tattention\t7\t0\n"
            "0\tmlp\t5\t0\n"
            "1\tattention\t7\t0\n"
            "1\tmlp\t5\t0\n");
}

// Shared experts, both ways of the tokens, and the gathering: 4 x 256 B.
TEST(VidurWorkloadTest, ExpertsAreOnePart) {
  InferenceSetup setup = Decode();
  setup.expert = 2;
  EXPECT_EQ(Vidur(WithLayers(SmallDeepSeek(), 2), setup),
            "layer_id\tlayer_name\tcomp_time\tcomm_size\n"
            "0\tattention\t13\t256\n"
            "0\tmlp\t5\t256\n"
            "1\tattention\t13\t256\n"
            "1\tmoe\t14\t1024\n");
}

TEST(VidurWorkloadTest, IsForInference) {
  const FixedTime time;
  TrainingSetup setup;
  setup.positions = 32;
  EXPECT_THAT(
      FormatVidurWorkload(ValueOrDie(TrainingBlueprint(SmallLlama(), setup)),
                          ModuleTimes(time)),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "Vidur's format is for inference: give --phase prefill or "
               "decode"));
}

}  // namespace
}  // namespace astra
