#include "astra-core/sweep/expression.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr std::string_view kWords[] = {"and",  "or",    "not", "in",
                                       "true", "false", "min", "max"};

bool IsLetter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string_view WhileIs(std::string_view text, bool (*is_part)(char)) {
  const auto* end = std::find_if_not(text.begin(), text.end(), is_part);
  return text.substr(0, static_cast<size_t>(end - text.begin()));
}

std::string_view NameAt(std::string_view text) {
  return WhileIs(text, [](char c) { return IsLetter(c) || IsDigit(c); });
}

// Returns the number at the begin of `text`, such as "1.5e-3", with everything
// that looks like a part of it: "8x".
std::string_view NumberAt(std::string_view text) {
  size_t end = 0;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    const char before = end > 0 ? text[end - 1] : ' ';
    const bool is_exponent_sign =
        (c == '-' || c == '+') && (before == 'e' || before == 'E');
    if (!IsLetter(c) && !IsDigit(c) && c != '.' && !is_exponent_sign) break;
  }
  return text.substr(0, end);
}

enum class TokenKind : uint8_t { kEnd, kName, kNumber, kText, kSymbol };

struct ExpressionToken {
  TokenKind kind;
  // Spelling in the source; a kText includes its quotes.
  std::string_view text;
};

// Returns the token that `rest` begins with. An unclosed quote is a kSymbol.
ExpressionToken TokenAt(std::string_view rest) {
  if (rest.empty()) return {TokenKind::kEnd, rest};
  const char c = rest[0];
  if (IsLetter(c)) return {TokenKind::kName, NameAt(rest)};
  if (IsDigit(c) || c == '.') return {TokenKind::kNumber, NumberAt(rest)};
  if (c == '"' || c == '\'') {
    const size_t end = rest.find(c, 1);
    if (end != std::string_view::npos) {
      return {TokenKind::kText, rest.substr(0, end + 1)};
    }
  }
  constexpr std::string_view kLong[] = {
      "==", "!=", "<=", ">=", "//", "&&", "||"};
  const std::string_view two = rest.substr(0, 2);
  const bool is_long =
      std::find(std::begin(kLong), std::end(kLong), two) != std::end(kLong);
  return {TokenKind::kSymbol, is_long ? two : rest.substr(0, 1)};
}

// Returns what a symbol of another language means here; empty if unknown.
std::string_view MeantBy(std::string_view symbol) {
  constexpr std::pair<std::string_view, std::string_view> kForeign[] = {
      {"=", "=="},  {"&&", "and"}, {"&", "and"},
      {"||", "or"}, {"|", "or"},   {"!", "not"}};
  for (const auto& [foreign, own] : kForeign) {
    if (foreign == symbol) return own;
  }
  return "";
}

absl::StatusOr<bool> AsCondition(std::string_view operation,
                                 const SweepValue& value) {
  if (const auto* condition = std::get_if<bool>(&value)) return *condition;
  return absl::InvalidArgumentError(fmt::format(
      "\"{}\" takes true or false: found {}", operation, DescribeValue(value)));
}

}  // namespace

