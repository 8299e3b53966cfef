#include "astra-core/sweep/results/requirements.h"

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "astra-core/sweep/results/row_expression.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Returns why a row misses the requirement, which does not hold.
std::string ReasonOf(const Expression& requirement,
                     const absl::StatusOr<bool>& holds) {
  if (holds.ok()) return fmt::format("misses {}", requirement.text());
  return fmt::format("cannot tell whether {}: {}", requirement.text(),
                     std::string(holds.status().message()));
}

}  // namespace

void ApplyMemory(bool allows_misfits, SweepTable& table) {
  const std::optional<size_t> fits = FindMetric(table, "fits");
  if (!fits) return;
  size_t num_misfits = 0;
  for (SweepRow& row : table.rows) {
    const bool is_misfit = row.state == PointState::kFinished &&
                           row.metrics[*fits].value_or(1) == 0;
    if (!is_misfit) continue;
    ++num_misfits;
    if (allows_misfits) continue;
    row.state = PointState::kInfeasible;
    row.reason =
        "does not fit: allocated_memory_gib is above gpu_memory_gib (\"allow: "
        "does-not-fit\" ranks it)";
  }
  if (!allows_misfits || num_misfits == 0) return;
  table.warnings.push_back(fmt::format(
      "{} point{} not fit into the memory of {} GPU, which the sweep allows: "
      "fits is 0",
      num_misfits, num_misfits == 1 ? " does" : "s do",
      num_misfits == 1 ? "its" : "their"));
}

void ApplyRequirements(absl::Span<const Expression> requirements,
                       SweepTable& table) {
  for (const Expression& requirement : requirements) {
    const RowExpression of_rows(requirement, table);
    for (SweepRow& row : table.rows) {
      if (row.state != PointState::kFinished) continue;
      const absl::StatusOr<bool> holds = of_rows.Holds(row);
      if (holds.ok() && *holds) continue;
      row.state = PointState::kInfeasible;
      row.is_unclear = !holds.ok();
      row.reason = ReasonOf(requirement, holds);
    }
  }
}

}  // namespace astra
