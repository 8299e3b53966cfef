// How many ranks share the states that belong to the parameters of a stage.
// Both the memory of a module and the time of the optimizer follow from these
// functions, so that they cannot disagree.
//
// Experts have replicas of their own: with TP 8 and ETP 1, all of the 8 ranks
// of a TP group hold the same experts, while each holds an eighth of the rest.

#ifndef WORKLOAD_GENERATOR_SHARDING_H_
#define WORKLOAD_GENERATOR_SHARDING_H_

#include <cstdint>

#include "workload/generator/training_setup.h"

namespace astra {

// A number for the parameters outside of experts and one for those of experts.
struct DenseAndExpert {
  int64_t dense = 0;
  int64_t expert = 0;

  int64_t sum() const { return dense + expert; }
};

// Returns how many ranks of a stage hold the same parameters.
DenseAndExpert ReplicasOf(const TrainingSetup& setup);

// Returns how many of these ranks share the states of the optimizer, and with
// ZeRO 2 and 3 the gradients and the parameters too: all of them, but at most
// `zero_group`. Without ZeRO each rank keeps all of them itself.
DenseAndExpert SharersOf(const TrainingSetup& setup);

// Returns how many of `counts` parameters one rank keeps of what is shared. The
// last rank of a group may keep fewer.
DenseAndExpert ShareOf(const DenseAndExpert& counts,
                       const TrainingSetup& setup);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_SHARDING_H_
