#include "astra-core/apps/serving/fabric_run.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "astra-core/apps/run_inputs.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/run/pace_network.h"
#include "collectives/nccl/system_topology.h"
#include "collectives/systems/system_library.h"
#include "fmt/core.h"
#include "network-frontends/config/network_file.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

constexpr double kMsPerPs = 1e-9;

absl::StatusOr<NetworkOptions> NetworkOptionsOf(const FabricOptions& options,
                                                const Topology& topology,
                                                Warnings* warnings) {
  NetworkOptions network;
  network.packet = DefaultNetwork();
  if (options.network_file) {
    ASTRA_ASSIGN_OR_RETURN(network.packet,
                           ReadNetwork(*options.network_file, warnings));
    ASTRA_RETURN_IF_ERROR(CheckFollows(*NetworkOf(options.fidelity),
                                       *options.network_file, network.packet,
                                       warnings));
  }
  const absl::Status status = CheckPacketOptions(network.packet, topology);
  if (!status.ok()) {
    return options.network_file ? AtNetworkField(*options.network_file, status)
                                : status;
  }
  network.flow = FlowOptionsOf(network.packet);
  return network;
}

double MeanMs(const std::vector<TimePs>& times) {
  double sum = 0;
  for (const TimePs time : times) sum += static_cast<double>(time.count());
  return kMsPerPs * sum /
         static_cast<double>(std::max<size_t>(1, times.size()));
}

}  // namespace

FabricRun::FabricRun(const FabricOptions& options, ServingCluster& cluster,
                     ServingPools* pools, NetworkOptions network)
    : options_(options),
      cluster_(cluster),
      pools_(pools),
      network_options_(std::move(network)),
      network_(NewIdle()),
      fabric_(*network_) {}

std::unique_ptr<NetworkBackend> FabricRun::NewIdle() {
  return NetworkOf(options_.fidelity)
      ->make(network_options_, cluster_.routes());
}

absl::StatusOr<std::unique_ptr<FabricRun>> FabricRun::Create(
    const FabricOptions& options, const ServingJob& job,
    ServingCluster& cluster, ServingPools* pools, Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(
      NetworkOptions network,
      NetworkOptionsOf(options, cluster.topology(), warnings));
  std::unique_ptr<FabricRun> run(
      new FabricRun(options, cluster, pools, std::move(network)));
  ASTRA_RETURN_IF_ERROR(run->CheckUse(job));
  if (options.beside) ASTRA_RETURN_IF_ERROR(run->ReadJob(job, warnings));
  return run;
}

// Checks that something is on the network, and that replicas of several servers
// begin with a server.
absl::Status FabricRun::CheckUse(const ServingJob& job) const {
  const int64_t server = cluster_.topology().gpus_per_server();
  bool sends = pools_ != nullptr || options_.load_weights;
  for (const PoolPlace& pool : cluster_.pools()) {
    const int64_t gpus = pool.gpus_per_replica;
    if (gpus <= server || gpus % server != 0) continue;
    sends = true;
    if (pool.first_gpu % server == 0) continue;
    return absl::InvalidArgumentError(fmt::format(
        "--decode-first-gpu is {}: expected the first GPU of a server of {}, "
        "since a replica takes {}",
        pool.first_gpu, server, gpus));
  }
  if (sends) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "--fidelity {} has no effect: a replica of {} GPUs does not take several "
      "whole servers of {}, and there is no --decode-replicas or "
      "--load-weights",
      Name(options_.fidelity), job.layout.num_gpus(), server));
}

absl::Status FabricRun::ReadJob(const ServingJob& job, Warnings* warnings) {
  const Topology& whole = cluster_.topology();
  ASTRA_ASSIGN_OR_RETURN(Program program,
                         ReadWorkload(*options_.beside, warnings));
  ASTRA_RETURN_IF_ERROR(CheckSameGpuType(*options_.beside, program,
                                         *job.topology_file, whole,
                                         /*allowed=*/false, *warnings));
  const int64_t server = whole.gpus_per_server();
  const int64_t first = options_.beside_first_gpu.value_or(
      (cluster_.end() + server - 1) / server * server);
  const int64_t gpus = program.sizes().num_ranks;
  ASTRA_RETURN_IF_ERROR(cluster_.CheckFree(
      first, first + gpus, "the job of --beside", "--beside-first-gpu"));
  absl::StatusOr<ClusterPart> place = RangeOfCluster(
      whole, static_cast<uint32_t>(first), static_cast<uint32_t>(gpus));
  if (!place.ok()) {
    return absl::Status(place.status().code(),
                        fmt::format("--beside {}: {}", *options_.beside,
                                    std::string(place.status().message())));
  }
  SimulationOptions simulation;
  simulation.collectives = CollectiveFamily::kNccl;
  ASTRA_ASSIGN_OR_RETURN(
      SystemSpec system,
      job.system ? LoadSystem(*job.system) : DeriveSystem(place->topology));
  simulation.nccl = NcclSystem{std::move(system), job.nccl};
  job_.emplace(BackgroundJob{std::move(program), std::move(simulation),
                             *std::move(place)});
  return absl::OkStatus();
}

