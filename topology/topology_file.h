// Reads and writes SimAI's text format for topologies.
//
//   nodes gpus_per_server nv_switches other_switches links gpu_type
//   id id id ...
//   source target rate latency error_rate
//
// The second line lists the NVSwitches, then the other switches. After it comes
// a line for each cable. The nodes that the second line does not list are the
// GPUs; they must have the lowest ids. docs/formats/clusters.md has the
// grammar.
//
// Source: the topology generator and the ns-3 front end of SimAI 1.6.

#ifndef TOPOLOGY_TOPOLOGY_FILE_H_
#define TOPOLOGY_TOPOLOGY_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "topology/topology.h"

namespace astra {

// Returns the topology that `contents` describes; `file` is its name in
// messages.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for an error of a line,
// "FILE: ..." for an error of the graph.
absl::StatusOr<Topology> ParseTopology(std::string_view file,
                                       std::string_view contents);

// Applies ParseTopology to the file `path`. Errors: also those of ReadFile.
absl::StatusOr<Topology> ReadTopology(const std::string& path);

// Returns `topology` in the format of SimAI's generator, byte for byte as the
// generator writes this graph.
std::string FormatTopology(const Topology& topology);

}  // namespace astra

#endif  // TOPOLOGY_TOPOLOGY_FILE_H_
