#include "workload/pipeline/registry.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/check.h"
#include "astra-core/base/names.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::Status CheckSizes(const PipelineShape& shape) {
  const std::pair<std::string_view, int64_t> named[] = {
      {"stages", shape.stages},
      {"chunks per stage", shape.chunks},
      {"micro-batches", shape.micro_batches},
  };
  for (const auto& [what, size] : named) {
    if (size < 1 || size > kMaxPipelineSize) {
      return WrongNumber(what, size, fmt::format("1 to {}", kMaxPipelineSize));
    }
  }
  // Neither factor is above 2^24, so the product cannot overflow.
  if (shape.chunks * shape.micro_batches > kMaxPipelineSize) {
    return absl::InvalidArgumentError(
        fmt::format("{} chunks per stage x {} micro-batches: expected a "
                    "product of at most {}",
                    shape.chunks, shape.micro_batches, kMaxPipelineSize));
  }
  return absl::OkStatus();
}

}  // namespace

const ScheduleTraits* PipelineSchedule::operator->() const {
  return &rules_->traits;
}

std::vector<PipelineSchedule> PipelineSchedules() {
  std::vector<PipelineSchedule> schedules;
  for (const auto rules : kSchedules) {
    if (rules().traits.simulates_stages) schedules.emplace_back(rules());
  }
  return schedules;
}

PipelineSchedule DefaultSchedule(int64_t chunks) {
  return PipelineSchedule(chunks > 1 ? InterleavedRules() : OneFOneBRules());
}

PipelineSchedule SimaiSchedule() { return PipelineSchedule(SimaiRules()); }

std::string_view Name(PipelineSchedule schedule) { return schedule->name; }

std::string_view Name(SlotKind kind) {
  constexpr std::string_view kNames[] = {"forward", "backward",
                                         "input_gradient", "weight_gradient"};
  return kNames[static_cast<size_t>(kind)];
}

absl::StatusOr<PipelineSchedule> FindSchedule(std::string_view name) {
  std::vector<std::string_view> known;
  for (const PipelineSchedule schedule : PipelineSchedules()) {
    if (IsNamed(name, Name(schedule), {})) return schedule;
    known.push_back(Name(schedule));
  }
  return absl::InvalidArgumentError(
      UnknownName("pipeline schedule", name, known));
}

absl::Status CheckShape(PipelineSchedule schedule, const PipelineShape& shape) {
  absl::Status status = CheckSizes(shape);
  const int64_t chunks = schedule->chunks;
  if (status.ok() && chunks > 0 && shape.chunks != chunks) {
    status = WrongNumber("chunks per stage", shape.chunks,
                         fmt::format("{}", chunks));
  }
  if (status.ok()) status = schedule.rules().check(shape);
  if (status.ok()) return status;
  return absl::InvalidArgumentError(fmt::format(
      "schedule {}: {}", Name(schedule),
      std::string_view(status.message().data(), status.message().size())));
}

std::vector<Slot> SlotsOf(PipelineSchedule schedule, const PipelineShape& shape,
                          int64_t stage) {
  ASTRA_CHECK(stage >= 0 && stage < shape.stages, "stage {} of {}", stage,
              shape.stages);
  ASTRA_CHECK(CheckShape(schedule, shape).ok(), "{}", Name(schedule));
  return schedule.rules().slots(shape, stage);
}

Place FirstPlace(PipelineSchedule schedule, const PipelineShape& shape,
                 int64_t micro_batch) {
  return schedule.rules().first(shape, micro_batch);
}

std::optional<Place> NextPlace(PipelineSchedule schedule,
                               const PipelineShape& shape, Place place) {
  return schedule.rules().next(shape, place);
}

int64_t RepetitionMicroBatches(PipelineSchedule schedule,
                               const PipelineShape& shape) {
  return schedule.rules().repetition(shape);
}

double IdealBubbleShare(PipelineSchedule schedule, const PipelineShape& shape) {
  return schedule.rules().bubble(shape);
}

int64_t SteadyFrom(PipelineSchedule schedule, const PipelineShape& shape) {
  return schedule.rules().steady_from(shape);
}

}  // namespace astra
