#include "workload/traces/node_order.h"

#include <cstddef>
#include <functional>
#include <queue>

namespace astra {

std::vector<uint32_t> NodeOrder(
    absl::Span<const std::vector<uint32_t>> dependencies) {
  std::vector<std::vector<uint32_t>> followers(dependencies.size());
  std::vector<size_t> num_missing(dependencies.size());
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (uint32_t i = 0; i < dependencies.size(); ++i) {
    num_missing[i] = dependencies[i].size();
    if (num_missing[i] == 0) ready.push(i);
    for (const uint32_t dependency : dependencies[i]) {
      followers[dependency].push_back(i);
    }
  }
  std::vector<uint32_t> order;
  order.reserve(dependencies.size());
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const uint32_t follower : followers[order.back()]) {
      if (--num_missing[follower] == 0) ready.push(follower);
    }
  }
  return order;
}

}  // namespace astra
