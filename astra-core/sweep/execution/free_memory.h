// How much memory processes may still take here.

#ifndef ASTRA_CORE_SWEEP_EXECUTION_FREE_MEMORY_H_
#define ASTRA_CORE_SWEEP_EXECUTION_FREE_MEMORY_H_

#include <cstdint>

namespace astra {

// Nine tenths of what Linux says is available, or of what the control group
// or the limit on the address space (ulimit -v) still allows, if that is less
// (as in a container, or a job of Slurm's).
//
// Source: Linux, proc(5) MemAvailable; cgroup v2 memory.max, v1
// memory.limit_in_bytes; getrlimit(2) RLIMIT_AS.
int64_t FreeMemoryBytes();

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_EXECUTION_FREE_MEMORY_H_
