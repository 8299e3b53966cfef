#include "astra-core/engine/shorter_iterations.h"

#include <algorithm>
#include <optional>

#include "absl/types/span.h"
#include "workload/pipeline/schedule.h"

namespace astra {
namespace {

bool AreAlike(TimePs a, TimePs b, TimePs tolerance) {
  return std::max(a, b) - std::min(a, b) <= tolerance;
}

// Times of several repetitions.
struct Times {
  TimePs duration;
  TimePs longest_call;
  TimePs oldest_call;

  void Add(const Repetition& repetition) {
    duration += repetition.duration;
    longest_call += repetition.longest_call;
    oldest_call += repetition.oldest_call;
  }
  bool IsLike(const Times& other, TimePs tolerance) const {
    return AreAlike(duration, other.duration, tolerance) &&
           AreAlike(longest_call, other.longest_call, tolerance) &&
           AreAlike(oldest_call, other.oldest_call, tolerance);
  }
};

}  // namespace

size_t PeriodOf(const Engine& engine, const PipelineProgram& program,
                size_t most, double tolerance) {
  const auto is_period = [&](size_t period) {
    std::optional<TimePs> duration;  // Of the first rank.
    for (size_t rank = 0; rank < engine.num_ranks(); ++rank) {
      const absl::Span<const Repetition> all = engine.repetitions(rank);
      const auto [last, count] = program.steady(engine.stage(rank));
      if (count < 2 * period) return false;
      Times now;
      Times before;
      for (size_t i = last + 1 - period; i <= last; ++i) {
        if (tolerance == 0 && all[i] != all[i - period]) return false;
        now.Add(all[i]);
        before.Add(all[i - period]);
      }
      const TimePs most_apart = ShareOf(tolerance, now.duration);
      if (tolerance > 0 && !now.IsLike(before, most_apart)) return false;
      if (!duration) duration = now.duration;
      if (!AreAlike(now.duration, *duration, most_apart)) return false;
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
