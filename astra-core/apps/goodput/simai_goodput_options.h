// Options of simai_goodput, as its command line gives them.

#ifndef ASTRA_CORE_APPS_GOODPUT_SIMAI_GOODPUT_OPTIONS_H_
#define ASTRA_CORE_APPS_GOODPUT_SIMAI_GOODPUT_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/goodput/goodput.h"

namespace astra {

struct SimaiGoodputOptions {
  int64_t num_gpus = 1;
  GoodputJob job;
  std::optional<double> interval_s;  // None: the best.
  double duration_s = 0;
  std::optional<double> iteration_s;
  int64_t trials = 0;
  uint64_t seed = 1;
  std::string name;
  std::string output;
};

absl::Span<const OptionSpec> SimaiGoodputOptionSpecs();
std::string SimaiGoodputHelp();
absl::Span<const CommandExample> SimaiGoodputExamples();

// Reads the command line, and the file of --failures.
//
// Errors: InvalidArgument for an option that is missing, wrong or without
// effect; those of ReadFile and ParseFailures.
absl::StatusOr<SimaiGoodputOptions> ReadSimaiGoodputOptions(
    const CommandLine& flags);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_GOODPUT_SIMAI_GOODPUT_OPTIONS_H_
