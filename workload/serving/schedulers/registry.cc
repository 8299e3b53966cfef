#include "workload/serving/schedulers/registry.h"

#include <algorithm>
#include <optional>
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
    {"host_blocks", &BatchingOptions::host_blocks, 0},
    {"draft_tokens", &BatchingOptions::draft_tokens, 0},
    {"long_prefill_tokens", &BatchingOptions::long_prefill_tokens, 0},
    {"prefill_interval", &BatchingOptions::prefill_interval, 1},
    {"prefill_delay", &BatchingOptions::prefill_delay, 0},
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
    {"acceptance_rate", &BatchingOptions::acceptance_rate},
    {"new_token_ratio", &BatchingOptions::new_token_ratio},
    {"min_new_token_ratio", &BatchingOptions::min_new_token_ratio},
};

struct SwitchOption {
  std::string_view name;
  bool BatchingOptions::*field;
};

constexpr SwitchOption kSwitches[] = {
    {"prefix_caching", &BatchingOptions::prefix_caching},
    {"chunked_prefill", &BatchingOptions::chunked_prefill},
    {"whole_prompt_must_fit", &BatchingOptions::whole_prompt_must_fit},
    {"mixed_chunk", &BatchingOptions::mixed_chunk},
};

// Options of every scheduler.
constexpr std::string_view kCommonOptions[] = {
    "num_blocks",    "block_tokens", "prefix_caching", "watermark",
    "max_sequences", "host_blocks",  "draft_tokens",   "acceptance_rate"};

absl::Status RangeError(const IntegerOption& option, double value) {
  return FieldError(option.name,
                    fmt::format("{} is {}: expected {} to {}", option.name,
                                value, option.min, kMax));
}

absl::Status RangeError(const ShareOption& option, double value) {
  return FieldError(option.name, fmt::format("{} is {}: expected 0 to 1",
                                             option.name, value));
}

absl::Status CheckHeldBlocks(const BatchingOptions& options) {
  const HeldBlocks& held = options.held;
  constexpr auto kMost = static_cast<double>(kMax);
  if (held.states < 0 || held.states > kMax || held.most_windows < 0 ||
      held.most_windows > kMax ||
      !(held.windows_per_block >= 0 && held.windows_per_block <= kMost)) {
    return FieldError(
        "held", fmt::format("a sequence holds {} blocks for states and {} for "
                            "each block of positions, at most {}, for windows: "
                            "expected 0 to {}",
                            held.states, held.windows_per_block,
                            held.most_windows, kMax));
  }
  const int64_t least = BlocksOfTokens(1, options);
  if (least <= options.num_blocks) return absl::OkStatus();
  return FieldError(
      "num_blocks",
      fmt::format("num_blocks is {}: expected at least the {} of a sequence of "
                  "one token, with its windows and states",
                  options.num_blocks, least));
}

// Calls `visit` with every option of the three tables.
template <class Visit>
void ForEachOption(const Visit& visit) {
  for (const IntegerOption& option : kIntegers) visit(option);
  for (const ShareOption& option : kShares) visit(option);
  for (const SwitchOption& option : kSwitches) visit(option);
}

absl::Status Set(const IntegerOption& option, double value,
                 BatchingOptions* options) {
  if (!(value >= static_cast<double>(option.min) &&
        value <= static_cast<double>(kMax))) {
    return RangeError(option, value);
  }
  const int64_t whole = static_cast<int64_t>(value);
  if (static_cast<double>(whole) != value) {
    return FieldError(option.name, fmt::format("{} is {}: expected a whole "
                                               "number",
                                               option.name, value));
  }
  options->*option.field = whole;
  return absl::OkStatus();
}

absl::Status Set(const ShareOption& option, double value,
                 BatchingOptions* options) {
  if (!(value >= 0 && value <= 1)) return RangeError(option, value);
  options->*option.field = value;
  return absl::OkStatus();
}

absl::Status Set(const SwitchOption& option, double value,
                 BatchingOptions* options) {
  if (value != 0 && value != 1) {
    return FieldError(option.name, fmt::format("{} is {}: expected 0 or 1",
                                               option.name, value));
  }
  options->*option.field = value == 1;
  return absl::OkStatus();
}

}  // namespace

int64_t MaxPromptTokens(const SchedulerKind& scheduler,
                        const BatchingOptions& options) {
  const int64_t most = scheduler.max_tokens(options);
  return scheduler.max_prompt_tokens == nullptr
             ? most
             : std::min(most, scheduler.max_prompt_tokens(options));
}

absl::Status SetBatchingOption(std::string_view name, double value,
                               BatchingOptions* options) {
  std::vector<std::string_view> names;
  std::optional<absl::Status> status;
  ForEachOption([&](const auto& option) {
    names.push_back(option.name);
    if (option.name == name) status = Set(option, value, options);
  });
  if (status.has_value()) return *status;
  return absl::InvalidArgumentError(
      UnknownName("option of schedulers", name, names));
}

std::vector<std::string_view> UnusedOptions(const SchedulerKind& scheduler,
                                            const BatchingOptions& options) {
  const auto has = [](absl::Span<const std::string_view> names,
                      std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::vector<std::string_view> unused;
  ForEachOption([&](const auto& option) {
    if (options.*option.field != scheduler.defaults.*option.field &&
        !has(kCommonOptions, option.name) &&
        !has(scheduler.options, option.name)) {
      unused.push_back(option.name);
    }
  });
  return unused;
}

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
      return RangeError(option, static_cast<double>(value));
    }
  }
  for (const ShareOption& option : kShares) {
    const double value = options.*option.field;
    if (!(value >= 0 && value <= 1)) return RangeError(option, value);
  }
  if (options.num_blocks > kMax / options.block_tokens) {
    return FieldError(
        "num_blocks",
        fmt::format("{} blocks of {} tokens: expected at most {} tokens",
                    options.num_blocks, options.block_tokens, kMax));
  }
  return CheckHeldBlocks(options);
}

int64_t TokensOfAllBlocks(const BatchingOptions& options) {
  int64_t most = 0;
  for (int64_t above = options.num_blocks + 1; above - most > 1;) {
    const int64_t blocks = most + (above - most) / 2;
    const bool fits =
        blocks + options.held.Beside(blocks) <= options.num_blocks;
    (fits ? most : above) = blocks;
  }
  return most * options.block_tokens;
}

}  // namespace astra
