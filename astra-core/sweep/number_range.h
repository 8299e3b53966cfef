// Ranges of decimal numbers, computed exactly, such as 0.1, 0.2, 0.3.

#ifndef ASTRA_CORE_SWEEP_NUMBER_RANGE_H_
#define ASTRA_CORE_SWEEP_NUMBER_RANGE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace astra {

// Returns the numbers from `from` to `to` in steps of `step`. The last number
// does not go beyond `to`. Decimals have no trailing zeros.
//
// Errors: InvalidArgument for text that is not a decimal number of at most 18
// digits, a step of 0 or away from `to`, and more than `max_count` numbers.
absl::StatusOr<std::vector<std::string>> NumbersByStep(std::string_view from,
                                                       std::string_view to,
                                                       std::string_view step,
                                                       size_t max_count);

// Returns the numbers from `from` to `to` where each is the one before times
// `factor`. All of them are above 0.
absl::StatusOr<std::vector<std::string>> NumbersByFactor(
    std::string_view from, std::string_view to, std::string_view factor,
    size_t max_count);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_NUMBER_RANGE_H_
