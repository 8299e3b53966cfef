// Interface between the engine and the network that carries its messages.
//
// The engine drives: it sends messages, then asks the backend to simulate up to
// an instant that the engine chooses. Nothing calls back into a backend, so
// there is no re-entrance. Another backend is used by constructing another one.

#ifndef NETWORK_FRONTENDS_NETWORK_BACKEND_H_
#define NETWORK_FRONTENDS_NETWORK_BACKEND_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/run_progress.h"
#include "astra-core/base/units.h"
#include "network-frontends/network_statistics.h"

namespace astra {

class ReplaySupport;

// A message from one node of the topology to another. Ranks, which are GPUs,
// send to one another and to switches that reduce or multicast for them.
struct Message {
  MessageId id;
  NodeId source;
  NodeId target;
  Bytes bytes;
  // Messages of one source, target and channel arrive in the order of Send(),
  // even if they take different paths. They may share a queue pair: a path and
  // a rate.
  uint32_t channel = 0;
};

// A model of the network between the nodes. It is deterministic: the same calls
// give the same arrivals, to the picosecond.
class NetworkBackend {
 public:
  virtual ~NetworkBackend() = default;

  // Returns the instant up to which the network has been simulated.
  virtual TimePs now() const = 0;

  // Starts `message` at now(). Requires that no message in flight has its id.
  virtual void Send(const Message& message) = 0;

  // Simulates to the first instant at which a message arrives, but not beyond
  // `limit`. A message arrives once all its bytes are there and all earlier
  // messages of its source, target and channel have arrived: as in NCCL, a
  // message that overtakes others waits for them. Appends the messages of that
  // instant by increasing id. If none arrives by `limit`, appends none, and
  // now() becomes `limit`.
  //
  // A network that several jobs share returns at once, with now() unchanged and
  // nothing appended, if another job has to go on first; see shared_network.h.
  virtual void AdvanceTo(TimePs limit, std::vector<MessageId>* arrived) = 0;

  // Lets what nobody waits for come to its end, such as acknowledgements that
  // are still on their way. Requires that no message is in flight.
  virtual void Drain() {}
  // Calls `log` with each message that arrives from now on, in the order of
  // arrival and before AdvanceTo() returns its id. `log` must not call the
  // backend. A backend without records of messages never calls it.
  virtual void LogArrivals(const ArrivalLog& /*log*/) {}

  // Returns the bytes that each link has carried for the messages sent so far,
  // by link id.
  virtual absl::Span<const double> link_bytes() const = 0;

  // Returns how many events the backend has executed and how many messages have
  // arrived, in a time that does not depend on the size of the network.
  // Replayed messages count as messages, and cost no events. A view of another
  // backend returns zeros, so that nothing is counted twice.
  virtual WorkDone work() const { return {}; }

  // Returns what the backend knows of its links, flows and packets up to now().
  // The call may take long; make it at the end of a run or rarely.
  virtual const NetworkStatistics& statistics() = 0;

  // Explains why messages in flight do not arrive in a network where nothing
  // happens any more, such as "link ... is down". Returns "" if the backend
  // cannot tell.
  virtual std::string WhyStuck() const { return {}; }

  // Returns when a sender last gave a message up; 0 if none has. Such a message
  // never arrives.
  virtual TimePs last_give_up() const { return {}; }

  // Returns what replays of collectives need, or nullptr if this network cannot
  // have any.
  virtual ReplaySupport* replay() { return nullptr; }
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_NETWORK_BACKEND_H_
