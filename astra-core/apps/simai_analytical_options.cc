#include "astra-core/apps/simai_analytical_options.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/apps/run_output.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr std::string_view kUsage =
    "usage: simai_analytical -w FILE (-n FILE | -g N -g_p_s N -nv X -nic X)\n"
    "\n"
    "Says how long one iteration of a workload takes on a cluster, and why.\n";

constexpr CommandExample kExamples[] = {
    {"simai_analytical -w llama3.yaml -n h100_16.txt",
     "How long an iteration takes on a topology, and why:"},
    {"simai_analytical -w decode.yaml -g 8 -g_p_s 8 -nv 360 -nic 48.5",
     "A decode step on a server that a few rates in GB/s describe:"},
};

constexpr OptionSpec kOptions[] = {
    {"workload", "w", "FILE", "Input",
     "workload in SimAI's format, or a program"},
    {"topology", "n network_topo", "FILE", "Input",
     "topology in SimAI's format, as gen_topo writes it"},
    {"busbw", "bus_bandwidth", "FILE", "Input",
     "bus bandwidths that take the place of the topology's"},
    {"system", "", "NAME|FILE", "Input",
     "collectives as NCCL runs them on this system (dgx-h100, a file, ...)"},
    {"nccl", "", "KEY=VALUE", "Input",
     "NCCL's variables, such as NCCL_ALGO=Ring,NCCL_PROTO=Simple"},
    {"gpus", "g", "N", "Input",
     "GPUs; checked against both files, required without -n"},
    {"gpu-type", "g_type", "NAME", "Input",
     "checked against -n; without, H100 H20 H800 A100 A800 have rates"},
    {"gpus-per-server", "g_p_s", "N", "Cluster without -n", "GPUs of a server"},
    {"nic-per-server", "n_p_s", "N", "Cluster without -n",
     "NICs of a server (default: as many as GPUs)"},
    {"nvlink", "nv", "GBps", "Cluster without -n",
     "GB/s of a GPU's NVLinks (default: that of --gpu-type)"},
    {"nic-busbw", "nic", "GBps", "Cluster without -n",
     "GB/s of a NIC (default: that of --nic-type)"},
    {"nic-type", "nic_t", "NAME", "Cluster without -n",
     "cx6, cx7 (default) or bf3"},
    {"dp-overlap", "dp_o dp_overlap_ratio", "X", "Model",
     "share of DP and DP_EP communication that is hidden, 0 (default) to 1"},
    {"tp-overlap", "tp_o tp_overlap_ratio", "X", "Model", "the same for TP"},
    {"ep-overlap", "ep_o ep_overlap_ratio", "X", "Model", "the same for EP"},
    {"pp-overlap", "pp_o pp_overlap_ratio", "X", "Model",
     "the same for pipeline messages"},
    {"lowering", "", "NAME", "Model",
     "closed-form (default), or flow-graph: every message of every rank"},
    {"stop-at", "", "TIME", "Model",
     "give up beyond this simulated time, such as 10s"},
    {"unroll", "", "", "Model",
     "run every micro-batch of a program; the results are the same"},
    {"contention", "", "X", "Model",
     "share of its speed that computation loses beside a collective (default: "
     "what the program says, or 0)"},
    {"gpu-mismatch", "", "", "Model",
     "run a program that is timed for another GPU than the topology names"},
    {"jitter", "", "X", "Model",
     "computations take longer at random, by this share on average"},
    {"seed", "", "N", "Model", "of --jitter (default 1)"},
    {"output", "o", "DIR", "Output", "folder (default ./results/NAME)"},
    {"result", "r", "NAME", "Output",
     "name of the run (default: that of the workload file)"},
    {"result-folder", "r_f", "NAME", "Output", "folder ./results/NAME/RESULT"},
    {"visual", "v", "[0|1]", "Output",
     "write chart.html, a pie of where the time goes"},
    {"lang", "l", "en|ja", "Output", "language of chart.html (default en)"},
    {"trace", "", "", "Output",
     "write trace.json for Perfetto or chrome://tracing"},
    {"columns", "", "", "Output",
     "print what the result columns mean and stop"},
    {"force", "", "", "Output",
     "go on where memory is too small for what it takes"},
};

// Rates of SimAI's options, in GB/s.
//
// Source: the constants of SimAI 1.6's analytical mode: NVLink links of a GPU
// times the rate of one; the rate that a NIC reaches.
struct NamedRate {
  std::string_view name;
  double gb_per_s;
};
constexpr NamedRate kNvlinkRates[] = {{"A100", 240},
                                      {"A800", 160},
                                      {"H100", 370.8},
                                      {"H20", 370.8},
                                      {"H800", 164.8}};
constexpr NamedRate kNicRates[] = {{"cx6", 23.5}, {"cx7", 48.5}, {"bf3", 48.5}};

// In GB/s.
constexpr double kMinRate = 1e-6;
constexpr double kMaxRate = 1e5;

