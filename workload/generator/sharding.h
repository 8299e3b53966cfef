// Computes how many ranks share the states of a stage's parameters. The memory
// of a module and the time of the optimizer both use these functions, so that
// they cannot disagree.
//
// Experts have replicas of their own: with TP 8 and ETP 1, all 8 ranks of a TP
// group hold the same experts, but each holds only an eighth of the other
// weights.

#ifndef WORKLOAD_GENERATOR_SHARDING_H_
#define WORKLOAD_GENERATOR_SHARDING_H_

#include <cstdint>

#include "workload/generator/training_setup.h"

namespace astra {

// One number for the parameters outside of experts and one for those of
// experts.
struct DenseAndExpert {
  int64_t dense = 0;
  int64_t expert = 0;

  int64_t sum() const { return dense + expert; }
};

// Returns how many ranks of a stage hold the same parameters.
DenseAndExpert ReplicasOf(const TrainingSetup& setup);

// Returns how many ranks with the same parameters share the optimizer states,
// and with ZeRO 2 and 3 also the gradients and parameters. All of them do, but
// at most `zero_group`. Without ZeRO each rank keeps everything itself.
DenseAndExpert SharersOf(const TrainingSetup& setup);

// Returns how many of `counts` shared parameters one rank keeps. The last rank
// of a group may keep fewer.
DenseAndExpert ShareOf(const DenseAndExpert& counts,
                       const TrainingSetup& setup);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_SHARDING_H_
