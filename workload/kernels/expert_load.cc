#include "workload/kernels/expert_load.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "astra-core/base/random.h"

namespace astra {
namespace {

constexpr uint64_t kDraws = 12;

// Returns the copies that each expert receives in one draw.
std::vector<double> DrawCounts(uint64_t draw, double tokens, double topk,
                               double experts, double alpha) {
  const double copies = tokens * topk;
  const bool is_full = copies > experts;
  const double lo = is_full ? 1 : 0.01;
  const double hi = is_full ? std::max(0.8 * tokens, 1.01) : 2;
  const double power = 1 - alpha;
  const double low = std::pow(lo, power);
  const double range = std::pow(hi, power) - low;
  std::vector<double> counts(static_cast<size_t>(experts));
  double sum = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    const double uniform = UnitInterval(HashOf(draw, i));
    counts[i] = std::pow(range * uniform + low, 1 / power);
    sum += counts[i];
  }
  for (double& count : counts) {
    count = std::min(std::nearbyint(count * (copies / sum)), tokens);
  }
  return counts;
}

// Returns the load of the busiest of `ranks` equal parts of `counts`.
ExpertLoad BusiestOf(const std::vector<double>& counts, size_t ranks) {
  const size_t held = std::max<size_t>(counts.size() / ranks, 1);
  ExpertLoad busiest = {0, 0};
  for (size_t begin = 0; begin + held <= counts.size(); begin += held) {
    ExpertLoad load = {0, 0};
    for (size_t i = begin; i < begin + held; ++i) {
      load.rows += counts[i];
      load.active += counts[i] > 0 ? 1 : 0;
    }
    if (load.rows > busiest.rows) busiest = load;
  }
  return busiest;
}

}  // namespace

ExpertLoad ExpertLoads::Find(double tokens, double topk, double experts,
                             double ranks, double alpha) {
  if (alpha == 0 || alpha == 1) {
    const double rows = std::max(1.0, tokens * topk / ranks);
    return {rows, std::min(std::max(experts / ranks, 1.0), rows)};
  }
  const std::array<double, 5> key = {tokens, topk, experts, ranks, alpha};
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto [found, is_new] = known_.try_emplace(key);
  if (!is_new) return found->second;
  ExpertLoad sum = {0, 0};
  for (uint64_t draw = 0; draw < kDraws; ++draw) {
    const ExpertLoad load =
        BusiestOf(DrawCounts(draw, tokens, topk, experts, alpha),
                  static_cast<size_t>(ranks));
    sum.rows += load.rows;
    sum.active += load.active;
  }
  found->second = {std::max(1.0, sum.rows / kDraws),
                   std::max(1.0, sum.active / kDraws)};
  return found->second;
}

}  // namespace astra
