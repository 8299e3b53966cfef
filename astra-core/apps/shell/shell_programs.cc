#include "astra-core/apps/shell/shell_programs.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "absl/types/span.h"
#include "astra-core/apps/collective/simai_collective_options.h"
#include "astra-core/apps/compare/simai_compare_options.h"
#include "astra-core/apps/fit/simai_fit_options.h"
#include "astra-core/apps/gen_topo_options.h"
#include "astra-core/apps/gen_workload_options.h"
#include "astra-core/apps/goodput/simai_goodput_options.h"
#include "astra-core/apps/physical/simai_physical_options.h"
#include "astra-core/apps/plan/simai_planner_options.h"
#include "astra-core/apps/plan/space_options.h"
#include "astra-core/apps/run_defaults.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/apps/run_output.h"
#include "astra-core/apps/serving/simai_serving_options.h"
#include "astra-core/apps/shell/result_files.h"
#include "astra-core/apps/shell/simai_options.h"
#include "astra-core/apps/sweep/simai_sweep_options.h"
#include "astra-core/apps/trace/simai_trace_options.h"
#include "astra-core/apps/vidur/vidur_option_table.h"
#include "astra-core/base/check.h"
#include "collectives/inference_engines/engine_file.h"
#include "collectives/measurements/measured_terms.h"
#include "collectives/registry.h"
#include "collectives/systems/system_library.h"
#include "network-frontends/registry/registry.h"
#include "topology/templates/registry.h"
#include "workload/frameworks/framework_file.h"
#include "workload/generator/training_setup.h"
#include "workload/models/model_library.h"
#include "workload/operators/gpu_library.h"
#include "workload/pipeline/schedule.h"
#include "workload/serving/router.h"
#include "workload/serving/schedulers/registry.h"

