#include "astra-core/engine/flow_sending.h"

#include <vector>

namespace astra {

Connection ConnectionOf(const Flow& flow, const CollectiveMessages& messages,
                        uint32_t communicator) {
  const std::vector<NodeId>& nodes = *messages.nodes;
  return {nodes[flow.source.index()], nodes[flow.target.index()],
          communicator * kChannelsPerCommunicator +
              flow.channel % kChannelsPerCommunicator};
}

void SendFlows(absl::Span<const FlowId> flows, const CarriedFlow& of,
               const CollectiveMessages& messages, FlowCarrier& carrier) {
  const FlowGraph& graph = *messages.graph;
  const MessageCosts& costs = messages.costs;
  const GroupLayout* layout = messages.layout.get();
  for (const FlowId id : flows) {
    const Flow flow = graph.flow(id);
    const auto [source, target, channel] =
        ConnectionOf(flow, messages, of.communicator);
    carrier.Leave({of.communicator, of.number, id},
                  {.id = {},
                   .source = source,
                   .target = target,
                   .bytes = costs.OnWire(flow, layout),
                   .channel = channel},
                  costs.BeforeSending(id, flow, layout),
                  costs.AtTarget(flow, graph.num_ranks()));
  }
}

}  // namespace astra
