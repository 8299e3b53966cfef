// Maps a model and a strategy of SimuMax to a model and a training setup of
// this program, from which the blocks of every stage and their memory follow.
//
// Left out, because SimuMax does: rotary positions take no time. Differences
// remain where this program is more exact; they are listed in
// docs/guide/from-simumax.md.

#ifndef ASTRA_CORE_PLANNER_SIMUMAX_TRAINING_H_
#define ASTRA_CORE_PLANNER_SIMUMAX_TRAINING_H_

#include "absl/status/statusor.h"
#include "astra-core/planner/simumax/simumax_files.h"
#include "workload/generator/blueprint.h"
#include "workload/generator/training_setup.h"
#include "workload/models/model_spec.h"

namespace astra {

struct SimumaxTraining {
  ModelSpec model;
  TrainingSetup setup;
  Blueprint blueprint;  // TrainingBlueprint(model, setup).
};

// Errors: InvalidArgument "FILE: KEY is VALUE: expected ..." for a broken rule
// between model and strategy, with the nearest legal value where there is one;
// those of TrainingBlueprint, with the file of the strategy before them.
absl::StatusOr<SimumaxTraining> TrainingOf(const SimumaxModel& model,
                                           const SimumaxStrategy& strategy);

// Returns the tokens that one rank sends to experts, which pads each expert's
// to a whole number where the model says so.
int64_t RoutedTokensOf(const SimumaxModel& model,
                       const SimumaxStrategy& strategy);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_SIMUMAX_TRAINING_H_
