// Notes the messages of collectives that are simulated apart from all others,
// so that a MessageLog can be told of them whenever they are counted again.

#ifndef ASTRA_CORE_ENGINE_MESSAGE_RECORDER_H_
#define ASTRA_CORE_ENGINE_MESSAGE_RECORDER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/flow_carrier.h"
#include "astra-core/engine/lone_run.h"
#include "astra-core/engine/message_log.h"
#include "astra-core/engine/round_skipper.h"
#include "network-frontends/network_statistics.h"
#include "network-frontends/replay_support.h"

namespace astra {

class MessageRecorder {
 public:
  // `connections` are those of the collectives, whose flows `carrier` carries.
  // Times are counted from `begin`. All must outlive the object.
  MessageRecorder(absl::Span<const LoneCollective> collectives,
                  absl::Span<const Connection> connections,
                  const FlowCarrier& carrier, TimePs begin);

  // `message` has arrived.
  void Add(const FlowRecord& message);

  // Returns how many messages of the collective at `position` were added.
  uint64_t NumOf(size_t position) const {
    return sequences_[position].items.size();
  }

  // Says what came again, of the collective at `position`, without being
  // simulated, in terms of NumOf().
  void AddSkipped(size_t position, absl::Span<const SkippedRounds> skipped);

  // Moves out the messages of each collective.
  std::vector<std::shared_ptr<const MessageSequence>> Take();

 private:
  const absl::Span<const LoneCollective> collectives_;
  const FlowCarrier& carrier_;
  const TimePs begin_;
  std::map<Connection, uint32_t> place_;  // Among the connections.
  std::vector<MessageSequence> sequences_;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_MESSAGE_RECORDER_H_
