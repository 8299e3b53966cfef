// Draws a topology as SVG: servers at the bottom, switches above them by tier,
// and the cables between. NVSwitches are within their servers.
//
// A large topology is drawn by groups: servers below the same switches are one
// box, and so are switches of a tier that the graph does not tell apart. A line
// stands for all cables between two boxes; its width grows with the logarithm
// of their rate. Every box and line has a title, with the rates, which viewers
// show; lines between groups have them beside.

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
