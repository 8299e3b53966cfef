// Holds the times of operators that were measured on GPUs.

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

// Returns the precision that a table calls "fp32", "bf16", "fp16" or "fp8";
// none for another name.
std::optional<Precision> PrecisionOf(std::string_view name);

struct OperatorSample {
  std::string gpu;
  std::string name;  // Name of the operator.
  OperatorShape shape;
  Precision precision = Precision::kBf16;
  TimePs time;         // Above 0.
  std::string source;  // Place, time and tool of the measurement.
  // Place of the GPU's name in the file, counted from 1; 0 where it has none.
  uint32_t line = 0;
  uint32_t column = 0;

  // Returns the operator that was measured. It must not outlive this sample.
  Operator op() const { return {name, shape, precision}; }

  // Compares samples without their places in files.
  friend bool operator==(const OperatorSample& a, const OperatorSample& b) {
    return std::tie(a.gpu, a.name, a.shape, a.precision, a.time, a.source) ==
           std::tie(b.gpu, b.name, b.shape, b.precision, b.time, b.source);
  }
};

// Properties that two operators must share for the time of one to predict the
// other's. Products and attention run the same kernels under any name; streams
// differ by name.
struct OperatorClass {
  size_t shape = 0;  // Index of the alternative in OperatorShape.
  std::string name;  // Name of a stream; empty for other shapes.
  Precision precision = Precision::kBf16;
  bool grouped = false;  // Whether there is more than one product.
  bool backward = false;
  bool has_bias = false;
  int64_t window = 0;

  friend auto operator<=>(const OperatorClass&, const OperatorClass&) = default;
};
OperatorClass ClassOf(const Operator& op);

// Returns the sizes of a shape in the order of its fields, without those that
// OperatorClass holds, padded with 1. The last size of attention is the share
// of query-key pairs that count, in halves: 1 if causal, 2 if not.
using Dimensions = std::array<int64_t, 8>;
Dimensions DimensionsOf(const OperatorShape& shape);

// An immutable, ordered index of samples.
class MeasuredOperators {
 public:
  // Merges the samples of one GPU, class and shape into one. It has the median
  // of their times (for an even number the mean of the middle two) and the name
  // and source of the first.
  explicit MeasuredOperators(std::vector<OperatorSample> samples);

  // Returns the samples, ordered by GPU, class and dimensions.
  absl::Span<const OperatorSample> samples() const { return samples_; }

  // Positions in samples() of what was measured on `gpu`, from `begin` up to
  // but excluding `end`. They are ordered by dimensions, which are all
  // different.
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
