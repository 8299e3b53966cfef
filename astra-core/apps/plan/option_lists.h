// Reads LISTs, the values of options that bound the space of the planner.

#ifndef ASTRA_CORE_APPS_PLAN_OPTION_LISTS_H_
#define ASTRA_CORE_APPS_PLAN_OPTION_LISTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/command_line/command_line.h"

namespace astra {

// Reads whole numbers from `least` on: "4", "1,2,8", or the bounds "2..8" of
// the default, which `values` holds. Returns them in `values`, sorted.
//
// Errors: InvalidArgument, which begins with `what`, for text that is none of
// these, a number that stands there twice, and bounds without a default value.
absl::Status ParseNumbers(std::string_view what, const std::string& text,
                          int64_t least, std::vector<int64_t>& values);

// Reads the numbers of an option; `values` stay if it was not given. Errors:
// those of ParseNumbers.
absl::Status ReadNumbers(const CommandLine& flags, std::string_view option,
                         int64_t least, std::vector<int64_t>& values);

// Reads the names of an option that was given. Returns positions in `names`,
// sorted.
//
// Errors: InvalidArgument for an unknown name and for one that stands there
// twice.
absl::StatusOr<std::vector<size_t>> ReadNames(
    const CommandLine& flags, std::string_view option,
    absl::Span<const std::string_view> names);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_OPTION_LISTS_H_
