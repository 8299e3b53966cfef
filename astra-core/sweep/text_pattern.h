// Texts with expressions in them, as the values of a sweep file are.

#ifndef ASTRA_CORE_SWEEP_TEXT_PATTERN_H_
#define ASTRA_CORE_SWEEP_TEXT_PATTERN_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/sweep/expression.h"

namespace astra {

// A text with expressions in it: "${tp * pp}", "fat_${topology}.txt"; "$$" is a
// dollar.
class TextPattern {
 public:
  static constexpr size_t kMaxBytes = 4096;

  // Errors: InvalidArgument for a "${" that is not closed, a single dollar,
  // text of over kMaxBytes, and what Expression::Parse refuses.
  static absl::StatusOr<TextPattern> Parse(std::string_view text);

  // The variables in it, sorted, each once.
  const std::vector<std::string>& names() const { return names_; }

  // The text with the values in it. That of a lone variable is as the file
  // spells it.
  //
  // Errors: those of Expression::Evaluate; InvalidArgument for a text of over
  // kMaxBytes.
  absl::StatusOr<std::string> Fill(const SweepVariables& variables) const;

 private:
  TextPattern() = default;

  struct Part {
    std::string text;                    // Before the expression.
    std::vector<Expression> expression;  // None or one.
  };

  std::vector<std::string> names_;
  std::vector<Part> parts_;
};

// The expression that `text` is: "tp * pp", or in its braces "${tp * pp}".
//
// Errors: those of Expression::Parse.
absl::StatusOr<Expression> ParseBareExpression(std::string_view text);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_TEXT_PATTERN_H_
