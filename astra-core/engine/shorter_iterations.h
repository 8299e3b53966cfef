// Which short iteration stands for one of many micro-batches.

#ifndef ASTRA_CORE_ENGINE_SHORTER_ITERATIONS_H_
#define ASTRA_CORE_ENGINE_SHORTER_ITERATIONS_H_

#include <cstddef>
#include <cstdint>

#include "astra-core/engine/engine.h"
#include "astra-core/engine/pipeline_program.h"
#include "workload/program.h"

namespace astra {

// How many of the last repetitions of the steady parts, at most `most`, make up
// a period: all ranks went through them as through as many before, and all took
// the same time for them. What a rank does and when depends on nothing else, so
// the next ones would go alike, too. None: 0.
//
// Source: the schedule of repeated work is a max-plus linear system, which
// becomes periodic after a transient (F. Baccelli et al., "Synchronization and
// Linearity", 1992, section 3.7); here what happened is compared, so that
// networks count too.
size_t PeriodOf(const Engine& engine, const PipelineProgram& program,
                size_t most);

// Which repetitions of `program` count more often than they are run.
StandIn StandInOf(const PipelineProgram& program);

// The shorter iterations that may stand for the whole: how many micro-batches
// they have, and how many repetitions are a period.
class ShorterIterations {
 public:
  explicit ShorterIterations(const Program& program);

  int64_t micro_batches() const { return micro_batches_; }
  size_t period() const { return period_; }
  bool is_whole() const { return micro_batches_ == all_; }

  // After a run whose repetitions have this period, another than period().
  void TryPeriod(size_t period);

  // After a run whose repetitions have no period.
  void TryMore();

  // Where nothing may be left out.
  void TryAll();

 private:
  // As many as `micro_batches` or some more, so that what is left out are whole
  // repetitions.
  int64_t LikeAll(int64_t micro_batches) const;

  const int64_t all_;
  const int64_t unit_;
  int64_t micro_batches_ = 0;
  size_t period_ = 1;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_SHORTER_ITERATIONS_H_
