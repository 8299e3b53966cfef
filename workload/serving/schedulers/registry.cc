#include "workload/serving/schedulers/registry.h"

#include <string>
#include <vector>

#include "astra-core/base/field_error.h"
#include "astra-core/base/names.h"
#include "fmt/core.h"

namespace astra {
namespace {

// No engine holds more; it keeps sums of positions far from overflow.
constexpr int64_t kMax = 1'000'000'000'000;

struct IntegerOption {
  std::string_view name;
  int64_t BatchingOptions::*field;
  int64_t min;
};

constexpr IntegerOption kIntegers[] = {
    {"num_blocks", &BatchingOptions::num_blocks, 1},
    {"block_tokens", &BatchingOptions::block_tokens, 1},
    {"max_batched_tokens", &BatchingOptions::max_batched_tokens, 1},
    {"max_sequences", &BatchingOptions::max_sequences, 1},
    {"chunk_tokens", &BatchingOptions::chunk_tokens, 1},
    {"long_prefill_tokens", &BatchingOptions::long_prefill_tokens, 0},
    {"max_sequence_tokens", &BatchingOptions::max_sequence_tokens, 1},
    {"max_waiting_steps", &BatchingOptions::max_waiting_steps, 0},
    {"max_prefill_tokens", &BatchingOptions::max_prefill_tokens, 1},
    {"new_token_decay_steps", &BatchingOptions::new_token_decay_steps, 1},
    {"max_expected_tokens", &BatchingOptions::max_expected_tokens, 1},
    {"retract_decode_steps", &BatchingOptions::retract_decode_steps, 0},
};

struct ShareOption {
  std::string_view name;
  double BatchingOptions::*field;
};

constexpr ShareOption kShares[] = {
    {"watermark", &BatchingOptions::watermark},
    {"new_token_ratio", &BatchingOptions::new_token_ratio},
    {"min_new_token_ratio", &BatchingOptions::min_new_token_ratio},
};

}  // namespace

absl::StatusOr<const SchedulerKind*> FindScheduler(std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto kind : kSchedulers) {
    if (IsNamed(name, kind().name, {})) return &kind();
    names.push_back(kind().name);
  }
  return absl::InvalidArgumentError(UnknownName("scheduler", name, names));
}

absl::Status CheckBatchingOptions(const BatchingOptions& options) {
  for (const IntegerOption& option : kIntegers) {
    const int64_t value = options.*option.field;
    if (value < option.min || value > kMax) {
      return FieldError(option.name,
                        fmt::format("{} is {}: expected {} to {}", option.name,
                                    value, option.min, kMax));
    }
  }
  for (const ShareOption& option : kShares) {
    const double value = options.*option.field;
    if (!(value >= 0 && value <= 1)) {
      return FieldError(option.name, fmt::format("{} is {}: expected 0 to 1",
                                                 option.name, value));
    }
  }
  if (options.num_blocks > kMax / options.block_tokens) {
    return FieldError(
        "num_blocks",
        fmt::format("{} blocks of {} tokens: expected at most {} tokens",
                    options.num_blocks, options.block_tokens, kMax));
  }
  return absl::OkStatus();
}

int64_t TokensOfAllBlocks(const BatchingOptions& options) {
  return options.num_blocks * options.block_tokens;
}

}  // namespace astra
