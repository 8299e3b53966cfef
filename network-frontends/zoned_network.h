// A network that is simulated in zones, side by side on several threads.
//
// A zone is a set of nodes. It carries the messages that its nodes send, and
// hands over those that arrive at them. What crosses from one zone to another
// is under way for at least `lookahead`, the least delay of the links between
// zones. So all zones can go on alone for a window of that length, then they
// exchange what has crossed. The results are those of one zone, whatever the
// number of zones.
//
//   ZoneDriver*[] drivers = ...;         // One for each zone.
//   network->Run(drivers, num_messages);
//
// Source: K. Chandy, J. Misra, "Distributed simulation: a case study in design
// and verification of distributed programs", IEEE TSE 5(5), 1979 (the idea that
// a delay lets others go on).

#ifndef NETWORK_FRONTENDS_ZONED_NETWORK_H_
#define NETWORK_FRONTENDS_ZONED_NETWORK_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/network_backend.h"

namespace astra {

using ZoneId = Id<struct ZoneTag>;  // Index of a zone.

// What sends the messages of one zone and answers arrivals there. Drivers of
// different zones are called from different threads at the same time.
class ZoneDriver {
 public:
  virtual ~ZoneDriver() = default;

  // Takes the network of the zone to `limit`, and sends what is to be sent
  // until then. A message may be sent only by a node of the zone.
  virtual void AdvanceTo(TimePs limit) = 0;

  // Returns when the driver has something to do next, whatever arrives; the
  // largest time if it has nothing.
  virtual TimePs next() const = 0;

  // Returns how many of the messages that arrive in this zone are dealt with.
  virtual uint64_t num_done() const = 0;

  // Returns whether the driver would have to do at once what only another zone
  // can do. The run then ends without a result.
  virtual bool needs_other_zone() const = 0;
};

// How well the work of a run could be shared among zones.
struct ZoneStatistics {
  uint64_t num_windows = 0;
  uint64_t num_packet_hops = 0;
  // Sum over windows of the packet-hops of the zone that had the most. Their
  // ratio is how many times faster the run is on as many cores as zones, if
  // exchanging costs nothing.
  uint64_t num_critical_hops = 0;
};

class ZonedNetwork {
 public:
  virtual ~ZonedNetwork() = default;

  virtual uint32_t num_zones() const = 0;
  virtual ZoneId ZoneOf(NodeId node) const = 0;
  virtual TimePs lookahead() const = 0;

  // Returns the network of a zone, for its driver.
  virtual NetworkBackend& zone(ZoneId id) = 0;

  // Runs all zones, each on a thread, until the drivers have dealt with
  // `num_messages`; call it once.
  //
  // Errors: FailedPrecondition with the reason, if zones cannot be kept apart,
  // or if nothing happens any more. One network must then run it all.
  virtual absl::Status Run(absl::Span<ZoneDriver* const> drivers,
                           uint64_t num_messages) = 0;

  // Return what was carried by all zones in the end, by link, and how the work
  // was shared.
  virtual std::vector<double> link_bytes() = 0;
  virtual const ZoneStatistics& statistics() const = 0;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_ZONED_NETWORK_H_
