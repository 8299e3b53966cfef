#include "astra-core/apps/physical/simai_physical_options.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "astra-core/apps/physical/rank_environment.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_path.h"
#include "astra-core/command_line/option_reading.h"
#include "astra-core/command_line/version.h"
#include "astra-core/hosts/fabric/fabric_endpoint.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr std::string_view kUsage =
    "usage: simai_physical -w WORKLOAD -n TOPOLOGY --hosts FILE\n"
    "       mpirun -n N simai_physical -w WORKLOAD -n TOPOLOGY\n"
    "       srun -n N simai_physical -w WORKLOAD -n TOPOLOGY\n"
    "\n"
    "Measures the collectives of a workload on real hosts. Each rank is a "
    "process that\n"
    "sends the messages of a simulated run over TCP or RDMA. A computation is "
    "waiting, so\n"
    "no GPU is needed. The files are those of a simulated run, so that both "
    "can be "
    "compared.\n";

constexpr CommandExample kExamples[] = {
    {"simai_physical -w decode.yaml --system dgx-h100 --engine none \\\n"
     "  --nccl NCCL_ALGO=Ring --hosts hosts.txt",
     "A decode step, with a rank for each slot of a host file:"},
    {"simai_physical -w decode.yaml --system dgx-h100 --engine none \\\n"
     "  --nccl NCCL_ALGO=Ring --hosts hosts.txt --iterations 5 \\\n"
     "  --compare results/decode",
     "The median of five, beside a simulated run:"},
};

constexpr OptionSpec kOptions[] = {
    {"workload", "w", "FILE", "Input",
     "workload in SimAI's format, or a program"},
    {"topology", "n network_topo", "FILE", "Input",
     "topology of the cluster that the hosts stand for, which says how NCCL "
     "would lay its channels"},
    {"gpus", "g", "N", "Input", "GPUs; checked against both files"},
    {"gpu-mismatch", "", "", "Input",
     "run a program that is timed for another GPU than the topology names"},

    {"collectives", "", "NAME", "Model",
     "nccl (default): what NCCL chooses on --system; ring: rings and direct "
     "messages; simai: SimAI's"},
    {"system", "", "NAME|FILE", "Model",
     "for nccl: dgx-h100, a file, ... (default: that of the topology's GPUs)"},
    {"nccl", "", "KEY=VALUE", "Model",
     "NCCL's variables, such as NCCL_ALGO=Ring,NCCL_PROTO=Simple"},
    {"engine", "", "NAME", "Model",
     "whose all-reduce kernels inference uses within a server: vllm (default), "
     "sglang, trtllm, a release (vllm@0.14), or none: NCCL's"},

    {"hosts", "", "FILE", "Hosts",
     "start the ranks: a line for each host, NAME slots=N address=ADDRESS; "
     "localhost needs no remote shell"},
    {"remote-shell", "", "COMMAND", "Hosts",
     "with --hosts: the command that runs another one on a host, whose name "
     "follows it (default: ssh -o BatchMode=yes)"},
    {"rank", "", "N", "Hosts",
     "the rank of this process (default: what mpirun or srun say); rank 0 "
     "coordinates and writes the results"},
    {"coordinator", "", "HOST[:PORT]", "Hosts",
     "where rank 0 is, or, with --hosts, where the ranks reach this process"},
    {"address", "", "ADDRESS", "Hosts",
     "where other ranks reach this one (default: the address it has towards "
     "the coordinator)"},
    {"secret-file", "", "FILE", "Hosts",
     "file with the secret of all ranks, 16 characters or more (default: the "
     "variable SIMAI_SECRET; --hosts draws one)"},
    {"launched", "", "", "Hosts",
     "for ranks that --hosts starts: read the secret from the standard input"},
    {"directory", "", "DIR", "Hosts",
     "for ranks that --hosts starts: the folder to run in"},

    {"transport", "", "NAME", "Network",
     "tcp (default), or rdma: InfiniBand, RoCE or EFA, through libfabric"},
    {"provider", "", "NAME", "Network",
     "for rdma: libfabric's provider, such as verbs, or tcp, which is no RDMA "
     "(default: the first with a device: verbs, efa)"},
    {"device", "", "NAME", "Network",
     "for rdma: device of this rank, such as mlx5_0; of several with commas, "
     "each rank of a host gets one, in turn (default: all that there are)"},
    {"local-rank", "", "N", "Network",
     "for rdma: place of this rank among those of its host, which chooses its "
     "device (default: what mpirun or srun say, or 0)"},

    {"warm-up", "", "N", "Run",
     "iterations that are not measured, in which TCP finds the size of its "
     "windows and RDMA makes its connections (default 1)"},
    {"iterations", "", "N", "Run",
     "iterations that are measured; the results are those of the median "
     "(default 1)"},
    {"join-limit", "", "SECONDS", "Run",
     "end the run unless all ranks have joined in this time, and are connected "
     "in as much again (default 60)"},
    {"time-limit", "", "SECONDS", "Run",
     "end the run if its iterations together take longer (default 600)"},

    {"compare", "", "DIR", "Output",
     "compare with these results of simai_simulator or simai_analytical, in "
     "comparison.csv"},
    {"output", "o", "DIR", "Output", "folder (default ./results/NAME)"},
    {"result", "r name", "NAME", "Output",
     "name of the run (default: that of the workload file)"},
};

