#include "workload/kernels/kernel_model.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/real.h"
#include "workload/operators/microseconds.h"

namespace astra {
namespace {

constexpr double kGatedMatrices = 3;
// The sizes of MLA in DeepSeek's models, which its kernels are made for.
constexpr int64_t kMlaKeyDim = 192;
constexpr int64_t kMlaValueDim = 128;
constexpr int64_t kMlaCachedDim = 576;
constexpr int64_t kMlaLatent = 512;

std::string WordOf(Precision precision) {
  return std::string(IsCast(precision) ? Name(precision) : "bfloat16");
}

OperatorKernel CallOf(std::string_view family, std::vector<std::string> words,
                      KernelSizes sizes, KernelPoint point, double past = 0) {
  OperatorKernel kernel;
  kernel.call.family = FindKernelFamily(family);
  kernel.call.words = std::move(words);
  kernel.call.sizes = sizes;
  kernel.call.point = point;
  kernel.call.past = past;
  return kernel;
}

OperatorKernel KernelOfExperts(const Gemm& gemm, bool is_up,
                               Precision precision) {
  const auto [experts, top_k, ranks, parts, rows] = gemm.routed;
  const double hidden = Real(is_up ? gemm.k : gemm.n);
  const double inter = is_up ? Real(gemm.n) / 2 : Real(gemm.k);
  OperatorKernel kernel =
      CallOf("moe", {WordOf(precision)},
             {hidden, inter * Real(parts), Real(top_k), Real(experts),
              Real(parts), Real(ranks), kGatedMatrices},
             {0, std::max(1.0, Real(rows * ranks) / Real(top_k))});
  kernel.is_part = true;
  return kernel;
}

std::optional<OperatorKernel> KernelOf(const Gemm& gemm, const Operator& op) {
  if (gemm.routed.experts > 0) {
    return KernelOfExperts(gemm, op.name == "experts_up", op.precision);
  }
  if (gemm.groups == 1) {
    return CallOf("gemm", {WordOf(op.precision)}, {Real(gemm.n), Real(gemm.k)},
                  {Real(gemm.m)});
  }
  const bool is_pre = gemm.k == kMlaValueDim && gemm.n == kMlaLatent;
  const bool is_post = gemm.k == kMlaLatent && gemm.n == kMlaValueDim;
  if (!is_pre && !is_post) return std::nullopt;
  return CallOf("mla_bmm",
                {is_pre ? "mla_gen_pre" : "mla_gen_post", WordOf(op.precision)},
                {Real(gemm.groups)}, {Real(gemm.m)});
}

std::optional<OperatorKernel> KernelOf(const Attention& a,
                                       const Operator& /*op*/) {
  if (a.backward || a.has_bias || !a.causal) return std::nullopt;
  const bool decodes = a.queries == 1;
  if (a.values_in_keys) {
    if (!decodes || a.qk_dim != kMlaCachedDim) return std::nullopt;
    return CallOf("generation_mla", {"bfloat16"}, {Real(a.heads)},
                  {Real(a.batch), Real(a.keys - 1)});
  }
  const double past = Real(a.keys - a.queries);
  if (a.qk_dim == kMlaKeyDim && a.v_dim == kMlaValueDim && !decodes) {
    return CallOf("context_mla", {"bfloat16"}, {Real(a.heads)},
                  {Real(a.batch), Real(a.queries)}, past);
  }
  if (a.qk_dim != a.v_dim) return std::nullopt;
  const KernelSizes sizes = {Real(a.heads), Real(a.kv_heads), Real(a.qk_dim),
                             Real(a.window)};
  if (decodes) {
    return CallOf("generation_attention", {"bfloat16"}, sizes,
                  {Real(a.batch), Real(a.keys - 1)});
  }
  return CallOf("context_attention", {"bfloat16", "bfloat16"}, sizes,
                {Real(a.batch), Real(a.queries)}, past);
}

std::optional<OperatorKernel> KernelOf(const DeltaRule& /*rule*/,
                                       const Operator& /*op*/) {
  return std::nullopt;
}

std::optional<OperatorKernel> KernelOf(const Stream& stream,
                                       const Operator& op) {
  const bool is_byte =
      op.precision == Precision::kFp8 || op.precision == Precision::kFp8Block;
  if (op.name != "cast" || !is_byte) return std::nullopt;
  // Two bytes are read and one is written. The time hardly depends on how the
  // elements lie in rows.
  constexpr double kBytes = 3;
  constexpr double kRow = 4096;
  return CallOf("scale_matrix", {"fp8"}, {kRow},
                {Real(stream.bytes) / kBytes / kRow});
}

// Returns an attention that tables may have, and by whose time that of `a` is
// scaled: the forward pass of a backward one, and for queries that see all keys
// the causal one with as many pairs. None if tables may have `a` itself, or
// none is like it.
std::optional<Attention> MeasuredLike(const Attention& a) {
  Attention like = a;
  if (a.backward) {
    like.backward = false;
    return like;
  }
  if (a.causal || a.window > 0 || a.keys < a.queries / 2) return std::nullopt;
  like.causal = true;
  like.keys += a.queries / 2;
  return like;
}

}  // namespace

bool TakesFamily(KernelUse use, std::string_view name) {
  return use == KernelUse::kInference ||
         std::find(kFamiliesOfTraining.begin(), kFamiliesOfTraining.end(),
                   name) != kFamiliesOfTraining.end();
}

std::optional<OperatorKernel> KernelOf(const Operator& op, KernelUse use) {
  if (op.precision == Precision::kFp32) return std::nullopt;
  std::optional<OperatorKernel> kernel = std::visit(
      [&op](const auto& shape) { return KernelOf(shape, op); }, op.shape);
  if (kernel && !TakesFamily(use, kernel->call.family->name)) kernel.reset();
  return kernel;
}

OperatorTime KernelModel::TimeOf(const Operator& op) const {
  const OperatorTime formula = otherwise_.TimeOf(op);
  const auto* attention = std::get_if<Attention>(&op.shape);
  if (attention != nullptr && !attention_) return formula;
  if (attention != nullptr) {
    if (const std::optional<Attention> like = MeasuredLike(*attention)) {
      return TimeAs({op.name, *like, op.precision}, formula);
    }
  }
  const std::optional<OperatorKernel> kernel = KernelOf(op, use_);
  if (!kernel) return formula;
  const bool only_own =
      use_ == KernelUse::kTraining && std::holds_alternative<Gemm>(op.shape);
  const absl::StatusOr<KernelEstimate> estimate =
      only_own ? predictor_.EstimateFromOwn(kernel->call)
               : predictor_.Estimate(kernel->call);
  if (!estimate.ok()) return formula;
  const double bound_us =
      predictor_.BoundUs(Flops(op), BytesMoved(op), op.precision);
  const double share =
      kernel->is_part ? std::min(1.0, bound_us / estimate->bound_us) : 1;
  // Tables repeat a kernel, so small operands are in the cache. In a model they
  // come from memory.
  const double us = std::max(bound_us, share * estimate->time_us);
  if (!(us <= kMaxMicroseconds)) return formula;
  OperatorTime time = formula;
  time.time = std::max(TimePs(1), FromMicroseconds(us));
  time.source = estimate->source;
  time.error = estimate->error;
  time.from = estimate->from;
  time.host = FromMicroseconds(estimate->host_us);
  return time;
}

OperatorTime KernelModel::TimeAs(const Operator& like,
                                 const OperatorTime& formula) const {
  const OperatorTime measured = TimeOf(like);
  if (measured.source == TimeSource::kRoofline) return formula;
  const TimePs by_formula = otherwise_.TimeOf(like).time;
  OperatorTime time = measured;
  time.time = ShareOf(static_cast<double>(measured.time.count()) /
                          static_cast<double>(by_formula.count()),
                      formula.time);
  time.source = std::max(measured.source, TimeSource::kExtrapolated);
  time.bound = formula.bound;
  time.error = std::max(measured.error, formula.error);
  return time;
}

}  // namespace astra
