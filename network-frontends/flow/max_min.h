// Max-min fair rates: no flow can get more without taking from one that has as
// much or less. There is one such allocation; it is the one in which each flow
// has a bottleneck, a link that is full and on which no flow is faster.
//
// Found by progressive filling: all rates grow alike until a link is full; the
// flows on it stay at that rate, the others grow on. Here links are taken in
// the order in which they fill up, each once.
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

// Flows in classes: those of a class take the same path and get the same rate.
struct MaxMinProblem {
  std::vector<double> capacities;     // By link, at least 0, in any unit.
  std::vector<int64_t> counts;        // Flows, by class; at least 1.
  std::vector<uint32_t> first = {0};  // By class, and the end: into `links`.
  std::vector<uint32_t> links;        // The path of each class: one at least,
                                      // none twice.

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
  std::vector<double> rates;          // Of each flow, by class.
  std::vector<uint32_t> bottlenecks;  // A link of its path, by class.
};

// Keeps its working memory from one call to the next.
class MaxMinSolver {
 public:
  // Takes O(n log l) for n links of all paths together and l links. Rates are
  // right but for the rounding of a few sums.
  void Solve(const MaxMinProblem& problem, MaxMinRates* result);

 private:
  struct Link {
    double left;          // Of the capacity.
    int64_t num_growing;  // Flows.
    uint32_t first = 0;   // Its classes, in classes_.
    uint32_t end = 0;
  };

  void IndexClasses(const MaxMinProblem& problem);
  void Fill(const MaxMinProblem& problem, uint32_t link, double level,
            MaxMinRates* result);

  std::vector<Link> links_;
  std::vector<uint32_t> classes_;  // Grouped by link.
  // When links fill up; too early where flows on them have stopped growing.
  std::vector<std::pair<double, uint32_t>> filling_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_FLOW_MAX_MIN_H_
