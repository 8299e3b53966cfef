// The costs of a collective's messages beyond the time on the network.

#ifndef ASTRA_CORE_ENGINE_MESSAGE_COSTS_H_
#define ASTRA_CORE_ENGINE_MESSAGE_COSTS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "astra-core/base/collective_kind.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "collectives/flow_graph.h"
#include "collectives/group_layout.h"
#include "collectives/launch.h"
#include "collectives/nccl/collective_time.h"
#include "collectives/systems/system_spec.h"
#include "topology/topology.h"

namespace astra {

// Costs of a message that depend on where it goes. `latency` is for a message
// between two ranks; a message to or from a switch costs half.
struct HopCosts {
  TimePs latency;
  double wire_bytes_per_byte = 1;

  friend bool operator==(const HopCosts&, const HopCosts&) = default;
};

// Flows [begin, end) of a graph wait `delay` longer than others.
struct LaterFlows {
  uint64_t begin = 0;
  uint64_t end = 0;
  TimePs delay;

  friend bool operator==(const LaterFlows&, const LaterFlows&) = default;
};

struct MessageCosts {
  // Delay from when a flow may leave to when its message leaves.
  TimePs per_message;
  LaterFlows later;

  // Time that the receiving rank spends on each byte, to reduce or to copy it,
  // before dependent flows may leave. Switches spend none: they work at the
  // rate of their links.
  double reduce_ps_per_byte = 0;
  double copy_ps_per_byte = 0;

  // Bytes on the network for each byte of a flow: 2 where flags are as large as
  // the data (LL), 128/120 with LL128.
  double wire_bytes_per_byte = 1;

  // Further costs of a message: `within` a server, or `between` servers and
  // through the fabric.
  HopCosts within;
  HopCosts between;

  // Delay of a rank from joining to its first message, and the least time from
  // joining to its result.
  TimePs start;
  TimePs least;

  // Returns the delay before the message of `flow`, which has number `id`,
  // leaves. Here and below, `layout` is the layout of the group; it is needed
  // if `within` and `between` differ, or have a latency.
  TimePs BeforeSending(FlowId id, const Flow& flow,
                       const GroupLayout* layout) const;

  // Returns the bytes that the network carries for `flow`, rounded up.
  Bytes OnWire(const Flow& flow, const GroupLayout* layout) const;

  // Returns the time that the target of `flow` spends on it, rounded to 1 ps.
  TimePs AtTarget(const Flow& flow, uint32_t num_ranks) const;

  friend bool operator==(const MessageCosts&, const MessageCosts&) = default;
};

// Returns the costs of NCCL's messages, added to `of_all`, the costs of every
// message.
MessageCosts CostsOf(const NcclMessages& nccl, MessageCosts of_all);

// The rates at which the thread blocks of a rank move data, and those of all
// links of a GPU, of the GPU where they are the most.
struct ThreadBlocks {
  double GBps = 0;  // Of all that send at once.
  double within_GBps = 0;
  double between_GBps = 0;
};

// Returns the rates where ranks have up to `connections` to send on, each to
// one rank and on one channel. A thread block works for each, and moves what
// NCCL reckons for a channel (ChannelGBps).
ThreadBlocks ThreadBlocksOf(uint32_t connections, GpuArchitecture architecture,
                            const Topology& topology);

// Returns what the messages of an algorithm cost that NCCL does not have, if
// NCCL ran it with its Simple protocol. A kernel starts in 8.4 us and takes no
// less than the time between two collectives. A message costs what NCCL reckons
// for a step of a ring. Links yield the share of their rate that NCCL's
// algorithm `name` of registry.h reaches, or else its ring; for collectives
// that NCCL makes of sends and receives, their share. Where `blocks` are known,
// links yield no more than these move.
//
// Source: NCCL 2.30, src/graph/tuning.cc (the latencies).
MessageCosts CostsOfSimple(
    const SystemSpec& system, bool is_one_server, CollectiveKind kind,
    std::string_view name, Launch launch,
    const std::optional<ThreadBlocks>& blocks = std::nullopt);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_MESSAGE_COSTS_H_
