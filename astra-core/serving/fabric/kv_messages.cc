#include "astra-core/serving/fabric/kv_messages.h"

#include <algorithm>
#include <cmath>

#include "topology/topology.h"

namespace astra {

std::optional<TimePs> KvMessages::Start(const KvTransfer& transfer,
                                        TimePs least) {
  const double whole = transfer.share * kv_.BytesOf(transfer.tokens);
  messages_.clear();
  for (const KvFlow& flow : kv_.flows) {
    const Bytes bytes(std::llround(flow.share * whole));
    bytes_sent_ += bytes.count();
    messages_.push_back(
        {.source = Topology::NodeOf(from_.GpuOf(transfer.source, flow.source)),
         .target = Topology::NodeOf(to_.GpuOf(transfer.target, flow.target)),
         .bytes = bytes});
  }
  const TimePs earliest = fabric_.network().now() + least;
  fabric_.Send(FabricChannel::kCaches, messages_,
               [this, earliest, id = transfer.id] {
                 const TimePs end = std::max(earliest, fabric_.network().now());
                 fabric_.process().EndTransfer(end, id);
               });
  return std::nullopt;
}

}  // namespace astra
