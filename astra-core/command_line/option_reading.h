// Reads values of options that several programs have.

#ifndef ASTRA_CORE_COMMAND_LINE_OPTION_READING_H_
#define ASTRA_CORE_COMMAND_LINE_OPTION_READING_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/command_line/command_line.h"

namespace astra {

// Returns which of `names` option `name` has as its value; `otherwise` if the
// option was not given.
//
// Errors: InvalidArgument for another value, with the nearest name.
absl::StatusOr<size_t> Choice(const CommandLine& flags, std::string_view name,
                              size_t otherwise,
                              absl::Span<const std::string_view> names);

// The most that an option may count, such as ranks, tokens or requests.
inline constexpr int64_t kMostCount = int64_t{1} << 24;

// A whole number from 1 to `max`. `value` is unchanged if the option is not
// given.
struct IntegerOption {
  std::string_view name;
  int64_t* value;
  int64_t max;
};
absl::Status ReadIntegers(const CommandLine& flags,
                          absl::Span<const IntegerOption> options);

// Checks that the option was given. Errors: InvalidArgument "--NAME is
// missing".
absl::Status Require(const CommandLine& flags, std::string_view name);

// Checks that no option of `names` was given. Errors: InvalidArgument "--NAME
// has no effect: WHY".
absl::Status Refuse(const CommandLine& flags,
                    absl::Span<const std::string_view> names,
                    std::string_view why);

}  // namespace astra

#endif  // ASTRA_CORE_COMMAND_LINE_OPTION_READING_H_
