// A deployment of a model: what is served, by which engine, on which GPUs.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_JOB_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_JOB_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/serving/step_prices.h"
#include "collectives/inference_engines/inference_engine.h"
#include "collectives/nccl/nccl_options.h"
#include "collectives/systems/system_spec.h"
#include "topology/topology.h"
#include "workload/models/model_spec.h"
#include "workload/operators/gpu_spec.h"
#include "workload/serving/batching_options.h"
#include "workload/serving/router.h"
#include "workload/serving/schedulers/registry.h"

namespace astra {

struct ServingJob {
  ModelSpec model;
  GpuSpec gpu;
  ServingLayout layout;
  int64_t replicas = 1;
  InferenceEngine engine;
  std::optional<std::string> topology_file;  // Else GPUs of `system`.
  // The part of this topology that the deployment has, where it is one of
  // several jobs. Must outlive the job.
  const Topology* part = nullptr;
  std::optional<std::string> system;  // Else that built with the GPU.
  NcclOptions nccl;

  // Whether the topology also has the GPUs of another pool, or idle ones.
  bool shares_topology = false;
  // Whether collectives between servers are messages on a network, so that
  // their closed form is of one replica alone.
  bool is_on_network = false;

  const SchedulerKind* scheduler = nullptr;
  const RouterKind* router = nullptr;
  TimePs host_block_time;                // Of the host_blocks of `options`.
  std::optional<ModelSpec> draft_model;  // Makes the drafts of `options`.
  // As the engine's facts and the user say; num_blocks is 0 until the memory
  // says.
  BatchingOptions options;

  int64_t num_gpus() const { return replicas * layout.num_gpus(); }
};

// Checks that the engine has ranks of attention such as those of the layout.
// Errors: InvalidArgument that names the option --PREFIXtp.
absl::Status CheckAttentionRanks(const ServingJob& job,
                                 std::string_view prefix);

// Divides the budget of a step among ranks of attention, where the engine does.
void ShareBudget(const ServingFacts& facts, int64_t ranks,
                 BatchingOptions& options);

// Returns the scheduler of an engine, and its options as the engine sets them
// on this GPU. Errors: InvalidArgument for an engine whose file says nothing of
// serving, and for a scheduler that is not known; those of CheckAttentionRanks.
absl::Status UseFacts(ServingJob& job);

// Returns the topology that the job names or is given; nothing if it has only a
// system. Errors: those of ReadTopology.
absl::StatusOr<std::optional<Topology>> TopologyOfJob(const ServingJob& job);

// Returns the system that the job names, or that is built with its GPU, by any
// name of the GPU. Errors: those of LoadSystem and SystemOfGpu.
absl::StatusOr<SystemSpec> SystemOfJob(const ServingJob& job);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_JOB_H_
