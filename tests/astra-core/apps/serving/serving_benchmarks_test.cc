#include "astra-core/apps/serving/serving_benchmarks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace astra {
namespace {

constexpr std::string_view kAiConfigurator =
    "NVIDIA AIConfigurator own GPU run";
constexpr std::string_view kInferenceX =
    "InferenceX (SemiAnalysis) run as kept in AIConfigurator silicon sample";
constexpr BenchmarkLoad kLoad = {.prompt = 1000, .output = 100, .in_flight = 8};

BatchingOptions OptionsOf(std::string_view source, std::string_view engine) {
  BatchingOptions options = {.max_batched_tokens = 8192, .max_sequences = 1024};
  SetUpEngine(source, kLoad, engine, options);
  return options;
}

TEST(ServingBenchmarksTest, EachSourceSetsUpItsEngine) {
  const BatchingOptions sized = OptionsOf(kAiConfigurator, "vllm 0.12.0");
  EXPECT_EQ(sized.max_sequences, 8);
  EXPECT_EQ(sized.max_batched_tokens, 2508);
  const BatchingOptions sglang =
      OptionsOf(kAiConfigurator, "sglang 0.5.6.post2");
  EXPECT_EQ(sglang.max_prefill_tokens, 2500);
  EXPECT_EQ(sglang.max_batched_tokens, 8192);
  EXPECT_TRUE(sglang.mixed_chunk);
  const BatchingOptions old = OptionsOf(kAiConfigurator, "sglang 0.5.1.post1");
  EXPECT_EQ(old.max_sequences, 8);
  EXPECT_EQ(old.max_prefill_tokens, 16384);
  EXPECT_FALSE(old.mixed_chunk);
  const BatchingOptions inference_x = OptionsOf(kInferenceX, "vllm");
  EXPECT_EQ(inference_x.max_sequences, 8);
  EXPECT_EQ(inference_x.max_batched_tokens, 8192);
  EXPECT_EQ(OptionsOf("someone", "vllm").max_sequences, 1024);
}

TEST(ServingBenchmarksTest, LengthsVaryOnlyInInferenceX) {
  const std::vector<Request> same = RequestsOfBenchmark(kAiConfigurator, kLoad);
  ASSERT_EQ(same.size(), 80u);
  for (const Request& request : same) {
    EXPECT_EQ(request.prompt_tokens, 1000);
    EXPECT_EQ(request.output_tokens, 100);
  }
  int64_t sum = 0;
  for (const Request& request : RequestsOfBenchmark(kInferenceX, kLoad)) {
    EXPECT_GE(request.prompt_tokens, 800);
    EXPECT_LE(request.prompt_tokens, 1000);
    sum += request.prompt_tokens;
  }
  EXPECT_NEAR(static_cast<double>(sum), 72'000, 2'000);
}

}  // namespace
}  // namespace astra
