// Times a pipeline whose stages wait for each of their messages, as Megatron-LM
// does without overlap of messages and as SimuMax assumes.
//
// A stage runs its slots in the order of the schedule. Between two slots it
// exchanges messages: it sends what the first one made and receives what the
// second one needs. A message is a rendezvous: it begins once both stages have
// come to it and takes the same time on both.
//
//   one chunk       message by message. Where one is sent to the stage from
//                   which the other comes, odd stages send first and even ones
//                   receive first, in the steady state; otherwise stages send
//                   first.
//   several chunks  all messages between two slots at once. A forward and the
//                   backward behind it, in the steady state, have no exchange
//                   between them.
//
// Sources: Megatron-LM, pipeline_parallel/schedules.py and
// p2p_communication.py; SimuMax 1.2, perf_llm.py, calculate_1f1b_bubble, and
// pipeline_schedule.py.

#ifndef ASTRA_CORE_PLANNER_SIMUMAX_BLOCKING_PIPELINE_H_
#define ASTRA_CORE_PLANNER_SIMUMAX_BLOCKING_PIPELINE_H_

#include <cstdint>
#include <vector>

#include "workload/pipeline/schedule.h"

namespace astra {

struct ChunkTimes {
  double forward_ms = 0;
  double backward_ms = 0;
};

// Most slots of all stages together.
constexpr int64_t kMaxPipelineSlots = int64_t{1} << 20;

// Returns the milliseconds until the last stage has run its last slot. `times`
// has the times of stage s, chunk c at [s][c].
//
// Requires: the default schedule of the chunks accepts `shape`, and `shape` has
// at most kMaxPipelineSlots slots.
double BlockingPipelineMs(const PipelineShape& shape,
                          const std::vector<std::vector<ChunkTimes>>& times,
                          double message_ms);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_SIMUMAX_BLOCKING_PIPELINE_H_
