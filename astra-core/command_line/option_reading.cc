#include "astra-core/command_line/option_reading.h"

#include <string>

#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {

absl::StatusOr<size_t> Choice(const CommandLine& flags, std::string_view name,
                              size_t otherwise,
                              absl::Span<const std::string_view> names) {
  if (!flags.has(name)) return otherwise;
  const std::string value = *flags.value(name);
  for (size_t i = 0; i < names.size(); ++i) {
    if (value == names[i]) return i;
  }
  return absl::InvalidArgumentError(
      UnknownName(fmt::format("--{}", name), value, names));
}

absl::Status ReadIntegers(const CommandLine& flags,
                          absl::Span<const IntegerOption> options) {
  for (const auto& [name, value, max] : options) {
    ASTRA_ASSIGN_OR_RETURN(*value, flags.integer(name, *value, 1, max));
  }
  return absl::OkStatus();
}

absl::Status Require(const CommandLine& flags, std::string_view name) {
  if (flags.has(name)) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("--{} is missing", name));
}

absl::Status Refuse(const CommandLine& flags,
                    absl::Span<const std::string_view> names,
                    std::string_view why) {
  for (const std::string_view name : names) {
    if (!flags.has(name)) continue;
    return absl::InvalidArgumentError(
        fmt::format("--{} has no effect: {}", name, why));
  }
  return absl::OkStatus();
}

}  // namespace astra
