// The order in which ranks are numbered: which dimensions of the layout vary
// first. Rank r runs on GPU r, so the order decides which ranks are neighbours.
//
// Megatron-LM's default is "tp-cp-ep-dp-pp": ranks of a TP group are
// neighbours, and stages are far apart. "tp-cp-ep-pp-dp", its
// --use-tp-pp-dp-mapping, puts stages near one another and replicas apart.
//
// Source: Megatron-LM, megatron/core/parallel_state.py, RankGenerator.

#ifndef WORKLOAD_RANK_ORDER_H_
#define WORKLOAD_RANK_ORDER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace astra {

enum class RankAxis : uint8_t { kTensor, kContext, kExpert, kData, kPipeline };
constexpr std::string_view kRankAxisNames[] = {"tp", "cp", "ep", "dp", "pp"};
constexpr size_t kNumRankAxes = std::size(kRankAxisNames);

struct RankOrder {
  // Each axis once; the first varies fastest.
  std::array<RankAxis, kNumRankAxes> axes = {
      RankAxis::kTensor, RankAxis::kContext, RankAxis::kExpert, RankAxis::kData,
      RankAxis::kPipeline};

  friend bool operator==(const RankOrder&, const RankOrder&) = default;
};

// Numbers of ranks along each RankAxis.
using AxisSizes = std::array<int64_t, kNumRankAxes>;

// Returns the distance between successive ranks along `axis`.
int64_t StrideOf(const RankOrder& order, const AxisSizes& sizes, RankAxis axis);

// Returns text such as "tp-cp-ep-dp-pp".
std::string Name(const RankOrder& order);

// Errors: InvalidArgument for text that does not name each axis once.
absl::StatusOr<RankOrder> ParseRankOrder(std::string_view text);

}  // namespace astra

#endif  // WORKLOAD_RANK_ORDER_H_
