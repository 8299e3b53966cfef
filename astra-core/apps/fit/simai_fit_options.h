// Options of simai_fit, as its command line gives them.

#ifndef ASTRA_CORE_APPS_FIT_SIMAI_FIT_OPTIONS_H_
#define ASTRA_CORE_APPS_FIT_SIMAI_FIT_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/command_line/command_line.h"
#include "workload/regressors/tree_model.h"

namespace astra {

enum class FitTask : uint8_t {
  kTarget,  // The time of a batch.
  kFolds,   // Errors on samples that were held out.
};

struct SimaiFitOptions {
  FitTask task = FitTask::kTarget;
  std::vector<std::string> files;  // The target, or the tables.
  std::string base;                // Folder to which those of a target relate.
  std::vector<TreeKind> trees;     // At least one; of a target, one.
  size_t folds = 0;
  std::string name;    // Name of the run.
  std::string output;  // Folder for the results.
};

absl::Span<const OptionSpec> SimaiFitOptionSpecs();

// Returns the text of --help.
std::string SimaiFitHelp();

// Returns the examples that --help ends with.
absl::Span<const CommandExample> SimaiFitExamples();

// Reads the command line. Errors: InvalidArgument for a missing or wrong
// option, and for one that has no effect on the task.
absl::StatusOr<SimaiFitOptions> ReadSimaiFitOptions(const CommandLine& flags);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_FIT_SIMAI_FIT_OPTIONS_H_
