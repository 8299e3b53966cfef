#include "astra-core/apps/run_options.h"

#include <cstddef>
#include <filesystem>
#include <limits>
#include <string_view>

#include "absl/status/status.h"
#include "astra-core/apps/measured_inputs.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "fmt/core.h"
#include "network-frontends/config/amounts.h"
#include "topology/topology.h"

namespace astra {
namespace {

constexpr int64_t kMaxThreads = 1024;

absl::Status NoEffect(std::string_view option, std::string_view why) {
  return absl::InvalidArgumentError(
      fmt::format("--{} has no effect {}", option, why));
}

// Returns the time that option `name` gives, at least `min`; none if it was not
// given.
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

// Refuses the options that the fidelity cannot follow.
absl::Status CheckFidelity(const CommandLine& flags, Fidelity fidelity) {
  const BackendEntry* network = NetworkOf(fidelity);
  const bool has_options = network != nullptr && network->has_options;
  const bool records_packets = network != nullptr && network->records_packets;
  const bool records_flows = network != nullptr && network->records_flows;
  struct Rule {
    std::string_view option;
    bool has_effect;
  };
  const Rule rules[] = {{"network", has_options},
                        {"network-set", has_options},
                        {"busbw", network == nullptr},
                        {"dp-overlap", network == nullptr},
                        {"tp-overlap", network == nullptr},
                        {"ep-overlap", network == nullptr},
                        {"send-latency", network != nullptr},
                        {"start-step", network != nullptr},
                        {"symmetry", fidelity == Fidelity::kFlow},
                        {"estimate", network != nullptr},
                        {"simai-files", records_flows},
                        {"sample", records_packets},
                        {"accelerate", records_flows},
                        {"error-bound", records_flows},
                        {"exact-events", records_flows},
                        {"capture", records_packets}};
  for (const Rule& rule : rules) {
    if (rule.has_effect || !flags.has(rule.option)) continue;
    return NoEffect(rule.option,
                    fmt::format("with --fidelity {}", Name(fidelity)));
  }
  if (flags.has("seed") && !has_options && !flags.has("jitter") &&
      !flags.has("pattern")) {
    return NoEffect("seed", fmt::format("with --fidelity {}: without --jitter "
                                        "nothing is random",
                                        Name(fidelity)));
  }
  return absl::OkStatus();
}

absl::Status CheckEstimate(const CommandLine& flags) {
  if (!flags.has("estimate")) return absl::OkStatus();
  for (const std::string_view option :
       {"output", "result", "result-folder", "visual", "sample", "capture",
        "trace", "report", "memory-snapshot", "simai-files", "stop-at", "force",
        "events"}) {
    if (flags.has(option)) return NoEffect(option, "with --estimate");
  }
  return absl::OkStatus();
}

// Refuses the options that say what several jobs say themselves, or that tell
// of one workload.
absl::Status CheckJobs(const CommandLine& flags, Fidelity fidelity) {
  if (!flags.has("jobs")) return absl::OkStatus();
  const BackendEntry* network = NetworkOf(fidelity);
  if (network == nullptr || !network->has_options) {
    return NoEffect("jobs",
                    fmt::format("with --fidelity {}, in which messages of "
                                "several jobs share no link: take flow or "
                                "packet",
                                Name(fidelity)));
  }
  if (!flags.has("topology")) {
    return absl::InvalidArgumentError(
        "--jobs needs the cluster that the jobs share: give -n");
  }
  for (const std::string_view option :
       {"workload",       "gpus",         "gpu-type",
        "algorithm",      "dispatcher",   "stop-at",
        "unroll",         "symmetry",     "accelerate",
        "error-bound",    "exact-events", "estimate",
        "visual",         "lang",         "capture",
        "trace",          "report",       "memory-snapshot",
        "snapshot-stage", "simai-files"}) {
    if (flags.has(option)) return NoEffect(option, "with --jobs");
  }
  return absl::OkStatus();
}

// Refuses the options that are about programs or that need what only they say.
absl::Status CheckChakra(const CommandLine& flags) {
  if (!flags.has("chakra")) {
    return flags.has("comm-groups")
               ? NoEffect("comm-groups", "without --chakra")
               : absl::OkStatus();
  }
  for (const std::string_view option :
       {"workload", "jobs", "gpu-mismatch", "algorithm", "dispatcher", "unroll",
        "symmetry", "memory-snapshot", "snapshot-stage"}) {
    if (flags.has(option)) return NoEffect(option, "with --chakra");
  }
  return absl::OkStatus();
}

// Refuses the options that say how a workload runs, which traffic is not.
absl::Status CheckPattern(const CommandLine& flags, Fidelity fidelity) {
  if (!flags.has("pattern")) return absl::OkStatus();
  if (NetworkOf(fidelity) == nullptr) {
    return NoEffect("pattern",
                    fmt::format("with --fidelity {}, which has no messages: "
                                "take analytical, flow or packet",
                                Name(fidelity)));
  }
  for (const std::string_view option :
       {"workload",      "jobs",         "chakra",      "comm-groups",
        "gpu-mismatch",  "algorithm",    "collectives", "nccl",
        "measured",      "engine",       "dispatcher",  "launch",
        "pp-overlap",    "send-latency", "start-step",  "contention",
        "jitter",        "unroll",       "symmetry",    "accelerate",
        "error-bound",   "exact-events", "estimate",    "force",
        "visual",        "lang",         "trace",       "memory-snapshot",
        "snapshot-stage"}) {
    if (flags.has(option)) return NoEffect(option, "with --pattern");
  }
  return absl::OkStatus();
}

// Refuses a key of --network-set that is there twice.
absl::Status CheckSettings(absl::Span<const std::string> settings) {
  std::set<std::string_view> keys;
  for (const std::string& setting : settings) {
    const auto key = std::string_view(setting).substr(0, setting.find('='));
    if (keys.insert(key).second) continue;
    return absl::InvalidArgumentError(
        fmt::format("--network-set has the key {} twice", Quoted(key)));
  }
  return absl::OkStatus();
}

absl::Status ReadInputOptions(const CommandLine& flags, RunOptions& options) {
  options.jobs_file = flags.value("jobs");
  options.chakra = flags.value("chakra");
  options.groups_file = flags.value("comm-groups");
  options.pattern = flags.value("pattern");
  if (!flags.has("workload") && !options.jobs_file && !options.chakra &&
      !options.pattern) {
    return absl::InvalidArgumentError(
        "--workload is missing: give a workload file with -w");
  }
  options.workload_file =
      flags.value("workload").value_or(options.chakra.value_or(""));
  options.topology_file = flags.value("topology");
  options.network_file = flags.value("network");
  options.network_settings = FilesOf(flags.value("network-set"));
  ASTRA_RETURN_IF_ERROR(CheckSettings(options.network_settings));
  options.events_file = flags.value("events");
  options.bus_bandwidth_file = flags.value("busbw");
  options.gpu_type = flags.value("gpu-type");
  options.gpu_mismatch = flags.has("gpu-mismatch");
  if (flags.has("gpus")) {
    ASTRA_ASSIGN_OR_RETURN(options.num_gpus,
                           flags.integer("gpus", 0, 1, Topology::kMaxNodes));
  }
  for (const OptionSpec& option : RunOptionSpecs()) {
    if (option.group != "Cluster without -n" || !flags.has(option.name)) {
      continue;
    }
    if (options.topology_file) {
      return absl::InvalidArgumentError(fmt::format(
          "--{} has no effect: -n says what the cluster is", option.name));
    }
    ASTRA_ASSIGN_OR_RETURN(options.cluster, ReadTwoLevelCluster(flags));
    return absl::OkStatus();
  }
  if (options.topology_file || flags.has("system")) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "no cluster: give a topology with -n, a system with --system, or -g, "
      "-g_p_s, -nv and -nic");
}

// Reads "a.xml" or "a.xml:1MiB-64MiB". A colon before the last slash belongs to
// the path.
absl::StatusOr<AlgorithmOption> ReadAlgorithmOption(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos ||
      text.find('/', colon) != std::string::npos) {
    AlgorithmOption all_sizes;
    all_sizes.file = text;
    return all_sizes;
  }
  const std::string_view range = std::string_view(text).substr(colon + 1);
  const size_t dash = range.find('-');
  if (dash != std::string_view::npos) {
    const absl::StatusOr<Bytes> min = ParseSize(range.substr(0, dash));
    const absl::StatusOr<Bytes> max = ParseSize(range.substr(dash + 1));
    if (min.ok() && max.ok() && *min <= *max) {
      return AlgorithmOption{text.substr(0, colon), *min, *max};
    }
  }
  return absl::InvalidArgumentError(
      fmt::format("--algorithm: {}: expected FILE:MIN-MAX with two sizes, such "
                  "as ring.xml:1MiB-64MiB",
                  Quoted(text)));
}

