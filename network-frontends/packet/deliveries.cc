#include "network-frontends/packet/deliveries.h"

#include <algorithm>
#include <functional>

namespace astra {

Deliveries::Deliveries(const PacketSetup& setup, const PacketEvents& events,
                       const Paths& paths, Records& records)
    : setup_(setup), events_(events), paths_(paths), records_(records) {}

void Deliveries::Expect(const Message& message, MessageState* state) {
  ++num_in_flight_;
  if (setup_.options.nic.queue_pairs != QueuePairs::kPerMessage) return;
  const uint64_t ends =
      uint64_t{message.source.index()} << 32 | message.target.index();
  const OrderId next(static_cast<uint32_t>(orders_.size()));
  const auto [found, is_new] =
      order_of_.try_emplace({ends, message.channel}, next);
  if (is_new) orders_.emplace_back();
  state->order = found->second;
  state->place = orders_[state->order.index()].num_sent++;
}

void Deliveries::Finish(QueuePairId id, const QueuePair& qp,
                        const MessageState& message) {
  records_.CountFlow();
  if (records_.wants_flows()) {
    records_.AddFlow(qp, message, paths_.Find(id, Paths::Way::kThere),
                     paths_.IdealOf(id, message), events_.now());
  }
  if (message.is_background) return;
  if (message.order == kNoId<OrderId>) {
    arrived_.push_back(message.id);
  } else {
    HandOver(message);
  }
}

// Hands over the message and those that waited for it; keeps it back if it has
// overtaken earlier messages.
void Deliveries::HandOver(const MessageState& message) {
  Order& order = orders_[message.order.index()];
  order.early.emplace_back(message.place, message.id);
  std::push_heap(order.early.begin(), order.early.end(), std::greater<>());
  while (!order.early.empty() &&
         order.early.front().first == order.num_handed_over) {
    arrived_.push_back(order.early.front().second);
    std::pop_heap(order.early.begin(), order.early.end(), std::greater<>());
    order.early.pop_back();
    ++order.num_handed_over;
  }
}

void Deliveries::Take(std::vector<MessageId>* arrived) {
  std::sort(arrived_.begin(), arrived_.end());
  arrived->insert(arrived->end(), arrived_.begin(), arrived_.end());
  num_in_flight_ -= arrived_.size();
  arrived_.clear();
}

}  // namespace astra
