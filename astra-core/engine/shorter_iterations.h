// Chooses a short iteration that stands for one of many micro-batches.

#ifndef ASTRA_CORE_ENGINE_SHORTER_ITERATIONS_H_
#define ASTRA_CORE_ENGINE_SHORTER_ITERATIONS_H_

#include <cstddef>
#include <cstdint>

#include "astra-core/engine/engine.h"
#include "astra-core/engine/pipeline_program.h"
#include "workload/program.h"

namespace astra {

// Returns the number of repetitions in a period, at most `most`; 0 if there is
// none. In a period, all ranks do the same as in as many repetitions before,
// and the period takes the same time on all ranks. What a rank does and when
// depends on nothing else, so the next periods would go alike, too.
//
// With a `tolerance` above 0 only the time that a period takes is compared, on
// each rank and between ranks, and may differ by this share of it. So may the
// time that collectives take from their calls to their ends: gradients that are
// launched faster than they are exchanged are later each time, though the
// repetitions that launch them all take the same.
//
// Source: the schedule of repeated work is a max-plus linear system, which
// becomes periodic after a transient (F. Baccelli et al., "Synchronization and
// Linearity", 1992, section 3.7). Here events are compared instead of the
// equations, so that the effects of networks are covered.
size_t PeriodOf(const Engine& engine, const PipelineProgram& program,
                size_t most, double tolerance);

// Returns the repetitions of `program` that count more often than they are run.
StandIn StandInOf(const PipelineProgram& program);

// The shorter iterations to try in turn: their number of micro-batches, and the
// number of repetitions that make a period.
class ShorterIterations {
 public:
  explicit ShorterIterations(const Program& program);

  int64_t micro_batches() const { return micro_batches_; }
  size_t period() const { return period_; }
  bool is_whole() const { return micro_batches_ == all_; }

  // Call after a run whose repetitions have this period, other than period().
  void TryPeriod(size_t period);

  // Call after a run whose repetitions have no period.
  void TryMore();

  // Call if nothing may be left out.
  void TryAll();

 private:
  // Returns `micro_batches`, or slightly more, such that only whole repetitions
  // are left out.
  int64_t LikeAll(int64_t micro_batches) const;

  const int64_t all_;
  const int64_t unit_;
  int64_t micro_batches_ = 0;
  size_t period_ = 1;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_SHORTER_ITERATIONS_H_
