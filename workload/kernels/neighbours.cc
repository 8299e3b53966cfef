#include "workload/kernels/neighbours.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace astra {
namespace {

constexpr double kRidge = 0.05;

using Matrix = std::array<std::array<double, kMaxKernelCoordinates>,
                          kMaxKernelCoordinates>;

// Solves a x = b for a positive definite matrix of size n.
KernelCoordinates Solve(Matrix a, KernelCoordinates b, size_t n) {
  for (size_t pivot = 0; pivot < n; ++pivot) {
    for (size_t row = pivot + 1; row < n; ++row) {
      const double factor = a[row][pivot] / a[pivot][pivot];
      for (size_t i = pivot; i < n; ++i) a[row][i] -= factor * a[pivot][i];
      b[row] -= factor * b[pivot];
    }
  }
  for (size_t row = n; row-- > 0;) {
    for (size_t i = row + 1; i < n; ++i) b[row] -= a[row][i] * b[i];
    b[row] /= a[row][row];
  }
  return b;
}

KernelCoordinates Difference(const KernelCoordinates& a,
                             const KernelCoordinates& b) {
  KernelCoordinates difference{};
  for (size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
  return difference;
}

double SquaredLength(const KernelCoordinates& a) {
  double sum = 0;
  for (const double x : a) sum += x * x;
  return sum;
}

bool IsOfGroup(const KernelSizes& a, const KernelSizes& b, size_t sizes) {
  return std::equal(a.begin(), a.begin() + static_cast<ptrdiff_t>(sizes),
                    b.begin());
}

// Keeps the candidates of one kernel, where there are two of them.
void KeepKernel(const Surface& surface, std::string kernel,
                std::vector<Neighbour>& candidates) {
  const auto& lines = surface.times().lines;
  if (kernel.empty() && !candidates.empty()) {
    kernel = lines[candidates[0].line].kernel;
  }
  const auto is_other = [&](const Neighbour& candidate) {
    return lines[candidate.line].kernel != kernel;
  };
  const auto others =
      std::count_if(candidates.begin(), candidates.end(), is_other);
  if (static_cast<ptrdiff_t>(candidates.size()) - others < 2) return;
  candidates.erase(
      std::remove_if(candidates.begin(), candidates.end(), is_other),
      candidates.end());
}

// Returns the value in the middle of the weights; see Neighbour::inverse.
double WeightedMedian(absl::Span<const Neighbour> neighbours,
                      absl::Span<const double> values) {
  std::vector<size_t> order(values.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return values[a] < values[b]; });
  double sum = 0;
  for (const size_t i : order) {
    sum += neighbours[i].inverse;
    if (sum >= 0.5) return values[i];
  }
  return values[order.back()];
}

// Positions of the sizes of experts.
constexpr size_t kTopk = 2;
constexpr size_t kExperts = 3;

// Returns the point at which `line` does what `call` does.
KernelPoint PointFor(const Surface& surface, size_t line,
                     const KernelCall& call) {
  KernelPoint point = call.point;
  if (!call.family->has_kernels) return point;
  const KernelSizes& sizes = surface.times().lines[line].sizes;
  point[1] *= std::sqrt(call.sizes[kTopk] / call.sizes[kExperts] *
                        sizes[kExperts] / sizes[kTopk]);
  return point;
}

}  // namespace

