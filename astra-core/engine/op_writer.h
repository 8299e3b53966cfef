// From the steps of modules to operations.

#ifndef ASTRA_CORE_ENGINE_OP_WRITER_H_
#define ASTRA_CORE_ENGINE_OP_WRITER_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/engine/rank_program.h"
#include "workload/program.h"

namespace astra {

// What a rank runs of one module without turning to another.
struct Occurrence {
  ModuleId module;
  absl::Span<const ModulePass> passes;
};

// Which micro-batch of its chunk this is; it decides which steps run.
struct MicroBatchEnds {
  bool is_first = true;
  bool is_last = true;

  friend auto operator<=>(const MicroBatchEnds&,
                          const MicroBatchEnds&) = default;
};

// The operations of `occurrences`, one after another. A prefetch starts where
// workload/program.h says, but no earlier than the first of them.
std::vector<Op> WriteOps(const Program& program, MicroBatchEnds ends,
                         absl::Span<const Occurrence> occurrences);

// By dimension.
using CallCounts = std::array<uint32_t, kNumParallelDimensions>;

// The prefetches that `occurrences` begin with, as launches: those of the first
// one that has any.
std::vector<Op> FirstPrefetches(const Program& program, MicroBatchEnds ends,
                                absl::Span<const Occurrence> occurrences);

// As WriteOps, where `early`, the FirstPrefetches of what `occurrences` begin
// with, were the first calls of their lanes, behind `before` others.
std::vector<Op> WriteOpsBehindPrefetches(
    const Program& program, MicroBatchEnds ends,
    absl::Span<const Occurrence> occurrences, absl::Span<const Op> early,
    const CallCounts& before);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_OP_WRITER_H_