namespace astra {
namespace {

template <class Names>
ShellValues Values(std::string_view option, const Names& names) {
  ShellValues values{option, {}};
  for (const auto& name : names) {
    values.values.push_back({std::string(name), ""});
  }
  return values;
}

// Returns values of an option whose names are known only to its reader. A test
// compares them with the names that the program itself lists in the error for
// an unknown name.
ShellValues Words(std::string_view option,
                  std::initializer_list<std::string_view> names) {
  return Values(option, names);
}

ShellValues Designs() {
  ShellValues values{"topology", {}};
  for (const TopologyTemplate& design : TopologyTemplates()) {
    values.values.push_back(
        {std::string(design.name), std::string(design.description)});
  }
  return values;
}

ShellValues Fidelities() {
  ShellValues values{"fidelity", {}};
  for (const Fidelity fidelity : kFidelities) {
    values.values.push_back(
        {std::string(Name(fidelity)), std::string(Describe(fidelity))});
  }
  return values;
}

// Returns names of GPUs, with the aliases that topologies and measurements use.
ShellValues GpuTypes() {
  ShellValues values{"gpu-type", {}};
  for (const GpuSpec& gpu : BundledGpus()) {
    values.values.push_back({gpu.name, ""});
    for (const std::string& alias : gpu.aliases) {
      values.values.push_back({alias, ""});
    }
  }
  return values;
}

ShellValues ScheduleNames() {
  ShellValues values{"schedule", {}};
  for (const PipelineSchedule schedule : PipelineSchedules()) {
    values.values.push_back({std::string(Name(schedule)), ""});
  }
  return values;
}

// Returns the algorithms of all kinds of collectives.
ShellValues Algorithms() {
  std::vector<std::string_view> names;
  for (const CollectiveAlgorithm& algorithm : CollectiveAlgorithms()) {
    if (std::find(names.begin(), names.end(), algorithm.name) == names.end()) {
      names.push_back(algorithm.name);
    }
  }
  return Values("algorithm", names);
}

ShellValues SchedulerValues() {
  ShellValues values{"scheduler", {}};
  for (const SchedulerEntry& entry : Schedulers()) {
    values.values.push_back({std::string(entry.name), ""});
  }
  return values;
}

std::vector<ShellTerm> ExitCodes() {
  return {{"0", "All went well."},
          {"1", "A run failed."},
          {"2", "Bad input, which the user can mend. No file is written."},
          {"129", "Stopped by SIGHUP."},
          {"130", "Stopped by SIGINT."},
          {"143", "Stopped by SIGTERM."}};
}

ShellProgram GenTopo() {
  return {
      .name = "gen_topo",
      .help = GenTopoHelp(),
      .options = GenTopoOptionSpecs(),
      .values = {Designs(), GpuTypes()},
      .exit_codes = ExitCodes(),
      .examples = GenTopoExamples(),
  };
}

ShellProgram GenWorkload() {
  return {
      .name = "gen_workload",
      .help = GenWorkloadHelp(),
      .options = GenWorkloadOptionSpecs(),
      .values = {Values("model", ModelNames()), Values("gpu-type", GpuNames()),
                 Values("table-gpu", GpuNames()), ScheduleNames(),
                 Values("cp-method", kContextMethodNames),
                 Values("overlap", kOverlapNames),
                 Words("phase", {"training", "prefill", "decode"}),
                 Values("engine", InferenceEngineNames()),
                 Values("framework", FrameworkNames()),
                 Values("recompute", kRecomputeNames),
                 Words("dtype", {"bfloat16", "float16", "fp8", "fp8_block",
                                 "mxfp8", "nvfp4"}),
                 Words("grad-dtype", {"fp32", "bf16"}),
                 Words("moment-dtype", {"fp32", "bf16"}),
                 Values("recompute-modules", kRecomputeModuleNames),
                 Values("recompute-method", kRecomputeMethodNames),
                 Words("format", {"simai", "program", "vidur", "aicb-log"})},
      .exit_codes = ExitCodes(),
      .examples = GenWorkloadExamples(),
  };
}

ShellProgram Simai() {
  ShellProgram program = {
      .name = "simai",
      .help = SimaiHelp(),
      .exit_codes = {{"0", "The help or the version was printed."},
                     {"2",
                      "Bad input, which the user can mend: an unknown "
                      "command, or a program that is missing."},
                     {"other", "A command ends as its program does."}},
      .examples = SimaiExamples(),
  };
  for (const SimaiCommand& command : SimaiCommands()) {
    program.commands.push_back({.name = command.name,
                                .operands = "[options]",
                                .help = command.help,
                                .program = command.program});
  }
  program.commands.push_back({.name = "help",
                              .operands = "COMMAND",
                              .help = "print what a command does"});
  return program;
}

ShellProgram RunProgramOf(const RunDefaults& defaults) {
  return {
      .name = defaults.program,
      .help = HelpOf(defaults),
      .options = RunOptionSpecs(),
      .values = {Fidelities(), Words("collectives", {"nccl", "ring", "simai"}),
                 Words("launch", {"queued", "graph", "host"}),
                 Values("system", SystemNames()),
                 Words("gpu-type", {"A100", "A800", "H100", "H20", "H800"}),
                 Words("nic-type", {"cx6", "cx7", "bf3"}),
                 Words("visual", {"0", "1"}), Words("lang", {"en", "ja"})},
      .exit_codes = ExitCodes(),
      .files = ResultFiles(kResultFiles),
      .examples = defaults.examples,
  };
}

ShellProgram SimaiCollective() {
  return {
      .name = "simai_collective",
      .help = SimaiCollectiveHelp(),
      .options = SimaiCollectiveOptionSpecs(),
      .values = {Values("op", NcclTestsNames()),
                 Words("datatype", {"int8", "uint8", "int32", "uint32", "int64",
                                    "uint64", "half", "float", "double",
                                    "bfloat16", "f8e4m3", "f8e5m2"}),
                 Words("redop", {"sum", "prod", "min", "max", "avg"}),
                 Values("system", SystemNames()),
                 Words("launch", {"queued", "graph", "host"}), Fidelities(),
                 Algorithms()},
      .exit_codes = ExitCodes(),
      .files = {{"results/NAME/collective.csv",
                 "Each size: time, bandwidths, algorithm, protocol, channels, "
                 "what bounds it."},
                {"results/NAME/run.json",
                 "The inputs as they were understood, and what NCCL chose."},
                {"results/NAME/comparison.csv",
                 "Of --compare and --compare-table: the measurements with "
                 "predictions."},
                {"results/NAME/comparison.svg", "The same as a plot."},
                {"results/NAME/summary.txt", "The errors."},
                {"results/NAME/SYSTEM.yaml",
                 "Of --calibrate: the system with the constants that were "
                 "fitted."}},
      .examples = SimaiCollectiveExamples(),
  };
}

ShellProgram SimaiFit() {
  return {
      .name = "simai_fit",
      .help = SimaiFitHelp(),
      .options = SimaiFitOptionSpecs(),
      .values = {Values("gpu", GpuNames()), Values("leave-out", kLeaveOutNames),
                 Words("backend", {"trtllm", "vllm"}),
                 Values("trees", kTreeKindNames)},
      .exit_codes = ExitCodes(),
      .files =
          {{"results/NAME/comparison.csv",
            "Of --compare-table: the measurements with predictions, errors "
            "and how each was found."},
           {"results/NAME/summary.txt", "The errors."},
           {"results/NAME/components.csv",
            "Of --target: the time of each component of a batch."},
           {"results/NAME/errors.csv",
            "Of --tables: the errors on samples that were held out."}},
      .examples = SimaiFitExamples(),
  };
}

ShellProgram SimaiCompare() {
  return {
      .name = "simai_compare",
      .help = SimaiCompareHelp(),
      .options = SimaiCompareOptionSpecs(),
      .operands = kComparedRuns,
      .exit_codes = ExitCodes(),
      .files = {{"results/NAME/comparison.html", "The runs side by side."}},
      .examples = SimaiCompareExamples(),
  };
}

ShellProgram SimaiGoodput() {
  return {
      .name = "simai_goodput",
      .help = SimaiGoodputHelp(),
      .options = SimaiGoodputOptionSpecs(),
      .values = {},
      .exit_codes = ExitCodes(),
      .files = {{"results/NAME/goodput.csv",
                 "Intervals between checkpoints, and the goodput of each."},
                {"results/NAME/run.json",
                 "The same of the interval that was asked for, or the best."}},
      .examples = SimaiGoodputExamples(),
  };
}

ShellProgram SimaiTrace() {
  return {
      .name = "simai_trace",
      .help = SimaiTraceHelp(),
      .options = SimaiTraceOptionSpecs(),
      .values = {Values("gpu-type", GpuNames()),
                 Values("format", kTraceFormats)},
      .exit_codes = ExitCodes(),
      .files = {{"results/NAME/NAME.RANK.et",
                 "Of --format chakra: the trace of each rank."},
                {"results/NAME/NAME.json",
                 "Of --format chakra: the ranks of each process group."},
                {"results/NAME/NAME.goal", "Of --format goal: all ranks."},
                {"results/NAME/operators.csv",
                 "Of --kineto: products, for --operator-table."},
                {"results/NAME/communication.csv",
                 "Of --kineto: collectives, for --measured."},
                {"results/NAME/kernels.csv", "Of --kineto: all kernels."}},
      .examples = SimaiTraceExamples(),
  };
}

ShellProgram SimaiPhysical() {
  return {
      .name = "simai_physical",
      .help = SimaiPhysicalHelp(),
      .options = SimaiPhysicalOptionSpecs(),
      .values = {Words("collectives", {"nccl", "ring", "simai"}),
                 Values("system", SystemNames())},
      .exit_codes = ExitCodes(),
      .files = {{"results/NAME/collectives.csv",
                 "Each collective, as it was measured."},
                {"results/NAME/ranks.csv", "What each rank did with the time."},
                {"results/NAME/run.json",
                 "The inputs as they were understood, and the totals."},
                {"results/NAME/comparison.csv",
                 "Of --compare: collectives beside those of a simulated run."}},
      .examples = SimaiPhysicalExamples(),
  };
}

ShellProgram SimaiPlanner() {
  return {
      .name = "simai_planner",
      .help = SimaiPlannerHelp(),
      .options = SimaiPlannerOptionSpecs(),
      .values = {Values("model", ModelNames()), Values("gpu-type", GpuNames()),
                 Values("framework", FrameworkNames()),
                 Words("dtype", {"bfloat16", "float16", "fp8", "fp8_block",
                                 "mxfp8", "nvfp4"}),
                 Words("grad-dtype", {"fp32", "bf16"}),
                 Words("moment-dtype", {"fp32", "bf16"}),
                 Values("system", SystemNames()),
                 Values("recompute", kPlanRecomputeNames),
                 Values("recompute-modules", kRecomputeModuleNames),
                 Values("recompute-method", kRecomputeMethodNames),
                 Values("cp-method", kContextMethodNames),
                 Values("overlap", kOverlapNames), Words("sp", {"off", "on"}),
                 ScheduleNames(), Fidelities()},
      .exit_codes = ExitCodes(),
      .files = {{"results/NAME/plans.csv",
                 "Each layout whose whole iteration was run: time, memory, "
                 "and what both are made of."},
                {"results/NAME/plan.json",
                 "The same, and how many layouts were left out, by rule."},
                {"results/NAME/summary.txt", "What is printed."},
                {"results/NAME/plan-1/ ...",
                 "The best five: the commands that repeat them, and the "
                 "arguments for the framework."},
                {"results/NAME/compute_result.json ...",
                 "Of --simumax: what SimuMax writes, with its names."}},
      .examples = SimaiPlannerExamples(),
  };
}

template <class Kinds, class NameOf>
ShellValues KindValues(std::string_view option, const Kinds& kinds,
                       NameOf name_of) {
  ShellValues values{option, {}};
  for (const auto& kind : kinds) {
    values.values.push_back({std::string(name_of(kind)), ""});
  }
  return values;
}

ShellProgram SimaiServing() {
  return {
      .name = "simai_serving",
      .help = SimaiServingHelp(),
      .options = SimaiServingOptionSpecs(),
      .values = {Values("model", ModelNames()), Values("gpu-type", GpuNames()),
                 Words("dtype", {"bfloat16", "float16", "mxfp4", "fp8",
                                 "fp8_block", "mxfp8", "nvfp4"}),
                 Values("system", SystemNames()),
                 Values("engine", InferenceEngineNames()),
                 KindValues("scheduler", kSchedulers,
                            [](const auto& kind) { return kind().name; }),
                 KindValues("router", Routers(),
                            [](const auto& kind) { return kind.name; })},
      .exit_codes = ExitCodes(),
      .files = {{"results/NAME/metrics.csv",
                 "Latencies, rates, preemptions, use of the KV cache."},
                {"results/NAME/requests.csv",
                 "When each request arrived, began, and got its tokens."},
                {"results/NAME/steps.csv",
                 "Of --steps: what each step computed, and the cache."},
                {"results/NAME/run.json",
                 "The inputs as they were understood, and the metrics."},
                {"results/NAME/comparison.csv",
                 "Of --compare-table: the measurements with predictions."}},
      .examples = SimaiServingExamples(),
  };
}

ShellProgram SimaiVidur() {
  return {
      .name = "simai_vidur",
      .help = SimaiVidurHelp(),
      .options = SimaiVidurOptionSpecs(),
      .values = {Words("replica-config-model-name",
                       {"meta-llama/Llama-2-7b-hf", "meta-llama/Llama-2-70b-hf",
                        "meta-llama/Meta-Llama-3-8B",
                        "meta-llama/Meta-Llama-3-70B",
                        "codellama/CodeLlama-34b-Instruct-hf",
                        "internlm/internlm-20b", "internlm/internlm2-20b",
                        "microsoft/phi-2", "Qwen/Qwen-72B"}),
                 Words("replica-config-device", {"a40", "a100", "h100"}),
                 Values("global-scheduler-config-type", kVidurRouters),
                 Words("request-generator-config-type",
                       {"synthetic", "trace_replay"}),
                 Words("interval-generator-config-type",
                       {"poisson", "gamma", "static"}),
                 Words("length-generator-config-type",
                       {"fixed", "uniform", "zipf", "trace"}),
                 Values("replica-scheduler-config-type", kVidurSchedulers),
                 Words("execution-time-predictor-config-type",
                       {"random_forrest"})},
      .exit_codes = ExitCodes(),
      .files = {{"simulator_output/request_metrics.csv",
                 "Vidur's metrics of each request, with its columns."},
                {"simulator_output/metrics.csv",
                 "Latencies, rates, preemptions, use of the KV cache."}},
      .examples = SimaiVidurExamples(),
  };
}

ShellProgram SimaiSweep() {
  ShellProgram program = {
      .name = "simai_sweep",
      .help = SimaiSweepHelp(),
      .values = {SchedulerValues()},
      .exit_codes = {{"0", "All points of the sweep have finished."},
                     {"1", "Some failed, or have not run."},
                     {"2", "Bad input, which the user can mend."},
                     {"129", "Stopped by SIGHUP; resume goes on."},
                     {"130", "Stopped by SIGINT; resume goes on."},
                     {"143", "Stopped by SIGTERM; resume goes on."}},
      .files = {{"results/NAME/sweep.db",
                 "What was planned and what came of it, for SQLite."},
                {"results/NAME/sweep.yaml",
                 "The sweep file, as it was run last."},
                {"results/NAME/report.html", "The comparison."},
                {"results/NAME/inputs/", "Topologies and workloads."},
                {"results/NAME/points/",
                 "The results of each run, and its log."},
                {"results/NAME/slurm/", "The jobs of --scheduler slurm."}},
      .examples = SimaiSweepExamples(),
  };
  for (const SweepCommand& command : SweepCommands()) {
    program.commands.push_back(
        {command.name, command.operands, command.help, command.options});
  }
  return program;
}

}  // namespace

std::vector<ShellProgram> ShellPrograms() {
  // clang-format off
  std::vector<ShellProgram> programs = {
      GenTopo(),         GenWorkload(),
      Simai(),           RunProgramOf(SimaiAnalyticalDefaults()),
      SimaiCollective(), SimaiCompare(),
      SimaiFit(),        SimaiGoodput(),
      SimaiPhysical(),   SimaiPlanner(),
      SimaiServing(),
      RunProgramOf(SimaiSimulatorDefaults()),
      SimaiSweep(),      SimaiTrace(),
      SimaiVidur()};
  // clang-format on
  for (ShellProgram& program : programs) {
    for (const ShellProgram& other : programs) {
      if (&other != &program) program.related.push_back(other.name);
    }
  }
  return programs;
}

}  // namespace astra
