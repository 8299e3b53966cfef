#include "astra-core/apps/serving/replica_times.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/apps/run_inputs.h"
#include "astra-core/base/status_macros.h"
#include "collectives/nccl/system_topology.h"
#include "collectives/systems/system_library.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::StatusOr<SystemSpec> SystemOf(const ServingJob& job,
                                    const std::optional<Topology>& topology) {
  // A replica of one GPU has no collectives, so that any system will do.
  if (job.layout.num_gpus() == 1 && !job.system) {
    return BundledSystems().front();
  }
  if (topology && !job.system) return DeriveSystem(*topology);
  return SystemOfJob(job);
}

// Two pools may have the same GPU on the same topology.
void WarnOfGpu(const ServingJob& job, const Topology& topology,
               Warnings* warnings) {
  if (job.part != nullptr || !job.topology_file) return;
  std::optional<std::string> text =
      OtherGpus(job.gpu.name, *job.topology_file, topology);
  if (!text) return;
  if (std::find(warnings->begin(), warnings->end(), *text) != warnings->end()) {
    return;
  }
  warnings->push_back(*std::move(text));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ReplicaTimes>> ReplicaTimes::Create(
    const ServingJob& job, Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(std::optional<Topology> topology, TopologyOfJob(job));
  if (topology) {
    const bool fits = job.shares_topology
                          ? topology->num_gpus() >= job.num_gpus()
                          : topology->num_gpus() == job.num_gpus();
    if (!fits) {
      return absl::InvalidArgumentError(
          fmt::format("{} has {} GPUs, but {} replicas of {} GPUs are {}",
                      *job.topology_file, topology->num_gpus(), job.replicas,
                      job.layout.num_gpus(), job.num_gpus()));
    }
    WarnOfGpu(job, *topology, warnings);
  }
  ASTRA_ASSIGN_OR_RETURN(SystemSpec system, SystemOf(job, topology));
  if (!topology) {
    const bool has_groups = job.layout.num_gpus() > 1;
    const int64_t server = system.gpus_per_server;
    int64_t cluster = has_groups ? job.num_gpus() : 1;
    if (cluster > server) cluster = (cluster + server - 1) / server * server;
    const auto gpus = static_cast<uint32_t>(cluster);
    ASTRA_ASSIGN_OR_RETURN(
        topology,
        BuildSystemTopology(system, gpus,
                            GpusOfDomain(gpus, system.gpus_per_server)));
  }
  std::unique_ptr<ReplicaTimes> times(new ReplicaTimes());
  times->has_collectives_ = job.layout.num_gpus() > 1;
  const int64_t server = topology->gpus_per_server();
  const int64_t gpus = job.layout.num_gpus();
  const bool sends = job.is_on_network && gpus > server && gpus % server == 0;
  times->sends_between_servers_ = sends;
  ASTRA_ASSIGN_OR_RETURN(
      times->pricing_,
      ServingPricing::Create(job, std::move(system), *std::move(topology),
                             sends ? gpus : job.num_gpus(), warnings));
  PriceSources sources = times->pricing_->sources();
  sources.watches_traffic = sends;
  ASTRA_ASSIGN_OR_RETURN(
      times->steps_,
      ReplicaSteps::Create(job.model, job.layout, job.draft_model,
                           times->pricing_->facts(), sources));
  return times;
}

std::optional<std::string> ReplicaTimes::system_name() const {
  if (!has_collectives_) return std::nullopt;
  return pricing_->system().name;
}

}  // namespace astra
