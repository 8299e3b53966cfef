// Carries flows over a network, with the delay before each message leaves and
// the delay after it has arrived.
//
// Events of one instant are handled in the order of collectives and flows.
// Message ids are reused and do not affect the order.

#ifndef ASTRA_CORE_ENGINE_FLOW_CARRIER_H_
#define ASTRA_CORE_ENGINE_FLOW_CARRIER_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "astra-core/base/event_queue.h"
#include "astra-core/base/ids.h"
#include "network-frontends/network_backend.h"

namespace astra {

// A flow of a collective. The owner of the carrier chooses `communicator` and
// `number`, which identify the collective.
struct CarriedFlow {
  uint32_t communicator = 0;
  uint32_t number = 0;
  FlowId flow;

  friend auto operator<=>(const CarriedFlow&, const CarriedFlow&) = default;
};

// Returns whether two flows are of one collective.
inline bool AreOfOne(const CarriedFlow& a, const CarriedFlow& b) {
  return a.communicator == b.communicator && a.number == b.number;
}

class FlowCarrier {
 public:
  // Every message on `network` must go through this object. `network` must
  // outlive it.
  explicit FlowCarrier(NetworkBackend& network) : network_(network) {}

  // Sends `message` once `before` has passed; its id is overwritten. The flow
  // is done once the message has arrived and then `after` has passed.
  void Leave(const CarriedFlow& flow, const Message& message, TimePs before,
             TimePs after);

  // Advances the network to the first instant at which flows are done, but not
  // beyond `limit`, and appends these flows in increasing order. If no flow is
  // done by `limit`, the network advances to `limit` and nothing is appended;
  // or not so far, if it waits for others.
  void AdvanceTo(TimePs limit, std::vector<CarriedFlow>* done);

  // Sets the flows that are under way aside, until Return(): the network is to
  // go back in time and carry others.
  void GoBack() { present_ = std::exchange(delays_, EventQueue()); }
  void Return();
  // Returns the flow of a message that is under way, or that has arrived on the
  // network, but that AdvanceTo() has not returned.
  const CarriedFlow& FlowOf(MessageId message) const {
    return in_flight_[message.index()].flow;
  }

  size_t num_under_way() const {
    return in_flight_.size() - free_slots_.size();
  }

  // The next three functions look only at flows of the collective that `of`
  // belongs to.
  // Returns a number that is equal for equal flows under way, with the numbers
  // of flows counted from that of `of` and times from now.
  uint64_t StateFrom(const CarriedFlow& of) const;
  // Returns the largest number of a flow under way. Requires that there is one.
  uint64_t LastUnderWay(const CarriedFlow& of) const;
  // Adds `by` to the numbers of all flows under way.
  void Renumber(const CarriedFlow& of, uint64_t by);

  // Returns the flows of one collective that are under way, in increasing
  // order. Takes time in proportion to the flows of all collectives.
  std::vector<CarriedFlow> UnderWay(uint32_t communicator,
                                    uint32_t number) const;

 private:
  // Delays that end at one instant are handled in this order.
  enum DelayKind : uint32_t { kTargetDone, kMessageReady };

  struct InFlight {
    CarriedFlow flow;
    Message message;
    TimePs after;
    bool is_free = false;
    // Of a delay: when it ends, and what it is.
    TimePs due;
    DelayKind kind = kTargetDone;
  };

  void Delay(TimePs time, DelayKind kind, uint32_t slot);
  uint32_t TakeSlot();
  void EndDelays();
  void Sort(std::vector<uint32_t>* slots) const;

  NetworkBackend& network_;
  std::vector<InFlight> in_flight_;  // Index: slot, which is the message's id.
  std::vector<uint32_t> free_slots_;
  EventQueue delays_;               // The index of each event is a slot.
  EventQueue present_;              // Between GoBack() and Return().
  std::vector<MessageId> arrived_;  // Scratch.
  std::vector<uint32_t> done_;      // Scratch.
  std::vector<uint32_t> leaving_;   // Scratch.
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_FLOW_CARRIER_H_
