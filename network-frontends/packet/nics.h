// The NICs decide which of the queue pairs of a port sends next.
//
// Queue pairs of a port take turns, packet by packet (round_robin.h). A queue
// pair whose rate makes it wait lies in a heap, ordered by time, until then.

#ifndef NETWORK_FRONTENDS_PACKET_NICS_H_
#define NETWORK_FRONTENDS_PACKET_NICS_H_

#include <utility>
#include <vector>

#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/packet/port.h"
#include "network-frontends/packet/queue_pair.h"
#include "network-frontends/packet/round_robin.h"

namespace astra {

class Nics {
 public:
  explicit Nics(QueuePairPool& queue_pairs) : queue_pairs_(queue_pairs) {}

  // Gives the queue pair a place at the NIC of `port`, over which it sends.
  void Join(QueuePairId id, Port& port);
  // Takes the place of `qp` back. Requires that it has one, at `port`.
  void Leave(QueuePair& qp, const Port& port);

  // Queues the queue pair for its turn, which comes no earlier than its rate
  // allows.
  void TakeTurn(QueuePairId id, const Port& port) {
    QueuePair& qp = queue_pairs_[id];
    if (qp.next_send > port.busy_until) return WaitForRate(id, port);
    qp.turn = QueuePair::Turn::kReady;
    nics_[port.nic.index()].turns.SetReady(qp.turn_slot, true);
  }
  // Takes the turn of `qp` back.
  void LoseTurn(QueuePair& qp, const Port& port);

  // Returns whether the next turn at `port` begins after the place of `qp`.
  bool IsPast(const QueuePair& qp, const Port& port) const {
    return nics_[port.nic.index()].turns.IsPast(qp.turn_slot);
  }
  // Lets the next turn at `port` begin after the place of `qp`.
  void GoOnAfter(const QueuePair& qp, const Port& port) {
    nics_[port.nic.index()].turns.GoOnAfter(qp.turn_slot);
  }

  // Returns the queue pair that sends next on `link` when its port is free, and
  // counts it as served; kNoId if none is ready. Requires that the port has a
  // NIC.
  QueuePairId Next(LinkId link, const Port& port) {
    Nic& nic = nics_[port.nic.index()];
    if (!nic.paced.empty()) Ripen(link, port, nic);
    return nic.turns.has_ready() ? nic.turns.Next() : kNoId<QueuePairId>;
  }

  // Returns whether a queue pair is ready or waits for its rate.
  bool HasAny(const Port& port) const {
    const Nic& nic = nics_[port.nic.index()];
    return nic.turns.has_ready() || !nic.paced.empty();
  }

  // The same of any port, which may have no NIC.
  bool HasSender(const Port& port) const {
    return port.nic != kNoId<NicId> && HasAny(port);
  }

  // Returns the first instant at which a queue pair may send, if nothing else
  // happens. Requires HasAny().
  TimePs NextStart(const Port& port) const {
    const Nic& nic = nics_[port.nic.index()];
    return nic.turns.has_ready() ? port.busy_until : nic.paced.front().first;
  }

  // Moves the turns at `port` that wait for a rate to a later time.
  void MoveTurns(const Port& port, TimePs by) {
    if (port.nic == kNoId<NicId>) return;
    for (auto& [time, _] : nics_[port.nic.index()].paced) time += by;
  }

 private:
  // `turns` holds the queue pairs that may send and `paced` those that wait for
  // their rate.
  struct alignas(64) Nic {
    RoundRobin turns;
    std::vector<std::pair<TimePs, QueuePairId>> paced;  // Heap, earliest first.
  };

  void WaitForRate(QueuePairId id, const Port& port);
  void Ripen(LinkId link, const Port& port, Nic& nic);

  QueuePairPool& queue_pairs_;
  std::vector<Nic> nics_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_NICS_H_
