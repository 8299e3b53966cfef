#include "workload/operators/measured_model.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "astra-core/base/check.h"

namespace astra {
namespace {

// Relative errors to expect, from the profiles of Vidur (A100, H100) and of the
// estimator (A100, GH200). Samples were left out of the tables and then
// predicted; the figures below are medians.
struct ErrorClass {
  TimeSource source;
  double error;
};
constexpr ErrorClass kErrors[] = {
    // Half of the spread between runs of one shape, for nine shapes of ten.
    {TimeSource::kMeasured, 0.05},
    // A fifth of the samples left out: products 0.01 to 0.03, streams 0.01 to
    // 0.05, attention 0.09 to 0.12.
    {TimeSource::kInterpolated, 0.10},
    // All samples above 1024 tokens left out: products and attention 0.05 to
    // 0.10, streams 0.11 to 0.14.
    {TimeSource::kExtrapolated, 0.15},
    // One GPU left out: products 0.06 to 0.10, streams 0.07 to 0.20, attention
    // with another version of its kernels 0.37 to 0.59.
    {TimeSource::kCarriedOver, 0.40},
};

double ErrorOf(TimeSource source) {
  for (const ErrorClass& known : kErrors) {
    if (known.source == source) return known.error;
  }
  return 0;
}

// Samples further apart say little about shapes between them, because kernels
// that fill more and more of the GPU take times in steps.
constexpr int64_t kWidestGap = 2;

double FactorOf(int64_t a, int64_t b) {
  return static_cast<double>(std::max<int64_t>(a, 1)) /
         static_cast<double>(std::max<int64_t>(b, 1));
}

double Distance(const Dimensions& a, const Dimensions& b) {
  double distance = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    distance += std::abs(std::log(FactorOf(a[i], b[i])));
  }
  return distance;
}

// Returns the only dimension in which `a` and `b` differ, or none.
std::optional<size_t> OnlyDifference(const Dimensions& a, const Dimensions& b) {
  std::optional<size_t> only;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    if (only) return std::nullopt;
    only = i;
  }
  return only;
}

// The nearest samples below and above a shape along one dimension.
struct Neighbours {
  std::optional<size_t> below;
  std::optional<size_t> above;
};

}  // namespace

struct MeasuredModel::Wanted {
  OperatorClass kind;
  Dimensions dimensions;
  MeasuredOperators::Range here;  // Samples on this GPU.
  OperatorTime roofline;
};

MeasuredModel::MeasuredModel(std::string gpu, const MeasuredOperators& measured,
                             Rooflines rooflines)
    : gpu_(std::move(gpu)),
      measured_(measured),
      rooflines_(std::move(rooflines)) {
  ASTRA_CHECK(rooflines_.count(gpu_) == 1, "no roofline model of {}", gpu_);
  reached_.reserve(measured_.samples().size());
  for (const OperatorSample& sample : measured_.samples()) {
    Reached& reached = reached_.emplace_back();
    reached.dimensions = DimensionsOf(sample.shape);
    const auto model = rooflines_.find(sample.gpu);
    if (model == rooflines_.end()) continue;
    const OperatorTime roofline = model->second->TimeOf(sample.op());
    reached.share = static_cast<double>(sample.time.count()) /
                    static_cast<double>(roofline.time.count());
    reached.bound = roofline.bound;
  }
}

OperatorTime MeasuredModel::TimeOf(const Operator& op) const {
  Wanted wanted = {.kind = ClassOf(op),
                   .dimensions = DimensionsOf(op.shape),
                   .here = {},
                   .roofline = rooflines_.at(gpu_)->TimeOf(op)};
  wanted.here = measured_.Find(gpu_, wanted.kind);
  const auto answer = [&wanted](TimePs time, TimeSource source) {
    return OperatorTime{.time = time,
                        .source = source,
                        .bound = wanted.roofline.bound,
                        .error = ErrorOf(source)};
  };
  if (const std::optional<size_t> exact = FindExact(wanted)) {
    return answer(measured_.samples()[*exact].time, TimeSource::kMeasured);
  }
  if (const std::optional<TimePs> time = Interpolate(wanted)) {
    return answer(*time, TimeSource::kInterpolated);
  }
  const std::optional<Nearest> nearest = FindNearest(wanted.here, wanted);
  if (nearest) {
    return Scale(*nearest, wanted,
                 nearest->is_inside ? TimeSource::kInterpolated
                                    : TimeSource::kExtrapolated);
  }
  // Kernels measured on this GPU say more than operators of another one.
  if (wanted.roofline.source < TimeSource::kCarriedOver) return wanted.roofline;
  if (const std::optional<Nearest> other = FindElsewhere(wanted)) {
    return Scale(*other, wanted, TimeSource::kCarriedOver);
  }
  return wanted.roofline;
}

