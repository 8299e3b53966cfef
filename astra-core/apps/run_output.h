// Where a run writes, as its command line says.

#ifndef ASTRA_CORE_APPS_RUN_OUTPUT_H_
#define ASTRA_CORE_APPS_RUN_OUTPUT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "astra-core/apps/command_line.h"

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

}  // namespace astra

#endif  // ASTRA_CORE_APPS_RUN_OUTPUT_H_
