// Is told of the messages of a simulation while it goes on, so that nothing
// needs to keep them until its end.
//
//   log.BeginNetwork();
//   log.BeginCollective(0, record);      // Its first rank has joined.
//   log.Arrive(message, path, 0);        // A message of collective 0.
//   log.EndCollective(0);                // All its messages have arrived.
//   log.EndNetwork(network.now());
//
// A simulation may run an iteration several times, each on a network of its own
// that begins at time 0. Calls come in the order of simulated time. A run that
// is stopped leaves collectives that have begun and do not end.

#ifndef ASTRA_CORE_ENGINE_MESSAGE_LOG_H_
#define ASTRA_CORE_ENGINE_MESSAGE_LOG_H_

#include <cstdint>
#include <limits>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/result.h"
#include "network-frontends/network_statistics.h"

namespace astra {

class MessageLog {
 public:
  // Stands for no collective, with background traffic.
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  virtual ~MessageLog() = default;

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
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_MESSAGE_LOG_H_
