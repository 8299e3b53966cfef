// SimAI's text format for topologies.
//
//   nodes gpus_per_server nv_switches other_switches links gpu_type
//   id id id ...
//   source target rate latency error_rate
//
// The second line lists the NVSwitches, then the other switches. A line for
// each cable follows.
//
// The nodes not listed in the second line are the GPUs; their ids must be the
// lowest. docs/formats.md has the grammar.
//
// Source: the topology generator and the ns-3 front end of SimAI 1.6.

#ifndef TOPOLOGY_TOPOLOGY_FILE_H_
#define TOPOLOGY_TOPOLOGY_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "topology/topology.h"

namespace astra {

// The topology that `contents` describes; `file` is its name in messages.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for what a line gets wrong,
// "FILE: ..." for what is wrong with the graph.
absl::StatusOr<Topology> ParseTopology(std::string_view file,
                                       std::string_view contents);

// ParseTopology of the file `path`. Errors: also those of ReadFile.
absl::StatusOr<Topology> ReadTopology(const std::string& path);

// The same format, byte for byte what SimAI's generator writes for this graph.
std::string FormatTopology(const Topology& topology);

}  // namespace astra

#endif  // TOPOLOGY_TOPOLOGY_FILE_H_
