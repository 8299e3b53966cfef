// Serves requests in Vidur's way, from its tables to its metrics.

#ifndef ASTRA_CORE_APPS_VIDUR_VIDUR_RUN_H_
#define ASTRA_CORE_APPS_VIDUR_VIDUR_RUN_H_

#include <string>

#include "absl/status/statusor.h"
#include "astra-core/apps/vidur/simai_vidur_options.h"
#include "astra-core/base/log.h"

namespace astra {

struct VidurRun {
  std::string page;             // For the screen.
  std::string result;           // Main figures, in a few words.
  std::string request_metrics;  // request_metrics.csv
  std::string metrics;          // metrics.csv
};

// Reads the tables and the trace, fits the forests and serves the requests.
// Errors: those of ReadFile, ReadVidurTable, ParseVidurTrace,
// DrawVidurRequests, ReplayVidurTrace, VidurCost and Serve.
absl::StatusOr<VidurRun> RunVidur(const SimaiVidurOptions& options,
                                  Warnings* warnings);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_VIDUR_VIDUR_RUN_H_
