// Ranges of decimal numbers, computed exactly: 0.1, 0.2, 0.3.

#ifndef ASTRA_CORE_SWEEP_NUMBER_RANGE_H_
#define ASTRA_CORE_SWEEP_NUMBER_RANGE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace astra {

// The numbers from `from` on, each `step` above the one before it, to the last
// that is not beyond `to`. Without zeros at the end of decimals.
//
// Errors: InvalidArgument for what is no decimal number of at most 18 digits,
// a step of 0 or away from `to`, and more numbers than `max_count`.
absl::StatusOr<std::vector<std::string>> NumbersByStep(std::string_view from,
                                                       std::string_view to,
                                                       std::string_view step,
                                                       size_t max_count);

// The same, each the one before it times `factor`. All are above 0.
absl::StatusOr<std::vector<std::string>> NumbersByFactor(
    std::string_view from, std::string_view to, std::string_view factor,
    size_t max_count);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_NUMBER_RANGE_H_
