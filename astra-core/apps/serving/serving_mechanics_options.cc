#include "astra-core/apps/serving/serving_mechanics_options.h"

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "astra-core/base/status_macros.h"
#include "astra-core/base/units.h"
#include "astra-core/command_line/option_reading.h"
#include "astra-core/serving/cache_memory.h"
#include "astra-core/serving/draft_times.h"
#include "fmt/core.h"
#include "workload/models/model_library.h"

namespace astra {
namespace {

absl::Status ReadDrafts(const CommandLine& flags, ServingJob& job,
                        Warnings* warnings) {
  constexpr int64_t kMostDrafts = 64;
  const IntegerOption tokens[] = {
      {"speculative-tokens", &job.options.draft_tokens, kMostDrafts}};
  ASTRA_RETURN_IF_ERROR(ReadIntegers(flags, tokens));
  if (job.options.draft_tokens == 0) {
    constexpr std::string_view kOfDrafts[] = {"acceptance-rate", "draft-model"};
    return Refuse(flags, kOfDrafts, "--speculative-tokens is not given");
  }
  ASTRA_RETURN_IF_ERROR(Require(flags, "acceptance-rate"));
  ASTRA_ASSIGN_OR_RETURN(job.options.acceptance_rate,
                         flags.number("acceptance-rate", 1, 1));
  const std::optional<std::string> draft = flags.value("draft-model");
  if (!draft) return absl::OkStatus();
  if (*draft == "mtp") {
    job.draft_model = OneBlockOf(job.model);
    return absl::OkStatus();
  }
  ASTRA_ASSIGN_OR_RETURN(job.draft_model, FindModel(*draft, warnings));
  return absl::OkStatus();
}

absl::Status ReadHostMemory(const CommandLine& flags, ServingJob& job) {
  constexpr double kMostGib = 1e6;
  constexpr double kMostRate = 1e6;
  constexpr double kLeastRate = 1e-3;
  constexpr double kPsPerByteAtGbps = 1e3;
  if (!flags.has("host-kv-gib")) {
    constexpr std::string_view kRate[] = {"host-kv-gbps"};
    return Refuse(flags, kRate, "--host-kv-gib is not given");
  }
  constexpr std::string_view kSize[] = {"host-kv-gib"};
  if (!job.options.prefix_caching) {
    return Refuse(
        flags, kSize,
        fmt::format("the scheduler {} keeps no prefixes", job.scheduler->name));
  }
  if (!flags.has("trace") && !flags.has("turns") &&
      !flags.has("shared-prefix")) {
    return Refuse(flags, kSize,
                  "no prompts begin alike (--turns, --shared-prefix, --trace)");
  }
  ASTRA_RETURN_IF_ERROR(Require(flags, "host-kv-gbps"));
  ASTRA_ASSIGN_OR_RETURN(const double gib,
                         flags.number("host-kv-gib", 0, kMostGib));
  ASTRA_ASSIGN_OR_RETURN(const double rate,
                         flags.number("host-kv-gbps", 0, kMostRate));
  ASTRA_ASSIGN_OR_RETURN(
      const CacheBlock block,
      CacheBlockOf(job.model, job.layout, job.engine.serving,
                   {.frees_windows = job.scheduler->frees_windows,
                    .draft = job.draft_model}));
  const auto bytes = static_cast<double>(block.bytes.count());
  job.options.host_blocks =
      static_cast<int64_t>(std::floor(gib * kBytesPerGib / bytes));
  if (job.options.host_blocks == 0 || rate < kLeastRate) {
    return absl::InvalidArgumentError(fmt::format(
        "--host-kv-gib {} at {} GB/s: expected room for a block of {} bytes, "
        "and {} GB/s or more",
        gib, rate, block.bytes.count(), kLeastRate));
  }
  job.host_block_time = TimePs(std::llround(bytes / rate * kPsPerByteAtGbps));
  return absl::OkStatus();
}

// Reads how long SGLang holds prompts back until all ranks have some.
absl::Status ReadPrefillDelay(const CommandLine& flags, ServingJob& job) {
  constexpr std::string_view kDelay[] = {"prefill-delay-passes"};
  if (job.scheduler->name != "sglang") {
    return Refuse(flags, kDelay,
                  fmt::format("it is of the scheduler sglang, not {}",
                              job.scheduler->name));
  }
  if (job.layout.attention_ranks == 1) {
    return Refuse(flags, kDelay, "there is 1 rank of attention");
  }
  if (flags.has("decode-replicas")) {
    return Refuse(flags, kDelay, "--decode-replicas are separate");
  }
  constexpr int64_t kMostPasses = 1'000'000;
  const IntegerOption passes[] = {
      {kDelay[0], &job.options.prefill_delay, kMostPasses}};
  return ReadIntegers(flags, passes);
}

absl::Status ReadPrefillInterval(const CommandLine& flags, ServingJob& job) {
  constexpr std::string_view kInterval[] = {"prefill-schedule-interval"};
  if (job.scheduler->name != "vllm") {
    return Refuse(flags, kInterval,
                  fmt::format("it is of the scheduler vllm, not {}",
                              job.scheduler->name));
  }
  if (job.layout.attention_ranks == 1) {
    return Refuse(flags, kInterval, "there is 1 rank of attention");
  }
  constexpr int64_t kMostSteps = 1'000'000;
  const IntegerOption interval[] = {
      {kInterval[0], &job.options.prefill_interval, kMostSteps}};
  return ReadIntegers(flags, interval);
}

}  // namespace

absl::Status ReadMechanics(const CommandLine& flags, ServingJob& job,
                           Warnings* warnings) {
  ASTRA_RETURN_IF_ERROR(ReadDrafts(flags, job, warnings));
  ASTRA_RETURN_IF_ERROR(ReadHostMemory(flags, job));
  ASTRA_RETURN_IF_ERROR(ReadPrefillDelay(flags, job));
  return ReadPrefillInterval(flags, job);
}

}  // namespace astra
