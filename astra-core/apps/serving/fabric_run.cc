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
#include "fmt/core.h"
#include "network-frontends/config/network_file.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

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
  ASTRA_RETURN_IF_ERROR(AtNetworkField(
      options.network_file, CheckPacketOptions(network.packet, topology)));
  network.flow = FlowOptionsOf(network.packet);
  return network;
}

// Checks that something is on the network, and that replicas of several servers
// begin with a server.
absl::Status CheckUse(const FabricOptions& options, const ServingJob& job,
                      const ServingCluster& cluster, bool has_pools) {
  const int64_t server = cluster.topology().gpus_per_server();
  bool sends = has_pools || options.load_weights;
  for (const PoolPlace& pool : cluster.pools()) {
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
      "nothing is on the network of --fidelity {}: a replica of {} GPUs does "
      "not take several whole servers of {}, and there is no --decode-replicas "
      "or --load-weights",
      Name(options.fidelity), job.layout.num_gpus(), server));
}

}  // namespace

FabricRun::FabricRun(const FabricOptions& options, ServingCluster& cluster,
                     ServingPools* pools, FabricNetwork network,
                     std::unique_ptr<BesideJob> beside)
    : options_(options),
      cluster_(cluster),
      pools_(pools),
      beside_(std::move(beside)),
      network_(std::move(network)),
      fabric_(*network_.network) {}

absl::StatusOr<std::unique_ptr<FabricRun>> FabricRun::Create(
    const FabricOptions& options, const ServingJob& job,
    ServingCluster& cluster, ServingPools* pools, FabricNetwork network,
    Warnings* warnings) {
  ASTRA_RETURN_IF_ERROR(CheckUse(options, job, cluster, pools != nullptr));
  std::unique_ptr<BesideJob> beside;
  if (network.network == nullptr) {
    ASTRA_ASSIGN_OR_RETURN(
        const NetworkOptions of_network,
        NetworkOptionsOf(options, cluster.topology(), warnings));
    network.new_idle = [&options, &cluster, of_network] {
      return NetworkOf(options.fidelity)->make(of_network, cluster.routes());
    };
    network.network = network.new_idle();
    if (options.beside) {
      ASTRA_ASSIGN_OR_RETURN(
          beside, BesideJob::Create(options, job, cluster, of_network,
                                    std::move(network.network), warnings));
      network.network = beside->ViewOfServing();
    }
  }
  return std::unique_ptr<FabricRun>(new FabricRun(
      options, cluster, pools, std::move(network), std::move(beside)));
}

void FabricRun::Use(DecodeSide& side) {
  caches_.emplace(fabric_, pools_->kv(), cluster_.pools()[0],
                  cluster_.pools()[1]);
  side.transfer = [this](const KvTransfer& transfer) {
    // The run goes on, and then ends with the status of the pools.
    const TimePs alone = pools_->TimeAlone(transfer);
    if (!pools_->status().ok()) return std::optional(TimePs(0));
    // The analytical network does not share the ports of receivers, so that a
    // transfer there takes at least its time alone.
    const bool is_least = options_.fidelity == Fidelity::kAnalytical;
    return caches_->Start(transfer, is_least ? alone : TimePs(0));
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
      cluster_.topology(), network_.new_idle);
  return steps_[pool].get();
}

double FabricRun::LostSeconds(size_t pool) const {
  return steps_[pool] == nullptr ? 0 : ToSeconds(steps_[pool]->lost());
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

absl::StatusOr<bool> FabricRun::GoOn(ServingProcess& process) {
  fabric_.Attach(process);
  if (beside_ == nullptr) return fabric_.GoOn();
  ASTRA_RETURN_IF_ERROR(beside_->Serve(fabric_));
  return true;
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
  if (beside_ != nullptr) beside_->Describe(page);
}

void FabricRun::AddTo(nlohmann::ordered_json& json) const {
  json["fabric"] = {{"fidelity", Name(options_.fidelity)},
                    {"kv_bytes", kv_bytes()},
                    {"weight_bytes", weights_ ? weights_->bytes_sent() : 0},
                    {"step_bytes", step_bytes()},
                    {"step_messages_slowed", StepsSlowed()}};
  if (beside_ != nullptr) beside_->AddTo(json);
}

}  // namespace astra
