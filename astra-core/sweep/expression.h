// Expressions over the variables of a sweep, in the syntax of Python:
//
//   tp * pp * dp == world_size
//   topology != "DCN+" and tp in (4, 8)
//   bandwidth >= "400Gbps" or not overlap
//
// Operators, from the loosest to the tightest binding:
//
//   or
//   and
//   not
//   == != < <= > >= in, "not in"
//   + -
//   * / // %
//   signs
//
// Functions: min and max of two or more values. Values are true and false,
// whole numbers, numbers with decimals, and texts in single or double quotes
// without escapes.
//
// Whole numbers stay whole under + - * // % and under / where the division
// leaves no remainder; overflow is an error. // and % round down, as in Python.
// Numbers compare with numbers and texts with texts. Texts are equal if their
// letters are. Texts have an order only where both are rates, times or sizes
// ("400Gbps" < "1.6Tbps", "512K" < "8M"; prefixes of sizes are powers of 1024).
// Nothing else is converted: mixing kinds is an error. Comparisons do not
// chain.

#ifndef ASTRA_CORE_SWEEP_EXPRESSION_H_
#define ASTRA_CORE_SWEEP_EXPRESSION_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/sweep/sweep_value.h"  // IWYU pragma: export

namespace astra {

// The values of a sweep's variables, spelt as in the sweep file: a command line
// receives "0.10" where the file says so.
using SweepVariables = std::map<std::string, std::string, std::less<>>;

// Returns whether `text` may name a variable: a letter or '_', followed by
// letters, digits or '_', and not a keyword of the language.
bool IsVariableName(std::string_view text);

// An expression whose syntax is valid.
class Expression {
 public:
  static constexpr size_t kMaxBytes = 4096;
  static constexpr int kMaxDepth = 100;

  // Errors: InvalidArgument in one line that gives the place in the text ("at
  // character 7"), what stands there and what was expected; also for text
  // longer than kMaxBytes and for brackets, signs or "not" nested deeper than
  // kMaxDepth.
  static absl::StatusOr<Expression> Parse(std::string_view text);

  const std::string& text() const { return text_; }

  // Returns the variables in the expression, sorted, each once.
  const std::vector<std::string>& names() const { return names_; }

  // Errors: InvalidArgument for an unknown variable (with the nearest name),
  // values that do not go together, a division by zero, and a result that is
  // too large or not a number. `and` and `or` evaluate only the operands that
  // they need.
  absl::StatusOr<SweepValue> Evaluate(const SweepVariables& variables) const;

  // Evaluates an expression whose result must be true or false.
  absl::StatusOr<bool> Holds(const SweepVariables& variables) const;

 private:
  friend class ExpressionParser;

  enum class Kind : uint8_t {
    kValue,
    kVariable,
    kOr,   // Disjunction of any number of operands.
    kAnd,  // Conjunction of any number of operands.
    kNot,
    kIn,  // Operand 0 equals one of the others; also stands for "==".
    kNotIn,
    kLess,
    kLessOrEqual,
    kGreater,
    kGreaterOrEqual,
    // The kinds from here on are in the order of Arithmetic.
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kFloorDivide,
    kRemainder,
    kNegate,
    kAffirm,  // Unary plus: "+x".
    kMin,
    kMax,
  };

  struct Node {
    Kind kind;
    SweepValue value;  // Value of a kValue, or the name of a kVariable.
    std::vector<uint32_t> operands;  // Indices of nodes before this one.
  };

  Expression() = default;

  using Result = absl::StatusOr<SweepValue>;

  static Result Apply(const Node& node, absl::Span<const Result> results);
  static Result ApplyBinary(Kind kind, const SweepValue& left,
                            const SweepValue& right);

  // Evaluates one node. `results` holds the results of all nodes before it.
  static Result EvaluateNode(const Node& node, absl::Span<const Result> results,
                             const SweepVariables& variables);

  std::string text_;
  std::vector<std::string> names_;
  std::vector<Node> nodes_;  // The last node is the whole expression.
};

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_EXPRESSION_H_
