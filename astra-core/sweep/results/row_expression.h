// An expression over the variables and the metrics of a table's rows.

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

// A name is that of a variable, else that of a metric, of equals the last.
class RowExpression {
 public:
  // Finds the names in `table`, as it is now. `expression` must outlive it.
  RowExpression(const Expression& expression, const SweepTable& table);

  // Errors: InvalidArgument, those of Expression::Evaluate(), and `the point
  // has no "NAME"` where other rows have that metric.
  absl::StatusOr<SweepValue> Evaluate(const SweepRow& row) const;

  // The same where true or false is expected.
  absl::StatusOr<bool> Holds(const SweepRow& row) const;

 private:
  // A name of the expression, and where its value stands in a row.
  struct Operand {
    std::string name;
    bool is_metric;
    size_t position;
  };

  struct UnknownOperand {
    std::string name;
    std::string nearest;  // Empty where nothing is known.
  };

  SweepVariables VariablesOf(const SweepRow& row) const;

  // `status` in words that suit a row.
  absl::Status Explain(const absl::Status& status, const SweepRow& row) const;

  const Expression* expression_;
  std::vector<Operand> operands_;
  std::vector<UnknownOperand> unknown_;
};

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_ROW_EXPRESSION_H_
