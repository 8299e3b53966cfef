// What options of command lines have in common beside their values.

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

// Which of `names` option `name` is, `otherwise` if it is not given.
//
// Errors: InvalidArgument for another one, with the nearest.
absl::StatusOr<size_t> Choice(const CommandLine& flags, std::string_view name,
                              size_t otherwise,
                              absl::Span<const std::string_view> names);

// A whole number from 1 to `max`, which stays as it is if it is not given.
struct IntegerOption {
  std::string_view name;
  int64_t* value;
  int64_t max;
};
absl::Status ReadIntegers(const CommandLine& flags,
                          absl::Span<const IntegerOption> options);

// Errors: InvalidArgument "--NAME is missing".
absl::Status Require(const CommandLine& flags, std::string_view name);

// Errors: InvalidArgument "--NAME has no effect: WHY" if one is given.
absl::Status Refuse(const CommandLine& flags,
                    absl::Span<const std::string_view> names,
                    std::string_view why);

}  // namespace astra

#endif  // ASTRA_CORE_COMMAND_LINE_OPTION_READING_H_
