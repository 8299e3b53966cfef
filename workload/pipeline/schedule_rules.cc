#include "workload/pipeline/schedule_rules.h"

#include "fmt/core.h"

namespace astra {

absl::Status WrongNumber(std::string_view what, int64_t number,
                         std::string_view expected) {
  return absl::InvalidArgumentError(fmt::format(
      "the number of {} is {}: expected {}", what, number, expected));
}

absl::Status CheckChunks(const PipelineShape& shape, int64_t chunks) {
  if (shape.chunks == chunks) return absl::OkStatus();
  return WrongNumber("chunks per stage", shape.chunks,
                     fmt::format("{}", chunks));
}

absl::Status CheckOneChunk(const PipelineShape& shape) {
  return CheckChunks(shape, 1);
}

absl::Status CheckTwoChunks(const PipelineShape& shape) {
  return CheckChunks(shape, 2);
}

Place FirstStage(const PipelineShape& /*shape*/, int64_t /*micro_batch*/) {
  return {.stage = 0, .chunk = 0};
}

std::optional<Place> NextStage(const PipelineShape& shape, Place place) {
  if (place.stage + 1 == shape.stages) return std::nullopt;
  return Place{.stage = place.stage + 1, .chunk = place.chunk};
}

int64_t OneMicroBatch(const PipelineShape& /*shape*/) { return 1; }

}  // namespace astra
