#include "astra-core/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace astra {

void ForEachOnThreads(size_t count, int64_t threads,
                      const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  const int64_t useful = std::min(threads, static_cast<int64_t>(count));
  std::vector<std::thread> others;
  for (int64_t i = 1; i < useful; ++i) others.emplace_back(run);
  run();
  for (std::thread& thread : others) thread.join();
}

}  // namespace astra
