// Spreads independent pieces of work over threads.
//
//   std::vector<Plan> plans(count);
//   ForEachOnThreads(count, 4, [&](size_t i) { plans[i] = Run(i); });
//
// The calling thread is one of the threads. Each takes the next number that no
// other has taken, so that pieces may take different times. Results that go to
// places of their own do not depend on the number of threads.

#ifndef ASTRA_CORE_BASE_PARALLEL_H_
#define ASTRA_CORE_BASE_PARALLEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>

namespace astra {

// Largest number of threads that programs take for --threads.
inline constexpr int64_t kMostThreads = 1024;

// Calls `work` once with each number below `count`, on at most `threads`
// threads, and returns when all calls have ended. `work` must be safe to call
// from several threads. Requires threads >= 1.
void ForEachOnThreads(size_t count, int64_t threads,
                      const std::function<void(size_t)>& work);

}  // namespace astra

#endif  // ASTRA_CORE_BASE_PARALLEL_H_
