#include "astra-core/apps/compare/simai_compare_options.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/apps/run_output.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr std::string_view kUsage =
    "usage: simai_compare FOLDER FOLDER... [options]\n"
    "\n"
    "Sets finished runs of simai_analytical and simai_simulator side by side: "
    "their\n"
    "times, collectives and inputs, on one page, comparison.html. Differences "
    "are from\n"
    "the first of up to six runs.\n";

constexpr CommandExample kExamples[] = {
    {"simai_compare results/llama3 results/decode",
     "What differs between two runs:"},
    {"simai_compare results/llama3 results/decode -o compared",
     "The same, with the page in a folder of your choice:"},
};

constexpr OptionSpec kOptions[] = {
    {"output", "o", "DIR", "Output", "folder (default ./results/NAME)"},
    {"result", "r name", "NAME", "Output",
     "name of the comparison (default comparison)"},
};

}  // namespace

absl::Span<const OptionSpec> SimaiCompareOptionSpecs() { return kOptions; }

std::string SimaiCompareHelp() {
  return HelpText(kUsage, kOptions) + ExamplesText(kExamples);
}

absl::Span<const CommandExample> SimaiCompareExamples() { return kExamples; }

absl::StatusOr<SimaiCompareOptions> ReadSimaiCompareOptions(
    const CommandLine& flags) {
  SimaiCompareOptions options;
  for (std::string folder : flags.operands()) {
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    if (std::find(options.folders.begin(), options.folders.end(), folder) !=
        options.folders.end()) {
      return absl::InvalidArgumentError(
          fmt::format("{} is given twice", Quoted(folder)));
    }
    options.folders.push_back(std::move(folder));
  }
  if (options.folders.size() < 2) {
    return absl::InvalidArgumentError(
        fmt::format("expected the folders of two to {} runs, got {}",
                    kMostComparedRuns, options.folders.size()));
  }
  ASTRA_ASSIGN_OR_RETURN(RunOutput output, ReadRunOutput(flags, "comparison"));
  options.name = std::move(output.name);
  options.output = std::move(output.folder);
  return options;
}

}  // namespace astra