constexpr RunDefaults kDefaults = {.program = "simai_physical",
                                   .fidelity = Fidelity::kFlow,
                                   .usage = kUsage,
                                   .examples = kExamples};

constexpr uint16_t kDefaultPort = 29411;

// The options that say what is run, and so are those of every rank.
bool IsOfAllRanks(const OptionSpec& option) {
  return option.group == "Input" || option.group == "Model" ||
         option.name == "transport" || option.name == "provider" ||
         option.name == "warm-up" || option.name == "iterations";
}

absl::Status ReadLauncher(const CommandLine& flags,
                          SimaiPhysicalOptions& options) {
  constexpr std::string_view kOfRanks[] = {
      "rank", "address", "launched", "directory", "local-rank", "secret-file"};
  ASTRA_RETURN_IF_ERROR(Refuse(flags, kOfRanks, "--hosts starts the ranks"));
  options.role = PhysicalRole::kLauncher;
  options.hosts_file = *flags.value("hosts");
  const std::string shell =
      flags.value("remote-shell").value_or("ssh -o BatchMode=yes");
  options.remote_shell = absl::StrSplit(shell, ' ', absl::SkipEmpty());
  if (options.remote_shell.empty()) {
    return absl::InvalidArgumentError("--remote-shell is empty");
  }
  if (!flags.has("coordinator")) return absl::OkStatus();
  ASTRA_ASSIGN_OR_RETURN(
      options.coordinator,
      ParseEndpoint("--coordinator", *flags.value("coordinator"), 0));
  return absl::OkStatus();
}

// Returns where rank 0 is.
absl::StatusOr<Endpoint> FindCoordinator(
    const CommandLine& flags, const std::optional<RankEnvironment>& found) {
  const uint16_t port = found ? found->port : kDefaultPort;
  if (flags.has("coordinator")) {
    return ParseEndpoint("--coordinator", *flags.value("coordinator"), port);
  }
  if (found && found->first_host) return Endpoint{*found->first_host, port};
  return absl::InvalidArgumentError(fmt::format(
      "--coordinator is missing: {} does not say on which host rank 0 is",
      found ? found->launcher : "--rank"));
}

absl::Status ReadRank(const CommandLine& flags, SimaiPhysicalOptions& options) {
  constexpr std::string_view kOfLauncher[] = {"remote-shell"};
  ASTRA_RETURN_IF_ERROR(
      Refuse(flags, kOfLauncher, "only --hosts starts ranks"));
  std::optional<RankEnvironment> found;
  if (flags.has("rank")) {
    constexpr int64_t kMost = 1 << 24;
    ASTRA_ASSIGN_OR_RETURN(const int64_t rank,
                           flags.integer("rank", 0, 0, kMost));
    options.rank = static_cast<uint32_t>(rank);
  } else {
    ASTRA_ASSIGN_OR_RETURN(found, ReadRankEnvironment(FindInEnvironment));
    if (!found) {
      return absl::InvalidArgumentError(
          "nothing says where the ranks run: give --hosts FILE, or start "
          "simai_physical with mpirun or srun, or each rank with --rank N");
    }
    options.rank = found->rank;
    options.num_ranks = found->num_ranks;
    options.local_rank = found->local_rank;
  }
  ASTRA_ASSIGN_OR_RETURN(options.coordinator, FindCoordinator(flags, found));
  options.address = flags.value("address").value_or("");
  options.secret_file = flags.value("secret-file");
  options.is_launched = flags.has("launched");
  options.role = options.rank == 0 && !options.is_launched
                     ? PhysicalRole::kFirst
                     : PhysicalRole::kRank;
  // mpirun and srun give all ranks the options of rank 0.
  if (options.role == PhysicalRole::kFirst || found) return absl::OkStatus();
  constexpr std::string_view kOfResults[] = {"compare", "output", "result"};
  constexpr std::string_view kOfTime[] = {"time-limit"};
  ASTRA_RETURN_IF_ERROR(Refuse(flags, kOfResults, "rank 0 writes the results"));
  return Refuse(flags, kOfTime, "rank 0 ends a run that takes too long");
}

