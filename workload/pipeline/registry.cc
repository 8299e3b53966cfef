#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/check.h"
#include "astra-core/base/names.h"
#include "fmt/core.h"
#include "workload/pipeline/schedule.h"
#include "workload/pipeline/schedule_rules.h"

namespace astra {
namespace {

// Rules in the order of PipelineSchedule.
constexpr ScheduleRules (*kSchedules[])() = {
    &GPipeRules, &OneFOneBRules, &InterleavedRules, &ZbH1Rules,
    &ZbVRules,   &DualPipeRules, &SimaiRules,
};
static_assert(std::size(kSchedules) == std::size(kPipelineSchedules) + 1);

ScheduleRules RulesOf(PipelineSchedule schedule) {
  const auto index = static_cast<size_t>(schedule);
  ASTRA_CHECK(index < std::size(kSchedules), "schedule {}", index);
  const ScheduleRules rules = kSchedules[index]();
  ASTRA_CHECK(rules.schedule == schedule, "line {}", index);
  return rules;
}

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

std::string_view Name(PipelineSchedule schedule) {
  return RulesOf(schedule).name;
}

bool SimulatesStages(PipelineSchedule schedule) {
  return RulesOf(schedule).simulates_stages;
}

absl::StatusOr<PipelineSchedule> FindSchedule(std::string_view name) {
  std::vector<std::string_view> known;
  for (const PipelineSchedule schedule : kPipelineSchedules) {
    if (IsNamed(name, Name(schedule), {})) return schedule;
    known.push_back(Name(schedule));
  }
  return absl::InvalidArgumentError(
      UnknownName("pipeline schedule", name, known));
}

absl::Status CheckShape(PipelineSchedule schedule, const PipelineShape& shape) {
  const ScheduleRules rules = RulesOf(schedule);
  absl::Status status = CheckSizes(shape);
  if (status.ok()) status = rules.check(shape);
  if (status.ok()) return status;
  return absl::InvalidArgumentError(fmt::format(
      "schedule {}: {}", rules.name,
      std::string_view(status.message().data(), status.message().size())));
}

std::vector<Slot> SlotsOf(PipelineSchedule schedule, const PipelineShape& shape,
                          int64_t stage) {
  ASTRA_CHECK(stage >= 0 && stage < shape.stages, "stage {} of {}", stage,
              shape.stages);
  ASTRA_CHECK(CheckShape(schedule, shape).ok(), "{}", Name(schedule));
  return RulesOf(schedule).slots(shape, stage);
}

Place FirstPlace(PipelineSchedule schedule, const PipelineShape& shape,
                 int64_t micro_batch) {
  return RulesOf(schedule).first(shape, micro_batch);
}

std::optional<Place> NextPlace(PipelineSchedule schedule,
                               const PipelineShape& shape, Place place) {
  return RulesOf(schedule).next(shape, place);
}

int64_t RepetitionMicroBatches(PipelineSchedule schedule,
                               const PipelineShape& shape) {
  return RulesOf(schedule).repetition(shape);
}

int64_t SteadyFrom(PipelineSchedule schedule, const PipelineShape& shape) {
  return RulesOf(schedule).steady_from(shape);
}

}  // namespace astra
