#include "astra-core/apps/plan/simai_planner_options.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "astra-core/apps/plan/internevo_options.h"
#include "astra-core/apps/plan/space_options.h"
#include "astra-core/apps/run_defaults.h"
#include "astra-core/apps/run_output.h"
#include "astra-core/apps/simai_environment.h"
#include "astra-core/base/parallel.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "collectives/nccl/system_topology.h"
#include "collectives/systems/system_library.h"
#include "fmt/format.h"

namespace astra {
namespace {

constexpr std::string_view kUsage =
    "usage: simai_planner --model NAME|FILE --gpu NAME --gpus N --global-batch "
    "N\n"
    "                     --seq-length N [-n FILE | --system NAME] [options]\n"
    "       simai_planner --calculon APPLICATION,EXECUTION,SYSTEM\n"
    "\n"
    "Ranks the layouts with which a model can be trained on a cluster: all of "
    "them by\n"
    "memory and a formula, the best by a whole iteration, and on request the "
    "first of\n"
    "these on a simulated network.\n"
    "\n"
    "LIST is a value (4), values (1,2,8), or bounds of the default (2..8).\n";

constexpr CommandExample kExamples[] = {
    {"simai_planner -m llama3-70b --gpu H100 --gpus 512 --global-batch 512 \\\n"
     "  --seq-length 8192 --framework megatron-core",
     "The best layouts of Llama 3 70B on 512 H100:"},
    {"simai_planner -m llama3-8b --gpu H100 --gpus 16 --global-batch 64 \\\n"
     "  --seq-length 8192 --tp 1,2,4 --pp 1..2 --recompute none --top 5",
     "Of a part of all layouts:"},
    {"simai_planner --run_all_solu --model_size 7 --world_size 128 --gpu A800",
     "As InternEvo's simulator, a batch of 4 Mi tokens:"},
    {"simai_planner --simumax \\\n"
     "  llama3-8b.json,tp1_pp2_dp4_mbs1.json,a100_pcie.json",
     "Of one layout, from files of SimuMax:"},
};

constexpr OptionSpec kOptions[] = {
    {"model", "m model_size", "NAME|FILE", "Job",
     "as for gen_workload: a bundled model, a YAML file, or a config.json"},
    {"gpu-type", "gpu", "NAME|FILE", "Job", "the GPU"},
    {"gpus", "world-size w g", "N", "Job", "GPUs in all"},
    {"global-batch", "", "N", "Job", "sequences of an iteration"},
    {"seq-length", "s seq_len", "N", "Job", "positions of a sequence"},
    {"framework", "frame", "NAME|FILE", "Job",
     "whose facts hold for all layouts, as for gen_workload"},
    {"dtype", "", "NAME", "Job",
     "bfloat16 (default), float16, fp8, fp8_block, mxfp8 or nvfp4"},
    {"grad-dtype", "", "NAME", "Job", "of reduced gradients: fp32 or bf16"},
    {"moment-dtype", "exp-avg-dtype", "NAME", "Job",
     "of Adam's moments: fp32 (default) or bf16"},
    {"fused-loss", "cross_entropy_loss_fusion", "", "Job",
     "the cross entropy is one kernel"},
    {"moe-skew", "", "X|LAW", "Job",
     "the busiest expert rank, as for gen_workload"},
    {"load", "", "X", "Job",
     "speed of products and attention (default: that of the GPU)"},

    {"topology", "n", "FILE", "Cluster", "the cluster, as gen_topo draws it"},
    {"system", "", "NAME|FILE", "Cluster",
     "without -n the cluster: servers below one switch (default: the system "
     "that is built with the GPU)"},
    {"nccl", "", "KEY=VALUE", "Cluster", "NCCL's variables"},
    {"dispatcher", "", "NAME|FILE", "Cluster",
     "takes tokens to experts where EP is above 1 (default: NCCL)"},

    {"tp", "t", "LIST", "Space",
     "tensor parallelism (default: powers of 2 in an NVLink domain)"},
    {"cp", "", "LIST", "Space",
     "context parallelism (default: powers of 2 that leave a rank 1024 "
     "positions)"},
    {"ep", "e", "LIST", "Space",
     "expert parallelism (default: powers of 2 up to the experts)"},
    {"etp", "", "LIST", "Space", "tensor parallelism of experts (default 1)"},
    {"pp", "l", "LIST", "Space",
     "pipeline stages (default: powers of 2 and divisors of the blocks)"},
    {"vpp", "", "LIST", "Space",
     "model chunks of a stage (default 1,2,3,4,5,6,8)"},
    {"micro-batch", "b", "LIST", "Space",
     "sequences of a micro-batch (default 1,2,4,8)"},
    {"zero", "stage", "LIST", "Space",
     "ZeRO stages (default: 0,1, or the stage of the framework)"},
    {"recompute", "", "LIST", "Space",
     "none,selective,full,fit (default); fit: full, of as few layers as "
     "needed"},
    {"recompute-modules", "", "LIST", "Space",
     "of selective, such as core_attn,core_attn+moe_act (default: what the "
     "framework repeats)"},
    {"recompute-num-layers", "", "LIST", "Space",
     "of full: the first N layers of each chunk, or all (default)"},
    {"recompute-method", "", "LIST", "Space",
     "of these N: block (default), uniform"},
    {"schedule", "", "LIST", "Space",
     "of micro-batches (default 1f1b,interleaved: VPP decides)"},
    {"sp", "", "LIST", "Space", "sequence parallelism, on (default), off"},
    {"cp-method", "", "LIST", "Space",
     "of context parallelism: ring (default), all-gather, all-to-all"},
    {"overlap", "", "LIST", "Space",
     "none, gradients, parameters, tp, shared_experts, or several as "
     "gradients+tp (default: the framework's)"},
    {"order", "", "LIST", "Space",
     "which ranks are neighbours (default tp-cp-ep-dp-pp)"},

    {"memory", "", "GiB", "Search", "of a GPU that may be used (default: all)"},
    {"exhaustive", "", "", "Search",
     "estimate every layout, also those that cannot be among the best"},
    {"candidates", "", "N", "Search",
     "layouts of which the whole iteration is run (default 100)"},
    {"simulate", "", "N", "Search",
     "also run the best N with --fidelity (default 3 with --fidelity)"},
    {"fidelity", "", "NAME", "Search",
     "of these runs: analytical, flow (with --symmetry) or packet"},

    {"what-if", "", "", "Search",
     "also plan with other batches, memory and GPUs, down to where nothing "
     "fits"},
    {"objective", "", "", "Search",
     "answer an external optimizer instead: a layout in JSON on each line of "
     "stdin, its time and memory on a line of stdout"},
    {"threads", "", "N", "Search",
     "run whole iterations on N threads (default 1); the results are the same"},

    {"simumax", "", "FILES", "Files of other tools",
     "predict the iteration of MODEL,STRATEGY,SYSTEM of SimuMax; nothing is "
     "searched"},
    {"calculon", "", "FILES", "Files of other tools",
     "predict the iteration of APPLICATION,EXECUTION,SYSTEM as Calculon does; "
     "nothing is searched"},
    {"run-all-solu", "", "", "InternEvo",
     "search as InternEvo's simulator does; --model_size is then a number"},
    {"config", "", "FILE", "InternEvo",
     "InternEvo's config as YAML; without --run_all_solu it is priced itself"},
    {"global-batch-size", "", "TOKENS", "InternEvo",
     "tokens of a step (default 4194304)"},
    {"profile", "pre_profiling_data_path", "DIR", "InternEvo",
     "measured products.csv and collectives.csv (default: the models' times)"},
    {"attention-speed", "", "X", "InternEvo",
     "of attention, to that of the GPU's file; 0.5: the first FlashAttention"},
    {"draw-heatmap", "", "", "InternEvo",
     "write the traffic between the ranks of the best"},

    {"top", "", "N", "Output", "plans in the table (default 10)"},
    {"plot", "", "", "Output", "print a plot of time and memory, too"},
    {"output", "o", "DIR", "Output", "folder (default ./results/NAME)"},
    {"result", "r name", "NAME", "Output",
     "name of the run (default: model, GPUs and GPU)"},
};

absl::StatusOr<CommandLine> Parse(absl::Span<const OptionSpec> specs,
                                  const std::vector<std::string>& words) {
  std::vector<const char*> argv = {"simai_planner"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  return CommandLine::Parse(specs, static_cast<int>(argv.size()), argv.data());
}

// Returns the options of `names` that were given, as words.
std::vector<std::string> WordsOf(const CommandLine& flags,
                                 absl::Span<const std::string_view> names) {
  std::vector<std::string> words;
  for (const std::string_view name : names) {
    if (!flags.has(name)) continue;
    const std::string value = *flags.value(name);
    words.push_back(value.empty() ? fmt::format("--{}", name)
                                  : fmt::format("--{}={}", name, value));
  }
  return words;
}

absl::StatusOr<GenWorkloadOptions> ReadWorkload(std::vector<std::string> words,
                                                std::optional<int64_t> zero) {
  if (zero) words.push_back(fmt::format("--zero={}", *zero));
  ASTRA_ASSIGN_OR_RETURN(const CommandLine flags,
                         Parse(GenWorkloadOptionSpecs(), words));
  return ReadGenWorkloadOptions(flags);
}

// Reads the job for each ZeRO stage. Where the framework has one only, all of
// them are that one.
absl::Status ReadJob(const CommandLine& flags, SimaiPlannerOptions& options) {
  for (const std::string_view name :
       {"model", "gpu-type", "gpus", "global-batch", "seq-length"}) {
    ASTRA_RETURN_IF_ERROR(Require(flags, name));
  }
  constexpr std::string_view kJob[] = {
      "model",        "gpu-type",   "gpus",     "global-batch",
      "seq-length",   "framework",  "dtype",    "grad-dtype",
      "moment-dtype", "fused-loss", "moe-skew", "load"};
  options.workload_words = WordsOf(flags, kJob);
  PlanJob& job = options.job;
  ASTRA_ASSIGN_OR_RETURN(const GenWorkloadOptions first,
                         ReadWorkload(options.workload_words, std::nullopt));
  const Framework& framework = first.framework;
  for (size_t zero = 0; zero < kNumZeroStages; ++zero) {
    GenWorkloadOptions& workload = options.workloads[zero];
    workload = first;
    if (!framework.fixed_zero) {
      ASTRA_ASSIGN_OR_RETURN(
          workload,
          ReadWorkload(options.workload_words, static_cast<int64_t>(zero)));
    }
    job.setups[zero] = std::get<TrainingSetup>(workload.setup);
    job.loads[zero] = flags.has("load") ? workload.load
                                        : TrainingLoad(framework, workload.gpu,
                                                       static_cast<Zero>(zero));
  }
  options.warnings = first.warnings;
  job.model = first.model;
  job.gpu = first.gpu;
  job.overlaps = framework.overlaps;
  job.fills_last_stages = framework.fills_last_stages;
  job.stages_stay_whole = framework.stages_stay_whole;
  return absl::OkStatus();
}

absl::StatusOr<RunOptions> ReadRun(std::vector<std::string> words) {
  words.emplace_back("--workload=the plan");
  ASTRA_ASSIGN_OR_RETURN(const CommandLine flags,
                         Parse(RunOptionSpecs(), words));
  return ReadRunOptions(SimaiAnalyticalDefaults(), flags,
                        SimaiVariablesOfProcess());
}

// Returns the name of the system that is built with the GPU.
absl::StatusOr<std::string> SystemName(const GpuSpec& gpu) {
  for (const std::string& name : [&gpu] {
         std::vector<std::string> names = {gpu.name};
         names.insert(names.end(), gpu.aliases.begin(), gpu.aliases.end());
         return names;
       }()) {
    const absl::StatusOr<SystemSpec> system = SystemOfGpu(name);
    if (system.ok()) return system->name;
  }
  return SystemOfGpu(gpu.name).status();
}

absl::Status ReadCluster(const CommandLine& flags,
                         SimaiPlannerOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(options.run, ReadPlannerCluster(flags, options.job.gpu,
                                                         &options.run_words));
  constexpr int64_t kMostPlans = 100;
  if (!flags.has("fidelity")) {
    constexpr std::string_view kNames[] = {"simulate"};
    return Refuse(flags, kNames, "there is no --fidelity");
  }
  std::vector<std::string> words = options.run_words;
  words.push_back(
      fmt::format("--fidelity={}", flags.value("fidelity").value_or("")));
  // Large clusters would take hours otherwise.
  if (flags.value("fidelity") == "flow") words.emplace_back("--symmetry");
  ASTRA_ASSIGN_OR_RETURN(options.closer_run, ReadRun(words));
  constexpr int64_t kDefaultPlans = 3;
  ASTRA_ASSIGN_OR_RETURN(
      const int64_t plans,
      flags.integer("simulate", kDefaultPlans, 1, kMostPlans));
  options.closer_plans = static_cast<size_t>(plans);
  return absl::OkStatus();
}

absl::Status ReadSearch(const CommandLine& flags,
                        SimaiPlannerOptions& options) {
  constexpr int64_t kMostCandidates = 10'000;
  constexpr int64_t kCandidates = 100;
  constexpr int64_t kShown = 10;
  options.exhaustive = flags.has("exhaustive");
  ASTRA_ASSIGN_OR_RETURN(
      const int64_t candidates,
      flags.integer("candidates", kCandidates, 1, kMostCandidates));
  options.candidates = static_cast<size_t>(candidates);
  ASTRA_ASSIGN_OR_RETURN(const int64_t shown,
                         flags.integer("top", kShown, 1, kMostCandidates));
  options.shown = static_cast<size_t>(shown);
  options.plot = flags.has("plot");
  options.what_if = flags.has("what-if");
  options.objective = flags.has("objective");
  if (options.objective) {
    constexpr std::string_view kOfSearches[] = {
        "exhaustive", "candidates", "simulate", "fidelity", "what-if",
        "threads",    "top",        "plot",     "output",   "result"};
    ASTRA_RETURN_IF_ERROR(
        Refuse(flags, kOfSearches, "--objective searches nothing"));
  }
  for (const OptionSpec& option : kOptions) {
    const bool is_of_search =
        option.group == "Job" || option.group == "Cluster" ||
        option.group == "Space" || option.name == "memory" ||
        option.name == "threads";
    if (!is_of_search || !flags.has(option.name)) continue;
    const std::vector<std::string> word = WordsOf(flags, {&option.name, 1});
    options.words.insert(options.words.end(), word.begin(), word.end());
  }
  ASTRA_ASSIGN_OR_RETURN(options.threads,
                         flags.integer("threads", 1, 1, kMostThreads));
  ASTRA_ASSIGN_OR_RETURN(options.job.gpu.memory_gb,
                         ReadPlannerMemory(flags, options.job.gpu));
  for (GenWorkloadOptions& workload : options.workloads) {
    workload.gpu.memory_gb = options.job.gpu.memory_gb;
  }
  return absl::OkStatus();
}

// Returns how many GPUs are joined by NVLink, within which TP stays by default.
absl::StatusOr<int64_t> DomainOf(const RunOptions& run) {
  if (!run.system) return 8;
  ASTRA_ASSIGN_OR_RETURN(const SystemSpec system, LoadSystem(*run.system));
  return system.gpus_per_server;
}

}  // namespace

absl::Span<const OptionSpec> SimaiPlannerOptionSpecs() { return kOptions; }

std::string SimaiPlannerHelp() {
  return HelpText(kUsage, kOptions) + ExamplesText(kExamples);
}

absl::Span<const CommandExample> SimaiPlannerExamples() { return kExamples; }

absl::StatusOr<double> ReadPlannerMemory(const CommandLine& flags,
                                         const GpuSpec& gpu) {
  if (!flags.has("memory")) return gpu.memory_gb;
  constexpr double kMostGib = 1e5;
  ASTRA_ASSIGN_OR_RETURN(const double gib, flags.number("memory", 0, kMostGib));
  if (gib <= 0) {
    return absl::InvalidArgumentError("--memory is 0: nothing fits");
  }
  return gib;  // The GB of a data sheet are GiB; see ProgramGpuOf.
}

absl::StatusOr<RunOptions> ReadPlannerCluster(const CommandLine& flags,
                                              const GpuSpec& gpu,
                                              std::vector<std::string>* words) {
  constexpr std::string_view kCluster[] = {"topology", "system", "nccl",
                                           "dispatcher"};
  *words = WordsOf(flags, kCluster);
  if (!flags.has("topology") && !flags.has("system")) {
    ASTRA_ASSIGN_OR_RETURN(const std::string name, SystemName(gpu));
    words->push_back(fmt::format("--system={}", name));
  }
  return ReadRun(*words);
}

absl::StatusOr<SimaiPlannerOptions> ReadSimaiPlannerOptions(
    const CommandLine& flags) {
  SimaiPlannerOptions options;
  ASTRA_RETURN_IF_ERROR(RefuseInternEvo(flags));
  ASTRA_RETURN_IF_ERROR(ReadJob(flags, options));
  ASTRA_RETURN_IF_ERROR(ReadCluster(flags, options));
  ASTRA_ASSIGN_OR_RETURN(const int64_t domain, DomainOf(options.run));
  ASTRA_ASSIGN_OR_RETURN(
      options.space,
      ReadSpace(flags, options.job, options.workloads[0].framework, domain));
  ASTRA_RETURN_IF_ERROR(ReadSearch(flags, options));
  std::string name = fmt::format("{}-{}-{}", options.job.model.name,
                                 options.job.num_gpus(), options.job.gpu.name);
  std::replace(name.begin(), name.end(), '/', '-');
  ASTRA_ASSIGN_OR_RETURN(RunOutput output, ReadRunOutput(flags, name));
  options.name = std::move(output.name);
  options.output = std::move(output.folder);
  return options;
}

}  // namespace astra
