// Options of simai_compare, as its command line gives them.

#ifndef ASTRA_CORE_APPS_COMPARE_SIMAI_COMPARE_OPTIONS_H_
#define ASTRA_CORE_APPS_COMPARE_SIMAI_COMPARE_OPTIONS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/command_line/command_line.h"

namespace astra {

// Most runs on one page; more columns cannot be read.
inline constexpr size_t kMostComparedRuns = 6;
// As completions show these operands.
inline constexpr std::string_view kComparedRuns =
    "FOLDER FOLDER FOLDER FOLDER FOLDER FOLDER";

struct SimaiCompareOptions {
  std::vector<std::string> folders;  // Of the runs; no two are the same.
  std::string name;
  std::string output;
};

absl::Span<const OptionSpec> SimaiCompareOptionSpecs();
std::string SimaiCompareHelp();
absl::Span<const CommandExample> SimaiCompareExamples();

// Reads the command line.
//
// Errors: InvalidArgument for fewer than two folders, one that is given twice,
// and those of ReadRunOutput.
absl::StatusOr<SimaiCompareOptions> ReadSimaiCompareOptions(
    const CommandLine& flags);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_COMPARE_SIMAI_COMPARE_OPTIONS_H_
