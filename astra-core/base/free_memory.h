// Measures how much memory processes may still take on this host.

#ifndef ASTRA_CORE_BASE_FREE_MEMORY_H_
#define ASTRA_CORE_BASE_FREE_MEMORY_H_

#include <cstdint>

namespace astra {

// Returns nine tenths of the bytes that Linux reports as available. Where the
// control group or the address-space limit (ulimit -v) leaves less, as in a
// container or a Slurm job, that smaller number counts instead.
//
// Source: Linux, proc(5) MemAvailable; cgroup v2 memory.max, v1
// memory.limit_in_bytes; getrlimit(2) RLIMIT_AS.
int64_t FreeMemoryBytes();

}  // namespace astra

#endif  // ASTRA_CORE_BASE_FREE_MEMORY_H_
