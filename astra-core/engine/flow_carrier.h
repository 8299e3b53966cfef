// The flows that are under way: their messages on a network, and the time that
// passes before a message leaves and after it has arrived.
//
// What happens at one instant does so in the order of collectives and flows:
// ids of messages are used again and again, and mean nothing.

#ifndef ASTRA_CORE_ENGINE_FLOW_CARRIER_H_
#define ASTRA_CORE_ENGINE_FLOW_CARRIER_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "astra-core/base/event_queue.h"
#include "astra-core/base/ids.h"
#include "network-frontends/network_backend.h"

namespace astra {

// A flow of a collective, which goes by two numbers of its owner's.
struct CarriedFlow {
  uint32_t communicator = 0;
  uint32_t number = 0;
  FlowId flow;

  friend auto operator<=>(const CarriedFlow&, const CarriedFlow&) = default;
};

class FlowCarrier {
 public:
  // All that is sent on `network` must go through this object, which it must
  // outlive.
  explicit FlowCarrier(NetworkBackend& network) : network_(network) {}

  // Sends `message`, whose id means nothing, once `before` has passed. The flow
  // is done when the message has arrived and `after` has passed, too.
  void Leave(const CarriedFlow& flow, const Message& message, TimePs before,
             TimePs after);

  // Goes on to the first instant at which flows are done, but not beyond
  // `limit`, and appends those flows in increasing order. If there are none by
  // `limit`, appends none; that is then the present of the network.
  void AdvanceTo(TimePs limit, std::vector<CarriedFlow>* done);

  size_t num_under_way() const {
    return in_flight_.size() - free_slots_.size();
  }

  // The flows of a collective that are under way, in increasing order. Takes as
  // long as there are flows of all.
  std::vector<CarriedFlow> UnderWay(uint32_t communicator,
                                    uint32_t number) const;

 private:
  // Delays that end at one instant do so in this order.
  enum DelayKind : uint32_t { kTargetDone, kMessageReady };

  struct InFlight {
    CarriedFlow flow;
    Message message;
    TimePs after;
    bool is_free = false;
  };

  void Delay(TimePs time, DelayKind kind, uint32_t slot);
  uint32_t TakeSlot();
  void EndDelays();
  void Sort(std::vector<uint32_t>* slots) const;

  NetworkBackend& network_;
  std::vector<InFlight> in_flight_;  // By slot, which is the message's id.
  std::vector<uint32_t> free_slots_;
  EventQueue delays_;               // The index of an event is a slot.
  std::vector<MessageId> arrived_;  // Scratch.
  std::vector<uint32_t> done_;      // Scratch.
  std::vector<uint32_t> leaving_;   // Scratch.
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_FLOW_CARRIER_H_