absl::Status ReadAlgorithms(const CommandLine& flags, RunOptions& options) {
  if (!flags.has("algorithm")) return absl::OkStatus();
  if (options.fidelity == Fidelity::kClosedForm) {
    return NoEffect("algorithm",
                    "with --fidelity closed-form: it has no messages");
  }
  if (flags.has("symmetry")) {
    return NoEffect("algorithm",
                    "with --symmetry, in which collectives share links as in "
                    "closed form");
  }
  for (const std::string& text : FilesOf(flags.value("algorithm"))) {
    ASTRA_ASSIGN_OR_RETURN(options.algorithms.emplace_back(),
                           ReadAlgorithmOption(text));
  }
  return absl::OkStatus();
}

absl::Status ReadCollectives(const CommandLine& flags, RunOptions& options) {
  ASTRA_RETURN_IF_ERROR(ReadAlgorithms(flags, options));
  ASTRA_ASSIGN_OR_RETURN(
      options.collectives,
      FindCollectiveFamily(flags.value("collectives").value_or("nccl")));
  const std::string with =
      fmt::format("with --collectives {}", Name(options.collectives));
  options.system = flags.value("system");
  if (options.system && options.collectives != CollectiveFamily::kNccl) {
    return NoEffect("system", with);
  }
  options.engine = flags.value("engine");
  if (options.engine && options.collectives != CollectiveFamily::kNccl) {
    return NoEffect("engine", with);
  }
  options.dispatcher = flags.value("dispatcher");
  if (options.dispatcher && options.collectives != CollectiveFamily::kNccl) {
    return NoEffect("dispatcher", with);
  }
  options.measured_files = FilesOf(flags.value("measured"));
  if (flags.has("measured") && options.collectives != CollectiveFamily::kNccl) {
    return NoEffect("measured", with);
  }
  options.nccl.launch = Launch::kQueued;
  options.has_launch = flags.has("launch");
  if (options.has_launch) {
    if (options.collectives != CollectiveFamily::kNccl) {
      return NoEffect("launch", with);
    }
    ASTRA_ASSIGN_OR_RETURN(options.nccl.launch,
                           FindLaunch(*flags.value("launch")));
  }
  if (!flags.has("nccl")) return absl::OkStatus();
  if (options.collectives == CollectiveFamily::kRing) {
    return NoEffect("nccl", with);
  }
  options.nccl_variables = *flags.value("nccl");
  return absl::OkStatus();
}

