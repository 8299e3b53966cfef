// Stores the definition of a sweep in the table "sweep" of the results store,
// as pairs of a name and a value:
//
//   name, program     texts
//   axes              {"tp": ["1", "2"], ...}: the steps of each axis
//   has_repeats       true or false
//   variables         ["tp", ...]: SweepPoints::variables
//   number_variables  ["tp", ...]: the variables that are numbers in all points
//   computed_metrics  {"cost": "gpus * iteration_ms", ...}
//   requirements      ["reserved_memory_gib <= 74.5", ...]; may be missing
//   allows_misfits    true or false; missing: false
//   objectives        {"iteration_ms": "minimize", ...}; the first ranks rows
//   metrics           ["iteration_ms", ...]: the metrics of the view "results"

#ifndef ASTRA_CORE_SWEEP_RESULTS_STORED_SWEEP_H_
#define ASTRA_CORE_SWEEP_RESULTS_STORED_SWEEP_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/sweep/results/computed_metrics.h"
#include "astra-core/sweep/results/database.h"
#include "astra-core/sweep/results/sweep_table.h"
#include "astra-core/sweep/sweep.h"
#include "astra-core/sweep/sweep_points.h"

namespace astra {

// Returns DamagedDatabase() for the file of `database`.
absl::Status DamagedStore(const Database& database, std::string_view what);

// Returns the value stored under `name`, or none.
absl::StatusOr<std::optional<std::string>> FindStoredValue(
    const Database& database, std::string_view name);

// Returns the texts in the JSON array stored under `name`.
//
// Errors: InvalidArgument where there is no such array.
absl::StatusOr<std::vector<std::string>> GetStoredTexts(
    const Database& database, std::string_view name);

absl::Status PutStoredTexts(const Database& database, std::string_view name,
                            absl::Span<const std::string> texts);

// Replaces all stored values except the metrics.
absl::Status PutStoredSweep(const Database& database, const Sweep& sweep,
                            const SweepPoints& points);

struct StoredSweep {
  SweepTable table;  // Has no rows and no metrics yet.
  std::vector<ComputedMetric> computed;
  std::vector<Expression> requirements;
  bool allows_misfits = false;
};

// Returns the stored sweep. Errors: InvalidArgument where no sweep is stored or
// the store is damaged.
absl::StatusOr<StoredSweep> GetStoredSweep(const Database& database);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_STORED_SWEEP_H_
