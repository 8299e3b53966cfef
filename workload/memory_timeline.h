// Computes the memory that each rank needs over an iteration of a program.
//
// A rank holds its weights, gradients and optimizer states all the time. A
// forward pass adds, module by module, what its backward pass needs; the
// backward pass releases it in reverse order. If the backward is in two halves,
// the weight gradient releases it. While a module runs, it also needs its
// workspace. A rank has one stream of computation, so its memory follows from
// the order in which its stage runs, whatever the times. The ranks of a stage
// are alike.
//
// One of two slots that run side by side (Slot::beside_next) may wait for
// tokens on their way to experts or back while the other computes. It then
// keeps the workspace of the module in which it waits; the largest one counts.
//
// Source: Narayanan et al., SC 2021, section 2.2 (memory of schedules).

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

// The peak of memory in one slot of a schedule.
struct MemoryPoint {
  Slot slot;
  int64_t in_flight = 0;
  Bytes bytes;

  friend bool operator==(const MemoryPoint&, const MemoryPoint&) = default;
};

// The allocated tensors of each rank of a stage.
struct StageMemory {
  int64_t stage = 0;
  // Memory that is held all the time.
  Bytes weights;
  Bytes gradients;
  Bytes optimizer;
  Bytes cache;  // KV cache, in inference.

  // Place of the peak: its slot (none: in `after`) and its module.
  std::optional<Slot> slot;
  ModuleId module{0};
  // At the peak: the micro-batches that have gone forward through a chunk and
  // not yet back, with that of the slot; the bytes that they keep; the
  // workspace of the module, and of the one in which the slot beside it waits.
  int64_t in_flight = 0;
  Bytes saved;
  Bytes workspace;

  // A point for each slot, in order. In a schedule with a steady state,
  // repetitions that add no new level are left out; other schedules list all
  // micro-batches.
  std::vector<MemoryPoint> points;
  Bytes after;  // Peak in `after`; 0 if nothing runs there.

  Bytes fixed() const { return weights + gradients + optimizer + cache; }
  Bytes peak() const { return fixed() + saved + workspace; }
};

// Returns the module of `chunk` with the largest workspace of those that may
// wait for tokens of experts; none if there is none.
std::optional<ModuleId> LargestWaiting(const Program& program,
                                       const ProgramStage& stage,
                                       int64_t chunk);

// Returns true if any module of `program` says what it keeps in memory.
bool SaysMemory(const Program& program);

// Returns the number of micro-batches from which on more of them add no new
// level: that of the program in schedules without a steady state, 1 in
// inference.
int64_t LeastMicroBatches(const Program& program);

// Returns the memory of each pipeline stage, in order. In inference one
// micro-batch is in flight, and the cache holds its sequences.
std::vector<StageMemory> MemoryOf(const Program& program);

// Returns the memory that PyTorch reserves. It exceeds the allocated tensors:
// the blocks of the micro-batches leave gaps, and are too small for what the
// optimizer needs.
//
//   highest of all slots / 0.94 + workspace of `after`
//
// Sources: SimuMax 1.2, mem_factor 0.94 (Megatron-LM, whose optimizer needs no
// workspace); InternEvo, train_performance.md, 16 runs on A800: off by 4.7 % in
// the median and 12.4 % at most, with 8 B of workspace for each parameter,
// gradients in BF16, and its GB as 10^9 B.
Bytes ReservedMemory(const StageMemory& memory);

// Memory that nvidia-smi shows on top of ReservedMemory, roughly: a CUDA
// context of about half a GiB, and as much for the buffers of a few NCCL
// communicators (NCCL_BUFFSIZE of 4 MiB for each channel and neighbour).
constexpr Bytes kDeviceOverhead = MiB(1024);

// Returns a table with a line for each of `memories` of `program`. Every line
// ends in a newline.
std::string DescribeMemory(const Program& program,
                           absl::Span<const StageMemory> memories);

// Returns when the peak is, such as "backward of micro-batch 3, chunk 1".
std::string MomentOf(const Program& program, const StageMemory& memory);

// Returns the stage whose peak is highest. Requires that there is one.
const StageMemory& LargestOf(absl::Span<const StageMemory> memories);

// Returns text that says which stage needs more memory than the GPU of
// `program` has, with both figures. Empty if all fit, or if the program does
// not state the memory of the GPU.
std::string DescribeExcess(const Program& program,
                           absl::Span<const StageMemory> memories);

}  // namespace astra

#endif  // WORKLOAD_MEMORY_TIMELINE_H_
