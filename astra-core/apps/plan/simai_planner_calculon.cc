#include "astra-core/apps/plan/simai_planner_calculon.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_split.h"
#include "astra-core/apps/json_parts.h"
#include "astra-core/apps/plan/simai_planner_options.h"
#include "astra-core/apps/run_output.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/units.h"
#include "astra-core/command_line/main_support.h"
#include "astra-core/command_line/option_reading.h"
#include "astra-core/planner/calculon/calculon_cost.h"
#include "astra-core/planner/calculon/calculon_files.h"
#include "astra-core/planner/calculon/calculon_memory.h"
#include "astra-core/planner/calculon/calculon_result.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

constexpr size_t kNumFiles = 3;

// Refuses the options that belong to the search.
absl::Status RefuseOthers(const CommandLine& flags) {
  constexpr std::string_view kUsed[] = {"calculon", "output", "result"};
  std::vector<std::string_view> others;
  for (const OptionSpec& option : SimaiPlannerOptionSpecs()) {
    if (std::find(std::begin(kUsed), std::end(kUsed), option.name) ==
        std::end(kUsed)) {
      others.push_back(option.name);
    }
  }
  return Refuse(flags, others, "the files of --calculon say all of the job");
}

absl::StatusOr<std::array<CalculonFile, kNumFiles>> ReadFiles(
    const std::string& list) {
  const std::vector<std::string> names = absl::StrSplit(list, ',');
  if (names.size() != kNumFiles) {
    return absl::InvalidArgumentError(
        fmt::format("--calculon is {}: expected three files, "
                    "APPLICATION,EXECUTION,SYSTEM",
                    Quoted(list)));
  }
  std::array<CalculonFile, kNumFiles> files;
  for (size_t i = 0; i < kNumFiles; ++i) {
    files[i].name = names[i];
    ASTRA_ASSIGN_OR_RETURN(files[i].contents, ReadFile(names[i]));
  }
  return files;
}

// Returns the name of a run: those of the application and of the execution.
std::string NameOf(const std::array<CalculonFile, kNumFiles>& files) {
  const auto stem = [](const CalculonFile& file) {
    return std::filesystem::path(file.name).stem().string();
  };
  return fmt::format("{}-{}", stem(files[0]), stem(files[1]));
}

// Returns run.json, with the metrics for sweeps that a search has, too.
std::string RunJson(const CalculonInputs& inputs, const CalculonCost& cost) {
  const CalculonExecution& execution = inputs.execution;
  const double tokens =
      cost.sample_rate * static_cast<double>(inputs.application.seq_size);
  return JsonText(
      {{"program", "simai_planner"},
       {"assumptions", "Calculon"},
       {"result",
        {{"fits", true},
         {"iteration_ps", std::round(cost.times.total() * kPsPerSecond)},
         {"tokens_per_s", tokens},
         {"tokens_per_s_per_gpu",
          tokens / static_cast<double>(execution.num_procs)},
         {"mfu", cost.total_efficiency}}},
       {"layout",
        {{"tp", execution.tensor_par},
         {"pp", execution.pipeline_par},
         {"vpp", execution.pipeline_interleaving},
         {"dp", execution.data_par},
         {"micro_batch", execution.microbatch_size}}},
       {"memory",
        {{"allocated_memory_gib", cost.space.tier1 / kBytesPerGib}}}});
}

}  // namespace

absl::Status RunCalculon(const CommandLine& flags, const Log& log) {
  ASTRA_RETURN_IF_ERROR(RefuseOthers(flags));
  ASTRA_ASSIGN_OR_RETURN(const auto files,
                         ReadFiles(flags.value("calculon").value_or("")));
  Warnings warnings;
  const absl::StatusOr<CalculonInputs> inputs =
      ReadCalculonInputs(files[0], files[1], files[2], &warnings);
  log.Report(warnings);
  ASTRA_RETURN_IF_ERROR(inputs.status());
  const CalculonCost cost = CalculonCostOf(*inputs);
  const absl::Status fits = CheckCalculonSpace(inputs->system, cost.space);
  if (!fits.ok()) {
    return absl::InvalidArgumentError(
        fmt::format("{}: {}", files[2].name, std::string(fits.message())));
  }
  ASTRA_ASSIGN_OR_RETURN(const RunOutput output,
                         ReadRunOutput(flags, NameOf(files)));
  ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                         OutputFolder::Create(output.folder));
  // Files of a search, which a reader would take for those of this run.
  constexpr std::string_view kStale[] = {"plans.csv", "plan.json",
                                         "what_if.csv"};
  const std::string page = DescribeCalculon(*inputs, cost);
  ASTRA_RETURN_IF_ERROR(
      folder.Write({{"calculon.json", CalculonJson(*inputs, cost)},
                    {"run.json", RunJson(*inputs, cost)},
                    {"summary.txt", page}},
                   kStale));
  Print(page);
  Print(
      fmt::format("\nresults    {}: calculon.json run.json summary.txt\n"
                  "finished   {}: {:.6f} s, efficiency {:.2f} %\n",
                  output.folder, output.name, cost.times.total(),
                  100 * cost.total_efficiency));
  return FlushStdout();
}

}  // namespace astra
