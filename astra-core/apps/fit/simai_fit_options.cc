#include "astra-core/apps/fit/simai_fit_options.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/apps/measured_inputs.h"
#include "astra-core/apps/run_output.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "fmt/core.h"
#include "workload/kernels/surface_library.h"
#include "workload/operators/gpu_library.h"

namespace astra {
namespace {

constexpr std::string_view kUsage =
    "usage: simai_fit --compare-table TABLE.csv --gpu NAME [-o DIR]\n"
    "       simai_fit --target FILE.yml [--trees NAME] [-o DIR]\n"
    "       simai_fit --tables FILE,... [--folds N] [-o DIR]\n"
    "       simai_fit --train FILE,... --gpu NAME [--trees NAME] [-o DIR]\n"
    "       simai_fit --iteration FILE.yaml [-o DIR]\n"
    "\n"
    "Sets predicted times of kernels beside measured ones; or fits decision "
    "trees to\n"
    "sampled operators and collectives, and predicts the time of a batch by "
    "component,\n"
    "or says how far the trees are off on samples that they have not seen; or "
    "fits trees\n"
    "to tables of operators, for gen_workload; or finds what sets your own "
    "training job\n"
    "apart, from a few measured iterations.\n";

constexpr CommandExample kExamples[] = {
    {"simai_fit --compare-table gemm_vllm.csv --gpu H100 --leave-out shape",
     "How near predictions are for shapes that the predictor has not seen:"},
    {"simai_fit --tables A100_linear1_fp16.csv",
     "How far forests and boosted trees are off on a table of samples:"},
    {"simai_fit --tables A100_linear1_fp16.csv --trees forest --folds 10",
     "The same for forests, with nine tenths of the samples to learn from:"},
    {"simai_fit --train operators.csv --gpu H100",
     "Fit trees to your own operators, for gen_workload --operator-table:"},
    {"simai_fit --iteration iterations.yaml",
     "Write a framework file of your own job from iterations of it:"},
};

constexpr OptionSpec kOptions[] = {
    {"compare-table", "", "FILE", "Comparison",
     "the measured times, as CSV; docs/formats/measured-operators.md names the "
     "columns"},
    {"gpu", "gpu-type", "NAME|FILE", "Comparison",
     "the GPU that the table was measured on; of --train, too"},
    {"leave-out", "", "NAME", "Comparison",
     "what of the built-in times is not used: none (default); shape: all "
     "times of the shape that is predicted; gpu: all of this GPU"},
    {"backend", "", "NAME", "Comparison",
     "whose built-in times are used first: vllm or trtllm (default: as the "
     "table says)"},
    {"kernel-table", "", "FILE,...", "Comparison",
     "tables of your own of this GPU, which go before the built-in times near "
     "their rows"},
    {"target", "", "FILE", "Regressors",
     "a target of estimate-train-time, which names the folders of its tables"},
    {"base", "", "DIR", "Regressors",
     "where the folders of the target begin (default: beside it)"},
    {"tables", "", "FILE,...", "Regressors",
     "its sampling tables, named GPU_OPERATOR_PRECISION.csv"},
    {"train", "", "FILE,...", "Regressors",
     "tables of operators of --gpu, as for gen_workload --operator-table"},
    {"trees", "", "NAME", "Regressors",
     "forest or boosted (default: both for --tables, else boosted)"},
    {"folds", "", "N", "Regressors",
     "parts of the samples, each predicted from the others (default 5)"},
    {"iteration", "", "FILE", "Iterations",
     "measured iterations of a job, as YAML; "
     "docs/formats/measured-operators.md names the keys"},
    {"output", "o out", "DIR", "Output", "folder (default ./results/NAME)"},
    {"result", "", "NAME", "Output",
     "name of the run (default: that of the first file)"},
};

absl::StatusOr<LeaveOut> ReadLeaveOut(const CommandLine& flags) {
  const std::string name = flags.value("leave-out").value_or("none");
  const auto* found =
      std::find(std::begin(kLeaveOutNames), std::end(kLeaveOutNames), name);
  if (found == std::end(kLeaveOutNames)) {
    return absl::InvalidArgumentError(
        UnknownName("--leave-out", name, kLeaveOutNames));
  }
  return static_cast<LeaveOut>(found - std::begin(kLeaveOutNames));
}

absl::Status CheckBackend(const std::string& backend) {
  const std::vector<std::string_view>& known = BundledSurfaces().backends();
  if (backend.empty() ||
      std::find(known.begin(), known.end(), backend) != known.end()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(UnknownName("--backend", backend, known));
}

// Options that a task reads beside --output and --result.
struct TaskSpec {
  FitTask task;
  std::string_view flag;  // Asks for the task.
  std::vector<std::string_view> options;
};

const std::vector<TaskSpec>& Tasks() {
  static const auto& tasks = *new std::vector<TaskSpec>{
      {FitTask::kCompare,
       "compare-table",
       {"gpu", "leave-out", "backend", "kernel-table"}},
      {FitTask::kTarget, "target", {"base", "trees"}},
      {FitTask::kFolds, "tables", {"trees", "folds"}},
      {FitTask::kTrain, "train", {"gpu", "trees", "folds"}},
      {FitTask::kIteration, "iteration", {}}};
  return tasks;
}

// Finds the task, and refuses options that have no effect on it.
absl::Status ReadTask(const CommandLine& flags, SimaiFitOptions& options) {
  const TaskSpec* asked = nullptr;
  for (const TaskSpec& task : Tasks()) {
    if (asked == nullptr && flags.has(task.flag)) asked = &task;
  }
  if (asked == nullptr) {
    return absl::InvalidArgumentError(
        "no task: give --compare-table, --target, --tables, --train or "
        "--iteration");
  }
  options.task = asked->task;
  for (const OptionSpec& option : SimaiFitOptionSpecs()) {
    const bool is_read = option.name == asked->flag ||
                         option.group == "Output" ||
                         std::find(asked->options.begin(), asked->options.end(),
                                   option.name) != asked->options.end();
    if (is_read || !flags.has(option.name)) continue;
    return absl::InvalidArgumentError(fmt::format(
        "--{} has no effect beside --{}", option.name, asked->flag));
  }
  return absl::OkStatus();
}

absl::Status ReadComparison(const CommandLine& flags,
                            SimaiFitOptions& options) {
  ASTRA_RETURN_IF_ERROR(Require(flags, "gpu"));
  options.files = {*flags.value("compare-table")};
  options.table = options.files.front();
  ASTRA_ASSIGN_OR_RETURN(options.gpu, FindGpu(*flags.value("gpu")));
  options.own_tables = FilesOf(flags.value("kernel-table"));
  ASTRA_ASSIGN_OR_RETURN(options.leave_out, ReadLeaveOut(flags));
  options.backend = flags.value("backend").value_or("");
  return CheckBackend(options.backend);
}

absl::Status ReadRegressors(const CommandLine& flags,
                            SimaiFitOptions& options) {
  const bool is_target = options.task == FitTask::kTarget;
  const bool trains = options.task == FitTask::kTrain;
  if (trains) {
    ASTRA_RETURN_IF_ERROR(Require(flags, "gpu"));
    ASTRA_ASSIGN_OR_RETURN(options.gpu, FindGpu(*flags.value("gpu")));
  }
  options.files = is_target ? std::vector{*flags.value("target")}
                            : FilesOf(flags.value(trains ? "train" : "tables"));
  options.base = flags.value("base").value_or(FolderOf(options.files.front()));
  options.trees = {TreeKind::kBoosted};
  if (options.task == FitTask::kFolds) {
    options.trees.insert(options.trees.begin(), TreeKind::kForest);
  }
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

absl::Status ReadTaskOptions(const CommandLine& flags,
                             SimaiFitOptions& options) {
  switch (options.task) {
    case FitTask::kCompare:
      return ReadComparison(flags, options);
    case FitTask::kTarget:
    case FitTask::kFolds:
    case FitTask::kTrain:
      return ReadRegressors(flags, options);
    case FitTask::kIteration:
      options.files = {*flags.value("iteration")};
      break;
  }
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
  ASTRA_RETURN_IF_ERROR(ReadTaskOptions(flags, options));
  ASTRA_ASSIGN_OR_RETURN(const std::string name,
                         NameOfInput(options.files.front()));
  ASTRA_ASSIGN_OR_RETURN(RunOutput output, ReadRunOutput(flags, name));
  options.name = std::move(output.name);
  options.output = std::move(output.folder);
  return options;
}

}  // namespace astra
