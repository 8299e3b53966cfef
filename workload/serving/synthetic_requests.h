// Requests that are drawn, each from the seed and its number alone.
//
// With several turns, each request begins a session, as of a chat or an agent.
// The prompt of a turn is the prompt of the turn before with its output, and a
// drawn number of tokens behind them: what the user says, or what a tool gives.
// It arrives a drawn time after the end of the turn before, in which the user
// thinks or the tool runs. Hashes cover all of a session, so that a turn finds
// what the cache still has of it, but for the last block of hashes that the
// turn before did not fill. The turns of session s have the numbers s x turns,
// s x turns + 1 and so on.

#ifndef WORKLOAD_SERVING_SYNTHETIC_REQUESTS_H_
#define WORKLOAD_SERVING_SYNTHETIC_REQUESTS_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "astra-core/base/units.h"
#include "workload/serving/request.h"
#include "workload/serving/request_lengths.h"
#include "workload/serving/request_source.h"

namespace astra {

// Gaps between arrivals. The first request arrives at 0.
enum class ArrivalProcess {
  kAtOnce,    // None; also for closed loops.
  kConstant,  // All equal.
  kPoisson,   // Exponential.
  kGamma,     // By the coefficient of variation; above 1 requests come in
              // bursts.
};

struct SyntheticOptions {
  LengthOptions lengths;
  ArrivalProcess arrivals = ArrivalProcess::kPoisson;
  double per_second = 1;  // Mean rate of arrivals.
  double arrival_cv = 1;  // kGamma: deviation over mean of the gaps.

  // The source ends after so many requests (with several turns: sessions), or
  // with the last that arrives within the duration; 0: no such limit. One of
  // them is needed.
  int64_t count = 0;
  TimePs duration;

  // The first `prefix_tokens` of a prompt, or all of a shorter one, are those
  // of one of `prefix_groups` prefixes, such as system prompts.
  int64_t prefix_tokens = 0;
  int64_t prefix_groups = 1;

  // Sessions. The time between two turns has this mean and coefficient of
  // variation: 0: always the mean, 1: exponential.
  int64_t turns = 1;
  TimePs turn_wait;
  double turn_wait_cv = 1;

  uint64_t seed = 0;
};

// Tokens of a hashed block of synthetic prefixes. Only whole blocks are shared.
inline constexpr int64_t kSyntheticBlockTokens = 64;

class SyntheticRequests : public RequestSource {
 public:
  // Errors: FieldError about the option that is out of its range.
  static absl::StatusOr<SyntheticRequests> Create(
      const SyntheticOptions& options);

  std::optional<Request> Next(TimePs now) override;
  std::optional<Request> After(const Request& ended, TimePs now) override;

 private:
  SyntheticRequests(const SyntheticOptions& options,
                    const LengthGenerator& lengths)
      : options_(options), lengths_(lengths) {}

  TimePs Gap() const;
  // Returns the hashes of the shared prefix of session `session`, whose first
  // prompt has so many tokens.
  PrefixHashes SharedPrefix(int64_t session, int64_t prompt_tokens) const;
  // Adds hashes for all `tokens` of a session.
  void CoverSession(int64_t session, int64_t tokens,
                    PrefixHashes* prefix) const;

  SyntheticOptions options_;
  LengthGenerator lengths_;
  int64_t next_ = 0;  // Request, or session.
  TimePs arrival_;    // Of the next request.
};

}  // namespace astra

#endif  // WORKLOAD_SERVING_SYNTHETIC_REQUESTS_H_
