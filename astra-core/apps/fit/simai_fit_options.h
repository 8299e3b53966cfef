// Options of simai_fit, as its command line gives them.

#ifndef ASTRA_CORE_APPS_FIT_SIMAI_FIT_OPTIONS_H_
#define ASTRA_CORE_APPS_FIT_SIMAI_FIT_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/command_line/command_line.h"
#include "workload/kernels/kernel_predictor.h"
#include "workload/operators/gpu_spec.h"
#include "workload/regressors/tree_model.h"

namespace astra {

constexpr std::string_view kLeaveOutNames[] = {"none", "shape", "gpu"};

enum class FitTask : uint8_t {
  kCompare,    // Predicted times of kernels beside measured ones.
  kTarget,     // The time of a batch.
  kFolds,      // Errors on samples that were held out.
  kTrain,      // Trees that gen_workload takes like a table of operators.
  kIteration,  // A framework file of the user's own job.
};

struct SimaiFitOptions {
  FitTask task = FitTask::kCompare;

  // These options belong to kCompare.
  std::string table;                    // File to compare with.
  GpuSpec gpu;                          // GPU it was measured on; kTrain too.
  std::vector<std::string> own_tables;  // Files that go before the surfaces.
  LeaveOut leave_out = LeaveOut::kNone;
  std::string backend;  // Empty: as the table says.

  // These options belong to the other tasks.
  // The target, the tables, or the measured iterations.
  std::vector<std::string> files;
  std::string base;             // Folder to which folders of a target relate.
  std::vector<TreeKind> trees;  // At least one; kTarget and kTrain have one.
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
// option and for one that has no effect on the task; those of FindGpu.
absl::StatusOr<SimaiFitOptions> ReadSimaiFitOptions(const CommandLine& flags);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_FIT_SIMAI_FIT_OPTIONS_H_
