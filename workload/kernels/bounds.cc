#include "workload/kernels/bounds.h"

#include <algorithm>
#include <string>

namespace astra {
namespace {

// Returns the element type that a word names; BF16 where it names none.
KernelElement TypeOf(const KernelCall& call, size_t word) {
  const KernelElement* type = FindKernelElement(call.words[word]);
  return type == nullptr ? KernelElement{} : *type;
}

double BoundUs(const KernelPeaks& peaks, double flops, KernelUnit unit,
               double bytes) {
  return std::max(peaks.ComputeUs(flops, unit), peaks.MemoryUs(bytes));
}

// Returns the pairs of `positions` new queries after `past` old positions and
// the keys that each sees: all before it and itself, at most `window` of them
// (0: no limit).
double VisiblePairs(double positions, double past, double window) {
  if (window <= 0) {
    return positions * past + positions * (positions + 1) / 2;
  }
  const double within = std::clamp(window - past, 0.0, positions);
  return within * past + within * (within + 1) / 2 +
         (positions - within) * window;
}

// The sizes of DeepSeek-V3's attention.
constexpr double kHidden = 7168;
constexpr double kQueryRank = 1536;
constexpr double kLatent = 512;
constexpr double kRope = 64;
constexpr double kNope = 128;
constexpr double kValue = 128;
constexpr double kCached = kLatent + kRope;

double MlaWeights(double heads) {
  return kHidden * (kQueryRank + kCached) +
         heads * (kQueryRank * (kNope + kRope) + kLatent * (kNope + kValue) +
                  kValue * kHidden);
}

// Returns the bound of a layer: attention in BF16, products in their own type.
double MlaModuleUs(const KernelCall& call, const KernelPeaks& peaks,
                   double tokens, double attention_flops, double bytes) {
  const double weights = MlaWeights(call.sizes[0]);
  const KernelElement products = TypeOf(call, 2);
  const double compute = peaks.ComputeUs(attention_flops, KernelUnit::kBf16) +
                         peaks.ComputeUs(2 * tokens * weights, products.unit);
  return std::max(compute, peaks.MemoryUs(weights * products.weight_bytes +
                                          4 * kHidden * tokens + bytes));
}

}  // namespace

double GemmBound(const KernelCall& call, const KernelPeaks& peaks,
                 ExpertLoads&) {
  const auto [n, k] = std::pair(call.sizes[0], call.sizes[1]);
  const double m = call.point[0];
  const KernelElement type = TypeOf(call, 0);
  return BoundUs(
      peaks, 2 * m * n * k, type.unit,
      m * k * type.activation_bytes + n * k * type.weight_bytes + 2 * m * n);
}

double ContextAttentionBound(const KernelCall& call, const KernelPeaks& peaks,
                             ExpertLoads&) {
  const double heads = call.sizes[0];
  const double dim = call.sizes[2];
  const auto [batch, positions] = std::pair(call.point[0], call.point[1]);
  const KernelElement type = TypeOf(call, 0);
  const double cache_bytes = TypeOf(call, 1).activation_bytes;
  return BoundUs(peaks,
                 4 * batch * heads * dim *
                     VisiblePairs(positions, call.past, call.sizes[3]),
                 type.unit,
                 batch * positions * heads * dim * (type.activation_bytes + 2) +
                     2 * batch * (positions + call.past) * call.sizes[1] * dim *
                         cache_bytes);
}

double GenerationAttentionBound(const KernelCall& call,
                                const KernelPeaks& peaks, ExpertLoads&) {
  const double heads = call.sizes[0];
  const double dim = call.sizes[2];
  const double window = call.sizes[3];
  const double batch = call.point[0];
  const double all = call.point[1] + 1;
  const double keys = window > 0 ? std::min(all, window) : all;
  const double cache_bytes = TypeOf(call, 0).activation_bytes;
  return BoundUs(peaks, 4 * batch * heads * dim * keys, KernelUnit::kBf16,
                 2 * batch * keys * call.sizes[1] * dim * cache_bytes +
                     4 * batch * heads * dim);
}

double ContextMlaBound(const KernelCall& call, const KernelPeaks& peaks,
                       ExpertLoads&) {
  const double width = kNope + kRope + kValue;
  const double batch_heads = call.point[0] * call.sizes[0];
  return BoundUs(
      peaks,
      2 * batch_heads * width * VisiblePairs(call.point[1], call.past, 0),
      KernelUnit::kBf16, 2 * batch_heads * call.point[1] * width);
}

double GenerationMlaBound(const KernelCall& call, const KernelPeaks& peaks,
                          ExpertLoads&) {
  const double width = kCached + kLatent;
  const double keys = call.point[1] + 1;
  const double batch_heads = call.point[0] * call.sizes[0];
  const double cache_bytes = TypeOf(call, 0).activation_bytes;
  return BoundUs(
      peaks, 2 * batch_heads * width * keys, KernelUnit::kBf16,
      call.point[0] * keys * kCached * cache_bytes + 2 * batch_heads * width);
}

double MlaContextModuleBound(const KernelCall& call, const KernelPeaks& peaks,
                             ExpertLoads&) {
  const double width = kNope + kRope + kValue;
  const auto [batch, positions] = std::pair(call.point[0], call.point[1]);
  const double heads = call.sizes[0];
  return MlaModuleUs(call, peaks, batch * positions,
                     2 * batch * heads * width * VisiblePairs(positions, 0, 0),
                     batch * positions * heads * 2 *
                         (kNope + kRope + kValue + kValue + kNope + kRope));
}

double MlaGenerationModuleBound(const KernelCall& call,
                                const KernelPeaks& peaks, ExpertLoads&) {
  const double width = kCached + kLatent;
  const auto [batch, keys] = std::pair(call.point[0], call.point[1]);
  const double heads = call.sizes[0];
  const double cache_bytes = TypeOf(call, 1).activation_bytes;
  return MlaModuleUs(
      call, peaks, batch, 2 * batch * heads * width * keys,
      batch * keys * kCached * cache_bytes + 2 * batch * heads * width);
}

double MlaBmmBound(const KernelCall& call, const KernelPeaks& peaks,
                   ExpertLoads&) {
  const double heads = call.sizes[0];
  const double tokens = call.point[0];
  const KernelElement type = TypeOf(call, 1);
  return BoundUs(
      peaks, 2 * tokens * heads * kNope * kLatent, type.unit,
      heads * (tokens * kNope + kNope * kLatent) * type.activation_bytes +
          2 * heads * tokens * kLatent);
}

double MoeBound(const KernelCall& call, const KernelPeaks& peaks,
                ExpertLoads& loads) {
  const auto [hidden, inter, topk, experts, split, ranks, matrices] =
      call.sizes;
  const double width = inter / split;
  const KernelElement type = TypeOf(call, 0);
  const ExpertLoad load =
      loads.Find(call.point[1], topk, experts, ranks, call.point[0]);
  return BoundUs(
      peaks, 2 * load.rows * hidden * width * matrices, type.unit,
      load.active * matrices * hidden * width * type.weight_bytes +
          load.rows * (hidden * (type.activation_bytes + 2) +
                       width * (2 * (matrices - 1) + type.activation_bytes)));
}

double QuantisationBound(const KernelCall& call, const KernelPeaks& peaks,
                         ExpertLoads&) {
  return peaks.MemoryUs(3 * call.point[0] * call.sizes[0]);
}

// A convolution reads and writes 4 B of each element of queries, keys and
// values, and its state of 4 positions. The rule reads them and writes its
// outputs in 2 B, and reads and writes a state of 128 x 128 floats for each
// value head.
double GatedDeltaBound(const KernelCall& call, const KernelPeaks& peaks,
                       ExpertLoads&) {
  constexpr double kDim = 128;
  const std::string& kernel = call.words[0];
  const bool is_step = kernel == "recurrent" || kernel == "convolution_step";
  const double values = call.sizes[1] * kDim;
  const double width = 2 * call.sizes[0] * kDim + values;
  const double batch = call.point[0];
  const double tokens = is_step ? batch : batch * call.point[1];
  if (kernel == "convolution" || kernel == "convolution_step") {
    return peaks.MemoryUs(4 * tokens * width + 8 * batch * width);
  }
  return BoundUs(peaks, (is_step ? 6 : 10) * tokens * values * kDim,
                 KernelUnit::kBf16,
                 2 * tokens * (width + values) + 8 * batch * values * kDim);
}

}  // namespace astra
