// Reads the options of simai_serving about prefixes that requests share and
// about sessions of several turns.

#ifndef ASTRA_CORE_APPS_SERVING_SESSION_OPTIONS_H_
#define ASTRA_CORE_APPS_SERVING_SESSION_OPTIONS_H_

#include "absl/status/status.h"
#include "astra-core/apps/serving/simai_serving_options.h"
#include "astra-core/command_line/command_line.h"

namespace astra {

// Fills in `options.sessions`. Requires the numbers of requests and tokens.
// Errors: InvalidArgument for an option that is wrong or without effect.
absl::Status ReadSessions(const CommandLine& flags,
                          SimaiServingOptions& options);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SESSION_OPTIONS_H_
