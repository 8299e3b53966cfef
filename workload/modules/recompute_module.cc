#include "workload/modules/recompute_module.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "fmt/core.h"
#include "fmt/ranges.h"

namespace astra {

std::vector<std::string_view> NamesOf(RecomputeModules modules) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < std::size(kRecomputeModuleNames); ++i) {
    if (modules.Has(static_cast<RecomputeModule>(i))) {
      names.push_back(kRecomputeModuleNames[i]);
    }
  }
  return names;
}

absl::StatusOr<RecomputeModules> ParseRecomputeModules(
    absl::Span<const std::string> names) {
  RecomputeModules modules;
  for (const std::string& name : names) {
    const auto* const found = std::find(std::begin(kRecomputeModuleNames),
                                        std::end(kRecomputeModuleNames), name);
    if (found == std::end(kRecomputeModuleNames)) {
      return absl::InvalidArgumentError(
          UnknownName("module to recompute", name, kRecomputeModuleNames));
    }
    const auto module =
        static_cast<RecomputeModule>(found - std::begin(kRecomputeModuleNames));
    if (modules.Has(module)) {
      return absl::InvalidArgumentError(
          fmt::format("{} stands there twice", name));
    }
    modules.Add(module);
  }
  if (modules.Has(RecomputeModule::kOperators) && names.size() > 1) {
    return absl::InvalidArgumentError(
        fmt::format("{}: op decides about every operator and stands alone",
                    fmt::join(names, ",")));
  }
  return modules;
}

absl::Status CheckHasModules(std::string_view model, RecomputeModules wanted,
                             RecomputeModules present) {
  const std::vector<std::string_view> known = NamesOf(present);
  for (const std::string_view name : NamesOf(wanted)) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return absl::InvalidArgumentError(
        fmt::format("{} has no {} to recompute{} (it has: {})", model, name,
                    DidYouMean(name, known), fmt::join(known, ", ")));
  }
  return absl::OkStatus();
}

}  // namespace astra
