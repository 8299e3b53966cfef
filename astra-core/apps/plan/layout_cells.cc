#include "astra-core/apps/plan/layout_cells.h"

#include <string_view>
#include <vector>

#include "astra-core/apps/json_parts.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {
namespace {

// Returns how full recomputation chooses its layers; empty: there is no choice.
std::string_view MethodOf(const RecomputeChoice& recompute) {
  return recompute.layers == 0
             ? ""
             : kRecomputeMethodNames[static_cast<size_t>(recompute.method)];
}

std::string Cell(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

Json LayoutJson(const PlanJob& job, const Layout& layout) {
  const RecomputeChoice& recompute = layout.recompute;
  const TrainingSetup setup = SetupOf(job, layout);
  return {{"tp", layout.tensor},
          {"cp", layout.context},
          {"pp", layout.pipeline},
          {"vpp", layout.virtual_stages},
          {"dp", setup.data()},
          {"ep", layout.expert},
          {"etp", layout.expert_tensor},
          {"micro_batch", layout.micro_batch},
          {"zero", static_cast<int>(layout.zero)},
          {"recompute", kRecomputeNames[static_cast<size_t>(recompute.kind)]},
          {"recompute_modules", JoinedNames(recompute.modules)},
          {"recompute_layers", recompute.layers},
          {"recompute_method", MethodOf(recompute)},
          {"sp", layout.sequence_parallel},
          {"cp_method", NameOf(layout.context_method)},
          {"overlap", JoinedNames(OverlapsOf(setup))},
          {"schedule", Name(layout.schedule)},
          {"order", Name(layout.order)}};
}

std::string LayoutColumns() {
  const Json json = LayoutJson(PlanJob(), Layout());
  std::vector<std::string> names;
  for (const auto& [name, value] : json.items()) names.push_back(name);
  return fmt::format("{}", fmt::join(names, ","));
}

std::string LayoutCells(const PlanJob& job, const Layout& layout) {
  const Json json = LayoutJson(job, layout);
  std::vector<std::string> cells;
  for (const auto& [name, value] : json.items()) cells.push_back(Cell(value));
  return fmt::format("{}", fmt::join(cells, ","));
}

}  // namespace astra
