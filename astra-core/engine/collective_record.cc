#include "astra-core/engine/collective_record.h"

namespace astra {

CollectiveRecord RecordOf(const Call& call, const Communicator& group,
                          const CollectiveCost& cost,
                          const CollectiveMessages* messages) {
  const TimedCollective timed =
      cost.Time(group.group, call.communication.bytes);
  CollectiveRecord record;
  record.layer = call.layer;
  record.phase = call.phase;
  record.communication = call.communication;
  record.algorithm = timed.algorithm;
  record.protocol = timed.protocol;
  if (messages != nullptr) {
    record.algorithm = messages->algorithm;
    record.protocol = messages->protocol;
  }
  record.communicator = call.communicator.index();
  record.lowest_rank = group.ranks.front();
  record.num_ranks = static_cast<uint32_t>(group.ranks.size());
  record.num_groups = group.num_groups;
  record.is_measured = cost.is_measured;
  record.is_latency_bound = timed.is_latency_bound;
  record.source = timed.source;
  record.bottleneck = timed.bottleneck;
  return record;
}

}  // namespace astra
