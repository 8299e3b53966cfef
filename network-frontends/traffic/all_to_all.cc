#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fmt/core.h"
#include "network-frontends/traffic/patterns.h"
#include "network-frontends/traffic/traffic.h"

namespace astra {

absl::StatusOr<std::vector<PatternSender>> AllToAllSenders(
    const PatternShape& shape) {
  const uint32_t num_ranks = shape.num_ranks;
  const uint64_t pairs = uint64_t{num_ranks} * (num_ranks - 1);
  if (pairs > kMostTrafficMessages) {
    return absl::ResourceExhaustedError(
        fmt::format("{} ranks are {} pairs, more than the limit of {}",
                    num_ranks, pairs, kMostTrafficMessages));
  }
  std::vector<PatternSender> all;
  for (uint32_t rank = 0; rank < num_ranks; ++rank) {
    PatternSender& sender = all.emplace_back();
    sender.rank = RankId(rank);
    sender.targets.reserve(num_ranks - 1);
    for (uint32_t step = 1; step < num_ranks; ++step) {
      sender.targets.emplace_back((rank + step) % num_ranks);
    }
  }
  return all;
}

}  // namespace astra