std::optional<size_t> MeasuredModel::FindExact(const Wanted& wanted) const {
  const auto begin = reached_.begin();
  const auto end = begin + static_cast<ptrdiff_t>(wanted.here.end);
  const auto found = std::lower_bound(
      begin + static_cast<ptrdiff_t>(wanted.here.begin), end, wanted.dimensions,
      [](const Reached& reached, const Dimensions& dimensions) {
        return reached.dimensions < dimensions;
      });
  if (found == end || found->dimensions != wanted.dimensions) {
    return std::nullopt;
  }
  return static_cast<size_t>(found - begin);
}

std::optional<TimePs> MeasuredModel::Interpolate(const Wanted& wanted) const {
  std::array<Neighbours, std::tuple_size_v<Dimensions>> along;
  for (size_t i = wanted.here.begin; i < wanted.here.end; ++i) {
    const Dimensions& dimensions = reached_[i].dimensions;
    const std::optional<size_t> d =
        OnlyDifference(dimensions, wanted.dimensions);
    if (!d) continue;
    // Samples are in ascending order.
    if (dimensions[*d] < wanted.dimensions[*d]) {
      along[*d].below = i;
    } else if (!along[*d].above) {
      along[*d].above = i;
    }
  }
  std::optional<TimePs> best;
  double narrowest = kWidestGap;
  for (size_t d = 0; d < along.size(); ++d) {
    if (!along[d].below || !along[d].above) continue;
    const int64_t low = reached_[*along[d].below].dimensions[d];
    const int64_t high = reached_[*along[d].above].dimensions[d];
    const double gap = FactorOf(high, low);
    if (gap > narrowest || (best && gap == narrowest)) continue;
    narrowest = gap;
    const TimePs from = measured_.samples()[*along[d].below].time;
    const TimePs to = measured_.samples()[*along[d].above].time;
    const double share = static_cast<double>(wanted.dimensions[d] - low) /
                         static_cast<double>(high - low);
    best = ShareOf(1 - share, from) + ShareOf(share, to);
  }
  return best;
}

std::optional<MeasuredModel::Nearest> MeasuredModel::FindNearest(
    MeasuredOperators::Range range, const Wanted& wanted) const {
  std::optional<Nearest> nearest;
  Dimensions least, most;
  least.fill(std::numeric_limits<int64_t>::max());
  most.fill(0);
  for (size_t i = range.begin; i < range.end; ++i) {
    const Reached& reached = reached_[i];
    for (size_t d = 0; d < least.size(); ++d) {
      least[d] = std::min(least[d], reached.dimensions[d]);
      most[d] = std::max(most[d], reached.dimensions[d]);
    }
    if (reached.bound != wanted.roofline.bound) continue;
    const double distance = Distance(reached.dimensions, wanted.dimensions);
    if (nearest && nearest->distance <= distance) continue;
    nearest = {.sample = i, .distance = distance};
  }
  if (!nearest) return std::nullopt;
  nearest->is_inside = true;
  for (size_t d = 0; d < least.size(); ++d) {
    const int64_t size = wanted.dimensions[d];
    nearest->is_inside &= least[d] <= size && size <= most[d];
  }
  return nearest;
}

std::optional<MeasuredModel::Nearest> MeasuredModel::FindElsewhere(
    const Wanted& wanted) const {
  std::optional<Nearest> best;
  for (const auto& [gpu, unused] : rooflines_) {
    if (gpu == gpu_) continue;
    const std::optional<Nearest> nearest =
        FindNearest(measured_.Find(gpu, wanted.kind), wanted);
    if (!nearest || !nearest->is_inside) continue;
    if (!best || nearest->distance < best->distance) best = nearest;
  }
  return best;
}

OperatorTime MeasuredModel::Scale(const Nearest& nearest, const Wanted& wanted,
                                  TimeSource source) const {
  constexpr double kMaxPs = 9e18;  // Below the limit of an int64_t.
  const double ps = reached_[nearest.sample].share *
                    static_cast<double>(wanted.roofline.time.count());
  return {.time = TimePs(std::llround(std::clamp(ps, 1.0, kMaxPs))),
          .source = source,
          .bound = wanted.roofline.bound,
          .error = ErrorOf(source)};
}

}  // namespace astra
