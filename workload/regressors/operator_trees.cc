#include "workload/regressors/operator_trees.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/units.h"
#include "fmt/core.h"
#include "workload/regressors/training_set.h"

namespace astra {
namespace {

// A run of samples of one class.
using ClassSamples = absl::Span<const OperatorSample>;

// Returns the samples with the share of the bound in place of the time.
TrainingSet SharesOf(ClassSamples samples, const FittedOperators& operators) {
  TrainingSet set;
  for (size_t i = 0; i < kNumFittedFeatures; ++i) {
    set.features.push_back(fmt::format("f{}", i));
  }
  for (const OperatorSample& sample : samples) {
    const FittedFeatures features = FittedFeaturesOf(sample.op());
    set.values.insert(set.values.end(), features.begin(), features.end());
    constexpr double kSecondsPerPs = 1e-12;
    set.times_us.push_back(static_cast<double>(sample.time.count()) *
                           kSecondsPerPs / operators.BoundOf(sample.op()));
  }
  return set;
}

decltype(FittedClass::sizes) RangesOf(ClassSamples samples) {
  decltype(FittedClass::sizes) ranges;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const int64_t first = DimensionsOf(samples.front().shape)[i];
    ranges[i] = {first, first};
    for (const OperatorSample& sample : samples) {
      const int64_t size = DimensionsOf(sample.shape)[i];
      ranges[i].least = std::min(ranges[i].least, size);
      ranges[i].most = std::max(ranges[i].most, size);
    }
  }
  return ranges;
}

// Appends the trees of one class to `fitted`, unless they are too far off.
absl::Status FitClass(ClassSamples samples, TreeKind kind, size_t folds,
                      FittedTrees& fitted, Warnings* warnings) {
  const TrainingSet shares = SharesOf(samples, fitted.operators);
  ASTRA_ASSIGN_OR_RETURN(const HeldOutErrors errors,
                         CrossValidate(shares, kind, folds));
  const OperatorClass which = ClassOf(samples.front().op());
  if (errors.mean > kPercent * kWorstError) {
    warnings->push_back(fmt::format(
        "{}: left out, since trees are off by {:.0f} % in the mean on samples "
        "that they have not seen",
        FormatClass(which), errors.mean));
    return absl::OkStatus();
  }
  ASTRA_ASSIGN_OR_RETURN(const TreeModel model, TreeModel::Train(shares, kind));
  ASTRA_ASSIGN_OR_RETURN(TreeEnsemble trees, model.Trees());
  fitted.errors.push_back({which, errors});
  fitted.operators.classes.push_back(
      {.kind = which,
       .num_samples = static_cast<int64_t>(samples.size()),
       .error = errors.mean / kPercent,
       .sizes = RangesOf(samples),
       .trees = std::move(trees)});
  return absl::OkStatus();
}

// Removes samples of other GPUs.
void KeepSamplesOf(const GpuSpec& gpu, std::vector<OperatorSample>& samples,
                   Warnings* warnings) {
  const size_t others = std::erase_if(
      samples,
      [&](const OperatorSample& sample) { return sample.gpu != gpu.name; });
  if (others == 0) return;
  warnings->push_back(fmt::format(
      "{} samples of GPUs other than {} are left out", others, gpu.name));
}

}  // namespace

absl::StatusOr<FittedTrees> FitOperators(std::vector<OperatorSample> samples,
                                         const GpuSpec& gpu, TreeKind kind,
                                         size_t folds, Warnings* warnings) {
  KeepSamplesOf(gpu, samples, warnings);
  const MeasuredOperators measured(std::move(samples));
  FittedTrees fitted;
  fitted.operators.gpu = gpu.name;
  fitted.operators.peak_tflops = gpu.peak_tflops[IndexOf(Precision::kBf16)];
  fitted.operators.memory_gb_per_s = gpu.memory_gb_per_s;
  const ClassSamples all = measured.samples();
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    const OperatorClass which = ClassOf(all[begin].op());
    while (end < all.size() && ClassOf(all[end].op()) == which) ++end;
    if (end - begin < kLeastSamples) {
      warnings->push_back(
          fmt::format("{}: {} shapes are too few to fit trees to: expected {} "
                      "or more",
                      FormatClass(which), end - begin, kLeastSamples));
      continue;
    }
    ASTRA_RETURN_IF_ERROR(FitClass(all.subspan(begin, end - begin), kind, folds,
                                   fitted, warnings));
  }
  if (fitted.errors.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("no class of operators has {} shapes measured on {}",
                    kLeastSamples, gpu.name));
  }
  return fitted;
}

}  // namespace astra
