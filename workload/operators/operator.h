// One kernel, or a few that always run together, as the shape it works on.

#ifndef WORKLOAD_OPERATORS_OPERATOR_H_
#define WORKLOAD_OPERATORS_OPERATOR_H_

#include <cstdint>
#include <string_view>
#include <variant>

#include "workload/operators/gpu_spec.h"

namespace astra {

// `groups` products of m x k by k x n. More than one is a grouped product, as
// of experts.
struct Gemm {
  int64_t groups = 1;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  // Of a sum that the result is added to; 0: the result is only written.
  int64_t sum_bytes = 0;
  bool starts_each_group = false;  // Each group is a kernel of its own.

  friend bool operator==(const Gemm&, const Gemm&) = default;
};

// Flash attention of `batch` sequences: every one of `heads` queries of qk_dim
// against the keys of its group.
//
// Source: T. Dao, "FlashAttention-2", arXiv 2307.08691: the backward pass has
// 2.5 times the FLOPs of the forward pass.
struct Attention {
  int64_t batch = 0;
  int64_t queries = 0;  // Positions of the query.
  int64_t keys = 0;     // Positions it may attend to, itself included.
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t qk_dim = 0;
  int64_t v_dim = 0;
  bool causal = true;
  int64_t window = 0;     // Looks back at most this far; 0: to the first.
  bool has_bias = false;  // Added to the scores, as ALiBi is: other kernels.
  bool values_in_keys = false;  // A part of the keys, read once: MLA's cache.
  bool backward = false;

  friend bool operator==(const Attention&, const Attention&) = default;
};

// A gated delta net over `batch` sequences.
struct DeltaRule {
  int64_t batch = 0;
  int64_t positions = 0;
  int64_t heads = 0;  // Of values.
  int64_t key_dim = 0;
  int64_t value_dim = 0;
  bool backward = false;

  friend bool operator==(const DeltaRule&, const DeltaRule&) = default;
};

// What is bound by memory: norms, activations, residuals, permutations,
// look-ups, the loss, the optimizer.
struct Stream {
  int64_t bytes = 0;  // Read and written.

  friend bool operator==(const Stream&, const Stream&) = default;
};

struct Operator {
  // What tables and --explain call it, such as "qkv_linear". A static string.
  std::string_view name;
  std::variant<Gemm, Attention, DeltaRule, Stream> shape;
  Precision precision = Precision::kBf16;

  friend bool operator==(const Operator&, const Operator&) = default;
};

// The floating-point operations of one run: 2 m n k for a product; what the
// causal mask or the window leaves of attention; none for a stream.
double Flops(const Operator& op);

// The bytes of its operands and results, each moved once.
double BytesMoved(const Operator& op);

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_OPERATOR_H_