void FabricRun::Use(DecodeSide& side) {
  caches_.emplace(fabric_, pools_->kv(), cluster_.pools()[0],
                  cluster_.pools()[1]);
  side.transfer = [this](const KvTransfer& transfer) {
    // The run goes on, and then ends with the status of the pools.
    if (!pools_->HasRoutes(transfer)) return std::optional(TimePs(0));
    return caches_->Start(transfer);
  };
}

void FabricRun::Load(std::vector<WeightLoad> loads) {
  weights_.emplace(fabric_, std::move(loads));
}

StartWeights FabricRun::StartOfWeights() {
  return [this](uint32_t replica) { return weights_->Start(replica); };
}

StageNetwork* FabricRun::StepsOf(size_t pool, ReplicaTimes& times) {
  if (!times.sends_between_servers()) return nullptr;
  steps_[pool] = std::make_unique<StepMessages>(
      fabric_, cluster_.pools()[pool], times.steps().patterns(),
      cluster_.topology(), [this] { return NewIdle(); });
  return steps_[pool].get();
}

double FabricRun::LostSeconds(size_t pool) const {
  constexpr double kSecondsPerPs = 1e-12;
  return steps_[pool] == nullptr
             ? 0
             : kSecondsPerPs *
                   static_cast<double>(steps_[pool]->lost().count());
}

absl::Status FabricRun::status() const {
  for (const auto& steps : steps_) {
    if (steps != nullptr) ASTRA_RETURN_IF_ERROR(steps->status());
  }
  return absl::OkStatus();
}

absl::Span<const TimePs> FabricRun::load_times() const {
  return weights_ ? weights_->times() : absl::Span<const TimePs>();
}

absl::Status FabricRun::Drive(ServingProcess& process) {
  fabric_.Attach(process);
  if (!job_) return fabric_.ServeToTheEnd();
  Routes routes(job_->place.topology);
  job_->options.pace_network =
      PaceNetworkOf(options_.fidelity, network_options_, routes);
  ASTRA_ASSIGN_OR_RETURN(times_, ServeBeside(*job_, fabric_));
  const std::unique_ptr<NetworkBackend> idle = NewIdle();
  ServingFabric nothing(*idle);
  ASTRA_ASSIGN_OR_RETURN(alone_, IterationAlone(*job_, nothing));
  return absl::OkStatus();
}

int64_t FabricRun::step_bytes() const {
  int64_t bytes = 0;
  for (const auto& steps : steps_) {
    if (steps != nullptr) bytes += steps->bytes_sent();
  }
  return bytes;
}

double FabricRun::StepsSlowed() const {
  TimePs alone;
  TimePs lost;
  for (const auto& steps : steps_) {
    if (steps == nullptr) continue;
    alone += steps->alone();
    lost += steps->lost();
  }
  if (alone == TimePs(0)) return 0;
  return static_cast<double>(lost.count()) / static_cast<double>(alone.count());
}

void FabricRun::Describe(std::string* page) const {
  const auto gb = [](int64_t bytes) {
    return 1e-9 * static_cast<double>(bytes);
  };
  std::vector<std::string> parts;
  if (pools_ != nullptr) {
    parts.push_back(fmt::format("{:.3f} GB of KV caches", gb(kv_bytes())));
  }
  if (weights_) {
    parts.push_back(
        fmt::format("{:.3f} GB of weights", gb(weights_->bytes_sent())));
  }
  if (step_bytes() > 0) {
    parts.push_back(
        fmt::format("{:.3f} GB of steps, whose messages take {:.1f} % longer "
                    "than alone",
                    gb(step_bytes()),
                    // Without the sign of a zero.
                    std::round(1000 * StepsSlowed()) / 10 + 0.0));
  }
  AppendFormat(page, "fabric     {}: {}\n", Name(options_.fidelity),
               absl::StrJoin(parts, "; "));
  if (!job_) return;
  AppendFormat(
      page,
      "beside     {}: {} iteration{} of {:.3f} ms in the mean{}; {:.3f} "
      "ms alone\n",
      *options_.beside, times_.iterations.size(),
      times_.iterations.size() == 1 ? "" : "s", MeanMs(times_.iterations),
      times_.outlasted_serving ? ", which ended after serving" : "",
      kMsPerPs * static_cast<double>(alone_.count()));
}

void FabricRun::AddTo(nlohmann::ordered_json& json) const {
  json["fabric"] = {{"fidelity", Name(options_.fidelity)},
                    {"kv_bytes", kv_bytes()},
                    {"weight_bytes", weights_ ? weights_->bytes_sent() : 0},
                    {"step_bytes", step_bytes()},
                    {"step_messages_slowed", StepsSlowed()}};
  if (!job_) return;
  json["beside"] = {
      {"workload", *options_.beside},
      {"iterations", times_.iterations.size()},
      {"iteration_ms_mean", MeanMs(times_.iterations)},
      {"iteration_ms_alone", kMsPerPs * static_cast<double>(alone_.count())},
      {"outlasted_serving", times_.outlasted_serving}};
}

}  // namespace astra
