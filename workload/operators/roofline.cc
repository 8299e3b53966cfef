#include "workload/operators/roofline.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>

#include "workload/operators/gemm_time.h"

namespace astra {
namespace {

constexpr int64_t kBlockQueries = 128;

TimePs FromSeconds(double seconds) {
  constexpr double kMaxPs = 9e18;  // Below the limit of an int64_t.
  const double ps = std::ceil(seconds * 1e12);
  return TimePs(static_cast<int64_t>(std::clamp(ps, 1.0, kMaxPs)));
}

}  // namespace

OperatorTime Roofline::TimeOf(const Operator& op) const {
  const double compute = std::visit(
      [&](const auto& shape) { return ComputeTime(shape, op.precision); },
      op.shape);
  const double memory = MemoryTime(op);
  const double kernel = KernelTime(op);
  const double work = std::max(compute, memory);
  OperatorTime result;
  result.time = FromSeconds(work + kernel);
  result.error = gpu_.calibration.error;
  if (work < kernel) {
    result.bound = "launch";
  } else {
    result.bound = compute >= memory ? "compute" : "memory";
  }
  return result;
}

double Roofline::KernelTime(const Operator& op) const {
  const Calibration& calibration = gpu_.calibration;
  const Gemm* gemm = std::get_if<Gemm>(&op.shape);
  const bool is_several = gemm != nullptr && gemm->starts_each_group;
  const Stream* stream = std::get_if<Stream>(&op.shape);
  const int64_t host_ns = stream != nullptr ? stream->host_ns : 0;
  return calibration.kernel_us * 1e-6 *
             (is_several ? static_cast<double>(gemm->groups) : 1) +
         static_cast<double>(host_ns) * 1e-9;
}

double Roofline::MemoryTime(const Operator& op) const {
  const Calibration& calibration = gpu_.calibration;
  const auto named = calibration.memory_of.find(std::string(op.name));
  const double share =
      named == calibration.memory_of.end() ? calibration.memory : named->second;
  return BytesMoved(op) / (gpu_.memory_gb_per_s * 1e9 * share);
}

double Roofline::ComputeTime(const Gemm& gemm, Precision precision) const {
  return GemmComputeTime(gpu_, gemm, precision);
}

double Roofline::ComputeTime(const Attention& attention,
                             Precision precision) const {
  const Calibration& calibration = gpu_.calibration;
  const double share = (attention.backward ? calibration.attention_backward
                                           : calibration.attention_forward) *
                       (attention.has_bias ? calibration.attention_bias : 1);
  // Attention in FP8 is rare and runs here at the BF16 rate.
  const Precision unit = std::min(precision, Precision::kBf16);
  const double rate = gpu_.peak_tflops[IndexOf(unit)] * 1e12 * share;
  const double flops = Flops({"", attention});
  if (flops == 0) return 0;
  const auto dims = static_cast<double>(attention.qk_dim + attention.v_dim);
  const double time = flops * (1 + kSoftmaxDims / dims) / rate;
  if (attention.queries < kBlockQueries) return time;
  const double blocks =
      static_cast<double>(attention.batch) *
      static_cast<double>(attention.heads) *
      std::ceil(static_cast<double>(attention.queries) / kBlockQueries);
  return time * (1 + static_cast<double>(gpu_.num_sms) / (2 * blocks));
}

double Roofline::ComputeTime(const DeltaRule& rule, Precision) const {
  return Flops({"", rule}) / (gpu_.peak_tflops[IndexOf(Precision::kBf16)] *
                              1e12 * gpu_.calibration.linear_attention);
}

double Roofline::ComputeTime(const Stream&, Precision) const { return 0; }

}  // namespace astra
