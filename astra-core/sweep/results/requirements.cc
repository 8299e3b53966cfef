#include "astra-core/sweep/results/requirements.h"

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "astra-core/sweep/results/row_expression.h"
#include "fmt/format.h"

namespace astra {
namespace {

// What is against the row; empty if nothing is.
std::string ReasonOf(const Expression& requirement,
                     const RowExpression& of_rows, const SweepRow& row) {
  const absl::StatusOr<bool> holds = of_rows.Holds(row);
  if (!holds.ok()) {
    return fmt::format("cannot tell whether {}: {}", requirement.text(),
                       std::string(holds.status().message()));
  }
  return *holds ? "" : fmt::format("misses {}", requirement.text());
}

}  // namespace

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

}  // namespace astra
