// Checks whether a model can be trained, or run, with a layout, a batch and the
// options of a framework.

#ifndef WORKLOAD_GENERATOR_LAYOUT_RULES_H_
#define WORKLOAD_GENERATOR_LAYOUT_RULES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "workload/generator/training_setup.h"
#include "workload/models/model_spec.h"

namespace astra {

// Errors: FailedPrecondition that names the first rule that does not hold, with
// the numbers in it, such as "TP 3 does not divide the 32 attention heads". No
// other check of the generator has this code, so a program can tell a layout
// that is not legal from other bad input. InvalidArgument for sequences that
// are too long for the model, and for more tokens than can be counted.
absl::Status CheckTraining(const ModelSpec& model, const TrainingSetup& setup);

// Gives the error of a rule the code of an illegal layout.
absl::Status AsIllegalLayout(const absl::Status& status);

// How much can be worked on at once, in training and in inference: far more
// than any GPU holds, and few enough for all that is derived to be counted.
constexpr int64_t kMaxPositions = int64_t{1} << 24;
constexpr int64_t kMaxTokens = int64_t{1} << 30;
absl::Status CheckTokens(int64_t sequences, int64_t positions);

// What TP and EP must divide, in training and in inference.
absl::Status CheckSplits(const ModelSpec& model, int64_t tensor, int64_t expert,
                         int64_t expert_tensor);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_LAYOUT_RULES_H_