// Parses by recursive descent, with a function for each level of operators. The
// first error is kept, and the rest of the text then reads as its end.
class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : text_(text) {
    expression_.text_ = text;
    Advance();
  }

  absl::StatusOr<Expression> Parse() {
    ReadOr();
    if (error_.ok() && token_.kind != TokenKind::kEnd) {
      FailAtToken("an operator or the end");
    }
    ASTRA_RETURN_IF_ERROR(error_);
    std::vector<std::string>& names = expression_.names_;
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return std::move(expression_);
  }

 private:
  using Kind = Expression::Kind;

  struct Operator {
    std::string_view symbol;
    Kind kind;
  };

  void Advance() {
    next_ = std::min(text_.find_first_not_of(" \t\r\n", next_), text_.size());
    token_begin_ = next_;
    token_ = TokenAt(text_.substr(next_));
    next_ += token_.text.size();
  }

  void Fail(const std::string& message) {
    if (!error_.ok()) return;
    error_ = absl::InvalidArgumentError(fmt::format(
        "at character {} of {}: {}", token_begin_ + 1, Quoted(text_), message));
    next_ = text_.size();
    token_ = {TokenKind::kEnd, ""};
  }

  void FailAtToken(std::string_view expected) {
    const std::string_view meant = MeantBy(token_.text);
    if (!meant.empty()) {
      Fail(fmt::format("found \"{}\", expected \"{}\"", token_.text, meant));
    } else if (token_.kind == TokenKind::kEnd) {
      Fail(fmt::format("found the end, expected {}", expected));
    } else if (token_.text == "\"" || token_.text == "'") {
      Fail("a text that is not closed");
    } else {
      const bool is_text = token_.kind == TokenKind::kText;
      const std::string_view text = token_.text;
      Fail(fmt::format("found {}, expected {}",
                       Quoted(is_text ? text.substr(1, text.size() - 2) : text),
                       expected));
    }
  }

  // Consumes the token if it is `text`. Quoted texts never match words or
  // symbols, because their tokens include the quotes.
  bool Take(std::string_view text) {
    if (token_.text != text || token_.kind == TokenKind::kEnd) return false;
    Advance();
    return true;
  }

  void Expect(std::string_view symbol) {
    if (!Take(symbol)) FailAtToken(fmt::format("\"{}\"", symbol));
  }

  uint32_t Add(Kind kind, std::vector<uint32_t> operands,
               SweepValue value = false) {
    expression_.nodes_.push_back({kind, std::move(value), std::move(operands)});
    return static_cast<uint32_t>(expression_.nodes_.size() - 1);
  }

  // Runs `read` one nesting level deeper.
  template <class Read>
  uint32_t Deeper(Read read) {
    if (++depth_ > Expression::kMaxDepth) {
      Fail(fmt::format("nested more than {} deep", Expression::kMaxDepth));
    }
    const uint32_t node = error_.ok() ? read() : 0;
    --depth_;
    return node;
  }

  // Reads "operand { `word` operand }" into one node.
  template <class Read>
  uint32_t ReadWordChain(std::string_view word, Kind kind, Read read) {
    std::vector<uint32_t> operands = {read()};
    while (Take(word)) operands.push_back(read());
    return operands.size() == 1 ? operands[0] : Add(kind, std::move(operands));
  }

  uint32_t ReadOr() {
    return ReadWordChain("or", Kind::kOr, [&] { return ReadAnd(); });
  }

  uint32_t ReadAnd() {
    return ReadWordChain("and", Kind::kAnd, [&] { return ReadNot(); });
  }

  uint32_t ReadNot() {
    if (!Take("not")) return ReadComparison();
    const uint32_t operand = Deeper([&] { return ReadNot(); });
    return Add(Kind::kNot, {operand});
  }

  // Returns the comparison operator at the current token, or null.
  const Operator* FindComparison() const {
    static constexpr Operator kOperators[] = {
        {"==", Kind::kIn},     {"!=", Kind::kNotIn},
        {"<", Kind::kLess},    {"<=", Kind::kLessOrEqual},
        {">", Kind::kGreater}, {">=", Kind::kGreaterOrEqual},
        {"in", Kind::kIn},     {"not", Kind::kNotIn},
    };
    const auto* found = std::find_if(
        std::begin(kOperators), std::end(kOperators),
        [&](const Operator& known) {
          return known.symbol == token_.text && token_.kind != TokenKind::kEnd;
        });
    return found == std::end(kOperators) ? nullptr : found;
  }

  uint32_t ReadComparison() {
    const uint32_t left = ReadSum();
    const Operator* comparison = FindComparison();
    if (comparison == nullptr) return left;
    Advance();
    std::vector<uint32_t> operands = {left};
    if (comparison->symbol == "in") {
      ReadList(operands);
    } else if (comparison->symbol == "not") {
      Expect("in");
      ReadList(operands);
    } else {
      operands.push_back(ReadSum());
    }
    const uint32_t node = Add(comparison->kind, std::move(operands));
    if (FindComparison() != nullptr) {
      Fail(
          fmt::format("{} compares what was compared: write \"A < B and B < "
                      "C\", or brackets",
                      Quoted(token_.text)));
    }
    return node;
  }

  // Reads the values in brackets behind "in".
  void ReadList(std::vector<uint32_t>& operands) {
    const bool is_square = token_.text == "[";
    if (!Take(is_square ? "[" : "(")) FailAtToken("a list, such as (4, 8)");
    const std::string_view end = is_square ? "]" : ")";
    do {
      operands.push_back(Deeper([&] { return ReadSum(); }));
    } while (Take(",") && token_.text != end);
    Expect(end);
  }

  // Reads "operand { operator operand }" and groups from the left.
  template <class Read>
  uint32_t ReadSymbolChain(absl::Span<const Operator> operators, Read read) {
    uint32_t node = read();
    while (true) {
      const auto* found = std::find_if(
          operators.begin(), operators.end(),
          [&](const Operator& known) { return Take(known.symbol); });
      if (found == operators.end()) return node;
      const uint32_t right = read();
      node = Add(found->kind, {node, right});
    }
  }

  uint32_t ReadSum() {
    static constexpr Operator kOperators[] = {{"+", Kind::kAdd},
                                              {"-", Kind::kSubtract}};
    return ReadSymbolChain(kOperators, [&] { return ReadProduct(); });
  }

  uint32_t ReadProduct() {
    static constexpr Operator kOperators[] = {{"*", Kind::kMultiply},
                                              {"/", Kind::kDivide},
                                              {"//", Kind::kFloorDivide},
                                              {"%", Kind::kRemainder}};
    return ReadSymbolChain(kOperators, [&] { return ReadSigned(); });
  }

  uint32_t ReadSigned() {
    const bool is_minus = token_.text == "-";
    if (!Take("-") && !Take("+")) return ReadValue();
    const uint32_t operand = Deeper([&] { return ReadSigned(); });
    return Add(is_minus ? Kind::kNegate : Kind::kAffirm, {operand});
  }

  uint32_t ReadValue() {
    constexpr std::string_view kExpected =
        "a value, such as a variable, a number or a text in quotes";
    const std::string_view text = token_.text;
    switch (token_.kind) {
      case TokenKind::kNumber:
        return ReadNumber();
      case TokenKind::kText:
        Advance();
        return Add(Kind::kValue, {},
                   std::string(text.substr(1, text.size() - 2)));
      case TokenKind::kName:
        return ReadNamed(kExpected);
      default:
        break;
    }
    if (!Take("(")) {
      FailAtToken(kExpected);
      return 0;
    }
    const uint32_t node = Deeper([&] { return ReadOr(); });
    Expect(")");
    return node;
  }

  uint32_t ReadNumber() {
    SweepValue value = ValueOf(token_.text);
    if (std::holds_alternative<std::string>(value)) {
      FailAtToken("a number such as 8 or 0.25, of at most 64 bits");
    }
    Advance();
    return Add(Kind::kValue, {}, std::move(value));
  }

  // Reads a variable, a function, true or false.
  uint32_t ReadNamed(std::string_view expected) {
    const std::string name(token_.text);
    if (name == "min" || name == "max") return ReadFunction();
    if (name == "true" || name == "false") {
      Advance();
      return Add(Kind::kValue, {}, name == "true");
    }
    if (!IsVariableName(name)) {
      FailAtToken(expected);
      return 0;
    }
    const size_t begin = token_begin_;
    Advance();
    if (token_.text == "(") {
      token_begin_ = begin;  // Blames the name, not the bracket.
      Fail(UnknownName("function", name, {"min", "max"}));
    }
    expression_.names_.push_back(name);
    return Add(Kind::kVariable, {}, name);
  }

  uint32_t ReadFunction() {
    const Kind kind = token_.text == "min" ? Kind::kMin : Kind::kMax;
    Advance();
    Expect("(");
    std::vector<uint32_t> operands;
    do {
      operands.push_back(Deeper([&] { return ReadOr(); }));
    } while (Take(","));
    if (operands.size() == 1) FailAtToken("\",\" and a second value");
    Expect(")");
    return Add(kind, std::move(operands));
  }

  std::string_view text_;
  size_t next_ = 0;  // Position behind the current token.
  size_t token_begin_ = 0;
  ExpressionToken token_{TokenKind::kEnd, ""};
  int depth_ = 0;
  absl::Status error_;
  Expression expression_;
};

