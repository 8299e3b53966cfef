// Turns the steps of modules into operations of a rank.

#ifndef ASTRA_CORE_ENGINE_OP_WRITER_H_
#define ASTRA_CORE_ENGINE_OP_WRITER_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/engine/rank_program.h"
#include "workload/program.h"

namespace astra {

// The passes of one module that a rank runs in a row.
struct Occurrence {
  ModuleId module;
  absl::Span<const ModulePass> passes;
};

// Whether a micro-batch is the first or last of its chunk, which decides the
// steps that run.
struct MicroBatchEnds {
  bool is_first = true;
  bool is_last = true;

  friend auto operator<=>(const MicroBatchEnds&,
                          const MicroBatchEnds&) = default;
};

// Returns the operations of `occurrences`, in order. A prefetch starts where
// workload/program.h says, but no earlier than the first occurrence.
std::vector<Op> WriteOps(const Program& program, MicroBatchEnds ends,
                         absl::Span<const Occurrence> occurrences);

// Number of calls, by dimension.
using CallCounts = std::array<uint32_t, kNumParallelDimensions>;

// Returns the prefetches of the first of `occurrences` that has any, as
// launches.
std::vector<Op> FirstPrefetches(const Program& program, MicroBatchEnds ends,
                                absl::Span<const Occurrence> occurrences);

// Writes the operations as WriteOps does, for a rank that has already started
// `early`, the FirstPrefetches of `occurrences`. On each lane, `early` follows
// `before` other calls.
std::vector<Op> WriteOpsBehindPrefetches(
    const Program& program, MicroBatchEnds ends,
    absl::Span<const Occurrence> occurrences, absl::Span<const Op> early,
    const CallCounts& before);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_OP_WRITER_H_