absl::StatusOr<double> RateOf(std::string_view option, std::string_view text,
                              absl::Span<const NamedRate> rates) {
  std::vector<std::string_view> names;
  for (const NamedRate& rate : rates) {
    const bool same =
        std::equal(text.begin(), text.end(), rate.name.begin(), rate.name.end(),
                   [](unsigned char a, unsigned char b) {
                     return std::tolower(a) == std::tolower(b);
                   });
    if (same) return rate.gb_per_s;
    names.push_back(rate.name);
  }
  return absl::InvalidArgumentError(UnknownName(option, text, names));
}

// The rate that option `name` gives, or that of the type it stands for.
absl::StatusOr<double> Rate(const CommandLine& flags, std::string_view name,
                            std::string_view type_option,
                            const std::optional<std::string>& type,
                            absl::Span<const NamedRate> rates) {
  if (flags.has(name)) {
    ASTRA_ASSIGN_OR_RETURN(const double rate, flags.number(name, 0, kMaxRate));
    if (rate >= kMinRate) return rate;
    return absl::InvalidArgumentError(fmt::format(
        "--{} is {}: expected at least {} GB/s", name, rate, kMinRate));
  }
  if (type) return RateOf(fmt::format("--{}", type_option), *type, rates);
  return absl::InvalidArgumentError(fmt::format(
      "--{} or --{} is missing: without -n a cluster is built from them", name,
      type_option));
}

