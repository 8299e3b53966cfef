#include "workload/serving/synthetic_requests.h"

#include <algorithm>
#include <cmath>

#include "astra-core/base/field_error.h"
#include "astra-core/base/random.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/serving/random_draws.h"

namespace astra {
namespace {

constexpr uint64_t kGapPurpose = 0x676170;              // "gap"
constexpr uint64_t kGroupPurpose = 0x67726f7570;        // "group"
constexpr uint64_t kSessionPurpose = 0x73657373696f6e;  // "session"
constexpr uint64_t kWaitPurpose = 0x77616974;           // "wait"
constexpr int64_t kMaxTurns = 10'000;
constexpr uint64_t kPrefixPurpose = 0x707265666978;  // "prefix"
constexpr int64_t kMaxCount = 1'000'000'000;
constexpr int64_t kMaxPrefixTokens = 10'000'000;

absl::Status CheckSessions(const SyntheticOptions& options) {
  if (options.turns < 1 || options.turns > kMaxTurns) {
    return FieldError("turns", fmt::format("turns is {}: expected 1 to {}",
                                           options.turns, kMaxTurns));
  }
  if (options.turn_wait < TimePs(0) || options.turn_wait > kMaxServingTime) {
    return FieldError("turn_wait",
                      "the wait for a turn is below 0 or above 100 days");
  }
  if (!(options.turn_wait_cv >= 0 && options.turn_wait_cv <= 10)) {
    return FieldError("turn_wait_cv",
                      fmt::format("turn_wait_cv is {}: expected 0 to 10",
                                  options.turn_wait_cv));
  }
  return absl::OkStatus();
}

absl::Status CheckOptions(const SyntheticOptions& options) {
  if (!(options.per_second >= 1e-3 && options.per_second <= 1e9)) {
    return FieldError("per_second",
                      fmt::format("per_second is {}: expected 0.001 to 1e9",
                                  options.per_second));
  }
  if (!(options.arrival_cv >= 0 && options.arrival_cv <= 10)) {
    return FieldError(
        "arrival_cv",
        fmt::format("arrival_cv is {}: expected 0 to 10", options.arrival_cv));
  }
  if (options.count < 0 || options.count > kMaxCount) {
    return FieldError("count", fmt::format("count is {}: expected 0 to {}",
                                           options.count, kMaxCount));
  }
  if (options.duration < TimePs(0) || options.duration > kMaxServingTime) {
    return FieldError("duration", "the duration is below 0 or above 100 days");
  }
  if (options.count == 0 && options.duration == TimePs(0)) {
    return FieldError("count", "neither a count of requests nor a duration");
  }
  if (options.prefix_tokens < 0 || options.prefix_tokens > kMaxPrefixTokens) {
    return FieldError("prefix_tokens",
                      fmt::format("prefix_tokens is {}: expected 0 to {}",
                                  options.prefix_tokens, kMaxPrefixTokens));
  }
  if (options.prefix_groups < 1 || options.prefix_groups > kMaxCount) {
    return FieldError("prefix_groups",
                      fmt::format("prefix_groups is {}: expected 1 to {}",
                                  options.prefix_groups, kMaxCount));
  }
  return CheckSessions(options);
}

}  // namespace

absl::StatusOr<SyntheticRequests> SyntheticRequests::Create(
    const SyntheticOptions& options) {
  ASTRA_RETURN_IF_ERROR(CheckOptions(options));
  ASTRA_ASSIGN_OR_RETURN(const LengthGenerator lengths,
                         LengthGenerator::Create(options.lengths));
  return SyntheticRequests(options, lengths);
}

TimePs SyntheticRequests::Gap() const {
  RandomDraws draws(options_.seed, kGapPurpose, static_cast<uint64_t>(next_));
  double gap = 1;
  switch (options_.arrivals) {
    case ArrivalProcess::kAtOnce:
      return TimePs(0);
    case ArrivalProcess::kConstant:
      break;
    case ArrivalProcess::kPoisson:
      gap = draws.Exponential();
      break;
    case ArrivalProcess::kGamma:
      gap = draws.Spread(options_.arrival_cv);
      break;
  }
  // Beyond the end of what can be simulated, which then is an error.
  const double longest = static_cast<double>(kMaxServingTime.count()) * 1.01;
  return TimePs(
      std::llround(std::min(longest, gap / options_.per_second * 1e12)));
}

PrefixHashes SyntheticRequests::SharedPrefix(int64_t session,
                                             int64_t prompt_tokens) const {
  PrefixHashes prefix;
  const int64_t blocks =
      std::min(prompt_tokens, options_.prefix_tokens) / kSyntheticBlockTokens;
  if (blocks == 0) return prefix;
  prefix.block_tokens = kSyntheticBlockTokens;
  const uint64_t group =
      HashOf(options_.seed, kGroupPurpose, static_cast<uint64_t>(session)) %
      static_cast<uint64_t>(options_.prefix_groups);
  for (int64_t i = 0; i < blocks; ++i) {
    prefix.hashes.push_back(HashOf(options_.seed, kPrefixPurpose, group, i));
  }
  return prefix;
}

void SyntheticRequests::CoverSession(int64_t session, int64_t tokens,
                                     PrefixHashes* prefix) const {
  prefix->block_tokens = kSyntheticBlockTokens;
  const auto blocks = static_cast<size_t>((tokens + kSyntheticBlockTokens - 1) /
                                          kSyntheticBlockTokens);
  while (prefix->hashes.size() < blocks) {
    prefix->hashes.push_back(HashOf(options_.seed, kSessionPurpose,
                                    static_cast<uint64_t>(session),
                                    prefix->hashes.size()));
  }
}

std::optional<Request> SyntheticRequests::Next(TimePs now) {
  if (options_.count > 0 && next_ == options_.count) return std::nullopt;
  if (options_.duration > TimePs(0) &&
      std::max(now, arrival_) > options_.duration) {
    return std::nullopt;
  }
  const int64_t id = next_ * options_.turns;
  const RequestLengths lengths = lengths_.Draw(options_.seed, id);
  Request request = {.id = id,
                     .arrival = arrival_,
                     .prompt_tokens = lengths.prompt_tokens,
                     .output_tokens = lengths.output_tokens,
                     .prefix = SharedPrefix(next_, lengths.prompt_tokens)};
  if (options_.turns > 1)
    CoverSession(next_, request.tokens(), &request.prefix);
  arrival_ = std::min(arrival_ + Gap(), kMaxServingTime + TimePs(1));
  ++next_;
  return request;
}

std::optional<Request> SyntheticRequests::After(const Request& ended,
                                                TimePs now) {
  if (ended.turn + 1 >= options_.turns) return std::nullopt;
  const int64_t id = ended.id + 1;
  RandomDraws draws(options_.seed, kWaitPurpose, static_cast<uint64_t>(id));
  const double wait = static_cast<double>(options_.turn_wait.count()) *
                      draws.Spread(options_.turn_wait_cv);
  const double longest = static_cast<double>(kMaxServingTime.count());
  const RequestLengths lengths = lengths_.Draw(options_.seed, id);
  Request request = {
      .id = id,
      .arrival = now + TimePs(std::llround(std::min(longest, wait))),
      .prompt_tokens = ended.tokens() + lengths.prompt_tokens,
      .output_tokens = lengths.output_tokens,
      .prefix = ended.prefix,
      .turn = ended.turn + 1};
  CoverSession(id / options_.turns, request.tokens(), &request.prefix);
  return request;
}

}  // namespace astra
