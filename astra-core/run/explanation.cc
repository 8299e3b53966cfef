#include "astra-core/run/explanation.h"

#include <cstdint>
#include <memory>

#include "astra-core/base/status_macros.h"
#include "network-frontends/analytical/analytical_backend.h"

namespace astra {
namespace {

// Limits the timeline to about 200 MB, or to 2 GB for a trace.
constexpr int64_t kMaxOps = int64_t{1} << 21;
constexpr int64_t kMaxTracedOps = int64_t{1} << 24;

}  // namespace

void KeepTimeline(const Program& program, bool trace,
                  SimulationOptions& options) {
  options.record_timeline = trace || program.simulates_pipeline();
  options.max_timeline_ops = trace ? kMaxTracedOps : kMaxOps;
}

void KeepTimeline(bool trace, SimulationOptions& options) {
  options.record_timeline = true;
  options.max_timeline_ops = trace ? kMaxTracedOps : kMaxOps;
}

absl::StatusOr<std::optional<Explanation>> Explain(
    const Program& program, const SimulationOptions& options, Routes& routes,
    const SimulationResult& result) {
  if (!program.simulates_pipeline()) return std::nullopt;
  Explanation explanation;
  explanation.path = CriticalPath(result);
  SimulationOptions same_costs = options;
  same_costs.costs = result.costs;
  ASTRA_ASSIGN_OR_RETURN(explanation.bounds,
                         BoundsOf(program, same_costs, routes, [&] {
                           return std::make_unique<AnalyticalBackend>(routes);
                         }));
  if (SaysMemory(program)) explanation.memory = MemoryOf(program);
  explanation.gpu_memory = program.gpu().memory;
  return explanation;
}

}  // namespace astra
