// Interleaved 1F1B: a stage holds several chunks, so that a micro-batch passes
// all stages once for each chunk. The bubble has the formula of 1F1B with the
// times of a chunk, which are shorter.
//
// Micro-batches form groups of p, the number of stages. A group passes chunk 0,
// then chunk 1, and so on; the backward has the reverse order of chunks. Stage
// s runs 2 (p - s - 1) + (v - 1) p forwards ahead. With a single group, all
// forwards come before all backwards.
//
// Source: D. Narayanan et al., "Efficient Large-Scale Language Model Training
// on GPU Clusters Using Megatron-LM", SC 2021, section 2.2.2; Megatron-LM,
// pipeline_parallel/schedules.py, with its default group size.

#include <algorithm>
#include <optional>
#include <vector>

#include "fmt/core.h"
#include "workload/pipeline/registry.h"
#include "workload/pipeline/stage_slots.h"

namespace astra {
namespace {

absl::Status Check(const PipelineShape& shape) {
  if (shape.stages < 2) {
    return WrongNumber("stages", shape.stages, "2 or more");
  }
  if (shape.chunks < 2) {
    return WrongNumber("chunks per stage", shape.chunks, "2 or more");
  }
  if (shape.micro_batches % shape.stages != 0) {
    return WrongNumber(
        "micro-batches", shape.micro_batches,
        fmt::format("a multiple of {}, the number of stages", shape.stages));
  }
  return absl::OkStatus();
}

// Returns the chunk of the i-th forward.
int64_t ChunkOf(const PipelineShape& shape, int64_t i) {
  return i / shape.stages % shape.chunks;
}

std::vector<Slot> Slots(const PipelineShape& shape, int64_t stage) {
  const int64_t total = shape.chunks * shape.micro_batches;
  const int64_t ahead =
      shape.micro_batches == shape.stages
          ? total
          : 2 * (shape.stages - 1 - stage) + (shape.chunks - 1) * shape.stages;
  StageSlots slots(std::vector<int64_t>(static_cast<size_t>(shape.chunks)),
                   shape.micro_batches);
  for (int64_t i = 0; i < total + ahead; ++i) {
    if (i < total) slots.Forward(ChunkOf(shape, i));
    if (i >= ahead) {
      slots.Backward(shape.chunks - 1 - ChunkOf(shape, i - ahead));
    }
  }
  return slots.Take();
}

std::optional<Place> Next(const PipelineShape& shape, Place place) {
  if (place.stage + 1 < shape.stages) return NextStage(shape, place);
  if (place.chunk + 1 == shape.chunks) return std::nullopt;
  return Place{.stage = 0, .chunk = place.chunk + 1};
}

// A single group has another pattern than two or more.
int64_t SteadyFrom(const PipelineShape& shape) { return 2 * shape.stages; }

}  // namespace

const ScheduleRules& InterleavedRules() {
  static constexpr ScheduleRules kRules = {
      .traits = {.name = "interleaved",
                 .chunks = 0,
                 .has_virtual_stages = true},
      .check = &Check,
      .slots = &Slots,
      .next = &Next,
      .repetition = &OneForEachStage,
      .steady_from = &SteadyFrom,
  };
  return kRules;
}

}  // namespace astra
