#include "astra-core/planner/plan_space.h"

#include <algorithm>
#include <set>

namespace astra {
namespace {

// Returns the powers of two up to `most` that divide `of`.
std::vector<int64_t> Powers(int64_t most, int64_t of) {
  std::vector<int64_t> values;
  for (int64_t value = 1; value <= most && of % value == 0; value *= 2) {
    values.push_back(value);
  }
  return values;
}

std::vector<int64_t> Pipelines(int64_t layers, int64_t num_gpus) {
  std::set<int64_t> values;
  for (const int64_t value : Powers(layers, num_gpus)) values.insert(value);
  for (int64_t value = 1; value <= std::min(layers, num_gpus); ++value) {
    if (layers % value == 0 && num_gpus % value == 0) values.insert(value);
  }
  return {values.begin(), values.end()};
}

}  // namespace

int64_t PlanSpace::size() const {
  int64_t product = 1;
  for (const size_t count :
       {tensor.size(), context.size(), expert.size(), expert_tensor.size(),
        pipeline.size(), virtual_stages.size(), micro_batch.size(), zero.size(),
        recompute.size(), sequence_parallel.size(), schedules.size(),
        context_methods.size(), overlaps.size(), orders.size()}) {
    product *= static_cast<int64_t>(count);
  }
  return product;
}

PlanSpace DefaultSpace(const PlanJob& job, int64_t domain) {
  constexpr int64_t kMostContext = 64;
  constexpr int64_t kMostMicroBatch = 8;
  constexpr int64_t kLeastPositions = 1024;  // Of a rank.
  const int64_t gpus = job.num_gpus();
  const TrainingSetup& setup = job.setups[0];
  PlanSpace space;
  space.tensor = Powers(domain, gpus);
  space.context = Powers(
      std::clamp<int64_t>(setup.positions / kLeastPositions, 1, kMostContext),
      gpus);
  if (job.model.experts) {
    space.expert = Powers(job.model.experts->experts, gpus);
  }
  space.pipeline = Pipelines(job.model.layers, gpus);
  constexpr int64_t kTriedChunks[] = {1, 2, 3, 4, 5, 6, 8};
  space.virtual_stages.clear();
  for (const int64_t chunks : kTriedChunks) {
    if (chunks == 1 || 2 * chunks <= job.model.layers) {
      space.virtual_stages.push_back(chunks);
    }
  }
  space.micro_batch = Powers(kMostMicroBatch, setup.global_batch);
  space.recompute = {{},
                     {.kind = Recompute::kSelective},
                     {.kind = Recompute::kFull},
                     JustFits()};
  space.schedules = {DefaultSchedule(1), DefaultSchedule(2)};
  return space;
}

}  // namespace astra