bool IsVariableName(std::string_view text) {
  return !text.empty() && IsLetter(text[0]) && NameAt(text) == text &&
         std::find(std::begin(kWords), std::end(kWords), text) ==
             std::end(kWords);
}

absl::StatusOr<Expression> Expression::Parse(std::string_view text) {
  if (text.size() > kMaxBytes) {
    return absl::InvalidArgumentError(
        fmt::format("{} has {} characters: expected at most {}", Quoted(text),
                    text.size(), kMaxBytes));
  }
  return ExpressionParser(text).Parse();
}

// Applies `node` to the values of its operands, none of which is an error.
Expression::Result Expression::Apply(const Node& node,
                                     absl::Span<const Result> results) {
  const auto value = [&](size_t i) -> const SweepValue& {
    return *results[node.operands[i]];
  };
  switch (node.kind) {
    case Kind::kNot: {
      ASTRA_ASSIGN_OR_RETURN(const bool holds, AsCondition("not", value(0)));
      return SweepValue(!holds);
    }
    case Kind::kNegate:
      return Negated(value(0));
    case Kind::kAffirm:
      ASTRA_RETURN_IF_ERROR(Negated(value(0)).status());
      return value(0);
    case Kind::kIn:
    case Kind::kNotIn: {
      bool is_in = false;
      for (size_t i = 1; i < node.operands.size(); ++i) {
        ASTRA_ASSIGN_OR_RETURN(const bool is_it, AreEqual(value(0), value(i)));
        is_in |= is_it;
      }
      return SweepValue(is_in == (node.kind == Kind::kIn));
    }
    case Kind::kMin:
    case Kind::kMax: {
      size_t best = 0;
      for (size_t i = 1; i < node.operands.size(); ++i) {
        ASTRA_ASSIGN_OR_RETURN(const int order, Order(value(i), value(best)));
        if (node.kind == Kind::kMin ? order < 0 : order > 0) best = i;
      }
      return value(best);
    }
    default:
      return ApplyBinary(node.kind, value(0), value(1));
  }
}

