#include "workload/operators/operator.h"

#include <algorithm>

namespace astra {
namespace {

// Positions that the chunked delta rule processes in one step.
//
// Source: S. Yang et al., "Gated Delta Networks", arXiv 2412.06464.
constexpr double kDeltaChunk = 64;

// FLOPs of the backward pass over those of the forward pass: gradients of both
// operands, and the states computed again.
constexpr double kDeltaBackward = 3;

// FLOPs of the backward pass over those of the forward pass; see Attention.
constexpr double kAttentionBackward = 2.5;

// Returns the position of query 0 among the keys. The last query is at the last
// key.
int64_t FirstPosition(const Attention& a) { return a.keys - a.queries; }

// Returns how many keys are in the window, up to the query's own, summed over
// the queries at the positions from `first` to keys - 1.
double KeysLookedBackAt(const Attention& a, int64_t first) {
  const int64_t window = a.window > 0 ? std::min(a.window, a.keys) : a.keys;
  // Up to position `whole`, a query sees all keys before it: 1 + 2 + ... +
  // window.
  const auto whole = static_cast<double>(std::max(first, window));
  const auto begin = static_cast<double>(first);
  const double before = (whole - begin) * (whole + begin + 1) / 2;
  return before +
         (static_cast<double>(a.keys) - whole) * static_cast<double>(window);
}

// Returns how many pairs of a query and a key the mask leaves in one head.
double Pairs(const Attention& a) {
  const int64_t first = std::max<int64_t>(FirstPosition(a), 0);
  double pairs = KeysLookedBackAt(a, first);
  if (a.causal) return pairs;
  const auto inside = static_cast<double>(a.keys - first);
  pairs += inside * (inside - 1) / 2;  // Keys behind the query.
  const auto outside = static_cast<double>(
      std::max<int64_t>(-FirstPosition(a), 0));  // Queries beyond the keys.
  return pairs + outside * static_cast<double>(a.keys);
}

double FlopsOf(const Gemm& g) {
  return 2.0 * static_cast<double>(g.groups) * static_cast<double>(g.m) *
         static_cast<double>(g.n) * static_cast<double>(g.k);
}

double FlopsOf(const Attention& a) {
  const double forward = 2.0 * static_cast<double>(a.batch) *
                         static_cast<double>(a.heads) * Pairs(a) *
                         static_cast<double>(a.qk_dim + a.v_dim);
  return a.backward ? kAttentionBackward * forward : forward;
}

// Returns the FLOPs of a delta rule. Each position and head has three products
// with the state (its prediction, its update, its answer) and five products of
// C x C by dim within the chunk.
double FlopsOf(const DeltaRule& d) {
  const auto key = static_cast<double>(d.key_dim);
  const auto value = static_cast<double>(d.value_dim);
  const double of_one =
      6 * key * value + 2 * kDeltaChunk * (3 * key + 2 * value);
  const double forward = of_one * static_cast<double>(d.batch) *
                         static_cast<double>(d.positions) *
                         static_cast<double>(d.heads);
  return d.backward ? kDeltaBackward * forward : forward;
}

double FlopsOf(const Stream&) { return 0; }

double BytesOfShape(const Gemm& g, Precision precision) {
  const auto operand = BytesOf(precision);
  const double result = g.sum_bytes > 0 ? 2.0 * static_cast<double>(g.sum_bytes)
                                        // Narrower products give BF16.
                                        : std::max(operand, 2.0);
  const auto m = static_cast<double>(g.m);
  const auto n = static_cast<double>(g.n);
  const auto k = static_cast<double>(g.k);
  return static_cast<double>(g.groups) *
         (operand * (m * k + k * n) + result * m * n);
}

// Returns the bytes of queries, keys, values and results; backward, their
// gradients too.
double BytesOfShape(const Attention& a, Precision precision) {
  const int64_t seen =
      a.window > 0 ? std::min(a.keys, a.window + a.queries - 1) : a.keys;
  const int64_t both = a.qk_dim + a.v_dim;
  const double of_one =
      static_cast<double>(both) * static_cast<double>(a.heads) *
          static_cast<double>(a.queries) +
      static_cast<double>(a.values_in_keys ? a.qk_dim : both) *
          static_cast<double>(a.kv_heads) * static_cast<double>(seen);
  const double forward =
      static_cast<double>(a.batch) * of_one * BytesOf(precision);
  return a.backward ? 2 * forward : forward;
}

double BytesOfShape(const DeltaRule& d, Precision precision) {
  const double forward = 2.0 * static_cast<double>(d.key_dim + d.value_dim) *
                         static_cast<double>(d.batch) *
                         static_cast<double>(d.positions) *
                         static_cast<double>(d.heads) * BytesOf(precision);
  return d.backward ? 2 * forward : forward;
}

double BytesOfShape(const Stream& s, Precision) {
  return static_cast<double>(s.bytes);
}

}  // namespace

double Flops(const Operator& op) {
  return std::visit([](const auto& shape) { return FlopsOf(shape); }, op.shape);
}

double BytesMoved(const Operator& op) {
  return std::visit(
      [&](const auto& shape) { return BytesOfShape(shape, op.precision); },
      op.shape);
}

}  // namespace astra
