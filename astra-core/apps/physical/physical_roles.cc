#include "astra-core/apps/physical/physical_roles.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "astra-core/apps/physical/host_file.h"
#include "astra-core/apps/physical/launcher.h"
#include "astra-core/apps/physical/rank_environment.h"
#include "astra-core/base/files.h"
#include "astra-core/base/host_name.h"
#include "astra-core/base/progress.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/stop_signals.h"
#include "astra-core/command_line/main_support.h"
#include "astra-core/engine/pipeline_program.h"
#include "astra-core/hosts/fabric/fabric_endpoint.h"
#include "astra-core/physical/connection_plan.h"
#include "astra-core/physical/data_connections.h"
#include "astra-core/physical/rank_plan.h"
#include "astra-core/physical/rank_run.h"
#include "astra-core/physical/rank_session.h"
#include "astra-core/physical/rdma_connections.h"
#include "astra-core/physical/tcp_connections.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Returns the loopback address that `host` means; "" if it may be another host.
std::string LoopbackOf(std::string_view host) {
  constexpr std::string_view kThisHostIpv6 = "::1";
  if (host == kThisHost || host == "localhost") return std::string(kThisHost);
  return host == kThisHostIpv6 ? std::string(host) : std::string();
}

CoordinatorSetting CoordinatorSettingOf(const PhysicalRun& run) {
  const SimaiPhysicalOptions& options = run.options;
  return {.num_ranks = run.num_ranks(),
          .digest = run.digest,
          .num_iterations = options.num_warm_ups + options.num_iterations,
          .join_limit = options.join_limit,
          .time_limit = options.time_limit};
}

std::function<void(std::string_view)> WarnOf(const PhysicalRun& run) {
  return [&log = run.log](std::string_view text) { log.Warning(text); };
}

// Errors: those of RankPlan.
absl::StatusOr<RankPlan> PlanOf(const PhysicalRun& run,
                                const PipelineProgram& program, uint32_t rank) {
  return RankPlan::Create(run.setting, program, RankId(rank));
}

PipelineProgram ProgramOf(const PhysicalRun& run) {
  return PipelineProgram(run.program, run.program.shape().micro_batches,
                         /*window=*/1);
}

// Returns how rank of `options` opens the network. `address` is the address at
// which other ranks reach it; "" if it is not known.
OpenConnections NetworkOf(const SimaiPhysicalOptions& options,
                          const std::string& address) {
  if (options.transport == PhysicalTransport::kTcp) {
    return
        [](const ConnectionPlan& plan, Poller& poller, uint64_t first_token) {
          return std::make_unique<TcpConnections>(plan, poller, first_token);
        };
  }
  DeviceWish wish{.provider = options.provider,
                  .device = {},
                  .address = address,
                  .local_rank = options.local_rank};
  if (!options.devices.empty()) {
    wish.device = options.devices[options.local_rank % options.devices.size()];
  }
  return
      [wish](const ConnectionPlan& plan, Poller& poller, uint64_t first_token)
          -> absl::StatusOr<std::unique_ptr<DataConnections>> {
        ASTRA_ASSIGN_OR_RETURN(auto endpoint, OpenFabricEndpoint(wish));
        return RdmaConnections::Create(plan, poller, first_token,
                                       std::move(endpoint));
      };
}

// Takes part as the rank of `plan`. `coordinator_name` names the coordinator in
// error messages.
absl::Status RunRank(const PhysicalRun& run, const PipelineProgram& program,
                     const RankPlan& plan, const Secret& secret,
                     std::string coordinator_name) {
  const SimaiPhysicalOptions& options = run.options;
  // If the coordinator is on this host only, all ranks are.
  const std::string address = options.address.empty()
                                  ? LoopbackOf(options.coordinator.host)
                                  : options.address;
  const RankSetting setting{.rank = RankId(options.rank),
                            .num_ranks = run.num_ranks(),
                            .digest = run.digest,
                            .coordinator = options.coordinator,
                            .coordinator_name = std::move(coordinator_name),
                            .address = address,
                            .join_limit = options.join_limit};
  RankSession session(setting, secret, plan, NetworkOf(options, address));
  return session.Run([&](uint32_t iteration, Instant begin,
                         DataConnections& connections,
                         const HostCollectives::Wait& wait) {
    return RunRankIteration(run.setting, program, plan, iteration, begin,
                            connections, wait);
  });
}

// Shows a person how far the run has come.
class RunLine {
 public:
  explicit RunLine(const PhysicalRun& run)
      : num_ranks_(run.num_ranks()),
        num_iterations_(run.options.num_warm_ups + run.options.num_iterations) {
  }

