#include "astra-core/engine/shorter_iterations.h"

#include <algorithm>
#include <optional>

#include "absl/types/span.h"
#include "workload/pipeline/schedule.h"

namespace astra {

size_t PeriodOf(const Engine& engine, const PipelineProgram& program,
                size_t most, double tolerance) {
  const auto are_alike = [tolerance](TimePs a, TimePs b) {
    return std::max(a, b) - std::min(a, b) <=
           ShareOf(tolerance, std::max(a, b));
  };
  const auto is_period = [&](size_t period) {
    std::optional<TimePs> duration;
    for (size_t rank = 0; rank < engine.num_ranks(); ++rank) {
      const absl::Span<const Repetition> all = engine.repetitions(rank);
      const auto [last, count] = program.steady(engine.stage(rank));
      if (count < 2 * period) return false;
      TimePs sum;
      TimePs sum_before;
      for (size_t i = 0; i < period; ++i) {
        const Repetition& now = all[last - i];
        const Repetition& before = all[last - i - period];
        if (tolerance == 0 && now != before) return false;
        sum += now.duration;
        sum_before += before.duration;
      }
      if (!are_alike(sum, sum_before)) return false;
      if (!are_alike(sum, duration.value_or(sum))) return false;
      duration = sum;
    }
    return true;
  };
  for (size_t period = 1; period <= most; ++period) {
    if (is_period(period)) return period;
  }
  return 0;
}

StandIn StandInOf(const PipelineProgram& program) {
  StandIn stand_in;
  stand_in.count = program.window();
  stand_in.times =
      program.num_skipped() / static_cast<int64_t>(program.window());
  for (uint32_t stage = 0; stage < program.num_stages(); ++stage) {
    stand_in.last.push_back(program.steady(stage).last);
  }
  return stand_in;
}

ShorterIterations::ShorterIterations(const Program& program)
    : all_(program.shape().micro_batches), unit_(UnitOf(program)) {
  const PipelineShape shape = program.shape();
  const int64_t steady = program.forward_only()
                             ? shape.stages
                             : SteadyFrom(program.schedule(), shape);
  // Repetitions after the pipeline is full.
  constexpr int64_t kFirst = 5;
  micro_batches_ = LikeAll(steady + kFirst * unit_);
}

void ShorterIterations::TryPeriod(size_t period) {
  period_ = period;
  // Only whole periods may be left out.
  const int64_t length = unit_ * static_cast<int64_t>(period);
  micro_batches_ =
      std::min(all_, micro_batches_ + (all_ - micro_batches_) % length);
}

void ShorterIterations::TryMore() {
  constexpr int64_t kGrowth = 3;
  period_ = 1;
  micro_batches_ = LikeAll(kGrowth * micro_batches_);
}

void ShorterIterations::TryAll() {
  period_ = 1;
  micro_batches_ = all_;
}

int64_t ShorterIterations::LikeAll(int64_t micro_batches) const {
  if (micro_batches >= all_) return all_;
  return micro_batches + (all_ - micro_batches) % unit_;
}

}  // namespace astra
