#include "astra-core/engine/iteration_pipeline.h"

#include <cstddef>

#include "astra-core/base/status_macros.h"
#include "astra-core/engine/pipeline.h"

namespace astra {
namespace {

// Counts the messages of the reported rank, and finds the slowest of all.
void CountMessages(SimulationResult& result) {
  PipelineResult& pipeline = result.pipeline;
  const CollectiveRecord* slowest = nullptr;
  for (const CollectiveRecord& record : result.collectives) {
    if (record.communication.dimension != ParallelDimension::kPipeline) {
      continue;
    }
    if (record.is_of_reported_rank) pipeline.num_messages += record.count;
    if (slowest == nullptr || record.time > slowest->time) slowest = &record;
  }
  if (slowest == nullptr) return;
  pipeline.message = *slowest;
  pipeline.message.count = pipeline.num_messages;
}

// Returns the time that a stage works on its micro-batches: what the bubble is
// a multiple of. Gradients are exchanged once per iteration, so waiting for
// their collectives does not count.
TimePs MicroBatchTime(const Program& program, const SimulationResult& result) {
  TimePs time;
  for (size_t i = 0; i < result.layers.size(); ++i) {
    if (program.modules()[i].is_once) continue;
    for (const Phase phase : kPhases) {
      const PhaseResult& part = result.layers[i][IndexOf(phase)];
      time += part.compute;
      if (phase != Phase::kWeightGradient) time += part.exposed;
    }
  }
  return time;
}

// Adds the pipeline that schedule "simai" does not simulate.
absl::Status AddPipelineByFormula(const Program& program,
                                  const SimulationSetting& setting,
                                  SimulationResult& result) {
  const ParallelSizes& sizes = program.sizes();
  const TimePs bubble = ShareOf(
      static_cast<double>(sizes.pipeline - 1) /
          static_cast<double>(sizes.micro_batches * sizes.virtual_stages),
      MicroBatchTime(program, result));
  const SimulationOptions& options = setting.options;
  ASTRA_ASSIGN_OR_RETURN(
      result.pipeline,
      AddPipeline({.bytes = program.pipeline_message(),
                   .micro_batches = sizes.micro_batches,
                   .virtual_stages = sizes.virtual_stages},
                  setting.plan, bubble,
                  options.overlap[IndexOf(ParallelDimension::kPipeline)],
                  options.nccl,
                  options.bus_bandwidths.Find(ParallelDimension::kPipeline,
                                              CollectiveKind::kSendRecv),
                  setting.routes, result.link_bytes));
  return absl::OkStatus();
}

}  // namespace

void MoveMessageWaits(SimulationResult& result) {
  constexpr size_t kPipeline = IndexOf(ParallelDimension::kPipeline);
  PipelineResult& pipeline = result.pipeline;
  pipeline.is_simulated = true;
  pipeline.bubble = result.late[kPipeline];
  pipeline.exposed = result.exposed[kPipeline] - pipeline.bubble;
  result.stage_time -= result.exposed[kPipeline];
  result.exposed[kPipeline] = TimePs(0);
  result.late[kPipeline] = TimePs(0);
  CountMessages(result);
}

absl::Status FinishPipeline(const Program& program,
                            const SimulationSetting& setting,
                            SimulationResult& result) {
  if (!program.simulates_pipeline()) {
    return AddPipelineByFormula(program, setting, result);
  }
  MoveMessageWaits(result);
  return absl::OkStatus();
}

}  // namespace astra
