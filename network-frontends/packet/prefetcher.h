// Fetches into the cache what later events will read. With thousands of ports
// the state does not fit a cache, and most of the cost of a packet is waiting
// for memory. Results do not depend on what is fetched.
//
// To find what an event reads takes several steps, each of which reads what the
// one before has fetched: its port, the packet that arrives, the path of that,
// the port that follows and its queue. Each step is done for a block of events,
// so that the waits for memory overlap.

#ifndef NETWORK_FRONTENDS_PACKET_PREFETCHER_H_
#define NETWORK_FRONTENDS_PACKET_PREFETCHER_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "network-frontends/packet/packet_events.h"
#include "network-frontends/packet/paths.h"
#include "network-frontends/packet/port.h"
#include "network-frontends/packet/ports.h"
#include "network-frontends/packet/queue_pair.h"

namespace astra {

class Prefetcher {
 public:
  // All arguments must outlive the prefetcher.
  Prefetcher(const PacketEvents& events, const Ports& ports, const Paths& paths,
             const QueuePairPool& queue_pairs);

  // Fetches for the events to come, once for each block of them. Does nothing
  // while what happens is so little that it fits a cache.
  void BeforeEvent() {
    if (events_.agenda().size() < kManyEvents) return;
    if (num_left_ == 0 || events_.agenda().num_opened() != num_opened_) {
      FetchBlock();
    }
    --num_left_;
  }

 private:
  static constexpr size_t kBlock = 16;
  // From this number of pending events on, what they touch no longer fits the
  // second-level cache.
  static constexpr size_t kManyEvents = 768;

  void FetchBlock();
  const Port* PortOf(uint32_t key) const;

  const PacketEvents& events_;
  const Ports& ports_;
  const Paths& paths_;
  const QueuePairPool& queue_pairs_;
  uint64_t num_opened_ = 0;  // Agenda::num_opened() at the last block.
  size_t num_left_ = 0;      // Events of the block that are to come.
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_PREFETCHER_H_
