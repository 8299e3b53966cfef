#include "collectives/dispatchers/dispatcher.h"

#include <algorithm>

#include "collectives/dispatchers/token_reach.h"

namespace astra {
namespace {

constexpr double kBytesPerKiB = 1024;

// Returns on how many of `parts` equal parts of the ranks a token has experts.
double Reached(const ExpertDispatch& dispatch, uint32_t parts) {
  if (!dispatch.is_even) return PartsReached(dispatch.routing, parts);
  return static_cast<double>(std::min(int64_t{parts}, dispatch.routing.top_k));
}

// Returns the copies of a token that threads handle; relayed ones count twice.
double HandledCopies(CollectiveKind kind, double copies, double visited) {
  return kind == CollectiveKind::kCombine ? 2 * copies : copies + visited;
}

// Returns the time of what runs before the kernel itself.
double PreparationUs(const Dispatcher& dispatcher, CollectiveKind kind,
                     const RankPlaces& places) {
  double us = places.servers > 1 ? dispatcher.notify_us : 0;
  if (kind == CollectiveKind::kDispatch) {
    us += dispatcher.prepare.start_us +
          dispatcher.prepare.rank_us * places.ranks();
  }
  return us;
}

}  // namespace

int64_t CopyBytes(const ExpertRouting& routing, CollectiveKind kind) {
  return kind == CollectiveKind::kCombine ? routing.combine_bytes
                                          : routing.dispatch_bytes;
}

double BytesOfToken(const ExpertRouting& routing, CollectiveKind kind) {
  return static_cast<double>(routing.top_k * CopyBytes(routing, kind));
}

TokenWork WorkOf(const ExpertDispatch& dispatch, CollectiveKind kind,
                 const RankPlaces& places) {
  const Dispatcher& dispatcher = dispatch.dispatcher;
  const DispatchKernel& kernel = dispatcher.of(kind);
  const auto bytes = static_cast<double>(CopyBytes(dispatch.routing, kind));
  const double n = places.ranks();
  const double of_server = places.ranks_per_server;
  const double servers = places.servers;
  const bool is_relayed = dispatcher.relays && places.servers > 1;
  const double visited = is_relayed ? Reached(dispatch, places.servers) : 1;
  TokenWork work;
  work.copies = dispatcher.copies_by_expert
                    ? static_cast<double>(dispatch.routing.top_k)
                    : Reached(dispatch, places.ranks());
  work.start_us = kernel.start_us + kernel.rank_us * n +
                  kernel.start_us_per_KiB * bytes / kBytesPerKiB;
  if (places.servers > 1) work.start_us += dispatcher.between_us;
  if (!dispatch.is_prepared) {
    work.start_us += PreparationUs(dispatcher, kind, places);
    if (kind == CollectiveKind::kDispatch) {
      work.prepare_ns = dispatcher.prepare.token_ns;
    }
  }
  const double handled =
      is_relayed ? HandledCopies(kind, work.copies, visited) : work.copies;
  work.kernel_ns = (kernel.token_ns * visited +
                    handled * (kernel.copy_ns + kernel.byte_ns * bytes)) /
                   dispatcher.sms;
  work.within_bytes =
      bytes * work.copies * (of_server - 1) / (is_relayed ? of_server : n);
  work.between_bytes = is_relayed ? bytes * visited * (servers - 1) / servers
                                  : bytes * work.copies * (n - of_server) / n;
  return work;
}

}  // namespace astra
