// What a collective costs that runs as messages, beside the network.

#ifndef ASTRA_CORE_ENGINE_MESSAGE_COSTS_H_
#define ASTRA_CORE_ENGINE_MESSAGE_COSTS_H_

#include "astra-core/base/units.h"
#include "collectives/flow_graph.h"
#include "collectives/group_layout.h"
#include "collectives/nccl/collective_time.h"

namespace astra {

// What a message costs by where it goes. The latency is that between two ranks;
// to or from a switch it is half of that.
struct HopCosts {
  TimePs latency;
  double wire_bytes_per_byte = 1;

  friend bool operator==(const HopCosts&, const HopCosts&) = default;
};

struct MessageCosts {
  // Passes from when a flow may leave to when its message does.
  TimePs per_message;

  // What the rank that receives a flow spends on each byte, to reduce or to
  // copy it, before what waits for it may leave. Switches spend nothing: they
  // work at the rate of their links.
  double reduce_ps_per_byte = 0;
  double copy_ps_per_byte = 0;

  // The network carries that many bytes for each byte of a flow: 2 where flags
  // are as large as the data (LL), 128/120 with LL128.
  double wire_bytes_per_byte = 1;

  // Beside these, of a message that stays in a server, and of one between
  // servers or through the fabric.
  HopCosts within;
  HopCosts between;

  // Of a rank: from its joining to its first message, and, at least, to its
  // result.
  TimePs start;
  TimePs least;

  // What passes before the message of `flow` leaves. Here and below, `layout`
  // is that of the group, which is needed where `within` and `between` differ.
  TimePs BeforeSending(const Flow& flow, const GroupLayout* layout) const;

  // What the network carries for `flow`, rounded up.
  Bytes OnWire(const Flow& flow, const GroupLayout* layout) const;

  // What the target of `flow` spends on it, rounded to the nearest picosecond.
  TimePs AtTarget(const Flow& flow, uint32_t num_ranks) const;

  friend bool operator==(const MessageCosts&, const MessageCosts&) = default;
};

// What NCCL's messages cost, beside the costs `of_all` messages.
MessageCosts CostsOf(const NcclMessages& nccl, MessageCosts of_all);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_MESSAGE_COSTS_H_
