// Where a run writes and when it stops, as its command line says.

#ifndef ASTRA_CORE_APPS_RUN_OUTPUT_H_
#define ASTRA_CORE_APPS_RUN_OUTPUT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "astra-core/apps/command_line.h"
#include "astra-core/base/units.h"

namespace astra {

struct RunOutput {
  std::string name;    // Of the run.
  std::string folder;  // For the results.
};

// What --result, or else `otherwise`, and --output, or else results/NAME, say.
//
// Errors: InvalidArgument for a name that is none for a folder, or an empty
// folder.
absl::StatusOr<RunOutput> ReadRunOutput(const CommandLine& flags,
                                        std::string_view otherwise);

// What --stop-at says; kMaxCollectiveTime if it is not given.
//
// Errors: InvalidArgument for what is no time, or is longer.
absl::StatusOr<TimePs> ReadStopAt(const CommandLine& flags);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_RUN_OUTPUT_H_
