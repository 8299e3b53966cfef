#include "astra-core/physical/rank_run.h"

#include <utility>

#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/engine.h"
#include "astra-core/engine/shorter_iterations.h"

namespace astra {

absl::StatusOr<RankReport> RunRankIteration(const SimulationSetting& setting,
                                            const PipelineProgram& program,
                                            const RankPlan& plan,
                                            uint32_t iteration, Instant begin,
                                            DataConnections& connections,
                                            const HostCollectives::Wait& wait) {
  EventQueue timers;
  HostCollectives collectives(plan, connections, timers, iteration, begin,
                              wait);
  Engine engine(program, setting.layer_names, setting.options,
                plan.communicators(), timers, collectives);
  ASTRA_ASSIGN_OR_RETURN(const bool has_ended, engine.Run());
  ASTRA_CHECK(has_ended, "a clock of a host waits for nobody");
  ASTRA_ASSIGN_OR_RETURN(const SimulationResult result,
                         engine.TakeResult(StandInOf(program)));
  const RankResult& rank = result.ranks.front();
  RankReport report;
  report.finish = rank.finish;
  report.compute = rank.compute;
  report.slowed = rank.slowed;
  report.exposed = rank.exposed_in;
  report.collectives = collectives.TakeTimes();
  return report;
}

}  // namespace astra
