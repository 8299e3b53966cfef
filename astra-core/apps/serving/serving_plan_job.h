// simai_serving --plan: what is planned, and the prices of every shape that a
// replica may have.
//
// Shapes are all TP x PP of powers of two that the GPUs hold, with EP of powers
// of two within TP, and for models with experts TP x ranks of attention x PP
// with EP over all ranks; or the lists of --tp, --attention-dp, --pp and --ep.
// All share one cluster, one model of the GPU and one table of collectives;
// each has tables of steps of its own, whose points are priced once.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_PLAN_JOB_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_PLAN_JOB_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/apps/serving/serving_job.h"
#include "astra-core/apps/serving/serving_pricing.h"
#include "astra-core/apps/serving/sizing_options.h"
#include "astra-core/base/log.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/serving/cache_memory.h"
#include "astra-core/serving/capacity_search.h"
#include "astra-core/serving/replica_steps.h"
#include "astra-core/serving/serving_plan.h"

namespace astra {

// Most GPUs of a plan: deployments grow with their square.
inline constexpr int64_t kMostPlanGpus = 1024;

struct ServingPlanJob {
  ServingJob job;     // Its layout has the precision only.
  std::string model;  // As the command line names it, and so the GPU.
  std::string gpu;
  int64_t gpus = 0;
  bool has_shared = true;    // Replicas that compute prompts and decode.
  bool has_separate = true;  // Pools for each.
  // Values of the shapes; empty: all powers of two.
  std::vector<int64_t> tensor;
  std::vector<int64_t> pipeline;
  std::vector<int64_t> attention_ranks;
  std::vector<int64_t> expert;
  SizingLoad load;
  LatencyLimits limits;
  double share = 0;
  size_t top = 5;
  bool exhaustive = false;
  std::string name;
  std::string output;
  Warnings warnings;
};

// Reads the command line. Errors: InvalidArgument for an option that is
// missing, wrong or without effect; those of the readers of models, GPUs and
// engines; FailedPrecondition for a scheduler without a closed form.
absl::StatusOr<ServingPlanJob> ReadServingPlanJob(const CommandLine& flags);

// The shapes and their prices. The object does not move.
class PlanShapes {
 public:
  // Errors: those of GpuTimes and of the readers of systems.
  static absl::StatusOr<std::unique_ptr<PlanShapes>> Create(
      const ServingPlanJob& job, Warnings* warnings);

  PlanShapes(const PlanShapes&) = delete;
  PlanShapes& operator=(const PlanShapes&) = delete;

  const ServingSpace& space() const { return space_; }
  const CacheRoom& room(size_t shape) const { return rooms_[shape]; }
  // Shapes that cannot be, by the reason.
  const std::map<std::string, int64_t>& left_out() const { return left_out_; }

 private:
  PlanShapes() = default;
  absl::Status Add(const ServingPlanJob& job, const ServingLayout& layout);
  double TransferSeconds(const ServingPlanJob& job) const;

  std::unique_ptr<ServingPricing> pricing_;
  std::vector<std::unique_ptr<ReplicaSteps>> steps_;  // Refer to pricing_.
  std::vector<CacheRoom> rooms_;
  std::map<std::string, int64_t> left_out_;
  ServingSpace space_;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_PLAN_JOB_H_