absl::Status ReadOverlaps(const CommandLine& flags, RunOptions& options) {
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
  return absl::OkStatus();
}

// Reads SimAI's variables of the environment. Options take precedence over
// them.
absl::Status ReadEnvironment(const CommandLine& flags,
                             const SimaiVariables& variables,
                             RunOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(
      options.environment,
      ReadSimaiVariables(
          variables,
          {.send_latency = flags.has("send-latency"),
           .has_messages = options.fidelity != Fidelity::kClosedForm,
           .nccl = options.nccl_variables},
          options.collectives, options.nccl));
  ASTRA_ASSIGN_OR_RETURN(const std::optional<TimePs> send_latency,
                         ReadTime(flags, "send-latency", TimePs(0)));
  options.send_latency = send_latency.value_or(
      options.environment.send_latency.value_or(TimePs()));
  ASTRA_ASSIGN_OR_RETURN(const std::optional<TimePs> start_step,
                         ReadTime(flags, "start-step", TimePs(1)));
  if (start_step && flags.has("symmetry")) {
    return NoEffect("start-step", "with --symmetry");
  }
  options.start_step = start_step.value_or(TimePs());
  if (options.nccl_variables.empty()) return absl::OkStatus();
  return ApplyNcclOptionList(options.nccl_variables, &options.nccl);
}

absl::Status ReadAcceleration(const CommandLine& flags, RunOptions& options) {
  constexpr std::string_view kAccelerations[] = {"off", "exact", "bounded"};
  constexpr double kDefaultPercent = 1;
  constexpr double kMostPercent = 20;
  constexpr int64_t kDefaultExactEvents = 40'000'000;
  constexpr int64_t kMostExactEvents = 1'000'000'000'000'000;
  ASTRA_ASSIGN_OR_RETURN(const size_t acceleration,
                         Choice(flags, "accelerate", 1, kAccelerations));
  if (flags.has("accelerate")) {
    if (flags.has("symmetry")) return NoEffect("accelerate", "with --symmetry");
    options.acceleration = static_cast<Acceleration>(acceleration);
  }
  if (options.acceleration != Acceleration::kBounded) {
    for (const std::string_view option : {"error-bound", "exact-events"}) {
      if (!flags.has(option)) continue;
      return NoEffect(option, "without --accelerate bounded");
    }
    return absl::OkStatus();
  }
  ASTRA_ASSIGN_OR_RETURN(
      const double percent,
      flags.number("error-bound", kDefaultPercent, kMostPercent));
  options.bound.share = percent / 100;
  ASTRA_ASSIGN_OR_RETURN(
      const int64_t exact_events,
      flags.integer("exact-events", kDefaultExactEvents, 0, kMostExactEvents));
  options.bound.exact_events = static_cast<uint64_t>(exact_events);
  return absl::OkStatus();
}

