#include "workload/kernels/surface.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "astra-core/base/check.h"

namespace astra {
namespace {

constexpr double kKindsApart = 40;  // Distance of two kinds on an axis.

const KernelAxis* AxisOf(const KernelFamily& family, size_t axis) {
  return axis < family.axes.size() ? &family.axes[axis] : nullptr;
}

}  // namespace

Surface::Surface(SurfaceTimes times, const KernelPeaks& peaks,
                 ExpertLoads& loads)
    : times_(std::move(times)), log_share_(times_.log_us.size()) {
  ASTRA_CHECK(times_.log_us.size() == times_.lines.size() * times_.num_points(),
              "{} times of {} lines", times_.log_us.size(),
              times_.lines.size());
  KernelCall call;
  call.family = times_.family;
  call.words = times_.words;
  size_t next = 0;
  for (const SurfaceTimes::Line& line : times_.lines) {
    coordinates_.push_back(times_.family->coordinates(line.sizes));
    call.sizes = line.sizes;
    for (const double first : times_.axes[0]) {
      for (const double second : times_.axes[1]) {
        const float log_us = times_.log_us[next];
        call.point = {first, second};
        if (!std::isnan(log_us)) {
          const double bound = times_.family->bound_us(call, peaks, loads);
          log_share_[next] =
              log_us - static_cast<float>(std::log(bound + times_.floor_us));
        } else {
          log_share_[next] = log_us;
        }
        ++next;
      }
    }
  }
}

std::optional<size_t> Surface::FindLine(const KernelSizes& sizes) const {
  const auto found = std::lower_bound(
      times_.lines.begin(), times_.lines.end(), sizes,
      [](const SurfaceTimes::Line& line, const KernelSizes& wanted) {
        return line.sizes < wanted;
      });
  if (found == times_.lines.end() || found->sizes != sizes) return std::nullopt;
  return static_cast<size_t>(found - times_.lines.begin());
}

bool Surface::IsWithin(const KernelPoint& point) const {
  for (size_t axis = 0; axis < times_.family->axes.size(); ++axis) {
    if (times_.family->axes[axis].is_discrete) continue;
    const std::vector<double>& grid = times_.axes[axis];
    if (point[axis] < grid.front() || point[axis] > grid.back()) return false;
  }
  return true;
}

double Surface::Coordinate(size_t axis, double value) const {
  const KernelAxis* spec = AxisOf(*times_.family, axis);
  if (spec == nullptr) return 0;
  if (spec->is_discrete) {
    return kKindsApart * static_cast<double>(OnGrid(axis, value).value_or(0));
  }
  constexpr double kLeast = 1e-9;
  return std::log2(std::max(value + spec->offset, kLeast));
}

std::optional<size_t> Surface::OnGrid(size_t axis, double value) const {
  const std::vector<double>& values = times_.axes[axis];
  const auto found = std::lower_bound(values.begin(), values.end(), value);
  const auto index = static_cast<size_t>(found - values.begin());
  if (found != values.end() && *found == value) return index;
  const KernelAxis* spec = AxisOf(*times_.family, axis);
  if (spec == nullptr) return 0;
  if (!spec->is_discrete) return std::nullopt;
  if (index == values.size()) return index - 1;
  const bool is_lower =
      index > 0 && value - values[index - 1] <= values[index] - value;
  return is_lower ? index - 1 : index;
}

double Surface::Blend(const Values& values, size_t axis, double value,
                      std::pair<double, double> positions,
                      std::pair<double, double> logs) const {
  if (!values.are_times) {
    const double low = Coordinate(axis, positions.first);
    const double high = Coordinate(axis, positions.second);
    const double weight = (Coordinate(axis, value) - low) / (high - low);
    return logs.first + weight * (logs.second - logs.first);
  }
  const double weight =
      (value - positions.first) / (positions.second - positions.first);
  const double power = times_.family->axes[axis].is_quadratic ? 0.5 : 1;
  return std::log((1 - weight) * std::exp(power * logs.first) +
                  weight * std::exp(power * logs.second)) /
         power;
}

std::optional<double> Surface::Along(const Values& values, size_t axis,
                                     double value, GridPoint at) const {
  const std::vector<double>& grid = times_.axes[axis];
  const auto value_at = [&](size_t i) {
    at[axis] = i;
    return static_cast<double>(values.at[IndexOf(at)]);
  };
  size_t above = 0;
  while (above < grid.size() &&
         (grid[above] < value || std::isnan(value_at(above)))) {
    ++above;
  }
  if (above == grid.size()) return std::nullopt;
  const double high = value_at(above);
  if (grid[above] == value) return high;
  for (size_t below = above; below-- > 0;) {
    const double low = value_at(below);
    if (grid[below] > value || std::isnan(low)) continue;
    return Blend(values, axis, value, {grid[below], grid[above]}, {low, high});
  }
  return std::nullopt;
}

std::optional<double> Surface::Across(const Values& values,
                                      const KernelPoint& point) const {
  const size_t axis = times_.family->first_axis;
  const size_t other = 1 - axis;
  const std::vector<double>& grid = times_.axes[other];
  const auto found = std::lower_bound(grid.begin(), grid.end(), point[other]);
  if (found == grid.begin() || found == grid.end()) return std::nullopt;
  GridPoint at{};
  at[other] = static_cast<size_t>(found - grid.begin());
  const std::optional<double> high = Along(values, axis, point[axis], at);
  --at[other];
  const std::optional<double> low = Along(values, axis, point[axis], at);
  if (!low || !high) return std::nullopt;
  return Blend(values, other, point[other], {*(found - 1), *found},
               {*low, *high});
}

std::optional<SharePoint> Surface::Inside(const Values& values,
                                          const KernelPoint& point) const {
  const std::array<std::optional<size_t>, kMaxKernelAxes> on = {
      OnGrid(0, point[0]), OnGrid(1, point[1])};
  if (on[0] && on[1]) {
    const float value = values.at[IndexOf({*on[0], *on[1]})];
    if (!std::isnan(value)) return SharePoint{value, TimeSource::kMeasured};
  }
  const KernelFamily& family = *times_.family;
  for (size_t i = 0; i < family.axes.size(); ++i) {
    const size_t axis = i == 0 ? family.first_axis : 1 - family.first_axis;
    if (family.axes[axis].is_discrete || !on[1 - axis]) continue;
    GridPoint at{};
    at[1 - axis] = *on[1 - axis];
    if (const auto value = Along(values, axis, point[axis], at)) {
      return SharePoint{*value, TimeSource::kInterpolated};
    }
  }
  if (on[0] || on[1]) return std::nullopt;
  const std::optional<double> value = Across(values, point);
  if (!value) return std::nullopt;
  return SharePoint{*value, TimeSource::kInterpolated};
}

Surface::GridPoint Surface::Nearest(size_t line,
                                    const KernelPoint& point) const {
  const float* values = &log_share_[line * times_.num_points()];
  const KernelPoint wanted = {Coordinate(0, point[0]), Coordinate(1, point[1])};
  double least = std::numeric_limits<double>::infinity();
  GridPoint nearest{};
  for (size_t i = 0; i < times_.axes[0].size(); ++i) {
    const double across = Coordinate(0, times_.axes[0][i]) - wanted[0];
    for (size_t j = 0; j < times_.axes[1].size(); ++j) {
      const double along = Coordinate(1, times_.axes[1][j]) - wanted[1];
      const double distance = across * across + along * along;
      if (!std::isnan(values[IndexOf({i, j})]) && distance < least) {
        least = distance;
        nearest = {i, j};
      }
    }
  }
  return nearest;
}

bool Surface::IsNear(size_t line, const KernelPoint& point) const {
  constexpr double kDoubling = 1;  // Of a logarithm to the base of 2.
  const Values values = {&times_.log_us[line * times_.num_points()],
                         /*are_times=*/true};
  if (Inside(values, point)) return true;
  const GridPoint nearest = Nearest(line, point);
  for (size_t axis = 0; axis < times_.family->axes.size(); ++axis) {
    if (times_.family->axes[axis].is_discrete) continue;
    const double measured = times_.axes[axis][nearest[axis]];
    if (std::abs(Coordinate(axis, measured) - Coordinate(axis, point[axis])) >
        kDoubling) {
      return false;
    }
  }
  return true;
}

SharePoint Surface::ShareOf(size_t line, const KernelPoint& point,
                            double bound_us) const {
  const size_t begin = line * times_.num_points();
  const Values values = {&times_.log_us[begin], /*are_times=*/true};
  std::optional<SharePoint> share = Inside(values, point);
  if (!share) {
    return {log_share_[begin + IndexOf(Nearest(line, point))],
            TimeSource::kExtrapolated};
  }
  share->log_share -= std::log(bound_us + times_.floor_us);
  return *share;
}

double Surface::BorrowedShare(size_t line, const KernelPoint& point) const {
  const size_t begin = line * times_.num_points();
  const Values values = {&log_share_[begin], /*are_times=*/false};
  const std::optional<SharePoint> share = Inside(values, point);
  return share ? share->log_share
               : log_share_[begin + IndexOf(Nearest(line, point))];
}

}  // namespace astra
