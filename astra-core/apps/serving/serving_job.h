// A deployment of a model: what is served, by which engine, on which GPUs.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_JOB_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_JOB_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/apps/gen_workload_times.h"
#include "astra-core/base/log.h"
#include "astra-core/planner/group_seconds.h"
#include "astra-core/serving/cache_memory.h"
#include "astra-core/serving/draft_times.h"
#include "astra-core/serving/stage_times.h"
#include "astra-core/serving/step_prices.h"
#include "astra-core/serving/step_times.h"
#include "collectives/inference_engines/inference_engine.h"
#include "collectives/nccl/nccl_options.h"
#include "collectives/systems/system_spec.h"
#include "topology/routes.h"
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
  std::optional<std::string> system;         // Else that built with the GPU.
  NcclOptions nccl;

  // Whether the topology also has the GPUs of another pool, or idle ones.
  bool shares_topology = false;

  const SchedulerKind* scheduler = nullptr;
  const RouterKind* router = nullptr;
  TimePs host_block_time;                // Of the host_blocks of `options`.
  std::optional<ModelSpec> draft_model;  // Makes the drafts of `options`.
  // As the engine's facts and the user say; num_blocks is 0 until the memory
  // says.
  BatchingOptions options;

  int64_t num_gpus() const { return replicas * layout.num_gpus(); }
};

// Returns the scheduler of an engine, and its options as the engine sets them
// on this GPU. Errors: InvalidArgument for an engine whose file says nothing of
// serving, and for a scheduler that is not known.
absl::Status UseFacts(ServingJob& job);

// Returns the system that is built with the GPU, by any of its names. Errors:
// those of SystemOfGpu.
absl::StatusOr<SystemSpec> SystemBuiltWith(const GpuSpec& gpu);

// Times the steps of a replica. The object does not move, since its parts refer
// to one another.
class ReplicaTimes {
 public:
  // Errors: those of the readers of topologies and systems, of StepPrices and
  // of GpuTimes; InvalidArgument for a topology with another number of GPUs,
  // and for a precision that the GPU has no products of.
  static absl::StatusOr<std::unique_ptr<ReplicaTimes>> Create(
      const ServingJob& job, Warnings* warnings);

  ReplicaTimes(const ReplicaTimes&) = delete;
  ReplicaTimes& operator=(const ReplicaTimes&) = delete;

  StepTimes& steps() { return *steps_; }

  // Adds the parts of each pipeline stage of a step; see StepCost::AddStages().
  void AddParts(absl::Span<const StepWork> ranks,
                std::vector<StepParts>* parts);

 private:
  ReplicaTimes(const ServingJob& job, SystemSpec system, Topology topology);
  absl::Status Price(const ServingJob& job);

  const ServingFacts facts_;
  const SystemSpec system_;
  const Topology topology_;
  Routes routes_;
  NcclOptions graph_options_;
  NcclOptions eager_options_;
  GroupSeconds graph_;
  GroupSeconds eager_;
  std::unique_ptr<GpuTimes> gpu_;
  std::optional<StepPrices> prices_;
  std::optional<StepTimes> steps_;
  std::optional<StageTimes> stages_;  // Only with several of them.
  std::optional<DraftTimes> drafts_;  // Only with a draft model.
};

// The times of a replica as a simulation asks for them.
class ReplicaCost : public StepCost {
 public:
  // `times` must outlive the object.
  explicit ReplicaCost(ReplicaTimes& times) : times_(times) {}

  TimePs TimeOf(const StepWork& work) override;
  void AddStages(absl::Span<const StepWork> ranks,
                 std::vector<TimePs>* stages) override;

 private:
  ReplicaTimes& times_;
  std::vector<StepParts> parts_;  // Kept for its memory.
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_JOB_H_
