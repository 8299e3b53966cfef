// memory_snapshot.pickle: the memory of a rank over an iteration, block by
// block, for the viewer of PyTorch (pytorch.org/memory_viz, or
// torch/cuda/_memory_viz.py).
//
// The file is a pickle (pickle_writer.h) of
//
//   {"segments": [{"device": 0, "address", "total_size", "allocated_size",
//                  "active_size", "requested_size", "stream": 0,
//                  "segment_type": "large", "is_expandable": False,
//                  "frames": [], "blocks": [{"address", "size",
//                  "requested_size", "state", "frames"}]}],
//    "device_traces": [[{"action", "addr", "size", "stream": 0, "time_us",
//                        "frames": [{"filename", "line", "name"}]}]]}
//
// An event has the action alloc, or free_requested and then free_completed, two
// events that the viewer makes one. The blocks of a segment are its state at
// the end: active_allocated or inactive, without gaps. All addresses must lie
// in a segment, or the view of the allocator's history fails. Events have no
// "category": with one, the viewer throws unless one of them is "unknown".
// In PyTorch 1.13 blocks have their frames in "history", and events had no
// time_us at first; today's viewer reads files with and without.
//
// A frame stands for a line of code: frame 0 is the owner, MODULE:N:USE, with
// the micro-batch N; frame 1 is the place, such as "stage 2:1:backward", with
// the chunk. Addresses are those of a first-fit allocator, blocks are not
// rounded, so that live blocks add up to StageMemory::peak(). The segment has
// ReservedMemory(), or more if that allocator needs it.
//
// Times are those of trace.json: micro-batches that were counted but not run
// are left out; see --unroll.
//
// Sources: PyTorch, torch/csrc/cuda/memory_snapshot.cpp,
// torch/cuda/_memory_viz.py and torch/utils/viz/MemoryViz.js, 2023 to 2025.

#ifndef ASTRA_CORE_APPS_MEMORY_SNAPSHOT_H_
#define ASTRA_CORE_APPS_MEMORY_SNAPSHOT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "astra-core/engine/result.h"
#include "workload/memory_timeline.h"
#include "workload/program.h"

namespace astra {

// Most allocations and releases in a snapshot. A browser shows few more.
inline constexpr size_t kMostSnapshotEvents = 200'000;

struct MemorySnapshot {
  std::string file;  // Contents of memory_snapshot.pickle.
  size_t events = 0;
  size_t left_out = 0;  // Events beyond the limit.
};

// Returns the snapshot of the stage of `memory`, with the times of `result`. If
// `result` has no timeline, all times are 0.
MemorySnapshot SnapshotOf(const Program& program, const StageMemory& memory,
                          const SimulationResult& result, size_t most);

// Returns a line of the summary that says what is left out; empty if nothing
// is.
std::string DescribeLeftOut(const MemorySnapshot& snapshot);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_MEMORY_SNAPSHOT_H_
