// Names the ways in which a model is split over ranks. Each way splits the
// ranks of a job into groups, and a collective always runs over one group of
// one dimension.

#ifndef ASTRA_CORE_BASE_PARALLEL_DIMENSION_H_
#define ASTRA_CORE_BASE_PARALLEL_DIMENSION_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "astra-core/base/check.h"

namespace astra {

enum class ParallelDimension : uint8_t {
  kTensor,        // TP: the ranks that share each matrix.
  kData,          // DP: the ranks that hold the same weights.
  kExpert,        // EP: the ranks over which the experts are spread.
  kDataExpert,    // DP_EP: the ranks that hold the same experts.
  kPipeline,      // PP: the stages.
  kContext,       // CP: the ranks that share each sequence.
  kExpertTensor,  // ETP: the ranks that share the matrices of each expert.
};

constexpr ParallelDimension kParallelDimensions[] = {
    ParallelDimension::kTensor,       ParallelDimension::kData,
    ParallelDimension::kExpert,       ParallelDimension::kDataExpert,
    ParallelDimension::kPipeline,     ParallelDimension::kContext,
    ParallelDimension::kExpertTensor,
};
constexpr size_t kNumParallelDimensions = std::size(kParallelDimensions);

constexpr size_t IndexOf(ParallelDimension dimension) {
  return static_cast<size_t>(dimension);
}

// Returns the name used in SimAI's files and in results, such as "DP_EP".
constexpr std::string_view Name(ParallelDimension dimension) {
  switch (dimension) {
    case ParallelDimension::kTensor:
      return "TP";
    case ParallelDimension::kData:
      return "DP";
    case ParallelDimension::kExpert:
      return "EP";
    case ParallelDimension::kDataExpert:
      return "DP_EP";
    case ParallelDimension::kPipeline:
      return "PP";
    case ParallelDimension::kContext:
      return "CP";
    case ParallelDimension::kExpertTensor:
      return "ETP";
  }
  ASTRA_CHECK(false, "dimension {}", static_cast<int>(dimension));
}

}  // namespace astra

#endif  // ASTRA_CORE_BASE_PARALLEL_DIMENSION_H_
