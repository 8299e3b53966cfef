#include "astra-core/sweep/number_range.h"

#include <algorithm>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr int kMaxDigits = 18;

// The number digits / 10^decimals. Both are kept so small that sums and
// products of two such numbers, and digits times 10^kMaxDigits, fit into 128
// bits.
struct Decimal {
  absl::int128 digits = 0;
  int decimals = 0;
};

absl::int128 PowerOfTen(int exponent) {
  absl::int128 power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

absl::StatusOr<Decimal> ParseDecimal(std::string_view what,
                                     std::string_view text) {
  const bool is_negative = text.substr(0, 1) == "-";
  Decimal decimal;
  int num_digits = 0;
  int num_points = 0;
  bool is_number = true;
  for (const char c : text.substr(is_negative ? 1 : 0)) {
    if (c == '.') {
      ++num_points;
      continue;
    }
    is_number = is_number && c >= '0' && c <= '9';
    if (++num_digits > kMaxDigits) break;
    decimal.digits = 10 * decimal.digits + (c - '0');
    decimal.decimals += num_points;
  }
  if (!is_number || num_digits == 0 || num_digits > kMaxDigits ||
      num_points > 1) {
    return absl::InvalidArgumentError(
        fmt::format("{} is {}: expected a number such as 8 or 0.25, of at most "
                    "{} digits",
                    what, Quoted(text), kMaxDigits));
  }
  if (is_negative) decimal.digits = -decimal.digits;
  return decimal;
}

Decimal WithoutZeros(Decimal decimal) {
  while (decimal.decimals > 0 && decimal.digits % 10 == 0) {
    decimal.digits /= 10;
    --decimal.decimals;
  }
  return decimal;
}

std::string DecimalText(const Decimal& decimal) {
  const auto [digits, decimals] = WithoutZeros(decimal);
  const std::string all =
      fmt::format("{:0{}}", static_cast<int64_t>(digits < 0 ? -digits : digits),
                  decimals + 1);
  const std::string_view sign = digits < 0 ? "-" : "";
  if (decimals == 0) return fmt::format("{}{}", sign, all);
  const size_t whole = all.size() - static_cast<size_t>(decimals);
  const std::string_view text = all;
  return fmt::format("{}{}.{}", sign, text.substr(0, whole),
                     text.substr(whole));
}

absl::Status TooMany(size_t max_count) {
  return absl::InvalidArgumentError(
      fmt::format("more than {} values", max_count));
}

absl::Status TooLong() {
  return absl::InvalidArgumentError(
      fmt::format("its values need more than {} digits", kMaxDigits));
}

bool IsShort(const Decimal& decimal) {
  const absl::int128 limit = PowerOfTen(kMaxDigits);
  return decimal.decimals <= kMaxDigits && -limit < decimal.digits &&
         decimal.digits < limit;
}

// Returns a number below, at or above 0 as `a` is below, equal to or above `b`,
// which must be short.
int Compare(const Decimal& a, const Decimal& b) {
  if (!IsShort(a)) {
    // A long `a` never equals a short `b` and is practically never so close to
    // it that rounding matters.
    const auto power = [](int e) {
      return static_cast<long double>(PowerOfTen(e));
    };
    const long double left =
        static_cast<long double>(a.digits) / power(a.decimals);
    const long double right =
        static_cast<long double>(b.digits) / power(b.decimals);
    return left < right ? -1 : 1;
  }
  const int decimals = std::max(a.decimals, b.decimals);
  const absl::int128 left = a.digits * PowerOfTen(decimals - a.decimals);
  const absl::int128 right = b.digits * PowerOfTen(decimals - b.decimals);
  return left < right ? -1 : (left > right ? 1 : 0);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> NumbersByStep(std::string_view from,
                                                       std::string_view to,
                                                       std::string_view step,
                                                       size_t max_count) {
  ASTRA_ASSIGN_OR_RETURN(const Decimal first, ParseDecimal("from", from));
  ASTRA_ASSIGN_OR_RETURN(const Decimal limit, ParseDecimal("to", to));
  ASTRA_ASSIGN_OR_RETURN(const Decimal difference, ParseDecimal("step", step));
  const int decimals =
      std::max({first.decimals, limit.decimals, difference.decimals});
  const auto scaled = [&](const Decimal& decimal) {
    return decimal.digits * PowerOfTen(decimals - decimal.decimals);
  };
  const absl::int128 begin = scaled(first);
  const absl::int128 end = scaled(limit);
  const absl::int128 by = scaled(difference);
  const bool is_away = (end > begin && by < 0) || (end < begin && by > 0);
  if (by == 0 || is_away) {
    return absl::InvalidArgumentError(
        fmt::format("no step of {} leads from {} to {}", step, from, to));
  }
  const absl::int128 count = (end - begin) / by + 1;
  if (count > static_cast<int64_t>(max_count)) return TooMany(max_count);
  std::vector<std::string> numbers;
  numbers.reserve(static_cast<size_t>(count));
  for (absl::int128 i = 0; i < count; ++i) {
    const Decimal number = {begin + i * by, decimals};
    if (!IsShort(number)) return TooLong();
    numbers.push_back(DecimalText(number));
  }
  return numbers;
}

absl::StatusOr<std::vector<std::string>> NumbersByFactor(
    std::string_view from, std::string_view to, std::string_view factor,
    size_t max_count) {
  ASTRA_ASSIGN_OR_RETURN(Decimal number, ParseDecimal("from", from));
  ASTRA_ASSIGN_OR_RETURN(const Decimal limit, ParseDecimal("to", to));
  ASTRA_ASSIGN_OR_RETURN(const Decimal times, ParseDecimal("factor", factor));
  const int direction = Compare(times, {1, 0});
  const int wanted = Compare(limit, number);
  const bool is_positive =
      number.digits > 0 && limit.digits > 0 && times.digits > 0;
  if (!is_positive || direction == 0 || direction == -wanted) {
    return absl::InvalidArgumentError(
        fmt::format("no factor of {} leads from {} to {}", factor, from, to));
  }
  std::vector<std::string> numbers;
  while (Compare(number, limit) != direction) {
    if (numbers.size() == max_count) return TooMany(max_count);
    if (!IsShort(number)) return TooLong();
    numbers.push_back(DecimalText(number));
    number = WithoutZeros(
        {number.digits * times.digits, number.decimals + times.decimals});
  }
  return numbers;
}

}  // namespace astra
