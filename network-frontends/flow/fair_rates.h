// Max-min fair rates that follow flows as they come and go.
//
// What a change does not reach is not computed again. Solve() first gives rates
// only to the classes whose flows have changed, as if all others kept theirs.
// Then it looks at the links that those pass: where a class has lost its
// bottleneck, for the link is no longer full or carries a faster flow, or where
// a link has become a bottleneck beside faster flows, those classes are solved
// for as well, until each class has a bottleneck. There is only one such
// allocation, so the result is that of solving for everything (see max_min.h).

#ifndef NETWORK_FRONTENDS_FLOW_FAIR_RATES_H_
#define NETWORK_FRONTENDS_FLOW_FAIR_RATES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "network-frontends/flow/max_min.h"

namespace astra {

class FairRates {
 public:
  // The share of a link that may stay unused, or by which a flow may be faster
  // than one that waits for it: for rounding.
  static constexpr double kTolerance = 1e-9;

  // Links are numbered as `capacities`, which are above 0, in any unit.
  explicit FairRates(const std::vector<double>& capacities);

  // A class of flows that take `path`: one link at least, none twice. It has no
  // flows yet. Classes are numbered from 0.
  uint32_t AddClass(absl::Span<const uint32_t> path);

  // Requires that the class has then no less than 0 flows.
  void AddFlows(uint32_t flow_class, int64_t change);

  // Appends the classes whose rate is now another. Those that have no flows are
  // not among them.
  void Solve(std::vector<uint32_t>* changed);

  // Whether flows have come or gone since Solve().
  bool is_solved() const { return free_.empty(); }

  // Of each flow of the class, as of Solve(); 0 if it had none.
  double rate(uint32_t flow_class) const { return classes_[flow_class].rate; }

  // For tests: classes that Solve() has solved for so far.
  uint64_t num_solved_classes() const { return num_solved_classes_; }

 private:
  // A class is free while Solve() looks for its rate; then it is fixed.
  struct FlowClass {
    uint64_t first_place;  // Of its path, in places_.
    uint32_t num_links;
    uint32_t bottleneck = 0;
    int64_t count = 0;
    double rate = 0;
    bool is_free = false;
    bool is_listed = false;  // In the lists of its links.
  };
  static_assert(sizeof(FlowClass) == 40, "there may be 10^6 of them");
  struct Place {
    uint32_t link;
    uint32_t position;  // In the list of the link.
  };
  struct Link {
    double capacity;
    double load = 0;           // Of fixed classes.
    double level = 0;          // Of those whose bottleneck this is.
    double max_rate = 0;       // Of fixed classes; may be too high.
    int64_t num_flows = 0;     // Of all classes.
    uint32_t num_fixed = 0;    // Classes.
    uint32_t num_limited = 0;  // Fixed classes whose bottleneck this is.
    uint32_t touched;          // Its number in touched_, or kNone.
    uint32_t num_updates = 0;  // Of `load`, since it was summed up.
    std::vector<uint32_t> classes;
  };
  // What the rates that are tried would do to a link.
  struct Trial {
    double load = 0;
    double max_rate = 0;
    double level = -1;  // Of free classes whose bottleneck it is; none: < 0.
  };

  absl::Span<Place> PlacesOf(const FlowClass& c) {
    return absl::MakeSpan(places_).subspan(c.first_place, c.num_links);
  }
  void List(uint32_t flow_class);
  void Unlist(uint32_t flow_class);
  void Free(uint32_t flow_class);
  void SolveFree();
  void TryRates();
  bool FreeMore();
  void FreeFaster(Link& link, double rate);
  void FixFree(std::vector<uint32_t>* changed);
  void Fix(uint32_t flow_class, double rate, uint32_t bottleneck);
  void SumUpLoads();

  std::vector<Link> links_;
  std::vector<FlowClass> classes_;
  std::vector<Place> places_;

  std::vector<uint32_t> free_;     // Classes.
  std::vector<uint32_t> touched_;  // Links that free classes pass.
  std::vector<Trial> trials_;      // By number in touched_.
  std::vector<uint32_t> to_free_;  // Classes.
  std::vector<uint32_t> path_;     // In numbers of touched_.
  MaxMinProblem problem_;          // Of free classes on touched links.
  MaxMinRates result_;
  MaxMinSolver solver_;
  uint64_t num_solved_classes_ = 0;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_FLOW_FAIR_RATES_H_
