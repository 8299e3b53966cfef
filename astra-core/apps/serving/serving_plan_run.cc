#include "astra-core/apps/serving/serving_plan_run.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/apps/serving/serving_files.h"
#include "astra-core/apps/serving/serving_plan_job.h"
#include "astra-core/apps/serving/serving_plan_report.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/files.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/main_support.h"
#include "fmt/core.h"

namespace astra {
namespace {

// A search around a rate that is known: to 5 % in at most ten replays.
constexpr double kPlanPrecision = 0.05;
constexpr int kPlanRuns = 10;
// More plans than --top are replayed while the best may be among them: at most
// so many for each of --top.
constexpr size_t kReplaysForEach = 4;

ReplayedDeployment DeploymentOf(const ServingPlanJob& job,
                                const PlanShapes& shapes,
                                const ServingPlan& plan) {
  const ServingSpace& space = shapes.space();
  const auto pool = [&](size_t shape, int64_t replicas) {
    return PoolOptions{.replicas = replicas,
                       .ranks = space.shapes[shape].layout.attention_ranks,
                       .steps_under_way = space.shapes[shape].layout.pipeline,
                       .scheduler = job.job.scheduler,
                       .options = space.shapes[shape].options,
                       .cost = space.shapes[shape].cost};
  };
  ReplayedDeployment deployment;
  deployment.request_seconds = space.request_seconds;
  deployment.pool = pool(plan.shape, plan.replicas);
  if (!plan.prefill_shape) return deployment;
  deployment.decode = deployment.pool;
  deployment.pool = pool(*plan.prefill_shape, plan.prefill_replicas);
  const auto gpus_of_rank = [&space](size_t shape) {
    const ServingLayout& layout = space.shapes[shape].layout;
    return layout.num_gpus() / layout.attention_ranks;
  };
  const int64_t gpus =
      std::min(gpus_of_rank(plan.shape), gpus_of_rank(*plan.prefill_shape));
  const double ps_per_token =
      1e12 * space.transfer_seconds /
      static_cast<double>(gpus * space.requests.prompt_tokens);
  deployment.transfer = [ps_per_token](const KvTransfer& transfer) {
    return TimePs(
        std::llround(ps_per_token * static_cast<double>(transfer.tokens)));
  };
  return deployment;
}

absl::StatusOr<RankedPlan> ReplayPlan(const ServingPlanJob& job,
                                      const PlanShapes& shapes,
                                      const ServingPlan& plan) {
  RankedPlan ranked = {plan, {}, {}};
  const ReplayedDeployment deployment = DeploymentOf(job, shapes, plan);
  const int64_t count = job.load.CountOf(plan.load.in_flight);
  ASTRA_ASSIGN_OR_RETURN(ranked.same, ReplayAt(deployment, job.load, job.limits,
                                               plan.load.rate, count));
  ASTRA_ASSIGN_OR_RETURN(
      ranked.capacity,
      CapacityOf(deployment, job.load, job.limits, plan.load.rate, count,
                 {.share = job.share,
                  .precision = kPlanPrecision,
                  .most_runs = kPlanRuns}));
  return ranked;
}

struct ReplayedPlans {
  std::vector<RankedPlan> ranked;  // The replayed first, by their capacity.
  size_t replayed = 0;
};

// Replays the first plans of the closed form, and more of them while their rate
// comes up to the largest capacity, as far as this is known.
absl::StatusOr<ReplayedPlans> Replay(const ServingPlanJob& job,
                                     const PlanShapes& shapes,
                                     const ServingPlans& plans) {
  ReplayedPlans result;
  double largest = 0;
  for (const ServingPlan& plan : plans.best) {
    const size_t place = result.ranked.size();
    const bool is_near = plan.load.rate >= (1 - kPlanPrecision) * largest;
    if (place >= job.top && (!is_near || place >= kReplaysForEach * job.top)) {
      break;
    }
    ASTRA_ASSIGN_OR_RETURN(RankedPlan ranked, ReplayPlan(job, shapes, plan));
    largest = std::max(largest, ranked.capacity->capacity.largest);
    result.ranked.push_back(std::move(ranked));
  }
  result.replayed = result.ranked.size();
  std::stable_sort(result.ranked.begin(), result.ranked.end(),
                   [](const RankedPlan& a, const RankedPlan& b) {
                     return a.capacity->capacity.largest >
                            b.capacity->capacity.largest;
                   });
  for (size_t i = result.replayed; i < plans.best.size(); ++i) {
    result.ranked.push_back({plans.best[i], {}, {}});
  }
  return result;
}

// Returns a shape of any sizes that is legal on `gpus`, or nothing.
std::string LegalShape(ServingPlanJob job, int64_t gpus) {
  job.gpus = gpus;
  job.tensor.clear();
  job.pipeline.clear();
  job.expert.clear();
  job.attention_ranks.clear();
  Warnings ignored;
  const absl::StatusOr<std::unique_ptr<PlanShapes>> shapes =
      PlanShapes::Create(job, &ignored);
  if (!shapes.ok() || (*shapes)->space().shapes.empty()) return "";
  const ServingLayout& layout = (*shapes)->space().shapes.front().layout;
  return fmt::format("--gpus {} --tp {} --pp {}", gpus, layout.tensor,
                     layout.pipeline);
}

// Writes a folder for each of the best plans.
absl::Status WriteFolders(const PlanResults& results) {
  for (size_t i = 0; i < results.shown; ++i) {
    ASTRA_ASSIGN_OR_RETURN(
        const OutputFolder folder,
        OutputFolder::Create(PlanFolder(results.job.output, i)));
    ASTRA_RETURN_IF_ERROR(folder.Write(
        PlanFolderFiles(results, results.ranked[i]), kServingPlanFiles));
  }
  return absl::OkStatus();
}

absl::Status CheckShapes(const ServingPlanJob& job, const PlanShapes& shapes) {
  if (!shapes.space().shapes.empty()) return absl::OkStatus();
  std::string reasons;
  for (const auto& [rule, count] : shapes.left_out()) {
    AppendFormat(&reasons, "{}{} {}", reasons.empty() ? "" : "; ", count, rule);
  }
  std::string nearest = LegalShape(job, job.gpus);
  for (int64_t gpus = 2 * job.gpus; nearest.empty() && gpus <= kMostPlanGpus;
       gpus *= 2) {
    nearest = LegalShape(job, gpus);
  }
  return absl::InvalidArgumentError(fmt::format(
      "no shape of a replica is left: {}; {}",
      reasons.empty() ? "--tp, --pp or --ep are beyond the GPUs" : reasons,
      nearest.empty() ? std::string("none is on other GPUs either")
                      : "the nearest is " + nearest));
}

}  // namespace

absl::Status RunServingPlan(const CommandLine& flags, const Log& log) {
  ASTRA_ASSIGN_OR_RETURN(ServingPlanJob job, ReadServingPlanJob(flags));
  ASTRA_ASSIGN_OR_RETURN(const std::unique_ptr<PlanShapes> shapes,
                         PlanShapes::Create(job, &job.warnings));
  log.Report(job.warnings);
  ASTRA_RETURN_IF_ERROR(CheckShapes(job, *shapes));
  ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                         OutputFolder::Create(job.output));
  const ServingPlans plans = PlanServing(shapes->space());
  ASTRA_ASSIGN_OR_RETURN(const ReplayedPlans replays,
                         Replay(job, *shapes, plans));
  const PlanResults results = {job,
                               *shapes,
                               plans,
                               replays.ranked,
                               replays.replayed,
                               std::min(job.top, replays.replayed)};
  ASTRA_RETURN_IF_ERROR(
      WriteServingFiles(folder, job.output,
                        {{"plans.csv", ServingPlansCsv(results)},
                         {"front.csv", ServingFrontCsv(results)},
                         {"plan.json", ServingPlanJson(results)}},
                        results.shown));
  ASTRA_RETURN_IF_ERROR(WriteFolders(results));
  Print(DescribeServingPlans(results));
  Print(fmt::format(
      "results    {}: plans.csv front.csv plan.json{}\nfinished   {}: {}\n",
      job.output, results.shown > 0 ? " plan-1 ..." : "", job.name,
      ServingPlanResult(results)));
  return FlushStdout();
}

}  // namespace astra
