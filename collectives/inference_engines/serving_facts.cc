#include "collectives/inference_engines/serving_facts.h"

#include <algorithm>

namespace astra {

double MemoryReserve::Of(double memory_gib, int64_t step_tokens,
                         int64_t largest_graph, int64_t gpus) const {
  constexpr double kLargeGib = 60;
  const double mib = base_mib + token_mib * static_cast<double>(step_tokens) +
                     graph_mib * static_cast<double>(largest_graph) +
                     gpu_mib * static_cast<double>(gpus);
  return memory_gib > kLargeGib ? std::max(mib, least_mib) : mib;
}

const StepBudget* ServingFacts::BudgetOf(double memory_gib,
                                         std::string_view architecture) const {
  const StepBudget* found = nullptr;
  for (const StepBudget& budget : budgets) {
    const bool is_for =
        memory_gib >= static_cast<double>(budget.memory_gib) &&
        (budget.except.empty() || budget.except != architecture);
    if (is_for) found = &budget;
  }
  return found;
}

int64_t ServingFacts::GraphFor(int64_t tokens) const {
  const auto graph = std::lower_bound(graphs.begin(), graphs.end(), tokens);
  return graph == graphs.end() ? 0 : *graph;
}

}  // namespace astra
