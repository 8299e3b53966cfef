// Network backend without contention between nodes: a message of S bytes takes
// a + S/B along its route while it has the port of its sender for itself.
//
//   a   propagation delay of the route
//   B   smallest rate on the route; equal-cost paths share the message evenly
//
// The messages of one source, target and channel form a connection, like a
// queue pair: they leave and arrive one after the other, in the order of
// Send(). The connections of a node that have something to send share its port
// evenly, as flows and packets do. Links further on carry any number of
// messages at once, each as if it were alone.
//
// Source: R. Hockney, "The communication challenge for MPP", Parallel Computing
// 20(3), 1994 (a + S/B). The shared port is egalitarian processor sharing: L.
// Kleinrock, "Time-shared systems: a theoretical treatment", JACM 14(2), 1967.

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
        ports_(routes.topology().links().size()),
        link_bytes_(routes.topology().links().size()) {}

  TimePs now() const override { return now_; }

  // Requires that a route leads from source to target; see Routes::FindNodes.
  void Send(const Message& message) override;

  void AdvanceTo(TimePs limit, std::vector<MessageId>* arrived) override;

  absl::Span<const double> link_bytes() const override { return link_bytes_; }

  WorkDone work() const override {
    return {statistics_.num_events, num_arrived_};
  }

  // Fills in only the bytes of each link and the number of events.
  const NetworkStatistics& statistics() override;

 private:
  // Properties of the way from one node to another.
  struct Path {
    Route route;
    LinkId port;               // First link; stands for all of them.
    Bandwidth port_bandwidth;  // Sum over the first links.
    Bandwidth bottleneck;
  };
  // The messages of one source, target and channel.
  struct Connection {
    const Path* path;
    uint32_t last;   // Last message that has not left, or kNone.
    TimePs arrived;  // Arrival of the last message that has left.
  };
  // A message until it has left. Places of messages that have left are reused.
  struct Waiting {
    MessageId id;
    Bytes bytes;
    uint32_t connection;
    uint32_t next;  // Next message of the connection, or kNone.
  };
  // The message of a connection that is leaving. It has left when each
  // connection of the port has been served `end` bytes.
  struct Leaving {
    double end;
    uint32_t message;  // Index into waiting_.

    friend bool operator>(const Leaving& a, const Leaving& b) {
      return std::pair(a.end, a.message) > std::pair(b.end, b.message);
    }
  };
  struct Port {
    Bandwidth rate;
    double served = 0;  // Bytes served to each connection by `updated`.
    TimePs updated;
    TimePs deadline;               // When the next message has left.
    std::vector<Leaving> leaving;  // Heap, earliest end first.
  };

  const Path& PathBetween(NodeId source, NodeId target);
  uint32_t ConnectionOf(const Message& message);
  uint32_t TakePlace();
  void CountBytes(const Route& route, Bytes bytes);
  Port& PortOf(const Connection& connection) {
    return ports_[connection.path->port.index()];
  }
  void Serve(Port& port) const;
  static TimePs TimeToServe(const Port& port, double bytes);
  void SetDeadline(Port& port);
  void BeginLeaving(uint32_t message, double after);
  uint32_t EndLeaving(uint32_t message);
  void EndMessages(Port& port);

  Routes& routes_;
  TimePs now_;
  // Arrivals of messages that have left. The index of an event is its message
  // id.
  EventQueue arrivals_;
  // Deadlines by index of the port. A deadline that was moved stays and is
  // ignored.
  EventQueue deadlines_;
  std::vector<Port> ports_;  // Ports by first link.
  std::vector<Connection> connections_;
  std::vector<Waiting> waiting_;
  std::vector<uint32_t> unused_places_;
  std::vector<double> link_bytes_;
  // Connection by source and target and by channel.
  absl::flat_hash_map<std::pair<uint64_t, uint32_t>, uint32_t> connection_of_;
  absl::flat_hash_map<uint64_t, std::unique_ptr<Path>> paths_;
  uint64_t num_arrived_ = 0;  // Messages.
  NetworkStatistics statistics_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_ANALYTICAL_ANALYTICAL_BACKEND_H_
