// The values that expressions compute with, and the arithmetic of Python over
// them. What mixes kinds is an error; whole numbers stay whole.

#ifndef ASTRA_CORE_SWEEP_SWEEP_VALUE_H_
#define ASTRA_CORE_SWEEP_SWEEP_VALUE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/statusor.h"

namespace astra {

using SweepValue = std::variant<bool, int64_t, double, std::string>;

// What `text` stands for in an expression: "true", "8", "0.25", else a text.
// Numbers beyond 64 bits, or beyond those of a double, are texts.
SweepValue ValueOf(std::string_view text);

// How a command line spells a value; ValueOf() of it is the value again, but
// for texts that are spelt like another kind.
std::string TextOf(const SweepValue& value);

// `value` for messages: texts in quotes.
std::string DescribeValue(const SweepValue& value);

enum class Arithmetic : uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,       // Whole where it divides.
  kFloorDivide,  // Rounds down.
  kRemainder,    // Of that: it has the sign of the divisor.
};

// Errors: InvalidArgument for what is no number, a division by zero, and a
// result beyond 64 bits or beyond a double.
absl::StatusOr<SweepValue> Compute(Arithmetic operation, const SweepValue& a,
                                   const SweepValue& b);
absl::StatusOr<SweepValue> Negated(const SweepValue& value);

// Errors: InvalidArgument where only one is a number, a text, or true or false.
absl::StatusOr<bool> AreEqual(const SweepValue& a, const SweepValue& b);

// Below, at or above 0, as `a` is below, at or above `b`: two numbers, or two
// texts that are both rates, times or sizes.
//
// Errors: InvalidArgument for any others.
absl::StatusOr<int> Order(const SweepValue& a, const SweepValue& b);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_SWEEP_VALUE_H_
