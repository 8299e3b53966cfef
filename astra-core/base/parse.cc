#include "astra-core/base/parse.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

struct Unit {
  std::string_view name;
  int64_t scale;  // Size of the unit, in units of the result.
};

constexpr Unit kTimeUnits[] = {{"s", 1'000'000'000'000},
                               {"ms", 1'000'000'000},
                               {"us", 1'000'000},
                               {"ns", 1'000},
                               {"ps", 1}};

struct Prefix {
  std::string_view name;
  int64_t scale;
};

constexpr Prefix kRatePrefixes[] = {
    {"", 1},
    {"k", 1'000},
    {"K", 1'000},
    {"M", 1'000'000},
    {"G", 1'000'000'000},
    {"T", 1'000'000'000'000},
    {"Ki", int64_t{1} << 10},
    {"Mi", int64_t{1} << 20},
    {"Gi", int64_t{1} << 30},
    {"Ti", int64_t{1} << 40},
};
constexpr Unit kRateUnits[] = {{"bps", 1}, {"b/s", 1}, {"Bps", 8}, {"B/s", 8}};

// A decimal number: "2.5" is 25 times 10 to the power of -1.
struct Decimal {
  int64_t digits = 0;
  int num_decimals = 0;
  std::string_view rest;  // Text behind the number.
};

// Digits that suffice for any input; digits and 10^num_decimals fit into 64
// bits.
constexpr int kMaxDigits = 18;

// Reads the decimal number at the begin of `text`. Returns none if there is
// none or it has too many digits.
std::optional<Decimal> ReadDecimal(std::string_view text) {
  Decimal decimal;
  int num_digits = 0;
  bool after_point = false;
  size_t i = 0;
  for (; i < text.size(); ++i) {
    if (text[i] == '.' && !after_point) {
      after_point = true;
      continue;
    }
    if (text[i] < '0' || text[i] > '9') break;
    if (++num_digits > kMaxDigits) return std::nullopt;
    decimal.digits = 10 * decimal.digits + (text[i] - '0');
    decimal.num_decimals += after_point ? 1 : 0;
  }
  if (num_digits == 0) return std::nullopt;
  decimal.rest = text.substr(i);
  return decimal;
}

int64_t PowerOfTen(int exponent) {
  int64_t power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

// Returns `decimal` in units of 1 / `scale`; none if it is not whole or too
// large.
std::optional<int64_t> Scaled(const Decimal& decimal, int64_t scale) {
  const absl::int128 divisor = PowerOfTen(decimal.num_decimals);
  const absl::int128 product = absl::int128(decimal.digits) * scale;
  if (product % divisor != 0) return std::nullopt;
  const absl::int128 value = product / divisor;
  if (value > std::numeric_limits<int64_t>::max()) return std::nullopt;
  return static_cast<int64_t>(value);
}

std::optional<int64_t> FindRateUnit(std::string_view name) {
  for (const Unit& unit : kRateUnits) {
    for (const Prefix& prefix : kRatePrefixes) {
      if (name.size() == prefix.name.size() + unit.name.size() &&
          name.substr(0, prefix.name.size()) == prefix.name &&
          name.substr(prefix.name.size()) == unit.name) {
        return prefix.scale * unit.scale;
      }
    }
  }
  return std::nullopt;
}

std::optional<int64_t> FindTimeUnit(std::string_view name) {
  for (const Unit& unit : kTimeUnits) {
    if (unit.name == name) return unit.scale;
  }
  return std::nullopt;
}

absl::Status NotA(std::string_view what, std::string_view text,
                  std::string_view expected) {
  return absl::InvalidArgumentError(
      fmt::format("{} is not a {}: expected {}", Quoted(text), what, expected));
}

}  // namespace

absl::StatusOr<int64_t> ParseInteger(std::string_view what,
                                     std::string_view text, int64_t min,
                                     int64_t max) {
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool is_number =
      stop == end && !text.empty() && error != std::errc::invalid_argument;
  if (is_number && error == std::errc() && min <= value && value <= max) {
    return value;
  }
  const std::string range =
      max == std::numeric_limits<int64_t>::max()
          ? fmt::format("a whole number of at least {}", min)
          : fmt::format("a whole number from {} to {}", min, max);
  return absl::InvalidArgumentError(
      fmt::format("{} is {}: expected {}", what, Quoted(text), range));
}

absl::StatusOr<double> ParseNumber(std::string_view what, std::string_view text,
                                   double min, double max) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool is_number = stop == end && !text.empty() && error == std::errc();
  if (is_number && std::isfinite(value) && min <= value && value <= max) {
    return value;
  }
  const std::string range =
      max == std::numeric_limits<double>::max()
          ? fmt::format("a number of at least {}", min)
          : fmt::format("a number from {} to {}", min, max);
  return absl::InvalidArgumentError(
      fmt::format("{} is {}: expected {}", what, Quoted(text), range));
}

absl::StatusOr<Bandwidth> ParseBandwidth(std::string_view text) {
  const std::optional<Decimal> decimal = ReadDecimal(text);
  const std::optional<int64_t> unit =
      decimal ? FindRateUnit(decimal->rest) : std::nullopt;
  if (!unit) {
    return NotA("rate", text, "a number and a unit, such as 400Gbps");
  }
  const std::optional<int64_t> rate = Scaled(*decimal, *unit);
  if (!rate || *rate == 0) {
    return NotA("rate", text,
                "a whole number of bits per second above zero, below 2^63");
  }
  return Bandwidth(*rate);
}

absl::StatusOr<TimePs> ParseTime(std::string_view text) {
  const std::optional<Decimal> decimal = ReadDecimal(text);
  const std::optional<int64_t> unit =
      decimal ? FindTimeUnit(decimal->rest) : std::nullopt;
  if (!unit) {
    return NotA("time", text,
                "a number and a unit of s, ms, us, ns or ps, such as 500ns");
  }
  const std::optional<int64_t> time = Scaled(*decimal, *unit);
  if (!time) {
    return NotA("time", text, "a whole number of picoseconds, below 2^63");
  }
  return TimePs(*time);
}

}  // namespace astra
