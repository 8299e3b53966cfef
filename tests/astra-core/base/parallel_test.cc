#include "astra-core/base/parallel.h"

#include <gtest/gtest.h>

#include <vector>

namespace astra {
namespace {

TEST(ForEachOnThreadsTest, CallsEachNumberOnce) {
  for (const int64_t threads : {1, 3, 50}) {
    std::vector<int> calls(20);
    ForEachOnThreads(calls.size(), threads, [&](size_t i) { ++calls[i]; });
    EXPECT_EQ(calls, std::vector<int>(20, 1)) << threads;
  }
  ForEachOnThreads(0, 4, [](size_t) { FAIL(); });
}

}  // namespace
}  // namespace astra