  void Show(const PhysicalProgress& progress) {
    if (!line_.IsDue()) return;
    const double share = static_cast<double>(progress.iterations) /
                         static_cast<double>(num_iterations_);
    if (progress.connected == num_ranks_) {
      line_.Update(share,
                   fmt::format("iteration {} of {}", progress.iterations + 1,
                               num_iterations_));
      return;
    }
    line_.Update(share,
                 fmt::format("{} of {} ranks have joined, {} are connected",
                             progress.joined, num_ranks_, progress.connected));
  }

 private:
  const uint32_t num_ranks_;
  const uint32_t num_iterations_;
  ProgressLine line_;
};

// A rank that cannot reach the launcher knows the reason, so it gives up, and
// tells, a little before the launcher does.
std::chrono::seconds JoinLimitOfRanks(const SimaiPhysicalOptions& options) {
  constexpr std::chrono::seconds kSooner(5);
  return options.join_limit > 2 * kSooner ? options.join_limit - kSooner
                                          : options.join_limit;
}

// Returns the command that starts rank `rank` on any host.
std::vector<std::string> RankCommand(const PhysicalRun& run, uint32_t rank,
                                     const RankPlace& place,
                                     const Endpoint& coordinator) {
  const SimaiPhysicalOptions& options = run.options;
  std::error_code error;
  const std::string own =
      std::filesystem::read_symlink("/proc/self/exe", error).string();
  std::vector<std::string> words = {
      error ? "simai_physical" : own,
      "--launched",
      fmt::format("--rank={}", rank),
      fmt::format("--coordinator={}", coordinator.ToString()),
      fmt::format("--join-limit={}", JoinLimitOfRanks(options).count()),
      fmt::format("--directory={}",
                  std::filesystem::current_path(error).string())};
  if (!place.address.empty()) {
    words.push_back(fmt::format("--address={}", place.address));
  }
  if (options.transport == PhysicalTransport::kRdma) {
    words.push_back(fmt::format("--local-rank={}", place.local_rank));
    const std::string devices = place.devices.empty()
                                    ? absl::StrJoin(options.devices, ",")
                                    : place.devices;
    if (!devices.empty()) words.push_back("--device=" + devices);
  }
  words.insert(words.end(), options.for_ranks.begin(), options.for_ranks.end());
  return words;
}

struct LauncherEndpoints {
  Endpoint listens;  // Where the launcher listens.
  Endpoint found;    // Where ranks connect to it.
};
LauncherEndpoints EndpointsOf(const Endpoint& given,
                              const std::vector<RankPlace>& places) {
  if (!given.host.empty()) return {{"", given.port}, given};
  const bool all_here = std::all_of(
      places.begin(), places.end(),
      [](const RankPlace& place) { return place.host == "localhost"; });
  if (all_here) {
    const Endpoint here{std::string(kThisHost), 0};
    return {here, here};
  }
  return {{"", 0}, {HostName(), 0}};
}

absl::Status StartRanks(const PhysicalRun& run,
                        const std::vector<RankPlace>& places,
                        const Endpoint& coordinator, const Secret& secret,
                        RankProcesses& processes) {
  for (uint32_t rank = 0; rank < places.size(); ++rank) {
    const RankPlace& place = places[rank];
    ASTRA_RETURN_IF_ERROR(
        processes.Start(CommandAt(place, run.options.remote_shell,
                                  RankCommand(run, rank, place, coordinator)),
                        place.host, secret.text() + "\n"));
  }
  return absl::OkStatus();
}

