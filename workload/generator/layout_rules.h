// Checks whether a model can be trained, or run, with a layout, a batch and the
// options of a framework.

#ifndef WORKLOAD_GENERATOR_LAYOUT_RULES_H_
#define WORKLOAD_GENERATOR_LAYOUT_RULES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "workload/generator/training_setup.h"
#include "workload/models/model_spec.h"

namespace astra {

// Checks the layout and the sizes.
//
// Errors: FailedPrecondition for the first layout rule that is broken, with the
// numbers, such as "TP 3 does not divide the 32 attention heads". No other
// check of the generator has this code, so a program can distinguish illegal
// layouts from other bad input. InvalidArgument for sequences too long for the
// model, and for more tokens than kMaxTokens.
absl::Status CheckTraining(const ModelSpec& model, const TrainingSetup& setup);

// Returns the error of a rule with the code of an illegal layout.
absl::Status AsIllegalLayout(const absl::Status& status);

// Limits of the work in one step, in training and in inference. They are far
// above what any GPU holds, and low enough that no derived number overflows.
constexpr int64_t kMaxPositions = int64_t{1} << 24;
constexpr int64_t kMaxTokens = int64_t{1} << 30;
absl::Status CheckTokens(int64_t sequences, int64_t positions);

// Checks the sizes that TP and EP must divide, in training and in inference.
absl::Status CheckSplits(const ModelSpec& model, int64_t tensor, int64_t expert,
                         int64_t expert_tensor);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_LAYOUT_RULES_H_
