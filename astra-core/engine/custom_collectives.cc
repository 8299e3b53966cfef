#include "astra-core/engine/custom_collectives.h"

#include <algorithm>

namespace astra {

// The root of a collective in a workload is the first rank of its group.
bool CustomCollective::Fits(CollectiveKind kind, size_t num_ranks,
                            Bytes bytes) const {
  const ChunkedCollective& own = schedule.collective();
  const bool is_kind =
      own.kind == kind ||
      (own.kind == CollectiveKind::kAllToAll && IsOfExperts(kind));
  return is_kind && own.num_ranks == num_ranks && bytes >= min_bytes &&
         bytes <= max_bytes && !(own.is_rooted() && own.root != 0);
}

const CustomCollective* FindCustom(absl::Span<const CustomCollective> all,
                                   CollectiveKind kind, size_t num_ranks,
                                   Bytes bytes) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const CustomCollective& custom) {
        return custom.Fits(kind, num_ranks, bytes);
      });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace astra
