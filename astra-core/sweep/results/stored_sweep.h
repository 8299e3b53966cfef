// The table "sweep" of the results store: what the sweep is.
//
//   name, program     texts
//   axes              {"tp": ["1", "2"], ...}: their steps
//   has_repeats       true or false
//   variables         ["tp", ...]: as SweepPoints::variables
//   number_variables  ["tp", ...]: those that are numbers in all points
//   computed_metrics  {"cost": "gpus * iteration_ms", ...}
//   requirements      ["reserved_memory_gib <= 74.5", ...]; may be missing
//   allows_misfits    true or false; may be missing: false
//   objectives        {"iteration_ms": "minimize", ...}, the first ranks
//   metrics           ["iteration_ms", ...]: those of the view "results"

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

// DamagedDatabase() of the file of `database`.
absl::Status DamagedStore(const Database& database, std::string_view what);

// The value of `name`, if it is there.
absl::StatusOr<std::optional<std::string>> FindStoredValue(
    const Database& database, std::string_view name);

// The texts in the JSON array that is the value of `name`.
//
// Errors: InvalidArgument where there is none.
absl::StatusOr<std::vector<std::string>> GetStoredTexts(
    const Database& database, std::string_view name);

absl::Status PutStoredTexts(const Database& database, std::string_view name,
                            absl::Span<const std::string> texts);

// Replaces all but the metrics.
absl::Status PutStoredSweep(const Database& database, const Sweep& sweep,
                            const SweepPoints& points);

struct StoredSweep {
  SweepTable table;  // Without rows and metrics.
  std::vector<ComputedMetric> computed;
  std::vector<Expression> requirements;
  bool allows_misfits = false;
};

// Errors: InvalidArgument where none is stored, or the store is damaged.
absl::StatusOr<StoredSweep> GetStoredSweep(const Database& database);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_STORED_SWEEP_H_
