// Reads the options of simai_serving about prefixes that requests share and
// about sessions of several turns.

#ifndef ASTRA_CORE_APPS_SERVING_SESSION_OPTIONS_H_
#define ASTRA_CORE_APPS_SERVING_SESSION_OPTIONS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "astra-core/command_line/command_line.h"
#include "workload/serving/synthetic_requests.h"

namespace astra {

// Returns options of which the shared prefixes and the turns alone are read,
// for so many requests with prompts of `prompt_tokens`. Errors: InvalidArgument
// for an option that is wrong or without effect.
absl::StatusOr<SyntheticOptions> ReadSessions(const CommandLine& flags,
                                              int64_t requests,
                                              int64_t prompt_tokens);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SESSION_OPTIONS_H_
