#include "collectives/dispatchers/dispatcher.h"

#include <algorithm>

#include "collectives/dispatchers/token_reach.h"

namespace astra {
namespace {

constexpr double kBytesPerKiB = 1024;

// Copies of a token on their way, counting those that are handled twice.
double HandledCopies(const Dispatcher& dispatcher, CollectiveKind kind,
                     double copies, double servers) {
  if (servers == 1 || !dispatcher.relays) return copies;
  return kind == CollectiveKind::kCombine ? 2 * copies : copies + servers;
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
  const auto top_k = static_cast<double>(dispatch.routing.top_k);
  const double n = places.ranks();
  const double of_server = places.ranks_per_server;
  const double servers = places.servers;
  const double reached = dispatch.is_even
                             ? std::min(n, top_k)
                             : PartsReached(dispatch.routing, places.ranks());
  const double visited = places.servers == 1 ? 1
                         : dispatch.is_even  ? std::min(servers, top_k)
                         : dispatcher.relays
                             ? PartsReached(dispatch.routing, places.servers)
                             : 1;
  TokenWork work;
  work.copies = dispatcher.copies_by_expert ? top_k : reached;
  work.start_us = kernel.start_us + kernel.rank_us * n +
                  kernel.start_us_per_KiB * bytes / kBytesPerKiB;
  if (places.servers > 1) work.start_us += dispatcher.between_us;
  if (places.servers > 1) work.prepare_us += dispatcher.notify_us;
  if (kind == CollectiveKind::kDispatch) {
    work.prepare_us +=
        dispatcher.prepare.start_us + dispatcher.prepare.rank_us * n;
    work.prepare_ns = dispatcher.prepare.token_ns;
  }
  if (dispatch.is_prepared) {
    work.prepare_us = 0;
    work.prepare_ns = 0;
  }
  work.start_us += work.prepare_us;
  const double handled = HandledCopies(dispatcher, kind, work.copies, visited);
  work.kernel_ns = (kernel.token_ns * visited +
                    handled * (kernel.copy_ns + kernel.byte_ns * bytes)) /
                   dispatcher.sms;
  const bool is_relayed = dispatcher.relays && places.servers > 1;
  work.within_bytes =
      bytes * work.copies * (of_server - 1) / (is_relayed ? of_server : n);
  work.between_bytes = is_relayed ? bytes * visited * (servers - 1) / servers
                                  : bytes * work.copies * (n - of_server) / n;
  return work;
}

}  // namespace astra