absl::Status CheckDevices(const SimaiPhysicalOptions& options,
                          const std::vector<RankPlace>& places) {
  if (options.transport == PhysicalTransport::kRdma) return absl::OkStatus();
  for (const RankPlace& place : places) {
    if (place.devices.empty()) continue;
    return absl::InvalidArgumentError(
        fmt::format("{}: device={} of {} has no effect: --transport tcp needs "
                    "no device",
                    options.hosts_file, place.devices, place.host));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Secret> FindSecret(const SimaiPhysicalOptions& options) {
  if (options.is_launched) {
    std::string line;
    std::getline(std::cin, line);
    return Secret::Create("the standard input", line);
  }
  if (options.secret_file) return Secret::ReadFrom(*options.secret_file);
  const char* variable = std::getenv("SIMAI_SECRET");
  if (variable == nullptr) {
    return absl::InvalidArgumentError(
        "no secret keeps others out of the run: give all ranks --secret-file "
        "FILE, or the variable SIMAI_SECRET");
  }
  return Secret::Create("SIMAI_SECRET", variable);
}

absl::StatusOr<PhysicalReports> Launch(const PhysicalRun& run) {
  const SimaiPhysicalOptions& options = run.options;
  ASTRA_ASSIGN_OR_RETURN(const std::string contents,
                         ReadFile(options.hosts_file));
  ASTRA_ASSIGN_OR_RETURN(
      const std::vector<RankPlace> places,
      ParseHostFile(options.hosts_file, contents, run.num_ranks()));
  ASTRA_RETURN_IF_ERROR(CheckDevices(options, places));
  // A collective that hosts cannot run is an error before any rank starts.
  const PipelineProgram program = ProgramOf(run);
  ASTRA_RETURN_IF_ERROR(PlanOf(run, program, 0).status());
  LauncherEndpoints endpoints = EndpointsOf(options.coordinator, places);
  const Secret secret = Secret::Draw();
  ASTRA_ASSIGN_OR_RETURN(Socket listener, Listen(endpoints.listens));
  endpoints.found.port = PortOf(listener);
  StopSignals signals;
  Coordinator coordinator(CoordinatorSettingOf(run), secret,
                          std::move(listener), WarnOf(run));
  RankProcesses processes;
  ASTRA_RETURN_IF_ERROR(
      StartRanks(run, places, endpoints.found, secret, processes));
  // A process may have ended after its rank told the coordinator why, which
  // says more than its exit code. So the exit code counts only three rounds
  // later.
  int ended_for = 0;
  absl::Status ended;
  const char* signal = nullptr;
  RunLine line(run);
  absl::StatusOr<PhysicalReports> reports =
      coordinator.Run([&](const PhysicalProgress& progress) {
        line.Show(progress);
        signal = signals.Wait(std::chrono::milliseconds(0));
        if (signal != nullptr) {
          return absl::AbortedError(fmt::format("stopped by {}", signal));
        }
        constexpr int kRounds = 3;
        if (ended.ok()) ended = processes.Watch();
        if (!ended.ok() && ++ended_for >= kRounds) return ended;
        return absl::OkStatus();
      });
  processes.AwaitEnd(std::chrono::seconds(2));
  if (signal == nullptr) return reports;
  return WithExitCode(reports.status(), StopCode(signal));
}

absl::StatusOr<PhysicalReports> RunFirstRank(const PhysicalRun& run) {
  ASTRA_ASSIGN_OR_RETURN(const Secret secret, FindSecret(run.options));
  const PipelineProgram program = ProgramOf(run);
  ASTRA_ASSIGN_OR_RETURN(const RankPlan plan, PlanOf(run, program, 0));
  const Endpoint& at = run.options.coordinator;
  ASTRA_ASSIGN_OR_RETURN(Socket listener,
                         Listen({LoopbackOf(at.host), at.port}));
  Coordinator coordinator(CoordinatorSettingOf(run), secret,
                          std::move(listener), WarnOf(run));
  std::atomic<bool> has_failed = false;
  absl::Status session;
  absl::StatusOr<PhysicalReports> reports = PhysicalReports();
  std::thread thread([&] {
    RunLine line(run);
    reports = coordinator.Run([&](const PhysicalProgress& progress) {
      line.Show(progress);
      return has_failed
                 ? absl::AbortedError(fmt::format(
                       "rank 0 gave up: {}", std::string(session.message())))
                 : absl::OkStatus();
    });
  });
  session = RunRank(run, program, plan, secret, "rank 0, which coordinates,");
  has_failed = !session.ok();
  thread.join();
  // The coordinator knows why all ranks have ended.
  return reports;
}

absl::Status RunOtherRank(const PhysicalRun& run) {
  const SimaiPhysicalOptions& options = run.options;
  ASTRA_ASSIGN_OR_RETURN(const Secret secret, FindSecret(options));
  if (options.rank >= run.num_ranks()) {
    return absl::InvalidArgumentError(
        fmt::format("--rank is {}: the workload has ranks 0 to {}",
                    options.rank, run.num_ranks() - 1));
  }
  const PipelineProgram program = ProgramOf(run);
  ASTRA_ASSIGN_OR_RETURN(const RankPlan plan,
                         PlanOf(run, program, options.rank));
  return RunRank(
      run, program, plan, secret,
      options.is_launched ? "the launcher" : "rank 0, which coordinates,");
}

}  // namespace astra
