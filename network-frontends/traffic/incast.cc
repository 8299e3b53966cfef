#include <algorithm>
#include <numeric>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fmt/core.h"
#include "network-frontends/traffic/patterns.h"

namespace astra {

absl::StatusOr<std::vector<PatternSender>> IncastSenders(
    const PatternShape& shape) {
  const uint32_t num_ranks = shape.num_ranks;
  const uint32_t target = shape.target.index();
  if (target >= num_ranks) {
    return absl::InvalidArgumentError(fmt::format(
        "target is {}, but the ranks are 0 to {}", target, num_ranks - 1));
  }
  // The steps come back to the target after num_ranks / gcd of them.
  const uint32_t others = num_ranks / std::gcd(num_ranks, shape.stride) - 1;
  const uint32_t senders = shape.senders.value_or(others);
  if (senders > others || others == 0) {
    return absl::InvalidArgumentError(fmt::format(
        "senders is {}, but of {} ranks {} are at a distance of {} from one "
        "another and from the target",
        shape.senders.value_or(1), num_ranks, others, shape.stride));
  }
  std::vector<PatternSender> all;
  for (uint64_t i = 1; i <= senders; ++i) {
    const auto rank =
        static_cast<uint32_t>((target + i * shape.stride) % num_ranks);
    all.push_back({RankId(rank), {shape.target}});
  }
  std::sort(all.begin(), all.end(),
            [](const PatternSender& a, const PatternSender& b) {
              return a.rank < b.rank;
            });
  return all;
}

}  // namespace astra
