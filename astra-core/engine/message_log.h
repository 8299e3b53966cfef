// Is told of the messages of a simulation while it goes on, so that nothing
// needs to keep them until its end.
//
//   log.BeginNetwork();
//   log.BeginCollective(0, record);      // Its first rank has joined.
//   log.Arrive(message, path, 0);        // A message of collective 0.
//   log.Repeat(messages, 1);             // All messages of collective 1.
//   log.Settle(network.now());           // All before now has been told.
//   log.EndCollective(0);                // All its messages have arrived.
//   log.EndNetwork(network.now());
//
// A simulation may run an iteration several times, each on a network of its own
// that begins at time 0. Each message is told once. Those of collectives that
// are counted again come late and all at once, so that messages are in the
// order of simulated time only after sorting; Settle() says up to where all are
// there. A run that is stopped leaves collectives that have begun and do not
// end.

#ifndef ASTRA_CORE_ENGINE_MESSAGE_LOG_H_
#define ASTRA_CORE_ENGINE_MESSAGE_LOG_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/result.h"
#include "network-frontends/network_statistics.h"
#include "network-frontends/replay_support.h"

namespace astra {

// The messages of a collective that was simulated once, apart from all others.
// Times count from the start of its first kernel, or of the first of those
// that went together.
struct MessageSequence {
  struct Item {
    uint32_t connection = 0;  // Its position in RepeatedMessages::connections.
    Bytes bytes;
    TimePs start;
    TimePs finish;
    TimePs ideal;
  };
  // The items [first, end) come `times` more, each time `period` later, with
  // the repetitions among them.
  struct Repetition {
    size_t first = 0;
    size_t end = 0;
    int64_t times = 0;
    TimePs period;
  };

  std::vector<Item> items;
  // By their ends; disjoint, or within one another.
  std::vector<Repetition> repetitions;
  uint64_t num_messages = 0;  // With repetitions.

  // How often an item comes, and how much later the last time.
  struct Occurrences {
    uint64_t count = 1;
    TimePs last;
  };
  Occurrences OccurrencesOf(size_t item) const;
  // Returns how much later than it says the item comes, each time.
  std::vector<TimePs> DelaysOf(size_t item) const;
};

// The messages of a collective that goes as one before.
struct RepeatedMessages {
  std::shared_ptr<const MessageSequence> sequence;
  TimePs begin;  // Is added to all times.
  absl::Span<const Connection> connections;
  // Appends the links of a connection.
  std::function<void(const Connection&, std::vector<LinkId>*)> append_path;
};

class MessageLog {
 public:
  // Stands for no collective, with background traffic.
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  virtual ~MessageLog() = default;

  // A network that began before and has not ended is simulated anew: the log
  // forgets it.
  virtual void BeginNetwork() = 0;
  // `now` is the simulated time at the end of the network.
  virtual void EndNetwork(TimePs now) = 0;

  // Collectives of one network are numbered from 0 in the order in which their
  // first ranks join. `record` holds what is known by then: all but the times
  // after `first_start`, the count and the reported rank.
  virtual void BeginCollective(uint32_t collective,
                               const CollectiveRecord& record) = 0;
  virtual void EndCollective(uint32_t collective) = 0;

  // `message` has arrived over the links of `path`. Its id and its `path` have
  // no meaning.
  virtual void Arrive(const FlowRecord& message, absl::Span<const LinkId> path,
                      uint32_t collective) = 0;
  // All messages of `collective` have arrived, and none has been told.
  virtual void Repeat(const RepeatedMessages& messages,
                      uint32_t collective) = 0;
  // All messages that arrived before `until` have been told.
  virtual void Settle(TimePs until) = 0;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_MESSAGE_LOG_H_
