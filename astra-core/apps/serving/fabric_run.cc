#include "astra-core/apps/serving/fabric_run.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

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

// Checks that the job lies beside the pools.
absl::Status CheckBeside(int64_t first, int64_t end, const PoolPlace& pool,
                         std::string_view what) {
  if (end <= pool.first_gpu || pool.end() <= first) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "the job of --beside takes GPUs {} to {}, but {} to {} {}: give another "
      "--beside-first-gpu",
      first, end - 1, pool.first_gpu, pool.end() - 1, what));
}

double MeanMs(const std::vector<TimePs>& times) {
  double sum = 0;
  for (const TimePs time : times) sum += static_cast<double>(time.count());
  return kMsPerPs * sum /
         static_cast<double>(std::max<size_t>(1, times.size()));
}

}  // namespace

FabricRun::FabricRun(const FabricOptions& options, ServingPools& pools,
                     NetworkOptions network)
    : options_(options),
      pools_(pools),
      network_options_(std::move(network)),
      network_(
          NetworkOf(options.fidelity)->make(network_options_, pools.routes())),
      fabric_(*network_, pools.kv(), pools.place_of_prefill(),
              pools.place_of_decode()) {}

absl::StatusOr<std::unique_ptr<FabricRun>> FabricRun::Create(
    const FabricOptions& options, const ServingJob& job, ServingPools& pools,
    Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(
      NetworkOptions network,
      NetworkOptionsOf(options, pools.routes().topology(), warnings));
  std::unique_ptr<FabricRun> run(
      new FabricRun(options, pools, std::move(network)));
  if (options.beside) ASTRA_RETURN_IF_ERROR(run->ReadJob(job, warnings));
  return run;
}

absl::Status FabricRun::ReadJob(const ServingJob& job, Warnings* warnings) {
  const Topology& whole = pools_.routes().topology();
  ASTRA_ASSIGN_OR_RETURN(Program program,
                         ReadWorkload(*options_.beside, warnings));
  ASTRA_RETURN_IF_ERROR(CheckSameGpuType(*options_.beside, program,
                                         *job.topology_file, whole,
                                         /*allowed=*/false, *warnings));
  const int64_t server = whole.gpus_per_server();
  const int64_t behind = pools_.place_of_decode().end();
  const int64_t first = options_.beside_first_gpu.value_or(
      (behind + server - 1) / server * server);
  const int64_t gpus = program.sizes().num_ranks;
  ASTRA_RETURN_IF_ERROR(CheckBeside(
      first, first + gpus, pools_.place_of_prefill(), "compute prompts"));
  ASTRA_RETURN_IF_ERROR(
      CheckBeside(first, first + gpus, pools_.place_of_decode(), "decode"));
  absl::StatusOr<JobTopology> place = PartOfCluster(
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
  side.transfer = [this](const KvTransfer& transfer) {
    // The run goes on, and then ends with the status of the pools.
    if (!pools_.HasRoutes(transfer)) return std::optional(TimePs(0));
    return fabric_.Start(transfer);
  };
  side.drive = [this](ServingProcess& process) { return Drive(process); };
}

absl::Status FabricRun::Drive(ServingProcess& process) {
  fabric_.Attach(process);
  if (!job_) return fabric_.ServeToTheEnd();
  Routes routes(job_->place.topology);
  job_->options.pace_network =
      PaceNetworkOf(options_.fidelity, network_options_, routes);
  ASTRA_ASSIGN_OR_RETURN(times_, ServeBeside(*job_, fabric_));
  const std::unique_ptr<NetworkBackend> idle =
      NetworkOf(options_.fidelity)->make(network_options_, pools_.routes());
  ServingFabric nothing(*idle, pools_.kv(), pools_.place_of_prefill(),
                        pools_.place_of_decode());
  ASTRA_ASSIGN_OR_RETURN(alone_, IterationAlone(*job_, nothing));
  return absl::OkStatus();
}

void FabricRun::Describe(std::string* page) const {
  constexpr double kBytesPerGb = 1e9;
  AppendFormat(page, "fabric     {}: {:.3f} GB of KV caches\n",
               Name(options_.fidelity),
               static_cast<double>(fabric_.bytes_sent()) / kBytesPerGb);
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
                    {"kv_bytes", fabric_.bytes_sent()}};
  if (!job_) return;
  json["beside"] = {
      {"workload", *options_.beside},
      {"iterations", times_.iterations.size()},
      {"iteration_ms_mean", MeanMs(times_.iterations)},
      {"iteration_ms_alone", kMsPerPs * static_cast<double>(alone_.count())},
      {"outlasted_serving", times_.outlasted_serving}};
}

}  // namespace astra
