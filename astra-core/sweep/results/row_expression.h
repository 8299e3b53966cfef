// Evaluates an expression over the variables and metrics of a table's rows.

#ifndef ASTRA_CORE_SWEEP_RESULTS_ROW_EXPRESSION_H_
#define ASTRA_CORE_SWEEP_RESULTS_ROW_EXPRESSION_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/sweep/expression.h"
#include "astra-core/sweep/results/sweep_table.h"

namespace astra {

// An expression bound to a table. A name means the variable of that name, or
// else the last metric of that name.
class RowExpression {
 public:
  // Looks up the names in `table` as it is now. `expression` must outlive the
  // object.
  RowExpression(const Expression& expression, const SweepTable& table);

  // Errors: InvalidArgument: the errors of Expression::Evaluate(), and `the
  // point has no "NAME"` where only other rows have the metric.
  absl::StatusOr<SweepValue> Evaluate(const SweepRow& row) const;

  // Evaluates an expression whose result must be true or false.
  absl::StatusOr<bool> Holds(const SweepRow& row) const;

 private:
  // A name in the expression and the position of its value in a row.
  struct Operand {
    std::string name;
    bool is_metric;
    size_t position;
  };

  struct UnknownOperand {
    std::string name;
    std::string nearest;  // Nearest known name; empty where none is known.
  };

  SweepVariables VariablesOf(const SweepRow& row) const;

  // Rewords `status` for a row.
  absl::Status Explain(const absl::Status& status, const SweepRow& row) const;

  const Expression* expression_;
  std::vector<Operand> operands_;
  std::vector<UnknownOperand> unknown_;
};

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_ROW_EXPRESSION_H_
