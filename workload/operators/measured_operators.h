// Times of operators that were measured on GPUs.

#ifndef WORKLOAD_OPERATORS_MEASURED_OPERATORS_H_
#define WORKLOAD_OPERATORS_MEASURED_OPERATORS_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/units.h"
#include "workload/operators/gpu_spec.h"
#include "workload/operators/operator.h"

namespace astra {

using OperatorShape = decltype(Operator::shape);

// The precision that a table calls "fp32", "bf16", "fp16" or "fp8", or none.
std::optional<Precision> PrecisionOf(std::string_view name);

struct OperatorSample {
  std::string gpu;
  std::string name;  // Of the operator.
  OperatorShape shape;
  Precision precision = Precision::kBf16;
  TimePs time;         // Above 0.
  std::string source;  // Where, when and with what it was measured.
  // Where its file names the GPU, counted from 1; 0 where it does not.
  uint32_t line = 0;
  uint32_t column = 0;

  // What was measured; it must not outlive this sample.
  Operator op() const { return {name, shape, precision}; }

  // Whether both say the same, wherever in their files.
  friend bool operator==(const OperatorSample& a, const OperatorSample& b) {
    return std::tie(a.gpu, a.name, a.shape, a.precision, a.time, a.source) ==
           std::tie(b.gpu, b.name, b.shape, b.precision, b.time, b.source);
  }
};

// What two operators must have in common for the time of one to tell about the
// other. Products and attention are the same kernels under any name; a stream
// is its own.
struct OperatorClass {
  size_t shape = 0;  // Which of the alternatives of OperatorShape.
  std::string name;  // Of a stream.
  Precision precision = Precision::kBf16;
  bool grouped = false;  // More than one product.
  bool backward = false;
  bool has_bias = false;
  int64_t window = 0;

  friend auto operator<=>(const OperatorClass&, const OperatorClass&) = default;
};
OperatorClass ClassOf(const Operator& op);

// The sizes of a shape in the order of its fields, without those that
// OperatorClass holds; 1 beyond them. The last of attention is the share of the
// pairs of queries and keys that count, in halves: 1 if causal, 2 if not.
using Dimensions = std::array<int64_t, 8>;
Dimensions DimensionsOf(const OperatorShape& shape);

// The samples, in order, and where to find them. Immutable.
class MeasuredOperators {
 public:
  // Samples of one GPU, class and shape become one: the median of their times
  // (of an even number: the mean of the middle two), the name and source of the
  // first.
  explicit MeasuredOperators(std::vector<OperatorSample> samples);

  // By GPU, class and dimensions.
  absl::Span<const OperatorSample> samples() const { return samples_; }

  // The positions in samples() of what was measured on `gpu`, from the first up
  // to, but not including, the second. By dimensions, no two the same.
  struct Range {
    size_t begin = 0;
    size_t end = 0;
  };
  Range Find(const std::string& gpu, const OperatorClass& kind) const;

 private:
  std::vector<OperatorSample> samples_;
  std::map<std::pair<std::string, OperatorClass>, Range> ranges_;
};

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_MEASURED_OPERATORS_H_
