// Draws a topology as SVG: servers at the bottom, switches above them by tier,
// and the cables between, each with its rate.
//
// A large topology is drawn by groups: servers below the same switches are one
// box, and switches of a tier with the same neighbours are one, with their
// number. A line stands for all cables between two boxes; its width grows with
// their rate. Every box and line has a title, which viewers show.

#ifndef TOPOLOGY_TOPOLOGY_SVG_H_
#define TOPOLOGY_TOPOLOGY_SVG_H_

#include <string>

#include "absl/types/span.h"
#include "topology/topology.h"

namespace astra {

// With `loads`, by link from 0 to 1, lines are coloured by the higher load of
// their cables and directions, and their titles say it.
std::string TopologySvg(const Topology& topology,
                        absl::Span<const double> loads = {});

}  // namespace astra

#endif  // TOPOLOGY_TOPOLOGY_SVG_H_
