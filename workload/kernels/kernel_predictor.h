// Predicts how long a kernel takes on a GPU, from measured surfaces.

#ifndef WORKLOAD_KERNELS_KERNEL_PREDICTOR_H_
#define WORKLOAD_KERNELS_KERNEL_PREDICTOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "workload/kernels/family.h"
#include "workload/kernels/surface.h"
#include "workload/kernels/surface_library.h"
#include "workload/operators/compute_model.h"
#include "workload/operators/gpu_spec.h"

namespace astra {

// A check leaves these lines of the surfaces out.
enum class LeaveOut : uint8_t {
  kNone,
  kShape,  // All lines of the shape that is asked for.
  kGpu,    // The GPU altogether.
};

struct KernelEstimate {
  double time_us = 0;
  double bound_us = 0;  // At the peaks of the GPU.
  TimeSource source = TimeSource::kMeasured;
  // GPU that the time was carried over from; empty if none.
  std::string_view from;
  double error = 0;  // Relative error to expect.
  // The host takes so long to start the kernel where no CUDA graph does. 0: no
  // table tells.
  double host_us = 0;
};

// Returns "measured", "carried over from h100-sxm", ...
std::string DescribeSource(const KernelEstimate& estimate);

// Answers from the first of these that can:
//
//   1. surfaces of the user's own tables, where they measured something like
//      the call (HasMeasuredNear)
//   2. surfaces of the GPU, of the backend asked for, else of another one
//   3. the same of the element type that is most like the one asked for
//   4. the same two of the GPU nearest by its peaks, carried over (transfer.h)
//
// Where the time of a surface may be the host's (KernelFamily::host_timed), the
// least time of all backends is that of the kernel.
//
// Within a surface the answer comes from the shape itself if it was measured,
// else from its neighbours (surface.h, neighbours.h).
class KernelPredictor {
 public:
  // An empty `backend` means that of the family. `library` must outlive this
  // object.
  KernelPredictor(GpuSpec gpu, const SurfaceLibrary& library,
                  std::string backend = "",
                  LeaveOut leave_out = LeaveOut::kNone);

  // Names the engine that runs the kernels. Its surfaces go first where engines
  // bring kernels of their own (KernelFamily::is_of_engine), unless a backend
  // was asked for; and no other engine's host counts.
  void SetEngine(std::string engine) { engine_ = std::move(engine); }

  // Adds a surface of the user's own, which goes before all but those added
  // later. Its floor, known from few rows, is at most the least of the surfaces
  // of the same family that are built in for the GPU, or for one nearest to it.
  void AddOwn(SurfaceTimes times);

  // Returns the least time at the peaks of the GPU.
  double BoundUs(double flops, double bytes, Precision precision) const;

  // Errors: NotFound for a kernel that no surface is near to.
  absl::StatusOr<KernelEstimate> Estimate(const KernelCall& call) const;

  // Answers from the user's own tables only.
  //
  // Errors: NotFound for a kernel that none of them has measured near.
  absl::StatusOr<KernelEstimate> EstimateFromOwn(const KernelCall& call) const;

 private:
  using Words = std::vector<std::string>;
  // An estimate on the GPU of a surface.
  struct Found {
    KernelEstimate estimate;
    double floor_us = 0;
    bool may_be_of_host = false;
  };

  std::optional<Found> FindOn(const Surface& surface, const KernelCall& call,
                              const KernelPeaks& peaks) const;
  std::optional<Found> FindOf(const GpuSpec& gpu, const KernelCall& call,
                              const Words& words,
                              std::string_view backend) const;
  std::optional<KernelEstimate> FindHere(const KernelCall& call,
                                         const Words& words) const;
  std::optional<KernelEstimate> FindFrom(const GpuSpec& source,
                                         const KernelCall& call,
                                         const Words& words) const;
  // Returns the least floor of the surfaces that are built in for the GPU, or
  // for one nearest to it; infinity without any.
  double LeastFloorUs(const KernelFamily& family) const;
  std::vector<std::string_view> BackendsFor(const KernelCall& call) const;
  bool IsOfEngine(std::string_view backend) const {
    return engine_.empty() || engine_ == backend;
  }

  GpuSpec gpu_;
  KernelPeaks peaks_;
  const SurfaceLibrary& library_;
  std::string backend_;
  std::string engine_;
  LeaveOut leave_out_;
  std::vector<const GpuSpec*> nearest_;
  std::vector<Surface> own_;
};

}  // namespace astra

#endif  // WORKLOAD_KERNELS_KERNEL_PREDICTOR_H_
