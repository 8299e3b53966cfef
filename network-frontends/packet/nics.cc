#include "network-frontends/packet/nics.h"

#include <algorithm>
#include <functional>

namespace astra {

void Nics::Join(QueuePairId id, Port& port) {
  if (port.nic == kNoId<NicId>) {
    port.nic = NicId(static_cast<uint32_t>(nics_.size()));
    nics_.emplace_back();
  }
  queue_pairs_[id].turn_slot = nics_[port.nic.index()].turns.Add(
      id, [this](QueuePairId moved, TurnSlot slot) {
        queue_pairs_[moved].turn_slot = slot;
      });
}

void Nics::Leave(QueuePair& qp, const Port& port) {
  nics_[port.nic.index()].turns.Remove(qp.turn_slot);
  qp.turn = QueuePair::Turn::kNone;
}

// Queues the queue pair for when its rate allows the next packet.
void Nics::WaitForRate(QueuePairId id, const Port& port) {
  QueuePair& qp = queue_pairs_[id];
  Nic& nic = nics_[port.nic.index()];
  qp.turn = QueuePair::Turn::kPaced;
  nic.turns.SetReady(qp.turn_slot, false);
  nic.paced.emplace_back(qp.next_send, id);
  std::push_heap(nic.paced.begin(), nic.paced.end(), std::greater<>());
}

void Nics::LoseTurn(QueuePair& qp, const Port& port) {
  nics_[port.nic.index()].turns.SetReady(qp.turn_slot, false);
  qp.turn = QueuePair::Turn::kNone;
}

// Makes ready the queue pairs whose rate allows a packet now.
void Nics::Ripen(LinkId link, const Port& port, Nic& nic) {
  while (!nic.paced.empty() && nic.paced.front().first <= port.busy_until) {
    const auto [time, id] = nic.paced.front();
    std::pop_heap(nic.paced.begin(), nic.paced.end(), std::greater<>());
    nic.paced.pop_back();
    QueuePair& qp = queue_pairs_[id];
    // The entry is stale if its queue pair has left or moved.
    if (qp.turn != QueuePair::Turn::kPaced || qp.link != link ||
        qp.next_send != time) {
      continue;
    }
    qp.turn = QueuePair::Turn::kReady;
    nic.turns.SetReady(qp.turn_slot, true);
  }
}

}  // namespace astra
