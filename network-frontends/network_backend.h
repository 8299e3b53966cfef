// The one seam between what is run and the network that carries it.
//
// The engine pulls: it sends messages, then asks the backend to simulate up to
// an instant of the engine's choice. There are no callbacks, hence no
// re-entrance, and a backend is swapped by constructing another one.

#ifndef NETWORK_FRONTENDS_NETWORK_BACKEND_H_
#define NETWORK_FRONTENDS_NETWORK_BACKEND_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/network_statistics.h"

namespace astra {

// From one node of the topology to another: ranks, which are GPUs, send to one
// another and to switches that reduce or multicast for them.
struct Message {
  MessageId id;
  NodeId source;
  NodeId target;
  Bytes bytes;
  // Messages of one source, target and channel arrive in the order of Send(),
  // whatever path each takes. They may share a queue pair: a path and a rate.
  uint32_t channel = 0;
};

// A model of the network between the nodes. Deterministic: the same calls give
// the same arrivals, to the picosecond.
class NetworkBackend {
 public:
  virtual ~NetworkBackend() = default;

  // The instant up to which the network has been simulated.
  virtual TimePs now() const = 0;

  // Starts `message` at now(). Requires that no message in flight has its id.
  virtual void Send(const Message& message) = 0;

  // Simulates to the first instant at which a message arrives, but not
  // beyond `limit`. A message arrives once it is there in full and so are all
  // earlier ones of its source, target and channel: as in NCCL, what overtakes
  // others waits for them. Appends the messages of that instant, by increasing
  // id; appends none if none arrives by `limit`, which is then
  // now().
  virtual void AdvanceTo(TimePs limit, std::vector<MessageId>* arrived) = 0;

  // The bytes that each link of the topology has carried for the messages sent
  // so far, by link id.
  virtual absl::Span<const double> link_bytes() const = 0;

  // What the backend knows of its links, flows and packets, up to now(). May
  // take a while: for the end of a run, and now and then.
  virtual const NetworkStatistics& statistics() = 0;

  // What messages wait for, in words, where the network has fallen silent with
  // messages in flight: "link ... is down". Empty if it cannot tell.
  virtual std::string WhyStuck() const { return {}; }
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_NETWORK_BACKEND_H_
