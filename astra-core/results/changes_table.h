// changes.csv: how long each kind of collective of a run took with events, and
// without them.

#ifndef ASTRA_CORE_RESULTS_CHANGES_TABLE_H_
#define ASTRA_CORE_RESULTS_CHANGES_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/result.h"
#include "astra-core/results/table.h"

namespace astra {

// The collectives of one kind that one module calls in one phase, over all
// groups.
struct CollectiveChange {
  std::string layer;
  Phase phase = Phase::kForward;
  ParallelDimension dimension{};
  CollectiveKind kind{};
  int64_t count = 0;
  TimePs healthy;      // Mean time from the last start to the last result.
  TimePs with_events;  // The same.

  double ratio() const;  // 1 for collectives that took no time.
  // What all of them took longer, in microseconds; below 0 if they were faster.
  double added_us() const;
};

// Returns the changes, the largest added_us() first. Both results are of one
// program.
std::vector<CollectiveChange> ChangesOf(const SimulationResult& healthy,
                                        const SimulationResult& with_events);

std::string ChangesCsv(absl::Span<const CollectiveChange> changes);

void AppendChangesColumns(std::vector<ColumnText>* texts);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_CHANGES_TABLE_H_
