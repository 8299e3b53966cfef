#include "astra-core/sweep/results/requirements.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "astra-core/sweep/results/row_expression.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr std::string_view kUnclear = "cannot tell whether ";

// Returns why the row misses the requirement; empty if it meets it.
std::string ReasonOf(const Expression& requirement,
                     const RowExpression& of_rows, const SweepRow& row) {
  const absl::StatusOr<bool> holds = of_rows.Holds(row);
  if (!holds.ok()) {
    return fmt::format("{}{}: {}", kUnclear, requirement.text(),
                       std::string(holds.status().message()));
  }
  return *holds ? "" : fmt::format("misses {}", requirement.text());
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
      std::string reason = ReasonOf(requirement, of_rows, row);
      if (reason.empty()) continue;
      row.state = PointState::kInfeasible;
      row.reason = std::move(reason);
    }
  }
}

bool IsUnclear(std::string_view reason) {
  return reason.substr(0, kUnclear.size()) == kUnclear;
}

}  // namespace astra
