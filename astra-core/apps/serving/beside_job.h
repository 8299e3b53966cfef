// The training job of --beside: its iterations follow one another on the
// network on which a deployment serves, until all requests have ended.
//
//   ASTRA_ASSIGN_OR_RETURN(auto job, BesideJob::Create(...));
//   const std::unique_ptr<NetworkBackend> network = job->ViewOfServing();
//   ServingFabric fabric(*network);
//   ASTRA_RETURN_IF_ERROR(job->Serve(fabric));

#ifndef ASTRA_CORE_APPS_SERVING_BESIDE_JOB_H_
#define ASTRA_CORE_APPS_SERVING_BESIDE_JOB_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/apps/serving/serving_cluster.h"
#include "astra-core/apps/serving/serving_fabric_options.h"
#include "astra-core/apps/serving/serving_job.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/log.h"
#include "astra-core/base/units.h"
#include "astra-core/jobs/job.h"
#include "astra-core/jobs/shared_network.h"
#include "astra-core/serving/fabric/serving_fabric.h"
#include "network-frontends/network_backend.h"
#include "network-frontends/registry/registry.h"
#include "nlohmann/json_fwd.hpp"
#include "topology/topology.h"

namespace astra {

class BesideJob {
 public:
  // Reads the job of `options` beside the deployment `serving`. `network` is
  // idle, is on the topology of `cluster` and was made with
  // `network_options`. `options` and `cluster` must outlive the object. Errors:
  // those of the readers; InvalidArgument for a job that shares GPUs with the
  // deployment, or was timed for others than the cluster's.
  static absl::StatusOr<std::unique_ptr<BesideJob>> Create(
      const FabricOptions& options, const ServingJob& serving,
      const ServingCluster& cluster, NetworkOptions network_options,
      std::unique_ptr<NetworkBackend> network, Warnings* warnings);

  BesideJob(const BesideJob&) = delete;
  BesideJob& operator=(const BesideJob&) = delete;

  // Returns the network as the deployment sees it. May be called once.
  std::unique_ptr<NetworkBackend> ViewOfServing();

  // Serves all requests with the job beside them, and runs an iteration of the
  // job alone to compare. `fabric` is on ViewOfServing(). Errors: those of
  // Simulate() and of ServingFabric.
  absl::Status Serve(ServingFabric& fabric);

  // Append what became of the job, after the run.
  void Describe(std::string* page) const;
  void AddTo(nlohmann::ordered_json& json) const;

 private:
  BesideJob(const FabricOptions& options, const Topology& topology,
            NetworkOptions network_options,
            std::unique_ptr<NetworkBackend> network, Job job);

  const FabricOptions& options_;
  const Topology& topology_;
  const NetworkOptions network_options_;
  const std::unique_ptr<NetworkBackend> network_;
  const Job job_;
  SharedNetwork shared_;
  std::vector<NodeId> all_nodes_;   // Of the topology.
  std::vector<TimePs> iterations_;  // Times of those that count.
  bool outlasts_serving_ = false;   // The only one that counts did.
  TimePs alone_;                    // Time of an iteration without serving.
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_BESIDE_JOB_H_
