// Computes the time of an operator from the peaks of a GPU and its calibration.

#ifndef WORKLOAD_OPERATORS_ROOFLINE_H_
#define WORKLOAD_OPERATORS_ROOFLINE_H_

#include <utility>

#include "workload/operators/compute_model.h"
#include "workload/operators/gpu_spec.h"
#include "workload/operators/operator.h"

namespace astra {

// Model, rounded up to a picosecond:
//
//   time = max(compute, memory) + kernels x kernel_us
//
//   memory     BytesMoved() at the memory bandwidth, times the share calibrated
//              for the operator's name, or for all operators
//   compute    Products: GemmComputeTime().
//              Attention: its FLOPs at the calibrated share of the BF16 peak.
//              Each pair of a query and a key counts kSoftmaxDims additional
//              dimensions for its exponential. Half a block of 128 queries is
//              added, because the SMs do not end together; fewer queries than
//              that are cut along the keys instead.
//              Delta rule: its FLOPs at the calibrated share.
//   kernel_us  start and end of a kernel, for the operator's name or for all
//   kernels    1, or the number of groups where each group is a kernel
class Roofline : public ComputeModel {
 public:
  // FLOPs of the softmax of one pair, expressed as dimensions of the two
  // products. FlashAttention-3 on H100 reaches 497, 648 and 756 TFLOP/s with
  // 64, 128 and 256 dimensions each.
  //
  // Source: J. Shah et al., "FlashAttention-3", arXiv 2407.08608, figure 5.
  static constexpr double kSoftmaxDims = 110;

  explicit Roofline(GpuSpec gpu) : gpu_(std::move(gpu)) {}

  const GpuSpec& gpu() const { return gpu_; }

  OperatorTime TimeOf(const Operator& op) const override;

 private:
  // Return seconds.
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
