#include "workload/modules/overlaps.h"

#include <algorithm>
#include <iterator>

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr bool Overlaps::*kMembers[] = {
    &Overlaps::gradients, &Overlaps::parameters, &Overlaps::tensor,
    &Overlaps::shared_experts};
static_assert(std::size(kMembers) == std::size(kOverlapNames));

}  // namespace

absl::StatusOr<Overlaps> ParseOverlaps(absl::Span<const std::string> names) {
  Overlaps overlaps;
  for (const std::string& name : names) {
    const auto* const found =
        std::find(std::begin(kOverlapNames), std::end(kOverlapNames), name);
    if (found == std::end(kOverlapNames)) {
      return absl::InvalidArgumentError(
          UnknownName("overlap", name, kOverlapNames));
    }
    bool& overlap = overlaps.*kMembers[found - std::begin(kOverlapNames)];
    if (overlap) {
      return absl::InvalidArgumentError(
          fmt::format("{} stands there twice", name));
    }
    overlap = true;
  }
  return overlaps;
}

std::vector<std::string_view> NamesOf(const Overlaps& overlaps) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < std::size(kMembers); ++i) {
    if (overlaps.*kMembers[i]) names.push_back(kOverlapNames[i]);
  }
  return names;
}

}  // namespace astra
