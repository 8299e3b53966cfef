#include "workload/serving/prefill_delay.h"

#include <algorithm>
#include <cstddef>

namespace astra {
namespace {

bool IsReady(const Replica* rank) {
  return !rank->waiting().empty() &&
         static_cast<int64_t>(rank->running().size()) <
             rank->options().max_sequences;
}

}  // namespace

bool PrefillDelay::Allows(absl::Span<Replica* const> ranks) {
  const auto ready = std::count_if(ranks.begin(), ranks.end(), IsReady);
  const bool differ =
      ready > 0 && ready < static_cast<std::ptrdiff_t>(ranks.size());
  if (differ && delayed_ + 1 < steps_) {
    ++delayed_;
    return false;
  }
  delayed_ = 0;
  return true;
}

}  // namespace astra
