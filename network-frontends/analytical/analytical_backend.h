// The network without contention between nodes: a message of S bytes takes
// a + S/B along its route, once its sender has put it on the wire.
//
//   a   the propagation delay of the route
//   B   the smallest rate along it, where equal-cost paths share evenly
//
// A rank's port sends one message after the other, in the order of Send(), each
// at the full rate of the port; so does each port of a switch that sends. Links
// further on carry any number of messages at once, each as if it were alone,
// but those of one source, target and channel arrive in the order of Send().
//
// Source: R. Hockney, "The communication challenge for MPP", Parallel Computing
// 20(3), 1994 (a + S/B); the serial port is the gap G of A. Alexandrov et al.,
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

  // The bytes of links, and no more.
  const NetworkStatistics& statistics() override;

 private:
  // What is known of the way between two nodes.
  struct Path {
    Route route;
    LinkId port;               // The first link; stands for all first links.
    Bandwidth port_bandwidth;  // Of the first links together.
    Bandwidth bottleneck;
  };

  const Path& PathBetween(NodeId source, NodeId target);
  void CountBytes(const Route& route, Bytes bytes);

  Routes& routes_;
  TimePs now_;
  EventQueue arrivals_;  // The index of an event is that of its message.
  std::vector<TimePs> port_free_;  // By link: when its port is free again.
  std::vector<double> link_bytes_;
  // Of messages whose path is slower than their port, by ends and channel.
  absl::flat_hash_map<std::pair<uint64_t, uint32_t>, TimePs> last_arrival_;
  NetworkStatistics statistics_;
  absl::flat_hash_map<uint64_t, std::unique_ptr<Path>> paths_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_ANALYTICAL_ANALYTICAL_BACKEND_H_
