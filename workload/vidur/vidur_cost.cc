#include "workload/vidur/vidur_cost.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr double kMsPerUs = 1e-3;
constexpr double kPsPerMs = 1e9;
constexpr int64_t kTokenGranularity = 8;

int64_t RoundUp(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

absl::StatusOr<VidurCost> VidurCost::Create(
    const VidurReplica& replica, const VidurPredictorOptions& options,
    const VidurSamples& samples) {
  VidurCost cost(replica, options);
  for (size_t i = 0; i < samples.size(); ++i) {
    const TrainingSet& set = samples[i];
    if (set.size() == 0) continue;
    TrainingSet negated = set;
    for (double& value : negated.values) value = -value;
    ASTRA_ASSIGN_OR_RETURN(TreeModel model,
                           TreeModel::Train(negated, TreeKind::kForest));
    Forest forest(std::move(model));
    for (size_t feature = 0; feature < set.features.size(); ++feature) {
      Range range{set.features[feature], set.sample(0)[feature],
                  set.sample(0)[feature]};
      for (size_t row = 0; row < set.size(); ++row) {
        range.least = std::min(range.least, set.sample(row)[feature]);
        range.most = std::max(range.most, set.sample(row)[feature]);
      }
      forest.ranges.push_back(std::move(range));
    }
    cost.forests_[i] = std::move(forest);
  }
  return cost;
}

double VidurCost::Milliseconds(VidurOperator which,
                               absl::Span<const double> features) {
  std::optional<Forest>& forest = forests_[static_cast<size_t>(which)];
  if (!forest) return 0;
  ++forest->asked;
  bool is_outside = false;
  for (size_t i = 0; i < features.size(); ++i) {
    is_outside |= features[i] < forest->ranges[i].least ||
                  features[i] > forest->ranges[i].most;
  }
  if (is_outside) {
    ++forest->outside;
    if (forest->asked_ranges.empty()) {
      for (size_t i = 0; i < features.size(); ++i) {
        forest->asked_ranges.push_back({"", features[i], features[i]});
      }
    }
    for (size_t i = 0; i < features.size(); ++i) {
      Range& range = forest->asked_ranges[i];
      range.least = std::min(range.least, features[i]);
      range.most = std::max(range.most, features[i]);
    }
  }
  const auto [known, is_new] = forest->known.try_emplace(
      std::vector<double>(features.begin(), features.end()), 0);
  if (is_new) {
    std::vector<double> negated;
    for (const double feature : features) negated.push_back(-feature);
    const absl::StatusOr<double> us = forest->model.PredictUs(negated);
    ASTRA_CHECK(us.ok(), "{}", std::string(us.status().message()));
    known->second = kMsPerUs * *us;
  }
  return known->second;
}

double VidurCost::OfTokens(VidurOperator which, int64_t tokens) {
  const double feature = static_cast<double>(tokens);
  return Milliseconds(which, {&feature, 1});
}

int64_t VidurCost::RoundedCache(int64_t tokens) const {
  return RoundUp(tokens, options_.kv_granularity);
}

// The last output token of a sequence counts as a part of its cache.
double VidurCost::DecodeMs(const StepWork& work) {
  if (work.decodes == 0) return 0;
  const int64_t cached = (work.decode_context + work.decodes) / work.decodes;
  const double features[] = {static_cast<double>(work.decodes),
                             static_cast<double>(RoundedCache(cached))};
  const bool has_overhead =
      work.decodes > 1 && replica_.model.heads > replica_.model.kv_heads;
  return Milliseconds(VidurOperator::kAttnDecode, features) *
         (has_overhead ? 1 + options_.decode_overhead : 1);
}

double VidurCost::PrefillMs(const StepWork& work) {
  if (work.chunks.empty()) return 0;
  int64_t cached = 0;
  double squares = 0;
  for (const PromptChunk& chunk : work.chunks) {
    cached += RoundedCache(chunk.cached);
    squares +=
        static_cast<double>(chunk.tokens) * static_cast<double>(chunk.tokens);
  }
  const double chunk = std::nearbyint(std::sqrt(squares));
  const double features[] = {static_cast<double>(cached), chunk * chunk};
  const bool has_overhead =
      work.chunks.size() > 1 && replica_.model.heads > replica_.model.kv_heads;
  return Milliseconds(VidurOperator::kAttnPrefill, features) *
         (has_overhead ? 1 + options_.prefill_overhead : 1);
}

double VidurCost::LayerMs(const StepWork& work) {
  const int64_t tokens = RoundUp(work.tokens(), kTokenGranularity);
  double sum = DecodeMs(work) + PrefillMs(work) +
               OfTokens(VidurOperator::kAttnKvCacheSave, work.tokens());
  for (size_t i = 0; i <= static_cast<size_t>(VidurOperator::kAdd); ++i) {
    sum += OfTokens(static_cast<VidurOperator>(i), tokens);
  }
  if (replica_.tensor > 1) {
    const double tensor = static_cast<double>(replica_.tensor);
    sum += 2 * (OfTokens(VidurOperator::kAllReduce, tokens) +
                options_.nccl_launch_ms +
                options_.nccl_skew_ms * std::pow(tensor, 1.25));
  }
  return sum;
}

double VidurCost::HostMs(int64_t sequences) {
  double sum = 0;
  const auto first = static_cast<size_t>(VidurOperator::kSchedule);
  for (size_t i = first; i < forests_.size(); ++i) {
    sum += OfTokens(static_cast<VidurOperator>(i), sequences);
  }
  return sum;
}

TimePs VidurCost::TimeOf(const StepWork& work) {
  const auto stages = static_cast<double>(replica_.stages);
  double ms = static_cast<double>(replica_.model.layers) * LayerMs(work);
  if (replica_.stages > 1) {
    ms += (stages - 1) * OfTokens(VidurOperator::kSendRecv,
                                  RoundUp(work.tokens(), kTokenGranularity));
  }
  ms +=
      stages * HostMs(work.decodes + static_cast<int64_t>(work.chunks.size()));
  return TimePs(std::max<int64_t>(1, std::llround(kPsPerMs * ms)));
}

std::string VidurCost::TextOf(const Forest& forest) {
  std::string sizes;
  for (size_t i = 0; i < forest.ranges.size(); ++i) {
    const Range& range = forest.ranges[i];
    const Range& asked = forest.asked_ranges[i];
    if (asked.least >= range.least && asked.most <= range.most) continue;
    sizes += fmt::format("{}{} {} to {}, and samples have {} to {}",
                         sizes.empty() ? "" : "; ", range.name, asked.least,
                         asked.most, range.least, range.most);
  }
  return fmt::format(
      "{} of {} steps lie outside of the samples, and take the time of the "
      "nearest: they have {}",
      forest.outside, forest.asked, sizes);
}

Warnings VidurCost::Outside() const {
  Warnings warnings;
  std::string names;
  std::string text;
  const auto finish = [&] {
    if (!names.empty()) warnings.push_back(fmt::format("{}: {}", names, text));
  };
  for (size_t i = 0; i < forests_.size(); ++i) {
    const std::optional<Forest>& forest = forests_[i];
    if (!forest || forest->outside == 0) continue;
    std::string own = TextOf(*forest);
    if (own == text) {
      names += fmt::format(", {}", kVidurOperatorNames[i]);
      continue;
    }
    finish();
    names = kVidurOperatorNames[i];
    text = std::move(own);
  }
  finish();
  return warnings;
}

}  // namespace astra
