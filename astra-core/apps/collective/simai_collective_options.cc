#include "astra-core/apps/collective/simai_collective_options.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/apps/measured_inputs.h"
#include "astra-core/apps/run_output.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parallel.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "collectives/measurements/measured_terms.h"
#include "fmt/core.h"
#include "topology/topology.h"

namespace astra {
namespace {

// Options that a task reads; any other option has no effect with the task.
struct TaskSpec {
  CollectiveTask task;
  std::string_view flag;     // Option that asks for the task.
  std::string_view options;  // Names, with a space on each side.
};
constexpr TaskSpec kTasks[] = {
    {CollectiveTask::kListSystems, "list-systems", " "},
    {CollectiveTask::kCompareTable, "compare-table", " system output result "},
    {CollectiveTask::kCompareLog, "compare",
     " op system servers gpus-per-server gpus topology ranks nccl nccl-file "
     "launch engine symmetric in-place output result "},
    {CollectiveTask::kCalibrate, "calibrate",
     " op system servers gpus-per-server gpus nccl nccl-file launch symmetric "
     "in-place output result "},
};

bool Reads(const TaskSpec& task, std::string_view option) {
  return task.options.find(fmt::format(" {} ", option)) !=
         std::string_view::npos;
}

bool Contains(absl::Span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

absl::Status HasNoEffect(std::string_view option, std::string_view why) {
  return absl::InvalidArgumentError(
      fmt::format("--{} has no effect{}", option, why));
}

absl::StatusOr<CollectiveTask> ReadTask(const CommandLine& flags) {
  for (const TaskSpec& spec : kTasks) {
    if (!flags.has(spec.flag)) continue;
    for (const OptionSpec& option : SimaiCollectiveOptionSpecs()) {
      if (flags.has(option.name) && option.name != spec.flag &&
          !Reads(spec, option.name)) {
        return HasNoEffect(option.name, fmt::format(" with --{}", spec.flag));
      }
    }
    return spec.task;
  }
  if (flags.has("in-place")) {
    return HasNoEffect("in-place", " without --compare or --calibrate");
  }
  return CollectiveTask::kSweep;
}

absl::StatusOr<RankId> ParseRank(std::string_view text) {
  ASTRA_ASSIGN_OR_RETURN(
      const int64_t rank,
      ParseInteger("rank", text, 0, Topology::kMaxNodes - 1));
  return RankId(static_cast<uint32_t>(rank));
}

// Parses a list of ranks: "0,8,16", "0-7", "0-3,8-11".
absl::StatusOr<std::vector<RankId>> ParseRanks(std::string_view list) {
  std::vector<RankId> ranks;
  while (true) {
    const size_t end = std::min(list.find(','), list.size());
    const std::string_view entry = list.substr(0, end);
    const size_t dash = entry.find('-');
    const absl::StatusOr<RankId> first = ParseRank(entry.substr(0, dash));
    const absl::StatusOr<RankId> last = dash == std::string_view::npos
                                            ? first
                                            : ParseRank(entry.substr(dash + 1));
    if (!first.ok() || !last.ok() || *last < *first) {
      return absl::InvalidArgumentError(
          fmt::format("--ranks: {} is neither a rank nor a range such as 0-7",
                      Quoted(entry)));
    }
    for (uint32_t r = first->index(); r <= last->index(); ++r) {
      ranks.emplace_back(r);
    }
    if (ranks.size() > Topology::kMaxNodes) {
      return absl::InvalidArgumentError(fmt::format(
          "--ranks: more than the limit of {} ranks", Topology::kMaxNodes));
    }
    if (end == list.size()) return ranks;
    list.remove_prefix(end + 1);
  }
}

absl::Status ReadCount(const CommandLine& flags, std::string_view option,
                       std::optional<uint32_t>* count) {
  if (!flags.has(option)) return absl::OkStatus();
  ASTRA_ASSIGN_OR_RETURN(const int64_t number,
                         flags.integer(option, 0, 1, Topology::kMaxNodes));
  *count = static_cast<uint32_t>(number);
  return absl::OkStatus();
}

absl::StatusOr<ClusterOptions> ReadCluster(const CommandLine& flags) {
  if (!flags.has("system")) {
    return absl::InvalidArgumentError(
        "--system is missing: give a name of --list-systems, or a file");
  }
  ClusterOptions cluster;
  cluster.system = *flags.value("system");
  cluster.topology_file = flags.value("topology");
  if (cluster.topology_file) {
    for (const std::string_view option :
         {"servers", "gpus-per-server", "gpus"}) {
      if (flags.has(option)) {
        return HasNoEffect(option, ": -n says what the cluster is");
      }
    }
  }
  if (flags.has("servers") && flags.has("gpus")) {
    return HasNoEffect("servers", " beside --gpus");
  }
  ASTRA_RETURN_IF_ERROR(ReadCount(flags, "servers", &cluster.num_servers));
  ASTRA_RETURN_IF_ERROR(
      ReadCount(flags, "gpus-per-server", &cluster.gpus_per_server));
  ASTRA_RETURN_IF_ERROR(ReadCount(flags, "gpus", &cluster.num_gpus));
  if (flags.has("ranks")) {
    ASTRA_ASSIGN_OR_RETURN(cluster.ranks, ParseRanks(*flags.value("ranks")));
  }
  return cluster;
}

absl::StatusOr<NcclSettings> ReadNccl(const CommandLine& flags) {
  NcclSettings settings = {.list = flags.value("nccl"),
                           .file = flags.value("nccl-file"),
                           .launch = std::nullopt,
                           .engine = flags.value("engine"),
                           .measured = FilesOf(flags.value("measured")),
                           .dispatcher = flags.value("dispatcher"),
                           .routing = flags.value("routing"),
                           .symmetric = flags.has("symmetric")};
  if (flags.has("dispatcher") && flags.has("measured")) {
    return HasNoEffect("measured", " beside --dispatcher");
  }
  if (flags.has("dispatcher") != flags.has("routing")) {
    return absl::InvalidArgumentError(
        "--dispatcher and --routing go together, such as --dispatcher deepep "
        "--routing "
        "experts=256,top_k=8,dispatch_bytes=7392,combine_bytes=14336");
  }
  if (flags.has("launch")) {
    ASTRA_ASSIGN_OR_RETURN(settings.launch, FindLaunch(*flags.value("launch")));
  }
  return settings;
}

absl::Status ReadKind(const CommandLine& flags,
                      std::optional<CollectiveKind>* kind) {
  if (!flags.has("op")) return absl::OkStatus();
  *kind = CollectiveOf(*flags.value("op"));
  if (*kind) return absl::OkStatus();
  return absl::InvalidArgumentError(
      UnknownName("--op", *flags.value("op"), NcclTestsNames()));
}

absl::Status ReadSizes(const CommandLine& flags, SizeSweep* sizes) {
  const std::pair<std::string_view, Bytes*> options[] = {
      {"min-bytes", &sizes->min},
      {"max-bytes", &sizes->max},
      {"step-bytes", &sizes->step},
  };
  for (const auto& [option, size] : options) {
    if (!flags.has(option)) continue;
    ASTRA_ASSIGN_OR_RETURN(
        *size,
        ParseNcclTestsSize(fmt::format("--{}", option), *flags.value(option)));
  }
  if (flags.has("step-factor") && flags.has("step-bytes")) {
    return HasNoEffect("step-bytes", " beside --step-factor");
  }
  constexpr int64_t kMaxFactor = 1 << 16;
  ASTRA_ASSIGN_OR_RETURN(
      sizes->factor,
      flags.integer("step-factor", sizes->factor, 2, kMaxFactor));
  if (sizes->min > sizes->max) {
    return absl::InvalidArgumentError(
        fmt::format("--min-bytes is {}, above --max-bytes, {}",
                    sizes->min.count(), sizes->max.count()));
  }
  return absl::OkStatus();
}

absl::Status ReadElements(const CommandLine& flags,
                          SimaiCollectiveOptions& options) {
  constexpr std::string_view kRedops[] = {"sum", "prod", "min", "max", "avg"};
  if (flags.has("datatype")) {
    ASTRA_ASSIGN_OR_RETURN(
        options.type, ParseElementType("--datatype", *flags.value("datatype")));
  }
  options.redop = flags.value("redop").value_or(options.redop);
  if (!Contains(kRedops, options.redop)) {
    return absl::InvalidArgumentError(
        UnknownName("--redop", options.redop, kRedops));
  }
  const std::string_view op = NcclTestsName(*options.kind);
  if (flags.has("redop") && !HasRedop(*options.kind)) {
    return HasNoEffect("redop", fmt::format(": {} adds up nothing", op));
  }
  if (flags.has("root") && !HasRoot(*options.kind)) {
    return HasNoEffect("root", fmt::format(": {} has no root", op));
  }
  ASTRA_ASSIGN_OR_RETURN(const int64_t root,
                         flags.integer("root", 0, 0, Topology::kMaxNodes - 1));
  options.root = static_cast<uint32_t>(root);
  return absl::OkStatus();
}

absl::Status ReadAlgorithm(const CommandLine& flags,
                           SimaiCollectiveOptions& options) {
  options.algorithm = flags.value("algorithm");
  if (options.algorithm) options.fidelity = Fidelity::kAnalytical;
  if (flags.has("fidelity")) {
    ASTRA_ASSIGN_OR_RETURN(options.fidelity,
                           FindFidelity(*flags.value("fidelity")));
  }
  if (options.algorithm && options.fidelity == Fidelity::kClosedForm) {
    return HasNoEffect("algorithm",
                       " with --fidelity closed-form: it has no messages");
  }
  options.network_file = flags.value("network");
  const BackendEntry* network = NetworkOf(options.fidelity);
  if (options.network_file && (network == nullptr || !network->has_options)) {
    return HasNoEffect(
        "network", fmt::format(" with --fidelity {}", Name(options.fidelity)));
  }
  ASTRA_ASSIGN_OR_RETURN(const int64_t num_threads,
                         flags.integer("threads", 1, 1, kMostThreads));
  options.num_threads = static_cast<uint32_t>(num_threads);
  if (flags.has("threads") &&
      (network == nullptr || network->make_zones == nullptr)) {
    return HasNoEffect(
        "threads", fmt::format(" with --fidelity {}", Name(options.fidelity)));
  }
  options.flows = flags.value("flows");
  options.tuning = flags.has("tuning");
  if (options.algorithm) {
    for (const std::string_view option :
         {"nccl", "nccl-file", "engine", "dispatcher", "symmetric", "tuning"}) {
      if (flags.has(option)) {
        return HasNoEffect(option, " with --algorithm: NCCL chooses nothing");
      }
    }
  }
  if (options.tuning && options.fidelity != Fidelity::kClosedForm) {
    return HasNoEffect(
        "tuning", fmt::format(" with --fidelity {}", Name(options.fidelity)));
  }
  if (options.flows && options.sizes.min != options.sizes.max) {
    return absl::InvalidArgumentError(
        "--flows writes one size: give -b and -e the same");
  }
  return absl::OkStatus();
}

absl::Status ReadOutput(const CommandLine& flags, std::string_view otherwise,
                        SimaiCollectiveOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(RunOutput output, ReadRunOutput(flags, otherwise));
  options.name = std::move(output.name);
  options.output = std::move(output.folder);
  return absl::OkStatus();
}

absl::Status ReadSweep(const CommandLine& flags,
                       SimaiCollectiveOptions& options) {
  if (!options.kind) options.kind = CollectiveKind::kAllReduce;
  ASTRA_RETURN_IF_ERROR(ReadSizes(flags, &options.sizes));
  ASTRA_RETURN_IF_ERROR(ReadElements(flags, options));
  ASTRA_RETURN_IF_ERROR(ReadAlgorithm(flags, options));
  return ReadOutput(flags, NcclTestsName(*options.kind), options);
}

// Returns the name of a run that reads `measurements`. The results of a run
// that reads a folder of results do not go there.
std::string NameOf(const std::string& measurements) {
  std::filesystem::path path(measurements);
  if (!path.has_filename()) path = path.parent_path();
  return IsFolder(path.string()) ? path.filename().string() + "_fit"
                                 : path.stem().string();
}

// Reads the options of a comparison or a calibration with the file that option
// `flag` names.
absl::Status ReadMeasurements(const CommandLine& flags, std::string_view flag,
                              SimaiCollectiveOptions& options) {
  options.measurements = *flags.value(flag);
  options.in_place = flags.has("in-place");
  return ReadOutput(flags, NameOf(options.measurements), options);
}

}  // namespace

bool HasRedop(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce ||
         kind == CollectiveKind::kReduceScatter ||
         kind == CollectiveKind::kReduce;
}

bool HasRoot(CollectiveKind kind) {
  return kind == CollectiveKind::kBroadcast ||
         kind == CollectiveKind::kReduce || kind == CollectiveKind::kGather ||
         kind == CollectiveKind::kScatter;
}

absl::StatusOr<SimaiCollectiveOptions> ReadSimaiCollectiveOptions(
    const CommandLine& flags) {
  SimaiCollectiveOptions options;
  ASTRA_ASSIGN_OR_RETURN(options.task, ReadTask(flags));
  if (options.task == CollectiveTask::kListSystems) return options;
  if (options.task != CollectiveTask::kCompareTable || flags.has("system")) {
    ASTRA_ASSIGN_OR_RETURN(options.cluster, ReadCluster(flags));
  }
  ASTRA_ASSIGN_OR_RETURN(options.nccl, ReadNccl(flags));
  ASTRA_RETURN_IF_ERROR(ReadKind(flags, &options.kind));
  if (options.task == CollectiveTask::kSweep) {
    ASTRA_RETURN_IF_ERROR(ReadSweep(flags, options));
    return options;
  }
  for (const TaskSpec& spec : kTasks) {
    if (spec.task != options.task) continue;
    ASTRA_RETURN_IF_ERROR(ReadMeasurements(flags, spec.flag, options));
  }
  return options;
}

}  // namespace astra