absl::Status ReadTransport(const CommandLine& flags,
                           SimaiPhysicalOptions& options) {
  constexpr std::string_view kNames[] = {"tcp", "rdma"};
  ASTRA_ASSIGN_OR_RETURN(const size_t choice,
                         Choice(flags, "transport", 0, kNames));
  options.transport = static_cast<PhysicalTransport>(choice);
  if (options.transport == PhysicalTransport::kTcp) {
    constexpr std::string_view kOfRdma[] = {"provider", "device", "local-rank"};
    return Refuse(flags, kOfRdma, "--transport tcp needs no device");
  }
  ASTRA_RETURN_IF_ERROR(CheckFabricIsBuilt());
  options.provider = flags.value("provider").value_or("");
  if (flags.has("device")) {
    options.devices = absl::StrSplit(*flags.value("device"), ',');
    if (std::count(options.devices.begin(), options.devices.end(), "") > 0) {
      return absl::InvalidArgumentError(
          fmt::format("--device is {}: expected a name, or several with commas",
                      Quoted(*flags.value("device"))));
    }
  }
  constexpr int64_t kMost = 65535;
  ASTRA_ASSIGN_OR_RETURN(
      const int64_t local_rank,
      flags.integer("local-rank", options.local_rank, 0, kMost));
  options.local_rank = static_cast<uint32_t>(local_rank);
  return absl::OkStatus();
}

absl::Status ReadLimits(const CommandLine& flags,
                        SimaiPhysicalOptions& options) {
  constexpr int64_t kMostIterations = 100'000;
  constexpr int64_t kMostSeconds = int64_t{30} * 86'400;
  ASTRA_ASSIGN_OR_RETURN(const int64_t warm_ups,
                         flags.integer("warm-up", 1, 0, kMostIterations));
  options.num_warm_ups = static_cast<uint32_t>(warm_ups);
  ASTRA_ASSIGN_OR_RETURN(const int64_t iterations,
                         flags.integer("iterations", 1, 1, kMostIterations));
  options.num_iterations = static_cast<uint32_t>(iterations);
  ASTRA_ASSIGN_OR_RETURN(const int64_t join,
                         flags.integer("join-limit", 60, 1, kMostSeconds));
  options.join_limit = std::chrono::seconds(join);
  ASTRA_ASSIGN_OR_RETURN(const int64_t time,
                         flags.integer("time-limit", 600, 1, kMostSeconds));
  options.time_limit = std::chrono::seconds(time);
  return absl::OkStatus();
}

absl::Status ChangeDirectory(const CommandLine& flags) {
  const std::optional<std::string> folder = flags.value("directory");
  if (!folder || chdir(folder->c_str()) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "--directory is {}: {}", Quoted(*folder), std::strerror(errno)));
}

}  // namespace

absl::Span<const OptionSpec> SimaiPhysicalOptionSpecs() { return kOptions; }

std::string SimaiPhysicalHelp() {
  return HelpText(kUsage, kOptions) + ExamplesText(kExamples);
}

absl::Span<const CommandExample> SimaiPhysicalExamples() { return kExamples; }

absl::StatusOr<SimaiPhysicalOptions> ReadSimaiPhysicalOptions(
    const CommandLine& flags) {
  SimaiPhysicalOptions options;
  ASTRA_RETURN_IF_ERROR(ChangeDirectory(flags));
  // Variables of SimAI are about simulations.
  ASTRA_ASSIGN_OR_RETURN(options.run,
                         ReadRunOptions(kDefaults, flags, SimaiVariables()));
  ASTRA_RETURN_IF_ERROR(flags.has("hosts") ? ReadLauncher(flags, options)
                                           : ReadRank(flags, options));
  ASTRA_RETURN_IF_ERROR(ReadTransport(flags, options));
  ASTRA_RETURN_IF_ERROR(ReadLimits(flags, options));
  options.beside = flags.value("compare");
  options.what = Version();
  for (const OptionSpec& option : kOptions) {
    if (!IsOfAllRanks(option) || !flags.has(option.name)) continue;
    const std::string value = *flags.value(option.name);
    options.for_ranks.push_back(
        option.value.empty() ? fmt::format("--{}", option.name)
                             : fmt::format("--{}={}", option.name, value));
    // Names of files may differ between hosts.
    const bool is_file = option.name == "workload" ||
                         option.name == "topology" ||
                         (option.name == "system" && IsYamlPath(value));
    options.what += fmt::format("\n{}={}", option.name, is_file ? "" : value);
    if (is_file) options.files.push_back(value);
  }
  return options;
}

}  // namespace astra
