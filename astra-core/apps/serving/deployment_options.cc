#include "astra-core/apps/serving/deployment_options.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "astra-core/apps/serving/serving_pool_options.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "collectives/inference_engines/engine_file.h"
#include "fmt/core.h"

namespace astra {

absl::Status ReadServingPrecision(const CommandLine& flags, ServingJob& job) {
  constexpr std::string_view kNames[] = {"bfloat16",  "bf16",  "float16",
                                         "fp16",      "mxfp4", "fp8",
                                         "fp8_block", "mxfp8", "nvfp4"};
  constexpr size_t kMxfp4 = 4;
  ASTRA_ASSIGN_OR_RETURN(const size_t choice,
                         Choice(flags, "dtype", 0, kNames));
  job.layout.mxfp4_experts = choice == kMxfp4;
  if (job.layout.mxfp4_experts && !job.model.experts) {
    return absl::InvalidArgumentError(fmt::format(
        "--dtype mxfp4 is for experts, and {} has none", job.model.name));
  }
  if (choice > kMxfp4) {
    job.layout.precision =
        kPrecisions[IndexOf(Precision::kFp8) + choice - kMxfp4 - 1];
  }
  return absl::OkStatus();
}

absl::Status ReadServingLayout(const CommandLine& flags, ServingJob& job) {
  const IntegerOption sizes[] = {
      {"tp", &job.layout.tensor, kMostCount},
      {"pp", &job.layout.pipeline, kMostCount},
      {"ep", &job.layout.expert, kMostCount},
      {"attention-dp", &job.layout.attention_ranks, kMostCount},
      {"replicas", &job.replicas, kMostCount}};
  ASTRA_RETURN_IF_ERROR(ReadIntegers(flags, sizes));
  ASTRA_RETURN_IF_ERROR(ReadServingPrecision(flags, job));
  if (!job.model.experts) {
    constexpr std::string_view kOfExperts[] = {"ep", "attention-dp"};
    ASTRA_RETURN_IF_ERROR(Refuse(
        flags, kOfExperts, fmt::format("{} has no experts", job.model.name)));
  }
  ASTRA_RETURN_IF_ERROR(SpreadOverAttentionRanks(flags, "", job.layout));
  return CheckServingLayout(job, "");
}

absl::Status ReadServingEngine(const CommandLine& flags, ServingJob& job) {
  ASTRA_ASSIGN_OR_RETURN(
      job.engine, LoadInferenceEngine(flags.value("engine").value_or("vllm")));
  ServingFacts& facts = job.engine.serving;
  if (flags.has("scheduler")) {
    if (facts.scheduler.empty()) return UseFacts(job);
    facts.scheduler = *flags.value("scheduler");
  }
  if (flags.has("gpu-memory-utilization")) {
    constexpr std::string_view kGiven[] = {"gpu-memory-utilization"};
    if (flags.has("num-gpu-blocks")) {
      return Refuse(flags, kGiven, "--num-gpu-blocks is given");
    }
    ASTRA_ASSIGN_OR_RETURN(facts.memory_share,
                           flags.number("gpu-memory-utilization", 1, 1));
  }
  ASTRA_RETURN_IF_ERROR(UseFacts(job));
  const IntegerOption sizes[] = {
      {"max-num-batched-tokens", &job.options.max_batched_tokens, kMostCount},
      {"max-num-seqs", &job.options.max_sequences, kMostCount},
      {"num-gpu-blocks", &job.options.num_blocks, kMostCount}};
  ASTRA_RETURN_IF_ERROR(ReadIntegers(flags, sizes));
  job.options.chunk_tokens = job.options.max_batched_tokens;
  return absl::OkStatus();
}

}  // namespace astra
