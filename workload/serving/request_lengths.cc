#include "workload/serving/request_lengths.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "astra-core/base/field_error.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/serving/random_draws.h"

namespace astra {
namespace {

constexpr int64_t kMaxTokens = 10'000'000;
constexpr uint64_t kLengthPurpose = 0x6c656e677468;  // "length"

absl::Status CheckInteger(std::string_view name, int64_t value, int64_t min) {
  if (value >= min && value <= kMaxTokens) return absl::OkStatus();
  return FieldError(name, fmt::format("{} is {}: expected {} to {}", name,
                                      value, min, kMaxTokens));
}

absl::Status CheckNumber(std::string_view name, double value, double min,
                         double max) {
  if (value >= min && value <= max) return absl::OkStatus();
  return FieldError(
      name, fmt::format("{} is {}: expected {} to {}", name, value, min, max));
}

absl::Status CheckOptions(const LengthOptions& options) {
  ASTRA_RETURN_IF_ERROR(
      CheckInteger("prompt_tokens", options.prompt_tokens, 1));
  ASTRA_RETURN_IF_ERROR(
      CheckInteger("output_tokens", options.output_tokens, 1));
  ASTRA_RETURN_IF_ERROR(CheckNumber("prompt_cv", options.prompt_cv, 0, 30));
  ASTRA_RETURN_IF_ERROR(CheckNumber("output_cv", options.output_cv, 0, 30));
  ASTRA_RETURN_IF_ERROR(CheckInteger("min_tokens", options.min_tokens, 2));
  const bool is_range = options.distribution == LengthDistribution::kUniform ||
                        options.distribution == LengthDistribution::kZipf;
  ASTRA_RETURN_IF_ERROR(CheckInteger("max_tokens", options.max_tokens,
                                     is_range ? options.min_tokens : 1));
  ASTRA_RETURN_IF_ERROR(
      CheckNumber("prompt_to_output", options.prompt_to_output, 1e-6, 1e6));
  return CheckNumber("theta", options.theta, 0.01, 0.99);
}

int64_t DrawGamma(int64_t mean, double cv, int64_t max, RandomDraws* draws) {
  const double tokens = static_cast<double>(mean) * draws->Spread(cv);
  // Compared as double, as it may exceed an integer.
  if (tokens >= static_cast<double>(max)) return max;
  return std::max<int64_t>(1, std::llround(tokens));
}

}  // namespace

absl::StatusOr<LengthGenerator> LengthGenerator::Create(
    const LengthOptions& options) {
  ASTRA_RETURN_IF_ERROR(CheckOptions(options));
  return LengthGenerator(options);
}

LengthGenerator::LengthGenerator(const LengthOptions& options)
    : options_(options) {
  if (options.distribution != LengthDistribution::kZipf) return;
  const int64_t count = options.max_tokens - options.min_tokens + 1;
  for (int64_t i = 1; i <= count; ++i) {
    zeta_ += ExactPower(static_cast<double>(i), -options.theta);
  }
  const double zeta2 = 1 + ExactPower(2, -options.theta);
  if (count > 2) {
    eta_ = (1 - ExactPower(2 / static_cast<double>(count), 1 - options.theta)) /
           (1 - zeta2 / zeta_);
  }
}

int64_t LengthGenerator::DrawZipf(double uniform) const {
  const int64_t count = options_.max_tokens - options_.min_tokens + 1;
  const double scaled = uniform * zeta_;
  if (scaled < 1 || count == 1) return 0;
  if (scaled < 1 + ExactPower(0.5, options_.theta) || count == 2) return 1;
  const double place =
      static_cast<double>(count) *
      ExactPower(eta_ * uniform - eta_ + 1, 1 / (1 - options_.theta));
  return std::min(count - 1, static_cast<int64_t>(place));
}

RequestLengths LengthGenerator::Draw(uint64_t seed, int64_t index) const {
  RandomDraws draws(seed, kLengthPurpose, static_cast<uint64_t>(index));
  int64_t tokens = options_.min_tokens;
  switch (options_.distribution) {
    case LengthDistribution::kFixed:
      return {options_.prompt_tokens, options_.output_tokens};
    case LengthDistribution::kGamma: {
      const int64_t prompt =
          DrawGamma(options_.prompt_tokens, options_.prompt_cv,
                    options_.max_tokens, &draws);
      return {prompt, DrawGamma(options_.output_tokens, options_.output_cv,
                                options_.max_tokens, &draws)};
    }
    case LengthDistribution::kUniform:
      tokens += static_cast<int64_t>(
          draws.Uniform() *
          static_cast<double>(options_.max_tokens - options_.min_tokens + 1));
      break;
    case LengthDistribution::kZipf:
      tokens += DrawZipf(draws.Uniform());
      break;
  }
  const double output =
      std::ceil(static_cast<double>(tokens) / (1 + options_.prompt_to_output));
  const int64_t outputs =
      std::clamp<int64_t>(static_cast<int64_t>(output), 1, tokens - 1);
  return {tokens - outputs, outputs};
}

}  // namespace astra
