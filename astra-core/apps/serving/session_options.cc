#include "astra-core/apps/serving/session_options.h"

#include <cmath>
#include <string_view>

#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::Status ReadPrefixes(const CommandLine& flags, int64_t prompt_tokens,
                          SyntheticOptions& sessions) {
  const IntegerOption sizes[] = {
      {"shared-prefix", &sessions.prefix_tokens, kMostCount},
      {"prefix-groups", &sessions.prefix_groups, kMostCount}};
  ASTRA_RETURN_IF_ERROR(ReadIntegers(flags, sizes));
  if (sessions.prefix_tokens == 0) {
    constexpr std::string_view kGroups[] = {"prefix-groups"};
    return Refuse(flags, kGroups, "--shared-prefix is not given");
  }
  if (sessions.prefix_tokens < kSyntheticBlockTokens ||
      sessions.prefix_tokens > prompt_tokens) {
    return absl::InvalidArgumentError(fmt::format(
        "--shared-prefix is {}: expected {} to the {} of --isl; it counts in "
        "whole blocks of {}",
        sessions.prefix_tokens, kSyntheticBlockTokens, prompt_tokens,
        kSyntheticBlockTokens));
  }
  return absl::OkStatus();
}

absl::Status ReadTurns(const CommandLine& flags, int64_t requests,
                       SyntheticOptions& sessions) {
  constexpr int64_t kMostTurns = 10'000;
  const IntegerOption turns[] = {{"turns", &sessions.turns, kMostTurns}};
  ASTRA_RETURN_IF_ERROR(ReadIntegers(flags, turns));
  if (sessions.turns == 1) {
    constexpr std::string_view kOfTurns[] = {"turn-wait-ms", "turn-wait-cv"};
    return Refuse(flags, kOfTurns, "a session has 1 turn");
  }
  if (requests % sessions.turns != 0) {
    return absl::InvalidArgumentError(fmt::format(
        "--requests is {}: expected a multiple of the {} of --turns", requests,
        sessions.turns));
  }
  constexpr double kMostMs = 1e9;
  constexpr double kPsPerMs = 1e9;
  ASTRA_ASSIGN_OR_RETURN(const double wait,
                         flags.number("turn-wait-ms", 0, kMostMs));
  sessions.turn_wait = TimePs(std::llround(wait * kPsPerMs));
  if (wait == 0) {
    constexpr std::string_view kSpread[] = {"turn-wait-cv"};
    return Refuse(flags, kSpread, "no turn waits (--turn-wait-ms)");
  }
  constexpr double kMostSpread = 10;
  ASTRA_ASSIGN_OR_RETURN(sessions.turn_wait_cv,
                         flags.number("turn-wait-cv", 1, kMostSpread));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SyntheticOptions> ReadSessions(const CommandLine& flags,
                                              int64_t requests,
                                              int64_t prompt_tokens) {
  SyntheticOptions sessions;
  ASTRA_RETURN_IF_ERROR(ReadPrefixes(flags, prompt_tokens, sessions));
  ASTRA_RETURN_IF_ERROR(ReadTurns(flags, requests, sessions));
  return sessions;
}

}  // namespace astra
