#include "astra-core/sweep/sweep_value.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr std::string_view kSigns[] = {"+", "-", "*", "/", "//", "%"};

std::string_view SignOf(Arithmetic operation) {
  return kSigns[static_cast<size_t>(operation)];
}

bool IsNumber(const SweepValue& value) {
  return std::holds_alternative<int64_t>(value) ||
         std::holds_alternative<double>(value);
}

double AsDouble(const SweepValue& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) {
    return static_cast<double>(*whole);
  }
  return std::get<double>(value);
}

// Converts a number to a type that holds both kinds of number exactly.
long double Widened(const SweepValue& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) {
    return static_cast<long double>(*whole);
  }
  return std::get<double>(value);
}

// Returns the family of a value: numbers, texts, and truth values do not mix.
size_t FamilyOf(const SweepValue& value) {
  return IsNumber(value) ? 1 : value.index();
}

absl::Status ResultTooLarge(Arithmetic operation, const SweepValue& a,
                            const SweepValue& b) {
  return absl::InvalidArgumentError(
      fmt::format("{} {} {} is too large a number", TextOf(a),
                  SignOf(operation), TextOf(b)));
}

// Divides and rounds down. Requires b != 0, and b != -1 where that overflows.
int64_t FloorDivide(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

int64_t Remainder(int64_t a, int64_t b) {
  if (b == -1) return 0;  // a % b would overflow for the smallest a.
  const int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b
                                                      : remainder;
}

// Divides as CPython's float_divmod does: exact where the quotient is exact.
double FloorDivide(double a, double b) {
  double remainder = std::fmod(a, b);
  double quotient = (a - remainder) / b;
  if (remainder != 0 && (remainder < 0) != (b < 0)) quotient -= 1;
  const double floor = std::floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

double Remainder(double a, double b) {
  const double remainder = std::fmod(a, b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b
                                                      : remainder;
}

double ComputeDecimal(Arithmetic operation, double a, double b) {
  switch (operation) {
    case Arithmetic::kAdd:
      return a + b;
    case Arithmetic::kSubtract:
      return a - b;
    case Arithmetic::kMultiply:
      return a * b;
    case Arithmetic::kDivide:
      return a / b;
    case Arithmetic::kFloorDivide:
      return FloorDivide(a, b);
    case Arithmetic::kRemainder:
      return Remainder(a, b);
  }
  return 0;
}

// Computes with whole numbers. Returns none where the result is beyond 64 bits.
// Must not be called for a division with a remainder.
std::optional<int64_t> ComputeWhole(Arithmetic operation, int64_t a,
                                    int64_t b) {
  int64_t result = 0;
  const bool overflows_by_sign =
      a == std::numeric_limits<int64_t>::min() && b == -1;
  switch (operation) {
    case Arithmetic::kAdd:
      if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
      return result;
    case Arithmetic::kSubtract:
      if (__builtin_sub_overflow(a, b, &result)) return std::nullopt;
      return result;
    case Arithmetic::kMultiply:
      if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
      return result;
    case Arithmetic::kDivide:
    case Arithmetic::kFloorDivide:
      if (overflows_by_sign) return std::nullopt;
      return FloorDivide(a, b);
    case Arithmetic::kRemainder:
      return Remainder(a, b);
  }
  return std::nullopt;
}

bool IsDivision(Arithmetic operation) {
  return operation == Arithmetic::kDivide ||
         operation == Arithmetic::kFloorDivide ||
         operation == Arithmetic::kRemainder;
}

// Returns the bytes of a size such as "512K", "1.5M", "8GB" or "8GiB". Prefixes
// are powers of 1024 in every spelling, as in nccl-tests.
std::optional<double> SizeOf(std::string_view text) {
  const size_t digits =
      std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view unit = text.substr(digits);
  if (unit.empty()) return std::nullopt;
  constexpr std::string_view kPrefixes = "kmgt";
  const auto letter =
      static_cast<char>(std::tolower(static_cast<unsigned char>(unit[0])));
  const size_t power = kPrefixes.find(letter);
  const std::string_view rest = unit.substr(1);
  const bool is_unit = rest.empty() || rest == "B" || rest == "iB";
  if (power == std::string_view::npos || !is_unit) return std::nullopt;
  const absl::StatusOr<double> number =
      ParseNumber("size", text.substr(0, digits));
  if (!number.ok()) return std::nullopt;
  return std::ldexp(*number, 10 * (static_cast<int>(power) + 1));
}

template <class T>
int OrderOf(const T& a, const T& b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

std::optional<int> OrderTexts(std::string_view a, std::string_view b) {
  if (const auto rate_a = ParseBandwidth(a), rate_b = ParseBandwidth(b);
      rate_a.ok() && rate_b.ok()) {
    return OrderOf(*rate_a, *rate_b);
  }
  if (const auto time_a = ParseTime(a), time_b = ParseTime(b);
      time_a.ok() && time_b.ok()) {
    return OrderOf(*time_a, *time_b);
  }
  if (const auto size_a = SizeOf(a), size_b = SizeOf(b); size_a && size_b) {
    return OrderOf(*size_a, *size_b);
  }
  return std::nullopt;
}

absl::Status CannotCompare(const SweepValue& a, const SweepValue& b,
                           std::string_view expected) {
  return absl::InvalidArgumentError(
      fmt::format("cannot compare {} with {}: expected {}", DescribeValue(a),
                  DescribeValue(b), expected));
}

}  // namespace

SweepValue ValueOf(std::string_view text) {
  if (text == "true" || text == "false") return text == "true";
  // Excludes "inf" and "nan", which from_chars() accepts as numbers.
  const std::string_view unsigned_text =
      text.substr(text.substr(0, 1) == "-" ? 1 : 0);
  const bool is_like_number =
      !unsigned_text.empty() &&
      (unsigned_text[0] == '.' ||
       (unsigned_text[0] >= '0' && unsigned_text[0] <= '9'));
  if (!is_like_number) return std::string(text);
  const char* const end = text.data() + text.size();
  int64_t whole = 0;
  const auto [whole_end, whole_error] =
      std::from_chars(text.data(), end, whole);
  if (whole_end == end && whole_error == std::errc()) return whole;
  const bool is_whole = whole_end == end;  // A whole number, though too large.
  double number = 0;
  const auto [number_end, number_error] =
      std::from_chars(text.data(), end, number);
  if (!is_whole && number_end == end && number_error == std::errc() &&
      std::isfinite(number)) {
    return number;
  }
  return std::string(text);
}

std::string TextOf(const SweepValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) {
    return *flag ? "true" : "false";
  }
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* whole = std::get_if<int64_t>(&value)) {
    return fmt::format("{}", *whole);
  }
  std::string number = fmt::format("{}", std::get<double>(value));
  const bool looks_whole =
      number.find_first_not_of("-0123456789") == std::string::npos;
  return looks_whole ? number + ".0" : number;
}

std::string DescribeValue(const SweepValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr ? Quoted(*text) : TextOf(value);
}

absl::StatusOr<SweepValue> Compute(Arithmetic operation, const SweepValue& a,
                                   const SweepValue& b) {
  for (const SweepValue* operand : {&a, &b}) {
    if (IsNumber(*operand)) continue;
    return absl::InvalidArgumentError(
        fmt::format("\"{}\" takes two numbers: found {}", SignOf(operation),
                    DescribeValue(*operand)));
  }
  if (IsDivision(operation) && AsDouble(b) == 0) {
    return absl::InvalidArgumentError(fmt::format(
        "division by zero: {} {} {}", TextOf(a), SignOf(operation), TextOf(b)));
  }
  const auto* whole_a = std::get_if<int64_t>(&a);
  const auto* whole_b = std::get_if<int64_t>(&b);
  const bool leaves_rest = operation == Arithmetic::kDivide &&
                           whole_a != nullptr && whole_b != nullptr &&
                           Remainder(*whole_a, *whole_b) != 0;
  if (whole_a != nullptr && whole_b != nullptr && !leaves_rest) {
    const std::optional<int64_t> result =
        ComputeWhole(operation, *whole_a, *whole_b);
    if (!result) return ResultTooLarge(operation, a, b);
    return SweepValue(*result);
  }
  const double result = ComputeDecimal(operation, AsDouble(a), AsDouble(b));
  if (!std::isfinite(result)) return ResultTooLarge(operation, a, b);
  return SweepValue(result);
}

absl::StatusOr<SweepValue> Negated(const SweepValue& value) {
  if (const auto* number = std::get_if<double>(&value)) {
    return SweepValue(-*number);
  }
  if (!IsNumber(value)) {
    return absl::InvalidArgumentError(
        fmt::format("a sign takes a number: found {}", DescribeValue(value)));
  }
  return Compute(Arithmetic::kSubtract, SweepValue(int64_t{0}), value);
}

absl::StatusOr<bool> AreEqual(const SweepValue& a, const SweepValue& b) {
  if (FamilyOf(a) != FamilyOf(b)) {
    return CannotCompare(a, b,
                         "two numbers, two texts, or twice true or false");
  }
  return IsNumber(a) ? Widened(a) == Widened(b) : a == b;
}

absl::StatusOr<int> Order(const SweepValue& a, const SweepValue& b) {
  if (IsNumber(a) && IsNumber(b)) return OrderOf(Widened(a), Widened(b));
  const auto* text_a = std::get_if<std::string>(&a);
  const auto* text_b = std::get_if<std::string>(&b);
  if (text_a != nullptr && text_b != nullptr) {
    if (const std::optional<int> order = OrderTexts(*text_a, *text_b)) {
      return *order;
    }
  }
  return CannotCompare(a, b, "two numbers, rates, times or sizes");
}

}  // namespace astra
