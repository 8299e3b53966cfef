// Reads the file of --events: what happens to links, NICs, switches and GPUs
// during a run.
//
//   simai_events: 1
//   reroute_delay: 10ms
//   events:
//     - {from: 5ms, link: [3, 47], rate: 0.25}
//     - {from: 5ms, until: 8ms, switch: 130, down: true}
//     - {gpu: 9, speed: 0.8}
//
// docs/guide/faults.md has all keys.

#ifndef ASTRA_CORE_RUN_EVENTS_FILE_H_
#define ASTRA_CORE_RUN_EVENTS_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/simulation_options.h"
#include "network-frontends/link_event.h"
#include "topology/topology.h"

namespace astra {

struct RunEvents {
  std::vector<LinkEvent> links;  // By time, then by cable.
  // Time from a change of a link until others send another way.
  TimePs reroute_delay;
  std::vector<SpeedChange> speeds;  // By time, then by GPU.
  bool has_losses = false;          // Links lose packets.
  // What happens, one line for each event of the file.
  std::vector<std::string> texts;
  std::vector<TimePs> starts;  // When each of `texts` begins.

  bool empty() const { return links.empty() && speeds.empty(); }
};

// A file may make at most so many changes of cables: a flap counts for each
// cable of its switch.
constexpr size_t kMostEventChanges = 10'000;

// Parses `contents`. `file` names it in messages. Where several events hold at
// once, a link or a GPU has the product of their rates or speeds, and a link
// the largest of their losses.
//
// Links to which the topology gives no error rate lose packets with probability
// `error_rate`.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for what is missing, unknown
// or wrong, for nodes, cables and GPUs that `topology` does not have, for
// events that change nothing, and for more changes than kMostEventChanges.
absl::StatusOr<RunEvents> ParseEvents(std::string_view file,
                                      std::string_view contents,
                                      const Topology& topology,
                                      double error_rate = 0);

}  // namespace astra

#endif  // ASTRA_CORE_RUN_EVENTS_FILE_H_
