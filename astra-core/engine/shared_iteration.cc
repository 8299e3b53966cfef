#include "astra-core/engine/shared_iteration.h"

#include <utility>

#include "absl/memory/memory.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/iteration_pipeline.h"
#include "astra-core/engine/shorter_iterations.h"

namespace astra {

SharedIteration::SharedIteration(const Program& program,
                                 SimulationSetting setting)
    : program_(program),
      setting_(std::move(setting)),
      stages_(program, program.shape().micro_batches, /*window=*/1),
      network_(setting_.new_network()),
      collectives_(setting_.options, *setting_.costs, setting_.communicators,
                   *setting_.lowering, /*symmetric=*/nullptr, *setting_.sharing,
                   /*lone=*/nullptr, *network_, timers_),
      engine_(stages_, setting_.layer_names, setting_.options,
              setting_.communicators, timers_, collectives_) {}

absl::StatusOr<std::unique_ptr<SharedIteration>> SharedIteration::Create(
    const Program& program, const SimulationOptions& options, Routes& routes,
    const NetworkFactory& new_network) {
  SimulationOptions with_messages = options;
  with_messages.lowering = Lowering::kFlowGraph;
  ASTRA_ASSIGN_OR_RETURN(
      SimulationSetting setting,
      PrepareSimulation(program, with_messages, routes, new_network));
  return absl::WrapUnique(new SharedIteration(program, std::move(setting)));
}

absl::StatusOr<SimulationResult> SharedIteration::TakeResult() {
  ASTRA_ASSIGN_OR_RETURN(SimulationResult result,
                         engine_.TakeResult(StandInOf(stages_)));
  result.link_bytes.resize(setting_.routes.topology().links().size());
  ASTRA_RETURN_IF_ERROR(FinishPipeline(program_, setting_, result));
  result.layer_names = setting_.layer_names;
  result.costs = setting_.costs;
  return result;
}

}  // namespace astra
