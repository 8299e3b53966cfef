// The time of an operator from the peaks of a GPU and its calibration.

#ifndef WORKLOAD_OPERATORS_ROOFLINE_H_
#define WORKLOAD_OPERATORS_ROOFLINE_H_

#include <utility>

#include "workload/operators/compute_model.h"
#include "workload/operators/gpu_spec.h"
#include "workload/operators/operator.h"

namespace astra {

// time = max(compute, memory) + kernels x kernel_us, rounded up to a
// picosecond.
//
//   memory     BytesMoved() at the memory bandwidth, by the share that is
//              calibrated for the operator's name, or for all
//   compute    of products: GemmComputeTime().
//              Of attention: its FLOPs, each pair of a query and a key counted
//              with kSoftmaxDims more dimensions for its exponential, at the
//              calibrated share of the BF16 peak; and half a block of 128
//              queries more, because the SMs do not end together. Fewer queries
//              than that are cut along the keys instead.
//              Of the delta rule: its FLOPs at the calibrated share.
//   kernel_us  the start and the end of any kernel, by the operator's name or
//              for all; of several kernels where each group is one
class Roofline : public ComputeModel {
 public:
  // The FLOPs of the softmax of one pair, as dimensions of the two products.
  // FlashAttention-3 on H100 reaches 497, 648 and 756 TFLOP/s with 64, 128 and
  // 256 dimensions each.
  //
  // Source: J. Shah et al., "FlashAttention-3", arXiv 2407.08608, figure 5.
  static constexpr double kSoftmaxDims = 110;

  explicit Roofline(GpuSpec gpu) : gpu_(std::move(gpu)) {}

  const GpuSpec& gpu() const { return gpu_; }

  OperatorTime TimeOf(const Operator& op) const override;

 private:
  // Seconds.
  double KernelTime(const Operator& op) const;
  double MemoryTime(const Operator& op) const;
  double ComputeTime(const Gemm& gemm, Precision precision) const;
  double ComputeTime(const Attention& attention, Precision precision) const;
  double ComputeTime(const DeltaRule& rule, Precision precision) const;
  double ComputeTime(const Stream& stream, Precision precision) const;

  GpuSpec gpu_;
};

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_ROOFLINE_H_