absl::Status ReadModel(const RunDefaults& defaults, const CommandLine& flags,
                       const SimaiVariables& variables, RunOptions& options) {
  options.fidelity = defaults.fidelity;
  if (flags.has("fidelity")) {
    ASTRA_ASSIGN_OR_RETURN(options.fidelity,
                           FindFidelity(*flags.value("fidelity")));
  }
  ASTRA_RETURN_IF_ERROR(CheckPattern(flags, options.fidelity));
  ASTRA_RETURN_IF_ERROR(CheckChakra(flags));
  ASTRA_RETURN_IF_ERROR(CheckJobs(flags, options.fidelity));
  ASTRA_RETURN_IF_ERROR(CheckFidelity(flags, options.fidelity));
  ASTRA_RETURN_IF_ERROR(ReadCollectives(flags, options));
  ASTRA_RETURN_IF_ERROR(ReadOverlaps(flags, options));
  ASTRA_RETURN_IF_ERROR(ReadEnvironment(flags, variables, options));
  ASTRA_ASSIGN_OR_RETURN(options.disturbances, ReadDisturbances(flags));
  ASTRA_ASSIGN_OR_RETURN(options.seed, ReadSeed(flags));
  ASTRA_ASSIGN_OR_RETURN(options.stop_at, ReadStopAt(flags));
  options.unroll = flags.has("unroll");
  options.symmetry = flags.has("symmetry");
  if (options.symmetry && options.events_file) {
    return NoEffect("symmetry", "with --events, which make ranks differ");
  }
  return ReadAcceleration(flags, options);
}

absl::Status ReadChart(const CommandLine& flags, RunOptions& options) {
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

// Reads a capture such as "0-8".
absl::Status ReadCapture(const std::string& text, RunOptions& options) {
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

// Returns results/FOLDER/NAME.
absl::StatusOr<std::string> ResultFolder(const CommandLine& flags,
                                         std::string_view name) {
  if (flags.has("output")) return NoEffect("result-folder", "beside --output");
  const std::string folder = *flags.value("result-folder");
  if (IsFileName(folder)) return fmt::format("results/{}/{}", folder, name);
  return absl::InvalidArgumentError(
      fmt::format("--result-folder is {}: expected a name without \"/\" and "
                  "control characters; see -o",
                  Quoted(folder)));
}

// Returns the name of a run without --result.
absl::StatusOr<std::string> DefaultName(const RunOptions& options) {
  if (options.pattern) {
    std::string name =
        options.pattern->substr(0, options.pattern->find_first_of(":+"));
    // Whoever parses the pattern tells what is wrong with its name.
    return IsFileName(name) ? name : "pattern";
  }
  if (options.chakra) {  // A prefix has no extension.
    return std::filesystem::path(*options.chakra).filename().string();
  }
  return NameOfInput(options.jobs_file.value_or(options.workload_file));
}

absl::Status ReadOutput(const CommandLine& flags, RunOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(const std::string name, DefaultName(options));
  ASTRA_ASSIGN_OR_RETURN(RunOutput output, ReadRunOutput(flags, name));
  if (flags.has("result-folder")) {
    ASTRA_ASSIGN_OR_RETURN(output.folder, ResultFolder(flags, output.name));
  }
  options.name = std::move(output.name);
  options.output = std::move(output.folder);
  ASTRA_ASSIGN_OR_RETURN(options.sample_interval,
                         ReadTime(flags, "sample", TimePs(1)));
  if (flags.has("capture")) {
    ASTRA_RETURN_IF_ERROR(ReadCapture(*flags.value("capture"), options));
  }
  options.simai_files = flags.has("simai-files");
  options.trace = flags.has("trace");
  options.report = flags.has("report");
  options.memory_snapshot = flags.has("memory-snapshot");
  if (flags.has("snapshot-stage")) {
    if (!options.memory_snapshot) {
      return NoEffect("snapshot-stage", "without --memory-snapshot");
    }
    ASTRA_ASSIGN_OR_RETURN(
        options.snapshot_stage,
        flags.integer("snapshot-stage", 0, 0, Topology::kMaxNodes));
  }
  return ReadChart(flags, options);
}

}  // namespace

absl::StatusOr<RunOptions> ReadRunOptions(const RunDefaults& defaults,
                                          const CommandLine& flags,
                                          const SimaiVariables& variables) {
  RunOptions options;
  ASTRA_RETURN_IF_ERROR(ReadInputOptions(flags, options));
  ASTRA_RETURN_IF_ERROR(ReadModel(defaults, flags, variables, options));
  ASTRA_ASSIGN_OR_RETURN(options.num_threads,
                         flags.integer("threads", 1, 1, kMaxThreads));
  ASTRA_RETURN_IF_ERROR(CheckEstimate(flags));
  options.estimate = flags.has("estimate");
  options.force = flags.has("force");
  ASTRA_RETURN_IF_ERROR(ReadOutput(flags, options));
  return options;
}

}  // namespace astra