Expression::Result Expression::ApplyBinary(Kind kind, const SweepValue& left,
                                           const SweepValue& right) {
  static_assert(
      static_cast<int>(Kind::kRemainder) - static_cast<int>(Kind::kAdd) ==
          static_cast<int>(Arithmetic::kRemainder),
      "the same order in both");
  if (kind >= Kind::kAdd && kind <= Kind::kRemainder) {
    const int place = static_cast<int>(kind) - static_cast<int>(Kind::kAdd);
    return Compute(static_cast<Arithmetic>(place), left, right);
  }
  ASTRA_ASSIGN_OR_RETURN(const int order, Order(left, right));
  switch (kind) {
    case Kind::kLess:
      return SweepValue(order < 0);
    case Kind::kLessOrEqual:
      return SweepValue(order <= 0);
    case Kind::kGreater:
      return SweepValue(order > 0);
    default:
      return SweepValue(order >= 0);
  }
}

// Evaluates `node`. An error is the result of its node only: a node that does
// not need that operand still has a value.
Expression::Result Expression::EvaluateNode(const Node& node,
                                            absl::Span<const Result> results,
                                            const SweepVariables& variables) {
  if (node.kind == Kind::kValue) return node.value;
  if (node.kind == Kind::kVariable) {
    const auto& name = std::get<std::string>(node.value);
    const auto found = variables.find(name);
    if (found != variables.end()) return ValueOf(found->second);
    std::vector<std::string_view> names;
    names.reserve(variables.size());
    for (const auto& [known, _] : variables) names.push_back(known);
    return absl::InvalidArgumentError(UnknownName("variable", name, names));
  }
  const bool is_or = node.kind == Kind::kOr;
  const bool is_lazy = is_or || node.kind == Kind::kAnd;
  for (const uint32_t operand : node.operands) {
    const Result& result = results[operand];
    if (!result.ok()) return result.status();
    if (!is_lazy) continue;
    ASTRA_ASSIGN_OR_RETURN(const bool holds,
                           AsCondition(is_or ? "or" : "and", *result));
    if (holds == is_or) return SweepValue(is_or);
  }
  return is_lazy ? SweepValue(!is_or) : Apply(node, results);
}

absl::StatusOr<SweepValue> Expression::Evaluate(
    const SweepVariables& variables) const {
  std::vector<Result> results;
  results.reserve(nodes_.size());
  for (const Node& node : nodes_) {
    results.push_back(EvaluateNode(node, results, variables));
  }
  return std::move(results.back());
}

absl::StatusOr<bool> Expression::Holds(const SweepVariables& variables) const {
  ASTRA_ASSIGN_OR_RETURN(const SweepValue value, Evaluate(variables));
  if (const auto* holds = std::get_if<bool>(&value)) return *holds;
  return absl::InvalidArgumentError(fmt::format(
      "{} is {}: expected true or false", Quoted(text_), DescribeValue(value)));
}

}  // namespace astra
