// Expressions over the variables of a sweep, as Python writes them:
//
//   tp * pp * dp == world_size
//   topology != "DCN+" and tp in (4, 8)
//   bandwidth >= "400Gbps" or not overlap
//
// Operators, from the loosest: or; and; not; == != < <= > >= in, "not in"; + -;
// * / // %; a sign. Functions: min, max, of two or more. Values are true and
// false, whole numbers, numbers with decimals, and text in quotes of either
// kind.
//
// Whole numbers stay whole under + - * // % and under / where it divides;
// overflow is an error. // and % round down, as in Python. Numbers compare with
// numbers, texts with texts; texts are in an order only where both are rates,
// times or sizes ("400Gbps" < "1.6Tbps", "512K" < "8M"; prefixes of sizes are
// powers of 1024). Texts are equal where their letters are. Nothing else is
// converted: what mixes kinds is an error. Comparisons do not chain. A text in
// quotes has no escapes.

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

// What a sweep's variables hold, as the file spells it: a command line gets
// "0.10" where the file says so.
using SweepVariables = std::map<std::string, std::string, std::less<>>;

// Whether `text` may name a variable: a letter or '_', then also digits, and
// no word of the language.
bool IsVariableName(std::string_view text);

// An expression that is spelt right.
class Expression {
 public:
  static constexpr size_t kMaxBytes = 4096;
  static constexpr int kMaxDepth = 100;

  // Errors: InvalidArgument, in one line with the place in the text ("at
  // character 7"), what stands there and what was expected; also for text of
  // over kMaxBytes and for brackets, signs or "not" nested over kMaxDepth deep.
  static absl::StatusOr<Expression> Parse(std::string_view text);

  const std::string& text() const { return text_; }

  // The variables in it, sorted, each once.
  const std::vector<std::string>& names() const { return names_; }

  // Errors: InvalidArgument for a variable that is not there (with the
  // nearest), values that do not go together, a division by zero, a number
  // that is too large or none. `and`, `or` read on the right only what they
  // need.
  absl::StatusOr<SweepValue> Evaluate(const SweepVariables& variables) const;

  // The same where true or false is expected.
  absl::StatusOr<bool> Holds(const SweepVariables& variables) const;

 private:
  friend class ExpressionParser;

  enum class Kind : uint8_t {
    kValue,
    kVariable,
    kOr,   // Of any number.
    kAnd,  // The same.
    kNot,
    kIn,  // The first is equal to one of the others: "==", too.
    kNotIn,
    kLess,
    kLessOrEqual,
    kGreater,
    kGreaterOrEqual,
    kAdd,  // From here in the order of Arithmetic.
    kSubtract,
    kMultiply,
    kDivide,
    kFloorDivide,
    kRemainder,
    kNegate,
    kAffirm,  // "+x".
    kMin,
    kMax,
  };

  struct Node {
    Kind kind;
    SweepValue value;                // Of a kValue; the name of a kVariable.
    std::vector<uint32_t> operands;  // Nodes before this one.
  };

  Expression() = default;

  using Result = absl::StatusOr<SweepValue>;

  static Result Apply(const Node& node, absl::Span<const Result> results);
  static Result ApplyBinary(Kind kind, const SweepValue& left,
                            const SweepValue& right);

  // `results` are those of the nodes before it.
  static Result EvaluateNode(const Node& node, absl::Span<const Result> results,
                             const SweepVariables& variables);

  std::string text_;
  std::vector<std::string> names_;
  std::vector<Node> nodes_;  // The last is the whole.
};

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_EXPRESSION_H_
