// Describes an operator: one kernel, or a few that always run together, by the
// shape it works on.

#ifndef WORKLOAD_OPERATORS_OPERATOR_H_
#define WORKLOAD_OPERATORS_OPERATOR_H_

#include <cstdint>
#include <string_view>
#include <variant>

#include "workload/operators/gpu_spec.h"

namespace astra {

// Where the rows of products of experts come from: each token takes `top_k` of
// all `experts`, which lie on `ranks` and are each cut into `parts`.
struct Routed {
  int64_t experts = 0;  // 0: a product of other rows.
  int64_t top_k = 0;
  int64_t ranks = 1;
  int64_t parts = 1;
  int64_t rows = 0;  // Of all groups, which are rounded up to equal ones.

  friend bool operator==(const Routed&, const Routed&) = default;
};

// `groups` products of m x k by k x n. More than one is a grouped product, as
// for experts.
struct Gemm {
  int64_t groups = 1;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  // Element size of a sum that the result is added to; 0: the result is only
  // written.
  int64_t sum_bytes = 0;
  bool starts_each_group = false;  // Whether each group is a kernel of its own.
  Routed routed = {};

  friend bool operator==(const Gemm&, const Gemm&) = default;
};

// Flash attention over `batch` sequences: each of the `heads` query heads of
// size qk_dim attends to the keys of its group.
//
// Source: T. Dao, "FlashAttention-2", arXiv 2307.08691: the backward pass has
// 2.5 times the FLOPs of the forward pass.
struct Attention {
  int64_t batch = 0;
  int64_t queries = 0;  // Query positions of a sequence.
  int64_t keys = 0;     // Key positions of a sequence, its own included.
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t qk_dim = 0;
  int64_t v_dim = 0;
  bool causal = true;
  int64_t window = 0;     // Farthest look-back; 0: to the first position.
  bool has_bias = false;  // A bias is added to the scores, as in ALiBi.
  // Values are part of the keys and read once (MLA).
  bool values_in_keys = false;
  bool backward = false;

  friend bool operator==(const Attention&, const Attention&) = default;
};

// A gated delta net over `batch` sequences.
struct DeltaRule {
  int64_t batch = 0;
  int64_t positions = 0;
  int64_t heads = 0;  // Value heads.
  int64_t key_dim = 0;
  int64_t value_dim = 0;
  bool backward = false;

  friend bool operator==(const DeltaRule&, const DeltaRule&) = default;
};

// A kernel bound by memory: norms, activations, residuals, permutations,
// look-ups, the loss, the optimizer.
struct Stream {
  int64_t bytes = 0;  // Bytes read and written.
  // Nanoseconds that the GPU waits for the host at this point, beside the work.
  int64_t host_ns = 0;

  friend bool operator==(const Stream&, const Stream&) = default;
};

struct Operator {
  // Name in tables and in --explain, such as "qkv_linear". A static string.
  std::string_view name;
  std::variant<Gemm, Attention, DeltaRule, Stream> shape;
  Precision precision = Precision::kBf16;

  friend bool operator==(const Operator&, const Operator&) = default;
};

// Returns the floating-point operations of one run: 2 m n k for a product; for
// attention, those that the causal mask or the window leaves; 0 for a stream.
double Flops(const Operator& op);

// Returns the bytes of all operands and results, each moved once.
double BytesMoved(const Operator& op);

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_OPERATOR_H_
