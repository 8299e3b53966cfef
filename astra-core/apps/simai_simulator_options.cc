#include "astra-core/apps/simai_simulator_options.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <limits>
#include <string_view>

#include "absl/status/status.h"
#include "astra-core/apps/run_output.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "collectives/closed_form.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr std::string_view kUsage =
    "usage: simai_simulator -w FILE -n FILE [-c FILE] [-o DIR]\n"
    "\n"
    "Runs one iteration of a workload, every message of every rank, on a "
    "network\n"
    "that is simulated packet by packet.\n";

constexpr CommandExample kExamples[] = {
    {"simai_simulator -w llama3.yaml -n h100_16.txt --backend flow --symmetry",
     "An iteration whose messages share links, on one rank of each kind:"},
    {"simai_simulator -w llama3.yaml -n h100_16.txt --estimate",
     "How long it would take packet by packet, with every rank:"},
};

constexpr OptionSpec kOptions[] = {
    {"workload", "w", "FILE", "Input",
     "workload in SimAI's format, or a program"},
    {"topology", "n network_topo", "FILE", "Input",
     "topology in SimAI's format, as gen_topo writes it"},
    {"network", "c network_conf", "FILE", "Input",
     "NICs and switches: SimAI.conf, or YAML that begins with simai_network"},

    {"backend", "", "NAME", "Model",
     "packet (default); flow: messages share links fairly, and -c says the "
     "size of packets and the latency of switches; analytical: each message "
     "alone"},
    {"collectives", "", "NAME", "Model",
     "nccl (default): what NCCL chooses on --system, with its latencies and "
     "protocols; simai: SimAI's; plain: rings and direct messages"},
    {"system", "", "NAME|FILE", "Model",
     "for nccl: dgx-h100, a file, ... (default: that of the topology's GPUs)"},
    {"nccl", "", "KEY=VALUE", "Model",
     "NCCL's variables, such as NCCL_ALGO=Ring,NCCL_PROTO=Simple"},
    {"send-latency", "", "TIME", "Model",
     "passes before each message leaves, such as 6us (default 0, or "
     "AS_SEND_LAT)"},
    {"contention", "", "X", "Model",
     "share of its speed that computation loses beside a collective (default: "
     "what the program says, or 0)"},
    {"gpu-mismatch", "", "", "Model",
     "run a program that is timed for another GPU than the topology names"},
    {"jitter", "", "X", "Model",
     "computations take longer at random, by this share on average"},
    {"seed", "", "N", "Model",
     "of paths, marks, losses and --jitter (default: that of -c, or 1)"},
    {"stop-at", "", "TIME", "Model",
     "end the run at this simulated time, such as 10ms"},
    {"unroll", "", "", "Model",
     "run every micro-batch of a program, not only until they are alike"},
    {"symmetry", "", "", "Model",
     "with --backend flow and a program: run one of the ranks that do the "
     "same; "
     "collectives of different dimensions then share no links"},

    {"threads", "t", "N", "Run",
     "1 (default) to 1024; the results are the same, and so is the time"},
    {"estimate", "", "", "Run",
     "print how much there is to simulate, and how long it may take, and stop"},

    {"force", "", "", "Run",
     "run even if the estimate of the memory is above what is free"},

    {"output", "o", "DIR", "Output", "folder (default ./results/NAME)"},
    {"result", "r name", "NAME", "Output",
     "name of the run (default: that of the workload file)"},
    {"sample", "", "TIME", "Output",
     "write queues.csv and rates.csv, at this interval"},
    {"capture", "", "SOURCE-TARGET", "Output",
     "write what leaves on one link, by node ids, as capture.pcapng"},
    {"trace", "", "", "Output",
     "write trace.json for Perfetto or chrome://tracing"},
    {"simai-files", "", "", "Output", "write fct.txt and pfc.txt as SimAI has"},
    {"columns", "", "", "Output",
     "print what the result columns mean and stop"},
};

