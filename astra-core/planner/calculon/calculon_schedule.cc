#include "astra-core/planner/calculon/calculon_schedule.h"

namespace astra {

CalculonSchedule CalculonScheduleOf(const CalculonInputs& inputs) {
  const CalculonExecution& execution = inputs.execution;
  const int64_t stages = execution.pipeline_par;
  const int64_t rest = inputs.application.num_blocks % stages;
  CalculonSchedule schedule;
  schedule.micro_batches = execution.micro_batches();
  schedule.blocks =
      inputs.application.num_blocks / stages + (rest == 0 ? 0 : 1);
  schedule.missing_blocks = rest == 0 ? 0 : stages - rest;
  schedule.chunks = execution.pipeline_interleaving;
  schedule.chunk_blocks = schedule.blocks / execution.pipeline_interleaving;
  return schedule;
}

}  // namespace astra