void SetLinearWeights(absl::Span<const KernelCoordinates> offsets,
                      size_t num_coordinates,
                      std::vector<Neighbour>& neighbours) {
  KernelCoordinates mean{};
  for (size_t i = 0; i < offsets.size(); ++i) {
    for (size_t a = 0; a < num_coordinates; ++a) {
      mean[a] += neighbours[i].inverse * offsets[i][a];
    }
  }
  Matrix spread{};
  for (size_t a = 0; a < num_coordinates; ++a) spread[a][a] = kRidge;
  for (size_t i = 0; i < offsets.size(); ++i) {
    const KernelCoordinates from_mean = Difference(offsets[i], mean);
    for (size_t a = 0; a < num_coordinates; ++a) {
      for (size_t b = 0; b < num_coordinates; ++b) {
        spread[a][b] += neighbours[i].inverse * from_mean[a] * from_mean[b];
      }
    }
  }
  const KernelCoordinates slope = Solve(spread, mean, num_coordinates);
  for (size_t i = 0; i < offsets.size(); ++i) {
    const KernelCoordinates from_mean = Difference(offsets[i], mean);
    double product = 0;
    for (size_t a = 0; a < num_coordinates; ++a) {
      product += from_mean[a] * slope[a];
    }
    neighbours[i].linear = neighbours[i].inverse * (1 - product);
  }
}

std::vector<Neighbour> FindNeighbours(const Surface& surface,
                                      const KernelCall& call,
                                      bool leaves_out_group) {
  const KernelFamily& family = *call.family;
  const KernelCoordinates place = family.coordinates(call.sizes);
  std::vector<Neighbour> all;
  all.reserve(surface.times().lines.size());
  for (size_t i = 0; i < surface.times().lines.size(); ++i) {
    if (leaves_out_group && IsOfGroup(surface.times().lines[i].sizes,
                                      call.sizes, family.group_sizes)) {
      continue;
    }
    const KernelCoordinates offset = Difference(surface.coordinates(i), place);
    all.push_back({.line = i, .distance = SquaredLength(offset)});
  }
  const auto is_nearer = [](const Neighbour& a, const Neighbour& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.line < b.line;
  };
  if (family.has_kernels) {
    std::sort(all.begin(), all.end(), is_nearer);
    KeepKernel(surface, call.kernel, all);
  }
  const size_t count = std::min(family.num_neighbours, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<ptrdiff_t>(count),
                    all.end(), is_nearer);
  all.resize(count);
  double sum = 0;
  for (const Neighbour& one : all) sum += 1 / (one.distance + kRidge);
  std::vector<KernelCoordinates> offsets;
  for (Neighbour& one : all) {
    one.inverse = 1 / (one.distance + kRidge) / sum;
    offsets.push_back(Difference(surface.coordinates(one.line), place));
  }
  SetLinearWeights(offsets, family.num_coordinates, all);
  return all;
}

bool HasMeasuredNear(const Surface& surface, const KernelCall& call) {
  const size_t num_sizes = call.family->sizes.size();
  const auto is_near = [](double a, double b) {
    return a <= 2 * b && b <= 2 * a;
  };
  for (size_t line = 0; line < surface.times().lines.size(); ++line) {
    const KernelSizes& sizes = surface.times().lines[line].sizes;
    if (std::equal(call.sizes.begin(),
                   call.sizes.begin() + static_cast<ptrdiff_t>(num_sizes),
                   sizes.begin(), is_near) &&
        surface.IsNear(line, PointFor(surface, line, call))) {
      return true;
    }
  }
  return false;
}

std::optional<SharePoint> ShareOfNeighbours(const Surface& surface,
                                            const KernelCall& call,
                                            bool leaves_out_group) {
  const std::vector<Neighbour> neighbours =
      FindNeighbours(surface, call, leaves_out_group);
  if (neighbours.empty()) return std::nullopt;
  std::vector<double> values;
  SharePoint share = {0, surface.IsWithin(call.point)
                             ? TimeSource::kNeighbours
                             : TimeSource::kExtrapolated};
  for (const Neighbour& one : neighbours) {
    values.push_back(
        surface.BorrowedShare(one.line, PointFor(surface, one.line, call)));
    share.log_share += one.linear * values.back();
  }
  if (call.family->has_kernels && surface.times().backend == "trtllm") {
    share.log_share = WeightedMedian(neighbours, values);
  }
  return share;
}

}  // namespace astra
