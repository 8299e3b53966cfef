// Traffic that is offered to a network without a workload: messages between
// ranks, and when each of them is sent. traffic_draw.h makes it of patterns.

#ifndef NETWORK_FRONTENDS_TRAFFIC_TRAFFIC_H_
#define NETWORK_FRONTENDS_TRAFFIC_TRAFFIC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"

namespace astra {

// Most messages of a run. Each takes some hundred bytes while the run goes on.
constexpr uint64_t kMostTrafficMessages = 10'000'000;

struct TrafficMessage {
  TimePs start;  // Instant at which its sender has it ready.
  RankId source;
  RankId target;
  Bytes bytes;           // Data of the message, without headers.
  uint32_t pattern = 0;  // Index of its pattern in Traffic::patterns.
};

struct Traffic {
  std::vector<std::string> patterns;     // Names in results, all different.
  std::vector<TrafficMessage> messages;  // By start; at least one.
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_TRAFFIC_TRAFFIC_H_
