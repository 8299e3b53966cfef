#include "workload/pipeline/schedule_rules.h"

#include "fmt/core.h"

namespace astra {

absl::Status WrongNumber(std::string_view what, int64_t number,
                         std::string_view expected) {
  return absl::InvalidArgumentError(fmt::format(
      "the number of {} is {}: expected {}", what, number, expected));
}

absl::Status AnyShape(const PipelineShape& /*shape*/) {
  return absl::OkStatus();
}

Place FirstStage(const PipelineShape& /*shape*/, int64_t /*micro_batch*/) {
  return {.stage = 0, .chunk = 0};
}

std::optional<Place> NextStage(const PipelineShape& shape, Place place) {
  if (place.stage + 1 == shape.stages) return std::nullopt;
  return Place{.stage = place.stage + 1, .chunk = place.chunk};
}

int64_t OneMicroBatch(const PipelineShape& /*shape*/) { return 1; }

int64_t OneForEachStage(const PipelineShape& shape) { return shape.stages; }

double BubbleShare(int64_t idle, int64_t work) {
  return static_cast<double>(idle) / static_cast<double>(work);
}

double OneChunkOfOtherStages(const PipelineShape& shape) {
  return BubbleShare(shape.stages - 1, shape.chunks * shape.micro_batches);
}

}  // namespace astra
