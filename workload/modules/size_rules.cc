#include "workload/modules/size_rules.h"

#include "fmt/core.h"

namespace astra {

absl::Status WrongSize(std::string_view field, int64_t value,
                       std::string_view rule) {
  return absl::InvalidArgumentError(
      fmt::format("{} is {}: {}", field, value, rule));
}

absl::Status MustDivide(std::string_view divisor_name, int64_t divisor,
                        int64_t number, std::string_view what) {
  if (number % divisor == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "{} {} does not divide the {} {}", divisor_name, divisor, number, what));
}

}  // namespace astra
