#include "astra-core/apps/serving/engine_launch.h"

#include <string>
#include <vector>

#include "collectives/inference_engines/engine_file.h"
#include "tests/testing/matchers.h"
#include "workload/models/model_library.h"
#include "workload/operators/gpu_library.h"

namespace astra {
namespace {

using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

ServingJob JobOf(const std::string& engine, const std::string& model) {
  Warnings warnings;
  ServingJob job;
  job.model = ValueOrDie(FindModel(model, &warnings));
  job.gpu = ValueOrDie(FindGpu("H100"));
  job.engine = ValueOrDie(LoadInferenceEngine(engine));
  EXPECT_TRUE(UseFacts(job).ok());
  return job;
}

TEST(EngineLaunchTest, WritesTheOptionsOfVllm) {
  ServingJob job = JobOf("vllm@0.14", "llama3-8b");
  job.layout.precision = Precision::kFp8;
  std::vector<std::string> notes;
  EXPECT_EQ(
      LaunchCommand(
          {.job = job, .layout = {.tensor = 2, .pipeline = 4}, .longest = 1152},
          &notes),
      "vllm serve meta-llama/Llama-3.1-8B \\\n"
      "  --tensor-parallel-size 2 \\\n"
      "  --pipeline-parallel-size 4 \\\n"
      "  --quantization fp8 \\\n"
      "  --max-model-len 1152 \\\n"
      "  --max-num-batched-tokens 8192 \\\n"
      "  --max-num-seqs 1024 \\\n"
      "  --block-size 16 \\\n"
      "  --gpu-memory-utilization 0.9\n");
  EXPECT_THAT(notes, IsEmpty());
}

TEST(EngineLaunchTest, WritesRanksOfAttention) {
  const ServingLayout layout = {.tensor = 2, .attention_ranks = 4, .expert = 8};
  std::vector<std::string> notes;
  const auto command = [&](const std::string& engine) {
    const ServingJob job = JobOf(engine, "qwen3-30b-a3b");
    return LaunchCommand({.job = job, .layout = layout, .longest = 100},
                         &notes);
  };
  EXPECT_THAT(command("vllm@0.14"),
              ::testing::HasSubstr("--tensor-parallel-size 2 \\\n"
                                   "  --pipeline-parallel-size 1 \\\n"
                                   "  --data-parallel-size 4 \\\n"
                                   "  --enable-expert-parallel \\\n"));
  EXPECT_THAT(command("sglang@0.5.9"),
              ::testing::HasSubstr("--tp-size 8 \\\n  --pp-size 1 \\\n"
                                   "  --dp-size 4 \\\n"
                                   "  --enable-dp-attention \\\n"
                                   "  --ep-size 8 \\\n"));
  EXPECT_THAT(notes, IsEmpty());
  EXPECT_THAT(command("trtllm"), ::testing::HasSubstr("--tp_size 8 \\\n"));
  EXPECT_THAT(notes, ElementsAre("trtllm-serve also needs "
                                 "`enable_attention_dp: true` in the file of "
                                 "--extra_llm_api_options"));
}

TEST(EngineLaunchTest, SaysWhatVllmCannotDo) {
  const ServingJob job = JobOf("vllm@0.14", "qwen3-30b-a3b");
  std::vector<std::string> notes;
  EXPECT_THAT(
      LaunchCommand(
          {.job = job, .layout = {.tensor = 4, .expert = 2}, .longest = 100},
          &notes),
      ::testing::HasSubstr("  --enable-expert-parallel \\\n"));
  EXPECT_THAT(notes, ElementsAre("vLLM has no EP 2 within TP 4: "
                                 "--enable-expert-parallel makes it 4"));
}

TEST(EngineLaunchTest, WritesTheOptionsOfSglangPools) {
  const ServingJob job = JobOf("sglang@0.5.9", "qwen3-30b-a3b");
  std::vector<std::string> notes;
  EXPECT_EQ(LaunchCommand({.job = job,
                           .layout = {.tensor = 4, .expert = 2},
                           .role = PoolRole::kDecode,
                           .longest = 4096},
                          &notes),
            "python -m sglang.launch_server \\\n"
            "  --model-path Qwen/Qwen3-30B-A3B \\\n"
            "  --tp-size 4 \\\n"
            "  --pp-size 1 \\\n"
            "  --ep-size 2 \\\n"
            "  --context-length 4096 \\\n"
            "  --chunked-prefill-size 8192 \\\n"
            "  --max-running-requests 4096 \\\n"
            "  --disaggregation-mode decode\n");
  EXPECT_THAT(notes, IsEmpty());
}

TEST(EngineLaunchTest, WritesTheOptionsOfTensorRtLlm) {
  const ServingJob job = JobOf("trtllm@1.0", "llama3-8b");
  std::vector<std::string> notes;
  EXPECT_EQ(LaunchCommand(
                {.job = job, .layout = {.tensor = 8}, .longest = 2048}, &notes),
            "trtllm-serve meta-llama/Llama-3.1-8B \\\n"
            "  --tp_size 8 \\\n"
            "  --pp_size 1 \\\n"
            "  --max_seq_len 2048 \\\n"
            "  --max_num_tokens 8192 \\\n"
            "  --max_batch_size 2048 \\\n"
            "  --kv_cache_free_gpu_memory_fraction 0.9\n");
}

}  // namespace
}  // namespace astra
