// Network backend without contention between nodes: a message of S bytes takes
// a + S/B along its route once its sender has put it on the wire.
//
//   a   propagation delay of the route
//   B   smallest rate on the route; equal-cost paths share the message evenly
//
// The port of a rank sends one message after the other, in the order of Send(),
// each at the full rate of the port. So does each port of a switch that sends.
// Links further on carry any number of messages at once, each as if it were
// alone. Messages of one source, target and channel arrive in the order of
// Send().
//
// Source: R. Hockney, "The communication challenge for MPP", Parallel Computing
// 20(3), 1994 (a + S/B). The serial port is the gap G of A. Alexandrov et al.,
// "LogGP", SPAA 1995.

#ifndef NETWORK_FRONTENDS_ANALYTICAL_ANALYTICAL_BACKEND_H_
#define NETWORK_FRONTENDS_ANALYTICAL_ANALYTICAL_BACKEND_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/event_queue.h"
#include "network-frontends/network_backend.h"
#include "topology/routes.h"

namespace astra {

class AnalyticalBackend final : public NetworkBackend {
 public:
  // `routes` must outlive the backend.
  explicit AnalyticalBackend(Routes& routes)
      : routes_(routes),
        port_free_(routes.topology().links().size()),
        link_bytes_(routes.topology().links().size()) {}

  TimePs now() const override { return now_; }

  // Requires that a route leads from source to target; see Routes::FindNodes.
  void Send(const Message& message) override;

  void AdvanceTo(TimePs limit, std::vector<MessageId>* arrived) override;

  absl::Span<const double> link_bytes() const override { return link_bytes_; }

  // Fills in only the bytes of each link.
  const NetworkStatistics& statistics() override;

 private:
  // Properties of the way from one node to another.
  struct Path {
    Route route;
    LinkId port;               // First link; stands for all first links.
    Bandwidth port_bandwidth;  // Sum over the first links.
    Bandwidth bottleneck;
  };

  const Path& PathBetween(NodeId source, NodeId target);
  void CountBytes(const Route& route, Bytes bytes);

  Routes& routes_;
  TimePs now_;
  EventQueue arrivals_;            // The index of an event is its message id.
  std::vector<TimePs> port_free_;  // By link: when its port is free again.
  std::vector<double> link_bytes_;
  // Arrival of the last message, by source and target and by channel. Only
  // paths that are slower than their port have an entry.
  absl::flat_hash_map<std::pair<uint64_t, uint32_t>, TimePs> last_arrival_;
  NetworkStatistics statistics_;
  absl::flat_hash_map<uint64_t, std::unique_ptr<Path>> paths_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_ANALYTICAL_ANALYTICAL_BACKEND_H_
