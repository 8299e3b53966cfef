// Numbers that are equal for equal states of parts of a packet network.

#ifndef NETWORK_FRONTENDS_PACKET_NETWORK_STATE_H_
#define NETWORK_FRONTENDS_PACKET_NETWORK_STATE_H_

#include <algorithm>
#include <cstdint>

#include "astra-core/base/random.h"
#include "astra-core/base/units.h"
#include "network-frontends/packet/packet.h"
#include "network-frontends/packet/port.h"
#include "network-frontends/packet/queue_pair.h"
#include "network-frontends/replay_support.h"

namespace astra {

// Counts what a port has carried besides what was simulated.
inline void AddTraffic(const LinkTraffic& traffic, Port* port) {
  port->carried.AddBetween({}, traffic, 1);
  port->max_queued = std::max(port->max_queued, traffic.max_queued);
}

// Gathers numbers into one.
class StateHash {
 public:
  void Add(int64_t number) {
    hash_ = Mix64(hash_ ^ static_cast<uint64_t>(number));
  }
  // Adds how long it is until `time`; what is over is over.
  void AddTime(TimePs time, TimePs now) {
    Add(std::max<int64_t>(0, (time - now).count()));
  }
  void AddAge(TimePs start, TimePs now) { Add((now - start).count()); }
  // Adds the distance of packet numbers.
  void AddNumber(PacketNumber packet, PacketNumber from) {
    Add(int64_t{packet.index()} - int64_t{from.index()});
  }
  uint64_t hash() const { return hash_; }

 private:
  uint64_t hash_ = 0;
};

// Adds what waits at a port and what is on its wire, with times counted from
// `now` and packets from what is acknowledged. Which packets have left is
// decided late, and deciding it earlier could change it; so what is added is
// how far that is decided. `has_sender` says whether a queue pair may send at
// the port, and `place_of` gives the number that stands for a queue pair.
template <class PlaceOf>
void AddPort(Port& port, bool has_sender, const QueuePairPool& queue_pairs,
             TimePs now, const PlaceOf& place_of, StateHash* state) {
  const bool is_idle = !has_sender && !port.has_queued();
  const TimePs decided =
      is_idle ? std::max(port.busy_until, now) : port.busy_until;
  state->AddAge(decided, now);
  state->Add(port.event == kNever ? -1 : (port.event - now).count());
  state->Add(int64_t{port.is_event_of_wire});
  state->Add(port.queued.count());
  for (Lane& lane : port.lanes) {
    state->Add(lane.num_packets());
    state->Add(lane.num_on_wire());
    for (uint32_t i = 0; i < lane.num_packets(); ++i) {
      const Packet& packet = lane.at(i);
      state->AddTime(packet.time, std::min(decided, now));
      state->Add(static_cast<int64_t>(packet.kind));
      if (packet.queue_pair == kNoId<QueuePairId>) continue;
      state->Add(place_of(packet.queue_pair));
      state->AddNumber(packet.number, queue_pairs[packet.queue_pair].acked);
      state->Add(packet.bytes);
      state->Add(packet.hop);
      state->Add(packet.flags);
    }
  }
}

// Adds how a queue pair sends and receives, but not which messages. `decided`
// is how far departures are decided at the port where it sends.
inline void AddPointers(const QueuePair& qp, TimePs now, TimePs decided,
                        StateHash* state) {
  for (const PacketNumber packet : {qp.next, qp.highest, qp.expected}) {
    state->AddNumber(packet, qp.acked);
  }
  state->Add(qp.flying.count());
  state->AddTime(qp.next_send, std::min(decided, now));
  state->Add(qp.last_size);
  state->Add(static_cast<int64_t>(qp.turn));
  state->Add(qp.in_network);
  state->Add(qp.num_unacked);
}

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_NETWORK_STATE_H_
