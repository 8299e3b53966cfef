// Makes the messages of patterns. All that is random is a hash of the seed, the
// pattern, the sender and the number of the message, so that patterns do not
// change one another.

#ifndef NETWORK_FRONTENDS_TRAFFIC_TRAFFIC_DRAW_H_
#define NETWORK_FRONTENDS_TRAFFIC_TRAFFIC_DRAW_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "network-frontends/traffic/pattern_spec.h"
#include "network-frontends/traffic/traffic.h"

namespace astra {

// Returns the messages of `specs` between `num_ranks` ranks. Those of one
// instant are ordered by pattern, sender and number. A pattern has its name in
// results; the second of a name is "incast#2".
//
// Without a rate, each pair of a pattern sends one message. With a rate r and
// a mean size s, each sender has a message after each of successive intervals,
// which are exponentially distributed with the mean s / r.
//
// Errors: those of PatternEntry::senders; InvalidArgument for a cluster of one
// rank and for rates at which no message comes; ResourceExhausted for more than
// kMostTrafficMessages. Each begins with the name of the pattern at fault.
absl::StatusOr<Traffic> DrawTraffic(absl::Span<const PatternSpec> specs,
                                    uint32_t num_ranks, uint64_t seed);

}  // namespace astra

#endif  // NETWORK_FRONTENDS_TRAFFIC_TRAFFIC_DRAW_H_
