// Holds prompts back until all ranks of a replica have some, so that steps of
// prompts, which all ranks wait for, are fewer.
//
//   PrefillDelay delay(options.prefill_delay);
//   const bool may_start = delay.Allows(ranks);   // Before each step.
//
// Model. A rank is ready if a request waits and another may run. In a step
// before which some ranks are ready and others are not, no rank starts a
// prompt, but for at most `steps` - 1 such steps on end. Prompts that have
// begun go on.
//
// Source: sgl-project/sglang, python/sglang/srt/managers/prefill_delayer.py
// (--enable-prefill-delayer, --prefill-delayer-max-delay-passes), of which this
// is the case of ranks that differ. Left out: its thresholds of the use of the
// cache and of the queue, and the delay where all ranks are ready but nearly
// full.

#ifndef WORKLOAD_SERVING_PREFILL_DELAY_H_
#define WORKLOAD_SERVING_PREFILL_DELAY_H_

#include <cstdint>

#include "absl/types/span.h"
#include "workload/serving/replica.h"

namespace astra {

class PrefillDelay {
 public:
  // 0 or 1: never holds anything back.
  explicit PrefillDelay(int64_t steps) : steps_(steps) {}

  // Returns whether prompts may start in the next step of `ranks`.
  bool Allows(absl::Span<Replica* const> ranks);

 private:
  int64_t steps_;
  int64_t delayed_ = 0;  // Steps on end without a start.
};

}  // namespace astra

#endif  // WORKLOAD_SERVING_PREFILL_DELAY_H_