absl::Status RefuseClusterOptions(const CommandLine& flags) {
  for (const OptionSpec& option : kOptions) {
    if (option.group == "Cluster without -n" && flags.has(option.name)) {
      return absl::InvalidArgumentError(fmt::format(
          "--{} has no effect: -n says what the cluster is", option.name));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<TwoLevelParameters> ReadCluster(const CommandLine& flags) {
  for (const std::string_view name : {"gpus", "gpus-per-server"}) {
    if (!flags.has(name)) {
      return absl::InvalidArgumentError(fmt::format(
          "--{} is missing: give a topology with -n, or -g, -g_p_s, -nv and "
          "-nic",
          name));
    }
  }
  constexpr int64_t kMax = Topology::kMaxNodes;
  TwoLevelParameters p;
  ASTRA_ASSIGN_OR_RETURN(p.num_gpus, flags.integer("gpus", 0, 1, kMax));
  ASTRA_ASSIGN_OR_RETURN(p.gpus_per_server,
                         flags.integer("gpus-per-server", 0, 1, kMax));
  ASTRA_ASSIGN_OR_RETURN(
      p.nics_per_server,
      flags.integer("nic-per-server", p.gpus_per_server, 1, kMax));
  const std::optional<std::string> gpu_type = flags.value("gpu-type");
  p.gpu_type = gpu_type.value_or("GPU");
  if (p.gpus_per_server > 1) {
    ASTRA_ASSIGN_OR_RETURN(p.nvlink_gb_per_s, Rate(flags, "nvlink", "gpu-type",
                                                   gpu_type, kNvlinkRates));
  } else if (flags.has("nvlink")) {
    return absl::InvalidArgumentError(
        "--nvlink has no effect: servers of one GPU have no NVLink");
  }
  if (flags.has("nic-busbw") && flags.has("nic-type")) {
    return absl::InvalidArgumentError(
        "--nic-type has no effect beside --nic-busbw");
  }
  ASTRA_ASSIGN_OR_RETURN(
      p.nic_gb_per_s, Rate(flags, "nic-busbw", "nic-type",
                           flags.value("nic-type").value_or("cx7"), kNicRates));
  return p;
}

absl::Status ReadModel(const CommandLine& flags, SimulationOptions& options) {
  constexpr std::pair<std::string_view, ParallelDimension> kOverlaps[] = {
      {"tp-overlap", ParallelDimension::kTensor},
      {"dp-overlap", ParallelDimension::kData},
      {"dp-overlap", ParallelDimension::kDataExpert},
      {"ep-overlap", ParallelDimension::kExpert},
      {"pp-overlap", ParallelDimension::kPipeline},
  };
  for (const auto& [name, dimension] : kOverlaps) {
    ASTRA_ASSIGN_OR_RETURN(options.overlap[IndexOf(dimension)],
                           flags.number(name, 0, 1));
  }
  const std::string lowering = flags.value("lowering").value_or("closed-form");
  constexpr std::string_view kLowerings[] = {"closed-form", "flow-graph"};
  if (lowering == kLowerings[1]) {
    options.lowering = Lowering::kFlowGraph;
  } else if (lowering != kLowerings[0]) {
    return absl::InvalidArgumentError(
        UnknownName("--lowering", lowering, kLowerings));
  }
  options.unroll = flags.has("unroll");
  ASTRA_ASSIGN_OR_RETURN(const Disturbances disturbances,
                         ReadDisturbances(flags));
  options.communication_slowdown = disturbances.contention;
  options.jitter = disturbances.jitter;
  ASTRA_ASSIGN_OR_RETURN(const std::optional<uint64_t> seed, ReadSeed(flags));
  if (seed && options.jitter == 0) {
    return absl::InvalidArgumentError(
        "--seed has no effect: without --jitter nothing is random");
  }
  options.seed = seed.value_or(1);
  ASTRA_ASSIGN_OR_RETURN(options.stop_at, ReadStopAt(flags));
  return absl::OkStatus();
}

absl::Status ReadNccl(const CommandLine& flags,
                      SimaiAnalyticalOptions& options) {
  options.system = flags.value("system");
  if (options.system && options.simulation.lowering == Lowering::kFlowGraph) {
    return absl::InvalidArgumentError(
        "--system has no effect with --lowering flow-graph");
  }
  const std::optional<std::string> variables = flags.value("nccl");
  if (!variables) return absl::OkStatus();
  if (!options.system) {
    return absl::InvalidArgumentError("--nccl has no effect without --system");
  }
  options.nccl_variables = *variables;
  return ApplyNcclOptionList(*variables, &options.nccl);
}

absl::Status ReadChart(const CommandLine& flags,
                       SimaiAnalyticalOptions& options) {
  constexpr std::string_view kVisuals[] = {"0", "1"};
  ASTRA_ASSIGN_OR_RETURN(const size_t visual,
                         Choice(flags, "visual", 0, kVisuals));
  options.chart = visual == 1;
  constexpr std::string_view kLanguages[] = {"en", "ja"};  // ChartLanguage.
  ASTRA_ASSIGN_OR_RETURN(const size_t language,
                         Choice(flags, "lang", 0, kLanguages));
  options.language = static_cast<ChartLanguage>(language);
  if (flags.has("lang") && !options.chart) {
    options.warnings.push_back(
        "--lang has no effect without -v, which writes chart.html");
  }
  return absl::OkStatus();
}

// results/FOLDER/NAME.
absl::StatusOr<std::string> ResultFolder(const CommandLine& flags,
                                         std::string_view name) {
  if (flags.has("output")) {
    return absl::InvalidArgumentError(
        "--result-folder has no effect beside --output");
  }
  const std::string folder = *flags.value("result-folder");
  if (IsFileName(folder)) return fmt::format("results/{}/{}", folder, name);
  return absl::InvalidArgumentError(
      fmt::format("--result-folder is {}: expected a name without \"/\" and "
                  "control characters; see -o",
                  Quoted(folder)));
}

absl::Status ReadOutput(const CommandLine& flags,
                        SimaiAnalyticalOptions& options) {
  const std::string stem =
      std::filesystem::path(options.workload_file).stem().string();
  ASTRA_ASSIGN_OR_RETURN(RunOutput output, ReadRunOutput(flags, stem));
  if (flags.has("result-folder")) {
    ASTRA_ASSIGN_OR_RETURN(output.folder, ResultFolder(flags, output.name));
  }
  options.name = std::move(output.name);
  options.output = std::move(output.folder);
  options.trace = flags.has("trace");
  options.force = flags.has("force");
  return ReadChart(flags, options);
}

}  // namespace

absl::Span<const OptionSpec> SimaiAnalyticalOptionSpecs() { return kOptions; }

std::string SimaiAnalyticalHelp() {
  return HelpText(kUsage, kOptions) + ExamplesText(kExamples);
}

absl::Span<const CommandExample> SimaiAnalyticalExamples() { return kExamples; }

absl::StatusOr<SimaiAnalyticalOptions> ReadSimaiAnalyticalOptions(
    const CommandLine& flags) {
  if (!flags.has("workload")) {
    return absl::InvalidArgumentError(
        "--workload is missing: give a workload file with -w");
  }
  SimaiAnalyticalOptions options;
  options.workload_file = *flags.value("workload");
  options.topology_file = flags.value("topology");
  options.bus_bandwidth_file = flags.value("busbw");
  options.gpu_type = flags.value("gpu-type");
  options.gpu_mismatch = flags.has("gpu-mismatch");
  if (flags.has("gpus")) {
    ASTRA_ASSIGN_OR_RETURN(options.num_gpus,
                           flags.integer("gpus", 0, 1, Topology::kMaxNodes));
  }
  if (options.topology_file) {
    ASTRA_RETURN_IF_ERROR(RefuseClusterOptions(flags));
  } else {
    ASTRA_ASSIGN_OR_RETURN(options.cluster, ReadCluster(flags));
  }
  ASTRA_RETURN_IF_ERROR(ReadModel(flags, options.simulation));
  ASTRA_RETURN_IF_ERROR(ReadNccl(flags, options));
  if (options.bus_bandwidth_file &&
      options.simulation.lowering == Lowering::kFlowGraph) {
    return absl::InvalidArgumentError(
        "--busbw has no effect with --lowering flow-graph");
  }
  ASTRA_RETURN_IF_ERROR(ReadOutput(flags, options));
  return options;
}

}  // namespace astra
