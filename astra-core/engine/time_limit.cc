#include "astra-core/engine/time_limit.h"

#include <algorithm>

#include "absl/numeric/int128.h"
#include "collectives/closed_form.h"
#include "fmt/core.h"

namespace astra {

absl::Status TooLong(TimePs limit, double share_done) {
  if (limit == kMaxCollectiveTime) {
    return absl::ResourceExhaustedError(
        "the iteration would take longer than the limit of 26 days");
  }
  return absl::AbortedError(fmt::format(
      "stopped at {:.3f} us of simulated time, with {:.1f} % of the work done",
      ToMicroseconds(limit), 100 * share_done));
}

void Add(int64_t repeats, TimePs time, TimePs& sum) {
  const absl::int128 exact = absl::int128(repeats) * time.count() + sum.count();
  sum = TimePs(static_cast<int64_t>(
      std::min<absl::int128>(exact, kMaxCollectiveTime.count())));
}

}  // namespace astra
