#include "astra-core/planner/layout_estimate.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "astra-core/base/collective_kind.h"
#include "astra-core/base/real.h"
#include "workload/generator/sharding.h"
#include "workload/operators/operator.h"
#include "workload/parallel_plan.h"

namespace astra {
namespace {

constexpr int64_t kParameterBytes = 2;
constexpr int64_t kFloatBytes = 4;

// Returns the cost of a part whose first `again` blocks run again.
UnitCost SumOf(const ModelPart& part, const LayoutParts& parts, int64_t again) {
  const ShapeCosts& costs = parts.costs;
  const auto first = static_cast<size_t>(part.first_layer) + 1;
  const auto end = static_cast<size_t>(part.end_layer) + 1;
  const size_t middle = std::min(end, first + static_cast<size_t>(again));
  UnitCost sum = costs.before[end] - costs.before[middle];
  if (again > 0) sum += parts.again.before[middle] - parts.again.before[first];
  if (part.has_embedding) sum += costs.units.front();
  if (part.has_logits) sum += costs.units.back();
  const RecomputeChoice& recompute = parts.layout.recompute;
  if (recompute.layers > 1 && !recompute.IsPartial()) {
    const auto blocks = static_cast<int64_t>(end - first);
    const int64_t inputs = (blocks + recompute.layers - 1) / recompute.layers;
    sum.saved -= (blocks - inputs) * costs.message_bytes;
  }
  return sum;
}

// Returns how many blocks of each chunk run again while others do not.
int64_t BlocksAgain(const RecomputeChoice& recompute) {
  return recompute.IsPartial() ? recompute.layers : 0;
}

UnitCost SumOf(const ModelPart& part, const LayoutParts& parts) {
  return SumOf(part, parts, BlocksAgain(parts.layout.recompute));
}

UnitCost SumOf(const StageShape& stage, const LayoutParts& parts) {
  UnitCost sum;
  for (const ModelPart& part : stage.parts) sum += SumOf(part, parts);
  return sum;
}

// Returns the ranks with the same parameters.
RankGroup Replicas(const AxisSizes& view, const RankOrder& order) {
  const auto along = [&](RankAxis axis) {
    return RankGroup{view[static_cast<size_t>(axis)],
                     StrideOf(order, view, axis)};
  };
  return GroupOf(along(RankAxis::kContext), along(RankAxis::kData));
}

// Times of the collectives over replicas for some parameters.
struct SharingTimes {
  double reduce = 0;
  double gather = 0;
};

SharingTimes SharingOf(const UnitCost& parameters, const TrainingSetup& setup,
                       GroupSeconds& groups) {
  const CollectiveKind reduction = setup.zero == Zero::kNone
                                       ? CollectiveKind::kAllReduce
                                       : CollectiveKind::kReduceScatter;
  SharingTimes times;
  const auto add = [&](RankGroup group, int64_t count) {
    times.reduce += groups.Of(reduction, group, count * setup.gradient_bytes);
    if (setup.zero == Zero::kNone) return;
    times.gather +=
        groups.Of(CollectiveKind::kAllGather, group, count * kParameterBytes);
  };
  const RankViews views = ViewsOf(setup.sizes());
  add(Replicas(views.dense, setup.order), parameters.dense);
  add(Replicas(views.expert, setup.order), parameters.expert);
  return times;
}

// Returns the seconds of a micro-batch with ZeRO 2 or 3, in which each unit
// reduces its gradients behind its backward pass, and with ZeRO 3 gathers its
// parameters while the unit before it computes.
double ShardedMicroBatch(const LayoutParts& parts, GroupSeconds& groups) {
  const bool gathers = parts.setup.zero == Zero::kParameters;
  double now = 0;
  double lane = 0;
  double begin = 0;  // When the computation of the unit before began.
  const auto compute = [&](const UnitCost& unit, double seconds) {
    if (gathers) {
      lane =
          std::max(lane, begin) + SharingOf(unit, parts.setup, groups).gather;
      now = std::max(now, lane);
    }
    begin = now;
    now += seconds;
  };
  const auto num_units = static_cast<int64_t>(parts.costs.units.size());
  const int64_t again = BlocksAgain(parts.layout.recompute);
  const auto unit_at = [&](int64_t i) -> const UnitCost& {
    const bool runs_again = i > 0 && i <= again && i + 1 < num_units;
    return (runs_again ? parts.again : parts.costs)
        .units[static_cast<size_t>(i)];
  };
  for (int64_t i = 0; i < num_units; ++i) {
    compute(unit_at(i), unit_at(i).forward);
  }
  for (int64_t i = num_units; i-- > 0;) {
    const UnitCost& unit = unit_at(i);
    compute(unit, unit.backward);
    lane = std::max(lane, now) + SharingOf(unit, parts.setup, groups).reduce;
  }
  return std::max(now, lane);
}

// Returns what of the sharing of a stage's states no computation hides. Stages
// behind the first end their last backward pass earlier.
double ExposedSharing(const LayoutParts& parts, size_t stage,
                      const UnitCost& sum, GroupSeconds& groups) {
  constexpr double kBuckets = 8;  // The first stage has several.
  const TrainingSetup& setup = parts.setup;
  if (setup.zero >= Zero::kGradients) {
    return setup.zero == Zero::kParameters
               ? 0
               : SharingOf(sum, setup, groups).gather;
  }
  const SharingTimes times = SharingOf(sum, setup, groups);
  const double early = Real(static_cast<int64_t>(stage)) * sum.backward;
  const auto exposed = [&](double time, bool is_hidden, double computing) {
    if (!is_hidden) return time;
    const double least = stage == 0 ? time / kBuckets : 0;
    return std::max(least, time - (stage == 0 ? computing : early));
  };
  return exposed(times.reduce, setup.overlap_gradients, sum.backward) +
         exposed(times.gather, setup.overlap_parameters, sum.forward);
}

// Returns the bytes of weights, gradients and states of the optimizer.
int64_t StateBytes(const StageShape& stage, const LayoutParts& parts) {
  const TrainingSetup& setup = parts.setup;
  const UnitCost sum = SumOf(stage, parts);
  const int64_t all = sum.dense + sum.expert;
  const int64_t share = ShareOf({sum.dense, sum.expert}, setup).sum();
  const auto held = [&](Zero from) { return setup.zero >= from ? share : all; };
  const bool is_fp32 = setup.zero == Zero::kParameters && setup.fp32_shards;
  int64_t bytes =
      (kFloatBytes + 2 * setup.moment_bytes) * held(Zero::kOptimizer) +
      (is_fp32 ? kFloatBytes : setup.gradient_bytes) * held(Zero::kGradients);
  if (!is_fp32) bytes += kParameterBytes * held(Zero::kParameters);
  if (setup.zero < Zero::kParameters) bytes += sum.casts;
  return bytes;
}

// Returns the bytes that micro-batches in flight keep, if the first `again`
// blocks of each chunk run again.
int64_t SavedBytes(const StageShape& stage, const LayoutParts& parts,
                   int64_t again) {
  int64_t bytes = 0;
  for (size_t chunk = 0; chunk < stage.parts.size(); ++chunk) {
    bytes +=
        stage.in_flight[chunk] * SumOf(stage.parts[chunk], parts, again).saved;
  }
  return bytes;
}

double SecondsOf(std::string_view op, double bytes, const ModuleTimes& times) {
  const Operator stream = {op, Stream{static_cast<int64_t>(bytes)},
                           Precision::kFp32};
  return ToSeconds(times.TimeOf(stream).time);
}

}  // namespace

OptimizerRates::OptimizerRates(const ModuleTimes& times) {
  const auto line = [&times](std::string_view op) {
    constexpr double kFew = 1e9;
    constexpr double kMany = 9e9;
    const double low = SecondsOf(op, kFew, times);
    const double per_byte =
        (SecondsOf(op, kMany, times) - low) / (kMany - kFew);
    return Line{low - per_byte * kFew, per_byte};
  };
  norm_ = line("gradient_norm");
  adam_ = line("adam");
  zero_ = line("gradient_zero");
}

double OptimizerRates::Seconds(const TrainingSetup& setup, double share,
                               double all) const {
  const auto time = [](const Line& line, double bytes) {
    return line.start + line.per_byte * bytes;
  };
  const double gradient = Real(setup.gradient_bytes);
  const double adam =
      gradient +
      Real(2 * (kFloatBytes + 2 * setup.moment_bytes) + kParameterBytes);
  return time(norm_, share * gradient) + time(adam_, share * adam) +
         time(zero_, all * gradient);
}

int64_t EstimateMemory(const LayoutParts& parts) {
  const int64_t again = BlocksAgain(parts.layout.recompute);
  int64_t most = 0;
  for (const StageShape& stage : parts.cut.stages) {
    most = std::max(most,
                    StateBytes(stage, parts) + SavedBytes(stage, parts, again));
  }
  return most;
}

std::optional<int64_t> LeastBlocksAgain(const LayoutParts& parts,
                                        int64_t bytes) {
  int64_t least = 0;
  for (const StageShape& stage : parts.cut.stages) {
    const int64_t room = bytes - StateBytes(stage, parts);
    const auto fits = [&](int64_t again) {
      return SavedBytes(stage, parts, again) <= room;
    };
    if (fits(least)) continue;
    int64_t enough = parts.cut.most_layers;
    if (!fits(enough)) return std::nullopt;
    while (enough - least > 1) {
      const int64_t middle = (least + enough) / 2;
      (fits(middle) ? enough : least) = middle;
    }
    least = enough;
  }
  return least;
}

double EstimateSeconds(const LayoutParts& parts, const OptimizerRates& rates,
                       GroupSeconds& groups) {
  const TrainingSetup& setup = parts.setup;
  const bool is_sharded = setup.zero >= Zero::kGradients;
  // A micro-batch passes half of the chunks of a stage that holds two models.
  const double passed = parts.layout.schedule->holds_model_twice ? 0.5 : 1;
  double slowest = 0;
  double after = 0;
  for (size_t i = 0; i < parts.cut.stages.size(); ++i) {
    const UnitCost sum = SumOf(parts.cut.stages[i], parts);
    const double time = passed * (sum.forward + sum.backward);
    slowest = std::max(slowest, time);
    const double share = Real(ShareOf({sum.dense, sum.expert}, setup).sum());
    const double zeroed = is_sharded ? share : Real(sum.dense + sum.expert);
    after = std::max(after, ExposedSharing(parts, i, sum, groups) +
                                rates.Seconds(setup, share, zeroed));
  }
  if (is_sharded) slowest = ShardedMicroBatch(parts, groups);
  double seconds =
      Real(setup.micro_batches()) * slowest * (1 + parts.cut.bubble_share) +
      after + 1e-9 * Real(setup.iteration_host_ns);
  if (setup.pipeline > 1) {
    const int64_t apart = StrideOf(setup.order, ViewsOf(setup.sizes()).dense,
                                   RankAxis::kPipeline);
    const double message = groups.Of(CollectiveKind::kSendRecv, {2, apart},
                                     parts.costs.message_bytes);
    seconds += 2 * Real(setup.pipeline - 1) * message;
  }
  return seconds;
}

double LeastSeconds(const ShapeCosts& costs, int64_t stages,
                    int64_t micro_batches) {
  return Real(micro_batches) *
         (costs.total().forward + costs.total().backward) / Real(stages);
}

}  // namespace astra
