// How much memory each rank needs over an iteration of a program.
//
// A rank has all of its weights, gradients and optimizer states and the buffers
// of two messages of the pipeline all the time. On top of that a forward pass
// leaves, module by module, what its backward pass needs, until that releases
// it in reverse order (of a backward in two halves, the weight gradient). While
// a module runs, its workspace is there, too. Since a rank has one stream of
// computation, all this follows from the order in which its stage runs and not
// from any time; the ranks of a stage are alike.
//
// Source: Narayanan et al., SC 2021, section 2.2 (what schedules keep).

#ifndef WORKLOAD_MEMORY_TIMELINE_H_
#define WORKLOAD_MEMORY_TIMELINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/units.h"
#include "workload/program.h"

namespace astra {

// The highest that memory gets in a slot of a schedule.
struct MemoryPoint {
  Slot slot;
  int64_t in_flight = 0;
  Bytes bytes;

  friend bool operator==(const MemoryPoint&, const MemoryPoint&) = default;
};

// Of each rank of a stage: the tensors that are allocated.
struct StageMemory {
  int64_t stage = 0;
  // All the time.
  Bytes weights;
  Bytes gradients;
  Bytes optimizer;
  Bytes messages;  // From and to other stages.
  Bytes cache;     // Keys and values, in inference.

  // Where it is highest: in which slot, or in `after`; in which module.
  std::optional<Slot> slot;
  ModuleId module{0};
  // How many micro-batches have gone forward through a chunk and not back yet,
  // that of the slot included; what they keep; the workspace of the module.
  int64_t in_flight = 0;
  Bytes saved;
  Bytes workspace;

  // Every slot, in order; of a schedule that repeats itself only so many
  // repetitions that no level is left out. All micro-batches where the schedule
  // has no steady state.
  std::vector<MemoryPoint> points;
  Bytes after;  // The highest in `after`; 0 if nothing runs there.

  Bytes fixed() const {
    return weights + gradients + optimizer + messages + cache;
  }
  Bytes peak() const { return fixed() + saved + workspace; }
};

// Returns true if any module of `program` says what it keeps in memory.
bool SaysMemory(const Program& program);

// Of each pipeline stage, in order. In inference only one micro-batch is in
// flight, and the cache is that of its sequences.
std::vector<StageMemory> MemoryOf(const Program& program);

// What PyTorch reserves: the blocks of the micro-batches do not fit together
// without gaps, and those it has are too small for what the optimizer needs.
//
//   highest of all slots / 0.94 + workspace of `after`
//
// Sources: SimuMax 1.2, mem_factor 0.94 (Megatron-LM, whose optimizer needs no
// workspace); InternEvo, train_performance.md, 16 runs on A800: off by 4.7 % in
// the median and 12.4 % at most, with 8 B of workspace for each parameter,
// gradients in BF16, and its GB as 10^9 B.
Bytes ReservedMemory(const StageMemory& memory);

// What nvidia-smi shows beside that, roughly: a CUDA context of about half a
// GiB, and as much for the buffers of a few NCCL communicators (NCCL_BUFFSIZE
// of 4 MiB for each channel and neighbour).
constexpr Bytes kDeviceOverhead = MiB(1024);

// A table with a line for each of `memories` of `program`. Every line ends in a
// newline.
std::string DescribeMemory(const Program& program,
                           absl::Span<const StageMemory> memories);

// Returns the stage whose peak is highest. Requires that there is one.
const StageMemory& LargestOf(absl::Span<const StageMemory> memories);

// Says which stage needs more memory than the GPU of `program` has, with both
// figures. Empty if all fit, or if the program does not say what the GPU has.
std::string DescribeExcess(const Program& program,
                           absl::Span<const StageMemory> memories);

// memory.csv: a line for each point, and the peak of `after` where there is
// one, after a comment that states the units.
std::string MemoryCsv(const Program& program,
                      absl::Span<const StageMemory> memories);

// What the columns of memory.csv mean.
struct MemoryColumn {
  std::string_view file;
  std::string_view name;
  std::string_view unit;  // Empty where there is none.
  std::string_view meaning;
};
absl::Span<const MemoryColumn> MemoryColumns();

}  // namespace astra

#endif  // WORKLOAD_MEMORY_TIMELINE_H_