constexpr int64_t kMaxThreads = 1024;

// A time from `min` on; none if option `name` was not given.
absl::StatusOr<std::optional<TimePs>> ReadTime(const CommandLine& flags,
                                               std::string_view name,
                                               TimePs min) {
  const std::optional<std::string> text = flags.value(name);
  if (!text) return std::nullopt;
  constexpr TimePs kMax = Microseconds(1'000'000'000);
  const absl::StatusOr<TimePs> time = ParseTime(*text);
  if (time.ok() && *time >= min && *time <= kMax) return *time;
  return absl::InvalidArgumentError(
      fmt::format("--{}: {} is not a time{} of at most 1000 s, such as 10us",
                  name, Quoted(*text), min > TimePs(0) ? " above 0" : ""));
}

// "0-8".
absl::Status ReadCapture(const std::string& text,
                         SimaiSimulatorOptions& options) {
  const size_t dash = text.find('-');
  constexpr int64_t kMax = std::numeric_limits<uint32_t>::max();
  if (dash != std::string::npos) {
    const auto source = ParseInteger("", text.substr(0, dash), 0, kMax);
    const auto target = ParseInteger("", text.substr(dash + 1), 0, kMax);
    if (source.ok() && target.ok()) {
      options.capture = {NodeId(static_cast<uint32_t>(*source)),
                         NodeId(static_cast<uint32_t>(*target))};
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(fmt::format(
      "--capture is {}: expected two nodes, such as 0-8", Quoted(text)));
}

// Refuses the options that the backend cannot follow.
absl::Status CheckBackend(const CommandLine& flags,
                          const BackendEntry& backend) {
  struct Rule {
    std::string_view option;
    bool has_effect;
  };
  const Rule rules[] = {{"network", backend.has_options},
                        {"seed", backend.has_options || flags.has("jitter")},
                        {"simai-files", backend.records_flows},
                        {"sample", backend.records_packets},
                        {"capture", backend.records_packets}};
  for (const Rule& rule : rules) {
    if (rule.has_effect || !flags.has(rule.option)) continue;
    return absl::InvalidArgumentError(fmt::format(
        "--{} has no effect with --backend {}", rule.option, backend.name));
  }
  return absl::OkStatus();
}

absl::Status CheckEstimate(const CommandLine& flags) {
  if (!flags.has("estimate")) return absl::OkStatus();
  for (const std::string_view option :
       {"output", "result", "sample", "capture", "trace", "simai-files",
        "stop-at", "force"}) {
    if (!flags.has(option)) continue;
    return absl::InvalidArgumentError(
        fmt::format("--{} has no effect with --estimate", option));
  }
  return absl::OkStatus();
}

absl::Status ReadCollectives(const CommandLine& flags,
                             SimaiSimulatorOptions& options) {
  // In the order of CollectiveFamily.
  constexpr std::string_view kFamilies[] = {"plain", "nccl", "simai"};
  const std::string family = flags.value("collectives").value_or("nccl");
  const auto* found =
      std::find(std::begin(kFamilies), std::end(kFamilies), family);
  if (found == std::end(kFamilies)) {
    return absl::InvalidArgumentError(
        UnknownName("--collectives", family, kFamilies));
  }
  options.collectives =
      static_cast<CollectiveFamily>(found - std::begin(kFamilies));
  options.system = flags.value("system");
  if (options.system && options.collectives != CollectiveFamily::kNccl) {
    return absl::InvalidArgumentError(
        fmt::format("--system has no effect with --collectives {}", family));
  }
  if (!flags.has("nccl")) return absl::OkStatus();
  if (options.collectives == CollectiveFamily::kDefault) {
    return absl::InvalidArgumentError(
        "--nccl has no effect with --collectives plain");
  }
  options.nccl_variables = *flags.value("nccl");
  return absl::OkStatus();
}

// Options go before variables of the environment.
absl::Status ReadSettings(const CommandLine& flags,
                          const SimaiVariables& variables,
                          SimaiSimulatorOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(
      options.environment,
      ReadSimaiVariables(variables,
                         {.send_latency = flags.has("send-latency"),
                          .nccl = options.nccl_variables},
                         options.collectives, options.nccl));
  ASTRA_ASSIGN_OR_RETURN(const std::optional<TimePs> send_latency,
                         ReadTime(flags, "send-latency", TimePs(0)));
  options.send_latency = send_latency.value_or(
      options.environment.send_latency.value_or(TimePs()));
  if (options.nccl_variables.empty()) return absl::OkStatus();
  return ApplyNcclOptionList(options.nccl_variables, &options.nccl);
}

absl::Status ReadModel(const CommandLine& flags,
                       const SimaiVariables& variables,
                       SimaiSimulatorOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(
      options.backend, FindBackend(flags.value("backend").value_or("packet")));
  ASTRA_RETURN_IF_ERROR(CheckBackend(flags, *options.backend));
  ASTRA_RETURN_IF_ERROR(ReadCollectives(flags, options));
  ASTRA_RETURN_IF_ERROR(ReadSettings(flags, variables, options));
  ASTRA_ASSIGN_OR_RETURN(options.seed, ReadSeed(flags));
  ASTRA_ASSIGN_OR_RETURN(options.num_threads,
                         flags.integer("threads", 1, 1, kMaxThreads));
  ASTRA_ASSIGN_OR_RETURN(options.stop_at, ReadStopAt(flags));
  options.unroll = flags.has("unroll");
  options.gpu_mismatch = flags.has("gpu-mismatch");
  options.symmetry = flags.has("symmetry");
  ASTRA_ASSIGN_OR_RETURN(options.disturbances, ReadDisturbances(flags));
  return absl::OkStatus();
}

absl::Status ReadOutput(const CommandLine& flags,
                        SimaiSimulatorOptions& options) {
  ASTRA_RETURN_IF_ERROR(CheckEstimate(flags));
  ASTRA_ASSIGN_OR_RETURN(options.sample_interval,
                         ReadTime(flags, "sample", TimePs(1)));
  if (flags.has("capture")) {
    ASTRA_RETURN_IF_ERROR(ReadCapture(*flags.value("capture"), options));
  }
  options.estimate = flags.has("estimate");
  options.force = flags.has("force");
  options.trace = flags.has("trace");
  options.simai_files = flags.has("simai-files");
  const std::string stem =
      std::filesystem::path(options.workload_file).stem().string();
  ASTRA_ASSIGN_OR_RETURN(RunOutput output, ReadRunOutput(flags, stem));
  options.name = std::move(output.name);
  options.output = std::move(output.folder);
  return absl::OkStatus();
}

}  // namespace

absl::Span<const OptionSpec> SimaiSimulatorOptionSpecs() { return kOptions; }

std::string SimaiSimulatorHelp() {
  return HelpText(kUsage, kOptions) + ExamplesText(kExamples);
}

absl::Span<const CommandExample> SimaiSimulatorExamples() { return kExamples; }

absl::StatusOr<SimaiSimulatorOptions> ReadSimaiSimulatorOptions(
    const CommandLine& flags, const SimaiVariables& variables) {
  if (!flags.has("workload")) {
    return absl::InvalidArgumentError(
        "--workload is missing: give a workload file with -w");
  }
  if (!flags.has("topology")) {
    return absl::InvalidArgumentError(
        "--topology is missing: give a topology file with -n");
  }
  SimaiSimulatorOptions options;
  options.workload_file = *flags.value("workload");
  options.topology_file = *flags.value("topology");
  options.network_file = flags.value("network");
  ASTRA_RETURN_IF_ERROR(ReadModel(flags, variables, options));
  ASTRA_RETURN_IF_ERROR(ReadOutput(flags, options));
  return options;
}

}  // namespace astra
