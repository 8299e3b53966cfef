#include "astra-core/apps/serving/serving_cluster.h"

#include <algorithm>
#include <string>
#include <utility>

#include "astra-core/base/status_macros.h"
#include "collectives/nccl/system_topology.h"
#include "collectives/systems/system_library.h"
#include "fmt/core.h"

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

std::vector<PoolPlace> PlacesOf(const ServingJob& job, const DecodePool* decode,
                                int64_t gpus_per_server) {
  std::vector<PoolPlace> places = {PlaceOf(job, 0)};
  if (decode != nullptr) {
    places.push_back(
        PlaceOf(decode->job, FirstGpu(job, *decode, gpus_per_server)));
  }
  return places;
}

int64_t RoundedUp(int64_t gpus, int64_t gpus_per_server) {
  return (gpus + gpus_per_server - 1) / gpus_per_server * gpus_per_server;
}

// Returns the servers below one switch that hold the pools and the storage.
absl::StatusOr<Topology> BuildCluster(const ServingJob& job,
                                      const DecodePool* decode,
                                      const StorageServer* storage) {
  ASTRA_ASSIGN_OR_RETURN(const SystemSpec system, SystemOfJob(job));
  const int64_t server = system.gpus_per_server;
  const int64_t gpus = GpusOfDeployment(job, decode, storage, server);
  return BuildSystemTopology(
      system, static_cast<uint32_t>(gpus),
      static_cast<uint32_t>(std::min<int64_t>(gpus, server)));
}

absl::Status CheckPlaces(const std::vector<PoolPlace>& places,
                         const std::string& file, const Topology& topology) {
  if (places.size() == 1) {
    if (places[0].end() <= topology.num_gpus()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        fmt::format("{} has {} GPUs: expected {} or more, for {} replicas of "
                    "{} GPUs",
                    file, topology.num_gpus(), places[0].end(),
                    places[0].replicas, places[0].gpus_per_replica));
  }
  const PoolPlace& to = places[1];
  if (to.first_gpu < places[0].end()) {
    return absl::InvalidArgumentError(
        fmt::format("--decode-first-gpu is {}: expected {} or more, behind the "
                    "GPUs that compute prompts",
                    to.first_gpu, places[0].end()));
  }
  if (to.end() > topology.num_gpus()) {
    return absl::InvalidArgumentError(fmt::format(
        "{} has {} GPUs: expected {} or more, of which {} to {} decode", file,
        topology.num_gpus(), to.end(), to.first_gpu, to.end() - 1));
  }
  return absl::OkStatus();
}

}  // namespace

int64_t GpusOfDeployment(const ServingJob& job, const DecodePool* decode,
                         const StorageServer* storage,
                         int64_t gpus_per_server) {
  int64_t gpus = PlacesOf(job, decode, gpus_per_server).back().end();
  if (storage != nullptr) {
    gpus = storage->first_gpu.value_or(RoundedUp(gpus, gpus_per_server)) +
           gpus_per_server;
  }
  return gpus > gpus_per_server ? RoundedUp(gpus, gpus_per_server) : gpus;
}

ServingCluster::ServingCluster(Topology topology, std::vector<PoolPlace> pools)
    : topology_(std::move(topology)),
      pools_(std::move(pools)),
      routes_(topology_) {}

absl::StatusOr<std::unique_ptr<ServingCluster>> ServingCluster::Create(
    const ServingJob& job, const DecodePool* decode,
    const StorageServer* storage) {
  ASTRA_ASSIGN_OR_RETURN(std::optional<Topology> given, TopologyOfJob(job));
  if (!given) {
    ASTRA_ASSIGN_OR_RETURN(given, BuildCluster(job, decode, storage));
  }
  Topology& topology = *given;
  const int64_t server = topology.gpus_per_server();
  std::vector<PoolPlace> pools = PlacesOf(job, decode, server);
  const std::string file = job.topology_file.value_or("--system");
  ASTRA_RETURN_IF_ERROR(CheckPlaces(pools, file, topology));
  std::unique_ptr<ServingCluster> cluster(
      new ServingCluster(std::move(topology), std::move(pools)));
  if (storage == nullptr) return cluster;
  const int64_t first =
      storage->first_gpu.value_or(RoundedUp(cluster->end(), server));
  if (first % server != 0 || first + server > cluster->topology().num_gpus()) {
    return absl::InvalidArgumentError(fmt::format(
        "{} has {} GPUs: expected a server of {} from GPU {} on, which stores "
        "weights; see --storage-first-gpu",
        file, cluster->topology().num_gpus(), server, first));
  }
  ASTRA_RETURN_IF_ERROR(cluster->CheckFree(
      first, first + server, "the storage server", "--storage-first-gpu"));
  cluster->storage_gpu_ = first;
  return cluster;
}

int64_t ServingCluster::end() const {
  int64_t end = pools_.back().end();
  if (storage_gpu_) {
    end = std::max<int64_t>(end, *storage_gpu_ + topology_.gpus_per_server());
  }
  return end;
}

absl::Status ServingCluster::CheckFree(int64_t first, int64_t end,
                                       std::string_view who,
                                       std::string_view option) const {
  const auto check = [&](int64_t from, int64_t to, std::string_view what) {
    if (end <= from || to <= first) return absl::OkStatus();
    return absl::InvalidArgumentError(
        fmt::format("{} takes GPUs {} to {}, but {} to {} {}: give another {}",
                    who, first, end - 1, from, to - 1, what, option));
  };
  const bool is_one = pools_.size() == 1;
  ASTRA_RETURN_IF_ERROR(check(pools_[0].first_gpu, pools_[0].end(),
                              is_one ? "serve" : "compute prompts"));
  if (!is_one) {
    ASTRA_RETURN_IF_ERROR(
        check(pools_[1].first_gpu, pools_[1].end(), "decode"));
  }
  if (!storage_gpu_) return absl::OkStatus();
  return check(*storage_gpu_, *storage_gpu_ + topology_.gpus_per_server(),
               "store weights");
}

}  // namespace astra
