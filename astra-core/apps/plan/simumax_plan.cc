#include "astra-core/apps/plan/simumax_plan.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_split.h"
#include "astra-core/apps/plan/simai_planner_options.h"
#include "astra-core/apps/run_output.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/units.h"
#include "astra-core/command_line/main_support.h"
#include "astra-core/command_line/option_reading.h"
#include "astra-core/planner/simumax/result_json.h"
#include "astra-core/planner/simumax/result_parts.h"
#include "astra-core/planner/simumax/simumax_files.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::StatusOr<SimumaxPaths> ReadPaths(const std::string& value) {
  const std::vector<std::string> paths = absl::StrSplit(value, ',');
  constexpr size_t kFiles = 3;
  const bool has_empty =
      std::find(paths.begin(), paths.end(), "") != paths.end();
  if (paths.size() == kFiles && !has_empty) {
    return SimumaxPaths{paths[0], paths[1], paths[2]};
  }
  return absl::InvalidArgumentError(fmt::format(
      "--simumax is {}: expected three files, MODEL,STRATEGY,SYSTEM",
      Quoted(value)));
}

// Checks that only options that have an effect were given.
absl::Status CheckOptions(const CommandLine& flags) {
  constexpr std::string_view kUsed[] = {"simumax", "output", "result"};
  for (const OptionSpec& option : SimaiPlannerOptionSpecs()) {
    if (std::find(std::begin(kUsed), std::end(kUsed), option.name) !=
        std::end(kUsed)) {
      continue;
    }
    ASTRA_RETURN_IF_ERROR(Refuse(flags, {&option.name, 1},
                                 "the files of --simumax say everything"));
  }
  return absl::OkStatus();
}

// Returns a name for the results that any folder can have.
std::string NameOf(const SimumaxFiles& files) {
  std::string name =
      fmt::format("{}-{}-{}", files.model.name,
                  std::filesystem::path(files.strategy.file).stem().string(),
                  files.system.name);
  std::replace(name.begin(), name.end(), '/', '-');
  return name;
}

void AppendTime(std::string_view what, double ms, const SimumaxResult& result,
                std::string* text) {
  AppendFormat(text, "  {:<16} {:>13.6f} ms  {:>6.2f} %\n", what, ms,
               kPercent * ms / result.iteration_ms);
}

size_t Count(const SimumaxLookups& lookups) {
  size_t count = 0;
  for (const auto& [op, shapes] : lookups) count += shapes.size();
  return count;
}

std::string StagesTable(const SimumaxResult& result) {
  std::string text = fmt::format(
      "a stage for one micro-batch, and the memory of its ranks in GiB\n"
      "  {:<13}{:>7} {:>12} {:>12} {:>8} {:>8} {:>10} {:>9}  {}\n",
      "stage", "layers", "forward ms", "backward ms", "states", "saved",
      "allocated", "reserved", "at the peak");
  for (const auto& [name, stage] : SimumaxShownStages(result)) {
    const double states =
        stage->dense.sum() + stage->experts.sum() + stage->unused_gradients;
    AppendFormat(
        &text,
        "  {:<13}{:>7} {:>12.4f} {:>12.4f} {:>8.4f} {:>8.4f} {:>10.4f} "
        "{:>9.4f}  {}\n",
        name, stage->layers, stage->cost.forward_ms(),
        stage->cost.backward_ms(), states / kBytesPerGib,
        stage->saved_bytes / kBytesPerGib, stage->peak_bytes() / kBytesPerGib,
        stage->peak_bytes() / result.files.strategy.memory_share / kBytesPerGib,
        stage->peak_path);
  }
  return text;
}

}  // namespace

std::string DescribeSimumax(const SimumaxResult& result) {
  const SimumaxFiles& files = result.files;
  std::string text = fmt::format(
      "SimuMax's way: {} with {} on {}\n"
      "layout     {}\n\n",
      files.model.name,
      std::filesystem::path(files.strategy.file).filename().string(),
      files.system.name, SimumaxParallelism(files.strategy));
  const SimumaxStage& longest =
      *std::max_element(result.stages.begin(), result.stages.end(),
                        [](const SimumaxStage& a, const SimumaxStage& b) {
                          return a.after_ms() < b.after_ms();
                        });
  AppendTime("iteration", result.iteration_ms, result, &text);
  AppendTime("pipeline", result.pipeline_ms, result, &text);
  AppendTime("stragglers", (result.straggler_ratio - 1) * result.pipeline_ms,
             result, &text);
  AppendTime("data parallelism",
             longest.dense_data.total_ms() + longest.expert_data.total_ms(),
             result, &text);
  AppendTime("optimizer", longest.optimizer.total_ms(), result, &text);
  AppendFormat(&text,
               "  tokens           {:.1f} per second and GPU\n"
               "  FLOPs            {:.2f} TFLOP/s per GPU, {:.2f} % of its "
               "peak (MFU)\n"
               "  efficiencies     {} of shapes that the system lists, {} of "
               "others\n\n",
               result.tokens_per_gpu, result.tflops_per_gpu,
               kPercent * result.utilization, Count(result.hits),
               Count(result.misses));
  return text + StagesTable(result) + "\n";
}

absl::Status RunSimumax(const CommandLine& flags, const Log& log) {
  ASTRA_RETURN_IF_ERROR(CheckOptions(flags));
  ASTRA_ASSIGN_OR_RETURN(
      const SimumaxPaths paths,
      ReadPaths(flags.value("simumax").value_or(std::string())));
  Warnings warnings;
  const absl::StatusOr<SimumaxFiles> files = ReadSimumaxFiles(paths, &warnings);
  log.Report(warnings);
  ASTRA_RETURN_IF_ERROR(files.status());
  ASTRA_ASSIGN_OR_RETURN(const RunOutput output,
                         ReadRunOutput(flags, NameOf(*files)));
  ASTRA_ASSIGN_OR_RETURN(const SimumaxResult result, Simulate(*files));
  const std::string page = DescribeSimumax(result);
  std::vector<NamedFile> results = SimumaxResultFiles(result);
  results.push_back({"run.json", SimumaxRunJson(result)});
  results.push_back({"summary.txt", page});
  ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                         OutputFolder::Create(output.folder));
  ASTRA_RETURN_IF_ERROR(folder.Write(results));
  std::string names;
  for (const NamedFile& file : results) names += " " + file.name;
  Print(fmt::format("{}results    {}:{}\nfinished   {}: {:.6f} ms\n", page,
                    output.folder, names, output.name, result.iteration_ms));
  return FlushStdout();
}

}  // namespace astra
