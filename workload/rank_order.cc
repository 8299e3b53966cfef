#include "workload/rank_order.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {

int64_t StrideOf(const RankOrder& order, const AxisSizes& sizes,
                 RankAxis axis) {
  int64_t stride = 1;
  for (const RankAxis before : order.axes) {
    if (before == axis) break;
    stride *= sizes[static_cast<size_t>(before)];
  }
  return stride;
}

std::string Name(const RankOrder& order) {
  std::vector<std::string_view> names;
  for (const RankAxis axis : order.axes) {
    names.push_back(kRankAxisNames[static_cast<size_t>(axis)]);
  }
  return fmt::format("{}", fmt::join(names, "-"));
}

absl::StatusOr<RankOrder> ParseRankOrder(std::string_view text) {
  const absl::Status wrong = absl::InvalidArgumentError(fmt::format(
      "order {}: expected each of tp, cp, ep, dp and pp once, such as {}",
      Quoted(text), Name(RankOrder())));
  RankOrder order;
  std::string_view rest = text;
  for (size_t i = 0; i < kNumRankAxes; ++i) {
    const size_t end = std::min(rest.find('-'), rest.size());
    const auto* const found =
        std::find(std::begin(kRankAxisNames), std::end(kRankAxisNames),
                  rest.substr(0, end));
    if (found == std::end(kRankAxisNames)) return wrong;
    order.axes[i] = static_cast<RankAxis>(found - std::begin(kRankAxisNames));
    const bool is_known = std::find(order.axes.begin(), order.axes.begin() + i,
                                    order.axes[i]) != order.axes.begin() + i;
    const bool is_last = i + 1 == kNumRankAxes;
    if (is_known || is_last != (end == rest.size())) return wrong;
    rest.remove_prefix(is_last ? end : end + 1);
  }
  return order;
}

}  // namespace astra
