#include "workload/generator/sharding.h"

#include <algorithm>

namespace astra {

DenseAndExpert ReplicasOf(const TrainingSetup& setup) {
  const int64_t stage = setup.world_size / setup.pipeline;
  const int64_t tensor = setup.expert_tensor.value_or(setup.tensor);
  return {stage / setup.tensor, stage / (tensor * setup.expert)};
}

DenseAndExpert SharersOf(const TrainingSetup& setup) {
  if (setup.zero == Zero::kNone) return {1, 1};
  const DenseAndExpert all = ReplicasOf(setup);
  if (!setup.zero_group) return all;
  return {std::min(all.dense, *setup.zero_group),
          std::min(all.expert, *setup.zero_group)};
}

DenseAndExpert ShareOf(const DenseAndExpert& counts,
                       const TrainingSetup& setup) {
  const auto share = [](int64_t count, int64_t ranks) {
    return (count + ranks - 1) / ranks;
  };
  const DenseAndExpert sharers = SharersOf(setup);
  return {share(counts.dense, sharers.dense),
          share(counts.expert, sharers.expert)};
}

}  // namespace astra
