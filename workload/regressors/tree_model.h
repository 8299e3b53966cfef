// Regressors made of decision trees, trained by XGBoost.
//
// Both kinds predict the logarithm of a time, so that they make relative errors
// small. Trees answer with what they saw: beyond the samples, their answer is
// that of the boundary.
//
// clang-format off
//   forest    100 trees of depth 20, each fitted to 63.2 % of the samples, which
//             is what drawing with replacement leaves; their mean
//   boosted   300 trees of depth 6, each fitted to the errors of those before
//             with a learning rate of 0.1 and 80 % of the samples
// clang-format on
//
// Sources: L. Breiman, "Random Forests", Machine Learning 45, 2001; T. Chen and
// C. Guestrin, "XGBoost", arXiv 1603.02754. The sizes are among those that
// estimate-train-time (MIT) searches.

#ifndef WORKLOAD_REGRESSORS_TREE_MODEL_H_
#define WORKLOAD_REGRESSORS_TREE_MODEL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "workload/operators/tree_ensemble.h"
#include "workload/regressors/training_set.h"

namespace astra {

enum class TreeKind : uint8_t { kForest, kBoosted };
inline constexpr std::array<std::string_view, 2> kTreeKindNames = {"forest",
                                                                   "boosted"};

class TreeModel {
 public:
  // Fits trees to `samples`. The result depends on nothing else: one thread and
  // one seed are used. Errors: InvalidArgument for fewer than two samples;
  // Internal for what XGBoost reports.
  static absl::StatusOr<TreeModel> Train(const TrainingSet& samples,
                                         TreeKind kind);

  // Returns the time of a sample with these features in microseconds. Errors:
  // Internal for what XGBoost reports.
  absl::StatusOr<double> PredictUs(absl::Span<const double> features) const;

  // Returns the trees by themselves: their answer is the logarithm of the time
  // in microseconds. Errors: Internal for what XGBoost reports.
  absl::StatusOr<TreeEnsemble> Trees() const;

 private:
  struct Deleter {
    void operator()(void* booster) const;
  };
  using Booster = std::unique_ptr<void, Deleter>;

  TreeModel(Booster booster, float start, size_t num_features)
      : booster_(std::move(booster)),
        start_(start),
        num_features_(num_features) {}

  Booster booster_;
  float start_;  // What the trees begin with: see TreeEnsemble.
  size_t num_features_;
};

// How far predictions are off on samples that the trees had not seen, in
// percent of what was measured, without sign.
struct HeldOutErrors {
  size_t samples = 0;
  double mean = 0;
  double median = 0;
  double p90 = 0;
};

// Splits the samples into `folds` parts at random, predicts each from trees
// that were fitted to the others, and returns the errors. The parts are always
// the same. Errors: those of Train; InvalidArgument for more folds than
// samples, or fewer than two.
absl::StatusOr<HeldOutErrors> CrossValidate(const TrainingSet& samples,
                                            TreeKind kind, size_t folds);

}  // namespace astra

#endif  // WORKLOAD_REGRESSORS_TREE_MODEL_H_
