// Fetches into the cache what later events will read. With thousands of ports
// the state does not fit a cache, and most of the cost of a packet is waiting
// for memory. Results do not depend on what is fetched.
//
// When a bucket of the agenda is opened, the packets of this bucket and the
// ports of the next bucket are fetched. For the events that come next, the
// paths of their packets and the ports that follow are fetched.

#ifndef NETWORK_FRONTENDS_PACKET_PREFETCHER_H_
#define NETWORK_FRONTENDS_PACKET_PREFETCHER_H_

#include <cstddef>
#include <cstdint>

#include "network-frontends/packet/packet_events.h"
#include "network-frontends/packet/paths.h"
#include "network-frontends/packet/ports.h"
#include "network-frontends/packet/queue_pair.h"

namespace astra {

class Prefetcher {
 public:
  // All arguments must outlive the prefetcher.
  Prefetcher(const PacketEvents& events, const Ports& ports, const Paths& paths,
             const QueuePairPool& queue_pairs);

  // Fetches for the events after the next. Does nothing in a network that fits
  // a cache.
  void BeforeEvent() {
    if (is_large_) Fetch();
  }

 private:
  void Fetch();
  void FetchBuckets();
  const Port* PortOf(uint32_t key) const;
  const Packet* PacketAt(size_t ahead) const;

  const PacketEvents& events_;
  const Ports& ports_;
  const Paths& paths_;
  const QueuePairPool& queue_pairs_;
  const bool is_large_;          // State exceeds the nearest caches.
  uint64_t num_prefetched_ = 0;  // Buckets that were prefetched.
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_PREFETCHER_H_
