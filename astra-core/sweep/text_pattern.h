// Texts with embedded expressions, as in the values of a sweep file.

#ifndef ASTRA_CORE_SWEEP_TEXT_PATTERN_H_
#define ASTRA_CORE_SWEEP_TEXT_PATTERN_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/sweep/expression.h"

namespace astra {

// A text such as "${tp * pp}" or "fat_${topology}.txt". "$$" stands for a
// dollar.
class TextPattern {
 public:
  static constexpr size_t kMaxBytes = 4096;

  // Errors: InvalidArgument for a "${" that is not closed, a single dollar,
  // text longer than kMaxBytes, and what Expression::Parse refuses.
  static absl::StatusOr<TextPattern> Parse(std::string_view text);

  // Returns the variables in the text, sorted, each once.
  const std::vector<std::string>& names() const { return names_; }

  // Returns the text with the expressions replaced by their values. A lone
  // variable is spelt as in the sweep file.
  //
  // Errors: those of Expression::Evaluate; InvalidArgument for a result longer
  // than kMaxBytes.
  absl::StatusOr<std::string> Fill(const SweepVariables& variables) const;

 private:
  TextPattern() = default;

  struct Part {
    std::string text;                    // Text before the expression.
    std::vector<Expression> expression;  // Zero or one expression.
  };

  std::vector<std::string> names_;
  std::vector<Part> parts_;
};

// Parses an expression with or without braces: "tp * pp" or "${tp * pp}".
//
// Errors: those of Expression::Parse.
absl::StatusOr<Expression> ParseBareExpression(std::string_view text);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_TEXT_PATTERN_H_
