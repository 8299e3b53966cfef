#include "astra-core/apps/fit/simai_fit_options.h"

#include <filesystem>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/apps/measured_inputs.h"
#include "astra-core/apps/run_output.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr std::string_view kUsage =
    "usage: simai_fit --target FILE.yml [--trees NAME] [-o DIR]\n"
    "       simai_fit --tables FILE,... [--folds N] [-o DIR]\n"
    "\n"
    "Fits decision trees to sampled operators and collectives: predicts the "
    "time of\n"
    "a batch by component, or says how far the trees are off on samples that "
    "they\n"
    "have not seen.\n";

constexpr CommandExample kExamples[] = {
    {"simai_fit --tables A100_linear1_fp16.csv",
     "How far forests and boosted trees are off on a table of samples:"},
    {"simai_fit --tables A100_linear1_fp16.csv --trees forest --folds 10",
     "The same for forests, with nine tenths of the samples to learn from:"},
};

constexpr OptionSpec kOptions[] = {
    {"target", "", "FILE", "Task",
     "a target of estimate-train-time, which names the folders of its tables"},
    {"base", "", "DIR", "Task",
     "where the folders of the target begin (default: beside it)"},
    {"tables", "", "FILE,...", "Task",
     "its sampling tables, named GPU_OPERATOR_PRECISION.csv"},
    {"trees", "", "NAME", "Trees",
     "forest or boosted (default: boosted for a target, both for tables)"},
    {"folds", "", "N", "Trees",
     "parts of the samples, each predicted from the others (default 5)"},
    {"output", "o out", "DIR", "Output", "folder (default ./results/NAME)"},
    {"result", "", "NAME", "Output",
     "name of the run (default: that of the first file)"},
};

absl::Status ReadTask(const CommandLine& flags, SimaiFitOptions& options) {
  if (flags.has("target") == flags.has("tables")) {
    return absl::InvalidArgumentError(
        flags.has("target") ? "--tables has no effect beside --target"
                            : "no task: give --target or --tables");
  }
  if (flags.has("target")) {
    options.files = {*flags.value("target")};
    options.base = flags.value("base").value_or(
        std::filesystem::path(options.files.front()).parent_path().string());
    constexpr std::string_view kNames[] = {"folds"};
    return Refuse(flags, kNames, "it is of --tables");
  }
  options.task = FitTask::kFolds;
  options.files = FilesOf(flags.value("tables"));
  constexpr std::string_view kNames[] = {"base"};
  return Refuse(flags, kNames, "it is of --target");
}

absl::Status ReadTrees(const CommandLine& flags, SimaiFitOptions& options) {
  const bool is_target = options.task == FitTask::kTarget;
  options.trees = {TreeKind::kBoosted};
  if (!is_target)
    options.trees.insert(options.trees.begin(), TreeKind::kForest);
  if (flags.has("trees")) {
    ASTRA_ASSIGN_OR_RETURN(const size_t kind,
                           Choice(flags, "trees", 0, kTreeKindNames));
    options.trees = {static_cast<TreeKind>(kind)};
  }
  constexpr int64_t kDefaultFolds = 5, kMostFolds = 100;
  ASTRA_ASSIGN_OR_RETURN(const int64_t folds,
                         flags.integer("folds", kDefaultFolds, 2, kMostFolds));
  options.folds = static_cast<size_t>(folds);
  return absl::OkStatus();
}

}  // namespace

absl::Span<const OptionSpec> SimaiFitOptionSpecs() { return kOptions; }

std::string SimaiFitHelp() {
  return HelpText(kUsage, kOptions) + ExamplesText(kExamples);
}

absl::Span<const CommandExample> SimaiFitExamples() { return kExamples; }

absl::StatusOr<SimaiFitOptions> ReadSimaiFitOptions(const CommandLine& flags) {
  SimaiFitOptions options;
  ASTRA_RETURN_IF_ERROR(ReadTask(flags, options));
  ASTRA_RETURN_IF_ERROR(ReadTrees(flags, options));
  ASTRA_ASSIGN_OR_RETURN(
      RunOutput output,
      ReadRunOutput(
          flags, std::filesystem::path(options.files.front()).stem().string()));
  options.name = std::move(output.name);
  options.output = std::move(output.folder);
  return options;
}

}  // namespace astra
