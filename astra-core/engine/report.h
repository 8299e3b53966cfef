// The result files of a run, and what their columns mean.

#ifndef ASTRA_CORE_ENGINE_REPORT_H_
#define ASTRA_CORE_ENGINE_REPORT_H_

#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "astra-core/engine/result.h"
#include "topology/topology.h"

namespace astra {

struct ColumnSpec {
  std::string_view file;
  std::string_view name;
  std::string_view unit;  // Empty where there is none.
  std::string_view meaning;
};

// The column dictionary of all result files, in order.
absl::Span<const ColumnSpec> ResultColumns();

// The dictionary as text, a line for each column.
std::string DescribeColumns();

// The bytes that `link` carried over those it could have carried in the total
// time; 0 for a run without time. Above 1 where collectives of different groups
// overlap on the link: the model slows neither.
double UtilisationOf(LinkId link, const Topology& topology,
                     const SimulationResult& result);

// The link with the highest utilisation, the lowest of equals.
LinkId BusiestLink(const Topology& topology, const SimulationResult& result);

// EndToEnd.csv: SimAI's layout, after a comment that states the units. `name`
// is the name of the run.
std::string EndToEndCsv(std::string_view name, const SimulationResult& result);

// collectives.csv: a line for each collective and class of groups.
std::string CollectivesCsv(const Topology& topology,
                           const SimulationResult& result);

// links.csv: a line for each direction of each link.
std::string LinksCsv(const Topology& topology, const SimulationResult& result);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_REPORT_H_
