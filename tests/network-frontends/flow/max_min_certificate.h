// What makes an allocation max-min fair, and problems to try it on.

#ifndef TESTS_NETWORK_FRONTENDS_FLOW_MAX_MIN_CERTIFICATE_H_
#define TESTS_NETWORK_FRONTENDS_FLOW_MAX_MIN_CERTIFICATE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "astra-core/base/random.h"
#include "gtest/gtest.h"
#include "network-frontends/flow/max_min.h"

namespace astra::testing {

// Expects, but for a share `tolerance`, that no link is above its capacity and
// that each class has a bottleneck: a full link on which no class is faster.
inline void ExpectMaxMin(const MaxMinProblem& problem,
                         const std::vector<double>& rates, double tolerance) {
  std::vector<double> load(problem.capacities.size());
  std::vector<double> fastest(problem.capacities.size());
  for (size_t c = 0; c < problem.num_classes(); ++c) {
    for (const uint32_t link : problem.path(c)) {
      load[link] += static_cast<double>(problem.counts[c]) * rates[c];
      fastest[link] = std::max(fastest[link], rates[c]);
    }
  }
  for (size_t i = 0; i < load.size(); ++i) {
    EXPECT_LE(load[i], problem.capacities[i] * (1 + tolerance)) << "link " << i;
  }
  for (size_t c = 0; c < problem.num_classes(); ++c) {
    bool has_bottleneck = false;
    for (const uint32_t link : problem.path(c)) {
      has_bottleneck |=
          load[link] >= problem.capacities[link] * (1 - tolerance) &&
          rates[c] >= fastest[link] * (1 - tolerance);
    }
    EXPECT_TRUE(has_bottleneck) << "class " << c << " at " << rates[c];
  }
}

// A path of one to four of `num_links` links.
inline std::vector<uint32_t> RandomPath(uint64_t seed, uint32_t num_links) {
  std::vector<uint32_t> path;
  const uint64_t length = 1 + HashOf(seed, 1) % 4;
  for (uint64_t i = 0; i < length; ++i) {
    const auto link = static_cast<uint32_t>(HashOf(seed, 2, i) % num_links);
    if (std::find(path.begin(), path.end(), link) == path.end()) {
      path.push_back(link);
    }
  }
  return path;
}

// Up to 12 links of few different rates, so that some fill up together, and up
// to 30 classes.
inline MaxMinProblem RandomMaxMinProblem(uint64_t seed) {
  MaxMinProblem problem;
  const auto num_links = static_cast<uint32_t>(1 + HashOf(seed, 3) % 12);
  for (uint32_t i = 0; i < num_links; ++i) {
    problem.capacities.push_back(
        static_cast<double>(100 * (1 + HashOf(seed, 4, i) % 3)));
  }
  const uint64_t num_classes = HashOf(seed, 5) % 31;
  for (uint64_t i = 0; i < num_classes; ++i) {
    problem.AddClass(RandomPath(HashOf(seed, 6, i), num_links),
                     static_cast<int64_t>(1 + HashOf(seed, 7, i) % 3));
  }
  return problem;
}

}  // namespace astra::testing

#endif  // TESTS_NETWORK_FRONTENDS_FLOW_MAX_MIN_CERTIFICATE_H_
