#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "collectives/dispatchers/dispatcher.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr int64_t kMost = int64_t{1} << 40;

}  // namespace

absl::StatusOr<ExpertDispatch> ParseRouting(std::string_view text) {
  ExpertDispatch dispatch;
  ExpertRouting& routing = dispatch.routing;
  const std::map<std::string_view, int64_t*> keys = {
      {"experts", &routing.experts},
      {"top_k", &routing.top_k},
      {"groups", &routing.groups},
      {"top_groups", &routing.top_groups},
      {"dispatch_bytes", &routing.dispatch_bytes},
      {"combine_bytes", &routing.combine_bytes}};
  std::vector<std::string_view> names = {"even"};
  for (const auto& [name, _] : keys) names.push_back(name);
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(", "), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word == "even") {
      dispatch.is_even = true;
      continue;
    }
    const size_t equals = std::min(word.find('='), word.size());
    const auto found = keys.find(word.substr(0, equals));
    if (found == keys.end()) {
      return absl::InvalidArgumentError(
          UnknownName("routing", word.substr(0, equals), names));
    }
    ASTRA_ASSIGN_OR_RETURN(
        *found->second,
        ParseInteger(found->first,
                     word.substr(std::min(equals + 1, word.size())), 1, kMost));
  }
  for (const auto& [name, value] : keys) {
    if (*value == 0) {
      return absl::InvalidArgumentError(
          fmt::format("routing has no {}: expected such as experts=256,top_k=8,"
                      "dispatch_bytes=7392,combine_bytes=14336",
                      name));
    }
  }
  if (const auto mistake = FindMistake(routing)) {
    return absl::InvalidArgumentError(fmt::format(
        "{} is {}: {}", mistake->field, mistake->value, mistake->rule));
  }
  return dispatch;
}

}  // namespace astra
