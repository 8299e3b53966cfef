// Shapes of the operators that the training-time estimator of ICICLE
// (estimate-train-time) samples, and the names of its files. Both its readers,
// of samples for regressors and of operator tables, agree on them here.
//
// Source: the estimator's repository, ICICLE-ai/distributed_training_estimator,
// layer_input_to_predictor_input.py.

#ifndef WORKLOAD_OPERATORS_ESTIMATOR_SHAPES_H_
#define WORKLOAD_OPERATORS_ESTIMATOR_SHAPES_H_

#include <optional>
#include <string_view>

namespace astra {

// Sizes of an operator; 1 where it does not depend on them. Whole numbers are
// exact.
struct EstimatorSizes {
  double rows() const { return sequences * positions; }
  double local_heads() const { return heads / tensor; }
  // The width of the feed-forward part on a rank.
  double expanded() const { return 4 * hidden / tensor; }
  // The part of GPT-NeoX's vocabulary on a rank, padded as Megatron pads it.
  double local_vocabulary() const;

  double tensor = 1;
  double sequences = 1;
  double heads = 1;
  double positions = 1;
  double hidden = 1;
};

// A product of a rows x in and an in x out matrix.
struct EstimatorProduct {
  double rows = 0;
  double in = 0;
  double out = 0;
};

// Returns the product of operator `name`: linear1 (queries, keys and values),
// linear2 (output of attention), linear3 and linear4 (feed-forward), and
// linear_final (logits); nullopt for an operator that is no product.
std::optional<EstimatorProduct> EstimatorProductOf(std::string_view name,
                                                   const EstimatorSizes& sizes);

// Parts of the name of a table.
struct EstimatorFileName {
  std::string_view op;         // Such as "linear1" or "allgather_large".
  std::string_view precision;  // Such as "fp16".
};

// Splits the last part of `path`, GPU_OPERATOR_PRECISION.csv or, of a
// collective, GPU_OPERATOR_PRECISION_NODES_GPUS.csv. Returns nullopt for
// another name. The result refers to `path`.
std::optional<EstimatorFileName> SplitEstimatorFileName(std::string_view path);

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_ESTIMATOR_SHAPES_H_
