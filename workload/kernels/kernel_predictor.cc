#include "workload/kernels/kernel_predictor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "workload/kernels/neighbours.h"
#include "workload/kernels/transfer.h"

namespace astra {
namespace {

// Median errors with what is asked for left out of the tables; see
// docs/accuracy/kernels.md.
constexpr double kMeasuredError = 0.005;  // Steps of the text.
constexpr double kInterpolatedError = 0.04;
constexpr double kExtrapolatedError = 0.1;
constexpr double kOtherPrecisionError = 0.15;
constexpr double kSameArchitectureError = 0.12;
constexpr double kOtherArchitectureError = 0.25;

// Beyond so many times the least time of a surface, no time is the host's:
// there the products in blocks of FP8 take as long with vLLM as with
// TensorRT-LLM, and a fifth or less below (the median, on H100, B200 and L40S).
constexpr double kHostFloors = 2;

double ErrorOf(TimeSource source, const KernelFamily& family) {
  switch (source) {
    case TimeSource::kMeasured:
      return kMeasuredError;
    case TimeSource::kInterpolated:
      return kInterpolatedError;
    case TimeSource::kNeighbours:
      return family.neighbour_error;
    default:
      return kExtrapolatedError;
  }
}

// Returns `words`, then those with element types that are more and more unlike.
std::vector<std::vector<std::string>> StandIns(
    const std::vector<std::string>& words) {
  std::vector<std::vector<std::string>> all = {words};
  for (size_t next = 0; next < all.size(); ++next) {
    for (size_t i = 0; i < words.size(); ++i) {
      const KernelElement* type = FindKernelElement(all[next][i]);
      if (type == nullptr || type->like.empty()) continue;
      std::vector<std::string> other = all[next];
      other[i] = type->like;
      if (std::find(all.begin(), all.end(), other) == all.end()) {
        all.push_back(std::move(other));
      }
    }
  }
  return all;
}

// Returns one time from those of several backends; the first is the own one.
double Merged(BackendMerge merge, const std::vector<double>& times) {
  if (merge == BackendMerge::kLesser) {
    return *std::min_element(times.begin(), times.end());
  }
  if (merge == BackendMerge::kOwn) return times.front();
  double log_sum = 0;
  for (const double time : times) log_sum += std::log(time);
  return std::exp(log_sum / static_cast<double>(times.size()));
}

// Returns whether a surface of the backend, which says that a call takes
// `time_us`, may have measured the host.
bool MayBeOfHost(const Surface& surface, double time_us) {
  const SurfaceTimes& times = surface.times();
  const KernelFamily& family = *times.family;
  return !family.host_timed.empty() && times.backend == family.backend &&
         times.words.front() == family.host_timed &&
         time_us < kHostFloors * surface.floor_us();
}

absl::Status NoTable(const KernelCall& call) {
  return absl::NotFoundError(fmt::format(
      "no table of {} of {}", call.family->name, fmt::join(call.words, "/")));
}

}  // namespace

std::string DescribeSource(const KernelEstimate& estimate) {
  std::string text(Name(estimate.source));
  if (!estimate.from.empty()) text += fmt::format(" from {}", estimate.from);
  return text;
}

KernelPredictor::KernelPredictor(GpuSpec gpu, const SurfaceLibrary& library,
                                 std::string backend, LeaveOut leave_out)
    : gpu_(std::move(gpu)),
      peaks_(gpu_),
      library_(library),
      backend_(std::move(backend)),
      leave_out_(leave_out),
      nearest_(library_.NearestTo(gpu_)) {}

double KernelPredictor::LeastFloorUs(const KernelFamily& family) const {
  double least = std::numeric_limits<double>::infinity();
  for (const GpuSpec* gpu : nearest_) {
    for (const std::string_view backend : library_.backends()) {
      for (const Surface& surface : library_.Find(gpu->name, family, backend)) {
        least = std::min(least, surface.floor_us());
      }
    }
    if (std::isfinite(least)) break;
  }
  return least;
}

void KernelPredictor::AddOwn(SurfaceTimes times) {
  times.floor_us = std::min(times.floor_us, LeastFloorUs(*times.family));
  own_.emplace(own_.begin(), std::move(times), peaks_, library_.loads());
}

double KernelPredictor::BoundUs(double flops, double bytes,
                                Precision precision) const {
  const KernelUnit unit = precision == Precision::kNvfp4 ? KernelUnit::kFp4
                          : IsCast(precision)            ? KernelUnit::kFp8
                                                         : KernelUnit::kBf16;
  return std::max(peaks_.ComputeUs(flops, unit), peaks_.MemoryUs(bytes));
}

std::vector<std::string_view> KernelPredictor::BackendsFor(
    const KernelCall& call) const {
  std::vector<std::string_view> backends = library_.backends();
  const bool is_measured =
      std::find(backends.begin(), backends.end(), engine_) != backends.end();
  std::string_view wanted = call.family->backend;
  if (call.family->is_of_engine && is_measured) wanted = engine_;
  if (!backend_.empty()) wanted = backend_;
  std::stable_partition(backends.begin(), backends.end(),
                        [wanted](auto name) { return name == wanted; });
  return backends;
}

std::optional<KernelPredictor::Found> KernelPredictor::FindOn(
    const Surface& surface, const KernelCall& call,
    const KernelPeaks& peaks) const {
  const KernelFamily& family = *call.family;
  const double bound_us = family.bound_us(call, peaks, library_.loads());
  const bool without_shape = leave_out_ == LeaveOut::kShape;
  std::optional<SharePoint> share;
  const std::optional<size_t> line =
      without_shape ? std::nullopt : surface.FindLine(call.sizes);
  if (line) {
    // Tables have no past positions; with them the share is the same.
    KernelCall measured = call;
    measured.past = 0;
    measured.words = surface.times().words;
    share = surface.ShareOf(*line, call.point,
                            family.bound_us(measured, peaks, library_.loads()));
    if (call.past > 0) share->source = TimeSource::kExtrapolated;
  } else {
    share = ShareOfNeighbours(surface, call, without_shape);
  }
  if (!share) return std::nullopt;
  Found found;
  found.floor_us = surface.floor_us();
  found.estimate.bound_us = bound_us;
  found.estimate.time_us =
      (bound_us + surface.floor_us()) * std::exp(share->log_share);
  found.estimate.source = share->source;
  found.estimate.error = ErrorOf(share->source, family);
  // Who asks for a backend wants its times as they are.
  found.may_be_of_host =
      backend_.empty() && MayBeOfHost(surface, found.estimate.time_us);
  return found;
}

std::optional<KernelPredictor::Found> KernelPredictor::FindOf(
    const GpuSpec& gpu, const KernelCall& call, const Words& words,
    std::string_view backend) const {
  for (const Surface& surface :
       library_.Find(gpu.name, *call.family, backend)) {
    if (surface.times().words == words) {
      return FindOn(surface, call, KernelPeaks(gpu));
    }
  }
  return std::nullopt;
}

std::optional<KernelEstimate> KernelPredictor::FindHere(
    const KernelCall& call, const Words& words) const {
  std::optional<KernelEstimate> least;
  double host_us = 0;
  for (const std::string_view backend : BackendsFor(call)) {
    const std::optional<Found> found = FindOf(gpu_, call, words, backend);
    if (!found) continue;
    const KernelEstimate& estimate = found->estimate;
    if (!least && !found->may_be_of_host) return estimate;
    if (!least && IsOfEngine(backend)) host_us = estimate.time_us;
    if (!least || estimate.time_us < least->time_us) least = estimate;
  }
  if (least) least->host_us = host_us;
  return least;
}

std::optional<KernelEstimate> KernelPredictor::FindFrom(
    const GpuSpec& source, const KernelCall& call, const Words& words) const {
  const KernelFamily& family = *call.family;
  const auto bound_us = [&](const KernelPeaks& peaks) {
    return family.bound_us(call, peaks, library_.loads());
  };
  KernelEstimate estimate;
  estimate.bound_us = bound_us(peaks_);
  // Within an architecture the share of the peak that files state for the
  // family tells GPUs apart; others have other kernels, which have shares of
  // their own.
  const bool is_alike = IsSameArchitecture(source, gpu_);
  const bool has_share = is_alike && family.efficiency != nullptr;
  const double share = has_share ? source.calibration.*(family.efficiency) /
                                       gpu_.calibration.*(family.efficiency)
                                 : 1;
  const double here_us =
      bound_us(has_share ? peaks_ : ReachedPeaks(gpu_, source));
  const double there_us =
      bound_us(has_share ? KernelPeaks(source) : ReachedPeaks(source, gpu_));
  std::vector<double> times;
  bool takes_least = false;
  for (const std::string_view backend : BackendsFor(call)) {
    const std::optional<Found> found = FindOf(source, call, words, backend);
    if (!found) continue;
    if (times.empty() && found->may_be_of_host) {
      takes_least = true;
      if (IsOfEngine(backend)) estimate.host_us = found->estimate.time_us;
    }
    const double floor_us = std::min(found->floor_us, found->estimate.time_us);
    const double carried_us =
        CarryOver({found->estimate.time_us, there_us, floor_us}, here_us,
                  family.transfer_power);
    times.push_back(floor_us + share * (carried_us - floor_us));
  }
  if (times.empty()) return std::nullopt;
  const BackendMerge merge = is_alike ? BackendMerge::kOwn : family.merge;
  estimate.time_us = Merged(takes_least ? BackendMerge::kLesser : merge, times);
  estimate.source = TimeSource::kCarriedOver;
  estimate.from = source.name;
  estimate.error = is_alike ? kSameArchitectureError : kOtherArchitectureError;
  return estimate;
}

absl::StatusOr<KernelEstimate> KernelPredictor::EstimateFromOwn(
    const KernelCall& call) const {
  for (const Surface& surface : own_) {
    if (surface.times().family != call.family ||
        surface.times().words != call.words ||
        !HasMeasuredNear(surface, call)) {
      continue;
    }
    if (const auto found = FindOn(surface, call, peaks_)) {
      return found->estimate;
    }
  }
  return NoTable(call);
}

absl::StatusOr<KernelEstimate> KernelPredictor::Estimate(
    const KernelCall& call) const {
  if (auto own = EstimateFromOwn(call); own.ok()) return own;
  const std::vector<Words> choices = StandIns(call.words);
  for (const GpuSpec* gpu : nearest_) {
    const bool is_here = gpu->name == gpu_.name;
    if (is_here && leave_out_ == LeaveOut::kGpu) continue;
    for (const Words& words : choices) {
      std::optional<KernelEstimate> found =
          is_here ? FindHere(call, words) : FindFrom(*gpu, call, words);
      if (!found) continue;
      if (words != call.words && is_here) {
        found->source = TimeSource::kOtherPrecision;
      }
      if (words != call.words) {
        found->error = std::max(found->error, kOtherPrecisionError);
      }
      return *found;
    }
  }
  return NoTable(call);
}

}  // namespace astra
