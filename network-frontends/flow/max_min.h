// Solves for max-min fair rates: no flow can get more without taking from one
// that has as much or less. There is exactly one such allocation. In it each
// flow has a bottleneck, a link that is full and on which no flow is faster.
//
// The method is progressive filling: all rates grow alike until a link is full;
// the flows on this link stay at that rate, and the others grow on. This solver
// takes the links in the order in which they fill up, each once.
//
// Source: D. Bertsekas, R. Gallager, "Data Networks", 2nd edition, 1992,
// section 6.5.2.

#ifndef NETWORK_FRONTENDS_FLOW_MAX_MIN_H_
#define NETWORK_FRONTENDS_FLOW_MAX_MIN_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace astra {

// Flows are grouped into classes. The flows of a class take the same path and
// get the same rate.
struct MaxMinProblem {
  // Capacity of each link, at least 0, in any unit.
  std::vector<double> capacities;
  std::vector<int64_t> counts;        // Flows of each class, at least 1.
  std::vector<uint32_t> first = {0};  // Begin in `links` by class, and the end.
  // Paths of all classes. A path has at least one link, none twice.
  std::vector<uint32_t> links;

  size_t num_classes() const { return counts.size(); }
  absl::Span<const uint32_t> path(size_t c) const {
    return absl::MakeConstSpan(links).subspan(first[c],
                                              first[c + 1] - first[c]);
  }
  void AddClass(absl::Span<const uint32_t> path, int64_t count) {
    links.insert(links.end(), path.begin(), path.end());
    first.push_back(static_cast<uint32_t>(links.size()));
    counts.push_back(count);
  }
  void Clear();
};

struct MaxMinRates {
  std::vector<double> rates;          // Rate of each flow, by class.
  std::vector<uint32_t> bottlenecks;  // Link that limits the class, by class.
};

// Solves problems one after the other and reuses its working memory.
class MaxMinSolver {
 public:
  // Takes O(n log l) for l links and paths of n links altogether. Rates are
  // exact but for the rounding of a few sums.
  void Solve(const MaxMinProblem& problem, MaxMinRates* result);

 private:
  struct Link {
    double left;          // Capacity that no flow has taken yet.
    int64_t num_growing;  // Flows whose rate still grows.
    uint32_t first = 0;   // Its classes are classes_[first, end).
    uint32_t end = 0;
  };

  void IndexClasses(const MaxMinProblem& problem);
  void Fill(const MaxMinProblem& problem, uint32_t link, double level,
            MaxMinRates* result);

  std::vector<Link> links_;
  std::vector<uint32_t> classes_;  // Classes, grouped by link.
  // Rate at which each link fills up, and the link. The rate is too low where
  // flows of the link have stopped growing.
  std::vector<std::pair<double, uint32_t>> filling_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_FLOW_MAX_MIN_H_
