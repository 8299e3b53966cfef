// Holds the measured times of one family of kernels on one GPU, from one
// backend and of one precision, and finds times between them.
//
// A line is one shape, with a time at the points of a grid of axes, such as
// products of one n and k over m. What moves from shape to shape is the share
//
//   share = time / (bound + floor)
//
// where bound is the family's formula at the peaks of the GPU, and floor the
// time that no kernel of the surface undercuts (the 0.5 % quantile).

#ifndef WORKLOAD_KERNELS_SURFACE_H_
#define WORKLOAD_KERNELS_SURFACE_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "workload/kernels/expert_load.h"
#include "workload/kernels/family.h"
#include "workload/kernels/kernel_element.h"
#include "workload/operators/compute_model.h"

namespace astra {

// The times of a surface, as a file says them.
struct SurfaceTimes {
  struct Line {
    KernelSizes sizes{};
    std::string kernel;  // Name of the kernel that ran, for experts.
  };
  const KernelFamily* family = nullptr;
  std::string gpu;
  std::string backend;
  std::vector<std::string> words;
  double floor_us = 0;
  // Ascending values of each axis; an axis that the family lacks has one.
  std::array<std::vector<double>, kMaxKernelAxes> axes;
  std::vector<Line> lines;  // By ascending sizes.
  // Natural logarithm of microseconds for each line and point, with the last
  // axis innermost; NaN where nothing was measured.
  std::vector<float> log_us;

  size_t num_points() const { return axes[0].size() * axes[1].size(); }
};

// Logarithm of a share, and how it was found.
struct SharePoint {
  double log_share = 0;
  TimeSource source = TimeSource::kMeasured;
};

class Surface {
 public:
  // Requires the sizes that SurfaceTimes states and positive values where
  // logarithms are taken. `peaks` are those of the GPU.
  Surface(SurfaceTimes times, const KernelPeaks& peaks, ExpertLoads& loads);

  const SurfaceTimes& times() const { return times_; }
  double floor_us() const { return times_.floor_us; }
  const KernelCoordinates& coordinates(size_t line) const {
    return coordinates_[line];
  }

  // Returns the line of these sizes.
  std::optional<size_t> FindLine(const KernelSizes& sizes) const;

  // Returns whether each axis has points on both sides of `point`, or at it.
  bool IsWithin(const KernelPoint& point) const;

  // Returns whether the line has points on both sides of `point`, or one at
  // most a factor of two away on each axis. Kinds do not count.
  bool IsNear(size_t line, const KernelPoint& point) const;

  // Returns the share of a measured shape: measured on the grid, linear in the
  // time between two points (in its square root over quadratic axes), and
  // beyond the grid that of the nearest point, marked as extrapolated.
  // `bound_us` is that of the call.
  SharePoint ShareOf(size_t line, const KernelPoint& point,
                     double bound_us) const;

  // Returns the logarithm of the share that another shape may borrow at this
  // point: linear in logarithms between the points, and that of the nearest
  // point beyond them.
  double BorrowedShare(size_t line, const KernelPoint& point) const;

 private:
  // The values of one line: logarithms of times, which are blended as times, or
  // logarithms of shares, which are blended as they are.
  struct Values {
    const float* at = nullptr;
    bool are_times = false;
  };
  using GridPoint = std::array<size_t, kMaxKernelAxes>;

  size_t IndexOf(const GridPoint& at) const {
    return at[0] * times_.axes[1].size() + at[1];
  }
  // Returns the value of an axis where nearness is judged.
  double Coordinate(size_t axis, double value) const;
  // Returns the position of a value of an axis, or none. A kind that was not
  // measured is the nearest one.
  std::optional<size_t> OnGrid(size_t axis, double value) const;
  // Blends the values at two positions of an axis.
  double Blend(const Values& values, size_t axis, double value,
               std::pair<double, double> positions,
               std::pair<double, double> logs) const;
  // Returns the value between the nearest measured points on both sides along
  // `axis`; `at` gives the place on the other axis. None without such points.
  std::optional<double> Along(const Values& values, size_t axis, double value,
                              GridPoint at) const;
  // The same between four points.
  std::optional<double> Across(const Values& values,
                               const KernelPoint& point) const;
  // Returns the value within the grid, or none beyond it.
  std::optional<SharePoint> Inside(const Values& values,
                                   const KernelPoint& point) const;
  // Returns the measured point next to `point`. Each line has one.
  GridPoint Nearest(size_t line, const KernelPoint& point) const;

  SurfaceTimes times_;
  std::vector<float> log_share_;
  std::vector<KernelCoordinates> coordinates_;
};

}  // namespace astra

#endif  // WORKLOAD_KERNELS_SURFACE_H_
