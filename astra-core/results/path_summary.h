// Describes a critical path in the summary of a run.

#ifndef ASTRA_CORE_RESULTS_PATH_SUMMARY_H_
#define ASTRA_CORE_RESULTS_PATH_SUMMARY_H_

#include <string>

#include "absl/types/span.h"
#include "astra-core/engine/critical_path.h"
#include "astra-core/engine/result.h"
#include "topology/topology.h"

namespace astra {

// Returns lines of text: what the path goes through, what bounds it, and its
// longest parts, with the stages of the pipeline if the run has stages. Of an
// empty path it says that none is known.
std::string PathLines(absl::Span<const PathPiece> path,
                      const Topology& topology, const SimulationResult& result,
                      bool has_stages);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_PATH_SUMMARY_H_
