// The values that expressions compute with, and their arithmetic, which is that
// of Python. Mixing kinds is an error; whole numbers stay whole.

#ifndef ASTRA_CORE_SWEEP_SWEEP_VALUE_H_
#define ASTRA_CORE_SWEEP_SWEEP_VALUE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/statusor.h"

namespace astra {

using SweepValue = std::variant<bool, int64_t, double, std::string>;

// Returns the value that `text` stands for: true or false, a whole number, a
// number with decimals, or else a text. Numbers beyond the range of 64 bits or
// of a double are texts.
SweepValue ValueOf(std::string_view text);

// Returns a value as a command line spells it. ValueOf() reads it back, except
// for texts that are spelt like another kind.
std::string TextOf(const SweepValue& value);

// Returns `value` for messages, with texts in quotes.
std::string DescribeValue(const SweepValue& value);

enum class Arithmetic : uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,       // Stays whole where there is no remainder.
  kFloorDivide,  // Rounds down.
  kRemainder,    // Remainder of kFloorDivide; has the sign of the divisor.
};

// Returns the result of `operation`.
//
// Errors: InvalidArgument for operands that are not numbers, a division by
// zero, and a result beyond 64 bits or beyond the range of a double.
absl::StatusOr<SweepValue> Compute(Arithmetic operation, const SweepValue& a,
                                   const SweepValue& b);
absl::StatusOr<SweepValue> Negated(const SweepValue& value);

// Returns whether two values are equal. Errors: InvalidArgument where the
// values are of different kinds: numbers, texts, or truth values.
absl::StatusOr<bool> AreEqual(const SweepValue& a, const SweepValue& b);

// Returns a number below, equal to or above 0 as `a` is below, equal to or
// above `b`. Both must be numbers, or texts that are both rates, times or
// sizes.
//
// Errors: InvalidArgument for any other values.
absl::StatusOr<int> Order(const SweepValue& a, const SweepValue& b);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_SWEEP_VALUE_H_
