// Errors of rules that the sizes of a model, or of a layout, must keep.

#ifndef WORKLOAD_MODULES_SIZE_RULES_H_
#define WORKLOAD_MODULES_SIZE_RULES_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

namespace astra {

// Returns InvalidArgument "FIELD is VALUE: RULE".
absl::Status WrongSize(std::string_view field, int64_t value,
                       std::string_view rule);

// Returns InvalidArgument "NAME DIVISOR does not divide the NUMBER WHAT" unless
// it does.
absl::Status MustDivide(std::string_view divisor_name, int64_t divisor,
                        int64_t number, std::string_view what);

}  // namespace astra

#endif  // WORKLOAD_MODULES_SIZE_RULES_H_
