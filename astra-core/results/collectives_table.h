// collectives.csv: a line for each collective and class of groups that run it
// alike, whatever the fidelity.

#ifndef ASTRA_CORE_RESULTS_COLLECTIVES_TABLE_H_
#define ASTRA_CORE_RESULTS_COLLECTIVES_TABLE_H_

#include <string>
#include <string_view>
#include <vector>

#include "astra-core/engine/result.h"
#include "astra-core/results/table.h"
#include "topology/topology.h"

namespace astra {

std::string CollectivesHeader();

// Appends the line of one collective of `layer`, for a file that grows while
// the run goes on.
void AppendCollective(const CollectiveRecord& record, std::string_view layer,
                      const Topology& topology, std::string* text);

// Returns the whole file, in the order of the result.
std::string CollectivesCsv(const Topology& topology,
                           const SimulationResult& result);

void AppendCollectivesColumns(std::vector<ColumnText>* texts);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_COLLECTIVES_TABLE_H_
