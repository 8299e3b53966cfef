// Lists the allocations and releases of a rank over an iteration, one by one:
// memory_timeline.h says how high memory rises, this says of what it consists
// at each moment.
//
// The rules are those of memory_timeline.h. What is held all the time comes
// first, one block for each module and use. A forward pass allocates, module by
// module, what it saves and its workspace, and releases the workspace. The
// backward pass releases what was saved. So the sum of live blocks rises to
// StageMemory::peak(), if there are at least as many micro-batches as
// LeastMicroBatches() says.

#ifndef WORKLOAD_MEMORY_EVENTS_H_
#define WORKLOAD_MEMORY_EVENTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "astra-core/base/units.h"
#include "workload/pipeline/schedule.h"
#include "workload/program.h"

namespace astra {

enum class MemoryUse : uint8_t {
  kWeights,
  kGradients,
  kOptimizer,
  kCache,
  kSaved,      // Kept from the forward to the backward pass of a micro-batch.
  kWorkspace,  // While the module runs.
  kWaiting,    // Workspace of a slot beside, which waits for tokens of experts.
};
std::string_view Name(MemoryUse use);  // "weights", "gradients", ...

struct MemoryEvent {
  size_t block = 0;  // Number of the block, in the order of allocations.
  bool is_release = false;
  MemoryUse use = MemoryUse::kWeights;
  ModuleId module{0};  // The owner.
  Bytes bytes;
  // When: in this slot; none: before the first slot, or in `after`.
  std::optional<Slot> slot;
  // Computations that have ended before, of this micro-batch in this chunk, or
  // of `after`.
  size_t computed = 0;
};

struct MemoryEvents {
  std::vector<MemoryEvent> events;
  size_t left_out = 0;  // Events beyond the limit.
};

// Returns the first `most` events of a rank of `stage` in an iteration of
// `micro_batches`, without blocks of no bytes. Requires that the stage exists
// and that the schedule allows so many micro-batches.
MemoryEvents MemoryEventsOf(const Program& program, int64_t stage,
                            int64_t micro_batches, size_t most);

}  // namespace astra

#endif  // WORKLOAD_MEMORY_EVENTS_H_
