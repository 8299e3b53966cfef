#include "astra-core/apps/plan/option_lists.h"

#include <algorithm>

#include "absl/strings/str_split.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {
namespace {

// Keeps the values between both bounds of "2..8"; `dots` is where ".." is.
absl::Status KeepBetween(std::string_view what, const std::string& text,
                         size_t dots, int64_t least,
                         std::vector<int64_t>& values) {
  ASTRA_ASSIGN_OR_RETURN(
      const int64_t low,
      ParseInteger(what, text.substr(0, dots), least, kMostCount));
  ASTRA_ASSIGN_OR_RETURN(
      const int64_t high,
      ParseInteger(what, text.substr(dots + 2), least, kMostCount));
  const std::vector<int64_t> all = values;
  std::erase_if(values, [&](int64_t v) { return v < low || v > high; });
  if (!values.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("{} is {}: no value of the default {} lies there", what,
                  Quoted(text), fmt::join(all, ",")));
}

}  // namespace

absl::Status ParseNumbers(std::string_view what, const std::string& text,
                          int64_t least, std::vector<int64_t>& values) {
  const size_t dots = text.find("..");
  if (dots != std::string::npos) {
    return KeepBetween(what, text, dots, least, values);
  }
  values.clear();
  const std::vector<std::string> pieces = absl::StrSplit(text, ',');
  for (const std::string& piece : pieces) {
    ASTRA_ASSIGN_OR_RETURN(const int64_t value,
                           ParseInteger(what, piece, least, kMostCount));
    values.push_back(value);
  }
  std::sort(values.begin(), values.end());
  if (std::adjacent_find(values.begin(), values.end()) == values.end()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      fmt::format("{} is {}: a value stands there twice", what, Quoted(text)));
}

absl::Status ReadNumbers(const CommandLine& flags, std::string_view option,
                         int64_t least, std::vector<int64_t>& values) {
  if (!flags.has(option)) return absl::OkStatus();
  return ParseNumbers(fmt::format("--{}", option), *flags.value(option), least,
                      values);
}

absl::StatusOr<std::vector<size_t>> ReadNames(
    const CommandLine& flags, std::string_view option,
    absl::Span<const std::string_view> names) {
  std::vector<size_t> places;
  const std::string text = *flags.value(option);
  const std::vector<std::string> pieces = absl::StrSplit(text, ',');
  for (const std::string& piece : pieces) {
    const auto found = std::find(names.begin(), names.end(), piece);
    if (found == names.end()) {
      return absl::InvalidArgumentError(
          UnknownName(fmt::format("--{}", option), piece, names));
    }
    places.push_back(static_cast<size_t>(found - names.begin()));
  }
  std::sort(places.begin(), places.end());
  if (std::adjacent_find(places.begin(), places.end()) == places.end()) {
    return places;
  }
  return absl::InvalidArgumentError(fmt::format(
      "--{} is {}: a name stands there twice", option, Quoted(text)));
}

}  // namespace astra
