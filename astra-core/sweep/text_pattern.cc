#include "astra-core/sweep/text_pattern.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr std::string_view kBegin = "${";

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

// Returns the position of the brace that closes an expression; skips quoted
// text.
size_t FindBrace(std::string_view text) {
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && c == '}') return i;
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    }
  }
  return std::string_view::npos;
}

absl::Status WrongAt(size_t place, std::string_view text,
                     std::string_view message) {
  return absl::InvalidArgumentError(fmt::format(
      "at character {} of {}: {}", place + 1, Quoted(text), message));
}

}  // namespace

absl::StatusOr<TextPattern> TextPattern::Parse(std::string_view text) {
  if (text.size() > kMaxBytes) {
    return absl::InvalidArgumentError(
        fmt::format("{} has {} characters: expected at most {}", Quoted(text),
                    text.size(), kMaxBytes));
  }
  TextPattern pattern;
  Part part;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$') {
      part.text += text[i];
    } else if (text.substr(i, 2) == "$$") {
      part.text += '$';
      ++i;
    } else if (text.substr(i, 2) == kBegin) {
      const std::string_view rest = text.substr(i + kBegin.size());
      const size_t length = FindBrace(rest);
      if (length == std::string_view::npos) {
        return WrongAt(i, text, "\"${\" without a \"}\" that closes it");
      }
      ASTRA_ASSIGN_OR_RETURN(Expression expression,
                             Expression::Parse(rest.substr(0, length)));
      part.expression.push_back(std::move(expression));
      pattern.parts_.push_back(std::exchange(part, {}));
      i += kBegin.size() + length;
    } else {
      return WrongAt(i, text,
                     "\"$\" alone: expected \"${\", or \"$$\" for a dollar");
    }
  }
  pattern.parts_.push_back(std::move(part));
  std::vector<std::string>& names = pattern.names_;
  for (const Part& filled : pattern.parts_) {
    for (const Expression& expression : filled.expression) {
      names.insert(names.end(), expression.names().begin(),
                   expression.names().end());
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return pattern;
}

absl::StatusOr<std::string> TextPattern::Fill(
    const SweepVariables& variables) const {
  std::string filled;
  for (const Part& part : parts_) {
    filled += part.text;
    for (const Expression& expression : part.expression) {
      const auto lone = variables.find(Trimmed(expression.text()));
      if (lone != variables.end()) {
        filled += lone->second;
        continue;
      }
      ASTRA_ASSIGN_OR_RETURN(const SweepValue value,
                             expression.Evaluate(variables));
      filled += TextOf(value);
    }
    if (filled.size() > kMaxBytes) {
      return absl::InvalidArgumentError(
          fmt::format("{} has over {} characters: expected fewer",
                      Quoted(filled), kMaxBytes));
    }
  }
  return filled;
}

absl::StatusOr<Expression> ParseBareExpression(std::string_view text) {
  const std::string_view trimmed = Trimmed(text);
  if (trimmed.substr(0, kBegin.size()) != kBegin || trimmed.back() != '}') {
    return Expression::Parse(text);
  }
  return Expression::Parse(
      trimmed.substr(kBegin.size(), trimmed.size() - kBegin.size() - 1));
}

}  // namespace astra
