#include "astra-core/apps/serving/serving_pools.h"

#include <algorithm>
#include <string>
#include <utility>

#include "astra-core/base/status_macros.h"
#include "collectives/nccl/system_topology.h"
#include "collectives/systems/system_library.h"
#include "fmt/core.h"
#include "topology/topology_file.h"

namespace astra {
namespace {

PoolPlace PlaceOf(const ServingJob& job, int64_t first_gpu) {
  return {.first_gpu = first_gpu,
          .gpus_per_replica = job.layout.num_gpus(),
          .replicas = job.replicas,
          .attention_ranks = job.layout.attention_ranks,
          .tensor = job.layout.tensor};
}

// Returns where the pool that decodes begins: where the user says, or at the
// first GPU behind the other pool from which its replicas lie on as few servers
// as they can.
int64_t FirstGpu(const ServingJob& prefill, const DecodePool& decode,
                 int64_t gpus_per_server) {
  if (decode.first_gpu) return *decode.first_gpu;
  const int64_t step = std::min(decode.job.layout.num_gpus(), gpus_per_server);
  return (prefill.num_gpus() + step - 1) / step * step;
}

// Returns the servers below one switch that hold both pools.
absl::StatusOr<Topology> BuildCluster(const ServingJob& prefill,
                                      const DecodePool& decode) {
  ASTRA_ASSIGN_OR_RETURN(const SystemSpec system, SystemOfJob(prefill));
  const int64_t server = system.gpus_per_server;
  int64_t gpus = FirstGpu(prefill, decode, server) + decode.job.num_gpus();
  if (gpus > server) gpus = (gpus + server - 1) / server * server;
  return BuildSystemTopology(
      system, static_cast<uint32_t>(gpus),
      static_cast<uint32_t>(std::min<int64_t>(gpus, server)));
}

absl::Status CheckPlaces(const PoolPlace& from, const PoolPlace& to,
                         const std::string& file, const Topology& topology) {
  if (to.first_gpu < from.end()) {
    return absl::InvalidArgumentError(
        fmt::format("--decode-first-gpu is {}: expected {} or more, behind the "
                    "GPUs that compute prompts",
                    to.first_gpu, from.end()));
  }
  if (to.end() > topology.num_gpus()) {
    return absl::InvalidArgumentError(fmt::format(
        "{} has {} GPUs: expected {} or more, of which {} to {} decode", file,
        topology.num_gpus(), to.end(), to.first_gpu, to.end() - 1));
  }
  return absl::OkStatus();
}

}  // namespace

ServingPools::ServingPools(const ServingJob& prefill, const DecodePool& decode,
                           KvLayout kv, PoolPlace to, Topology topology)
    : decode_(decode),
      kv_(std::move(kv)),
      from_(PlaceOf(prefill, 0)),
      to_(to),
      topology_(std::move(topology)),
      routes_(topology_),
      path_(kv_, from_, to_, routes_) {}

absl::StatusOr<std::unique_ptr<ServingPools>> ServingPools::Create(
    const ServingJob& prefill, const DecodePool& decode, Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(KvLayout kv, KvLayoutOf(prefill.model, prefill.layout,
                                                 decode.job.layout));
  ASTRA_ASSIGN_OR_RETURN(Topology topology,
                         prefill.topology_file
                             ? ReadTopology(*prefill.topology_file)
                             : BuildCluster(prefill, decode));
  const PoolPlace to = PlaceOf(
      decode.job, FirstGpu(prefill, decode, topology.gpus_per_server()));
  ASTRA_RETURN_IF_ERROR(CheckPlaces(PlaceOf(prefill, 0), to,
                                    prefill.topology_file.value_or("--system"),
                                    topology));
  std::unique_ptr<ServingPools> pools(new ServingPools(
      prefill, decode, std::move(kv), to, std::move(topology)));
  ASTRA_ASSIGN_OR_RETURN(pools->times_,
                         ReplicaTimes::Create(decode.job, warnings));
  return pools;
}

bool ServingPools::HasRoutes(const KvTransfer& transfer) {
  path_.TimeOf(transfer);
  return path_.status().ok();
}

DecodeSide ServingPools::Side() {
  DecodeSide side{.job = decode_.job, .times = *times_};
  side.transfer = [this](const KvTransfer& transfer) {
    return path_.TimeOf(transfer);
  };
  if (decode_.is_layerwise) side.transfer_layers = kv_.layers;
  side.first_token_from_decode = !decode_.first_token_from_prefill;
  return side;
}

}  // namespace astra
