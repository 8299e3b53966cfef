#include "astra-core/serving/fabric/weight_messages.h"

#include "topology/topology.h"

namespace astra {

std::optional<TimePs> WeightMessages::Start(uint32_t replica) {
  if (loads_[replica].empty()) return TimePs(0);
  std::vector<FabricMessage> messages;
  for (const WeightFlow& flow : loads_[replica]) {
    messages.push_back({Topology::NodeOf(flow.source),
                        Topology::NodeOf(flow.target), flow.bytes});
    bytes_sent_ += flow.bytes.count();
  }
  fabric_.Send(FabricChannel::kWeights, messages, [this, replica] {
    times_[replica] = fabric_.network().now();
    fabric_.process().EndWeights(times_[replica], replica);
  });
  return std::nullopt;
}

}  // namespace astra
