#include "collectives/collective_request.h"

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "fmt/format.h"

namespace astra {

absl::StatusOr<CollectiveRequest> CollectiveRequest::Create(CollectiveKind kind,
                                                            Bytes bytes,
                                                            GroupShape shape) {
  ASTRA_CHECK(shape.ranks_per_server > 0 &&
                  shape.num_ranks % shape.ranks_per_server == 0,
              "{} ranks, {} per server", shape.num_ranks,
              shape.ranks_per_server);
  if (bytes < Bytes(1)) {
    return absl::InvalidArgumentError(fmt::format(
        "{} of {}: the buffer must hold at least 1B", Name(kind), bytes));
  }
  const uint32_t max_ranks = kind == CollectiveKind::kSendRecv ? 2 : kMaxRanks;
  if (shape.num_ranks < 2 || shape.num_ranks > max_ranks) {
    return absl::InvalidArgumentError(
        fmt::format("{} over {} rank(s): the group must have 2 to {}",
                    Name(kind), shape.num_ranks, max_ranks));
  }
  return CollectiveRequest(kind, bytes, shape);
}

}  // namespace astra
