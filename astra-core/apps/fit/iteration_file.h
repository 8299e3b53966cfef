// Reads the iterations of a user's training job that were measured:
//
// clang-format off
//   name: our-cluster              # Of the framework that is written.
//   gen_workload: {model: config.json, gpu: H100, gpus: 64, tp: 4, pp: 4}
//   simai_analytical: {system: dgx-h100}
//   iterations:
//     - seconds: 4.2
//       spread_pct: 1              # Absent: 2.
//       gen_workload: {global-batch: 256, seq-length: 4096, sp: true}
//       trace: rank0.json          # Of Kineto; absent: none.
// clang-format on
//
// The mappings `gen_workload` and `simai_analytical` hold options of these
// programs, without dashes; a flag is `true`. Those at the top hold for all
// iterations, and those of an iteration go before them.

#ifndef ASTRA_CORE_APPS_FIT_ITERATION_FILE_H_
#define ASTRA_CORE_APPS_FIT_ITERATION_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace astra {

struct MeasuredIteration {
  std::string place;      // "FILE:LINE:COLUMN", for errors.
  double seconds = 0;     // Measured time.
  double spread_pct = 2;  // Standard deviation of `seconds`, in percent.
  std::string trace;      // Path; empty: none.
  // Words of command lines, without the names of the programs.
  std::vector<std::string> gen_workload;
  std::vector<std::string> simai_analytical;
};

struct IterationFile {
  std::string name;
  std::vector<MeasuredIteration> iterations;  // At least one.
};

// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for text that is no YAML, a
// key that is unknown or missing, a value out of range, a name that cannot be
// one of a file, and a file without iterations.
absl::StatusOr<IterationFile> ParseIterations(std::string_view file,
                                              std::string_view contents);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_FIT_ITERATION_FILE_H_
