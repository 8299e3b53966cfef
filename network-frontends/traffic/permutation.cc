#include <numeric>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/random.h"
#include "fmt/core.h"
#include "network-frontends/traffic/patterns.h"

namespace astra {
namespace {

std::vector<uint32_t> RandomCycle(uint32_t num_ranks, uint64_t seed) {
  std::vector<uint32_t> target(num_ranks);
  std::iota(target.begin(), target.end(), 0U);
  for (uint32_t last = num_ranks - 1; last > 0; --last) {
    const auto other = static_cast<uint32_t>(UnitInterval(HashOf(seed, last)) *
                                             static_cast<double>(last));
    std::swap(target[last], target[other]);
  }
  return target;
}

std::vector<uint32_t> Shifted(uint32_t num_ranks, uint32_t shift) {
  std::vector<uint32_t> target(num_ranks);
  for (uint32_t rank = 0; rank < num_ranks; ++rank) {
    target[rank] = (rank + shift) % num_ranks;
  }
  return target;
}

}  // namespace

absl::StatusOr<std::vector<PatternSender>> PermutationSenders(
    const PatternShape& shape) {
  const uint32_t num_ranks = shape.num_ranks;
  if (shape.shift && *shape.shift >= num_ranks) {
    return absl::InvalidArgumentError(
        fmt::format("shift is {}, but {} ranks have shifts from 1 to {}",
                    *shape.shift, num_ranks, num_ranks - 1));
  }
  const std::vector<uint32_t> target = shape.shift
                                           ? Shifted(num_ranks, *shape.shift)
                                           : RandomCycle(num_ranks, shape.seed);
  std::vector<PatternSender> all;
  for (uint32_t rank = 0; rank < num_ranks; ++rank) {
    all.push_back({RankId(rank), {RankId(target[rank])}});
  }
  return all;
}

}  // namespace astra
