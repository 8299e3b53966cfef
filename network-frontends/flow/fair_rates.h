// Keeps max-min fair rates up to date as flows come and go.
//
// Only rates that a change affects are computed again. Solve() first finds
// rates for the classes whose flows have changed, as if all other classes kept
// their rates. Then it looks at the links on the paths of these classes. A link
// may no longer be a bottleneck, because it is not full or carries a faster
// flow, or it may have become one beside faster flows. The classes concerned
// are then solved for as well, until each class has a bottleneck. There is only
// one such allocation, so the result equals that of solving for everything (see
// max_min.h).

#ifndef NETWORK_FRONTENDS_FLOW_FAIR_RATES_H_
#define NETWORK_FRONTENDS_FLOW_FAIR_RATES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "network-frontends/flow/max_min.h"

namespace astra {

class FairRates {
 public:
  // Tolerance for rounding: the share of a link that may stay unused, or by
  // which a flow may be faster than one that is limited by the link.
  static constexpr double kTolerance = 1e-9;

  // `capacities` holds the capacity of each link, above 0, in any unit. Its
  // indices are the link numbers of AddClass().
  explicit FairRates(const std::vector<double>& capacities);

  // Adds a class of flows that take `path` and returns its number, counted from
  // 0. The path has at least one link and none twice. The class has no flows
  // yet.
  uint32_t AddClass(absl::Span<const uint32_t> path);

  // Adds `change` flows to the class. Requires that 0 or more remain.
  void AddFlows(uint32_t flow_class, int64_t change);

  // Sets the capacity of a link, above 0.
  void SetCapacity(uint32_t link, double capacity);

  // Solves for the rates and appends the classes whose rate has changed.
  // Classes without flows are not appended.
  void Solve(std::vector<uint32_t>* changed);

  // Returns true if no flows have come or gone, and no capacity has changed on
  // their links, since Solve().
  bool is_solved() const { return free_.empty(); }

  // Returns the rate of each flow of the class at the last Solve(); 0 if the
  // class had no flows.
  double rate(uint32_t flow_class) const { return classes_[flow_class].rate; }

  // Returns the flows of all classes that pass a link.
  int64_t num_flows_on(uint32_t link) const { return links_[link].num_flows; }

  // For tests: number of classes that Solve() has solved for so far.
  uint64_t num_solved_classes() const { return num_solved_classes_; }

 private:
  // A class is free while Solve() looks for its rate, and fixed otherwise.
  struct FlowClass {
    uint64_t first_place;  // First place of its path in places_.
    uint32_t num_links;
    uint32_t bottleneck = 0;
    int64_t count = 0;
    double rate = 0;
    bool is_free = false;
    bool is_listed = false;  // Stands in the lists of its links.
  };
  static_assert(sizeof(FlowClass) == 40, "there may be 10^6 of them");
  struct Place {
    uint32_t link;
    uint32_t position;  // Index into `classes` of the link.
  };
  struct Link {
    double capacity;
    double load = 0;           // Capacity that fixed classes use.
    double level = 0;          // Rate of classes that this link limits.
    double max_rate = 0;       // Upper bound on rates of fixed classes.
    int64_t num_flows = 0;     // Flows of all classes.
    uint32_t num_fixed = 0;    // Fixed classes.
    uint32_t num_limited = 0;  // Fixed classes that this link limits.
    uint32_t touched;          // Index into touched_, or kNone.
    uint32_t num_updates = 0;  // Changes of `load` since it was summed up.
    std::vector<uint32_t> classes;
  };
  // Effect on a link of the rates that are tried.
  struct Trial {
    double load = 0;
    double max_rate = 0;
    double level = -1;  // Rate of free classes that it limits; < 0: none.
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

  std::vector<uint32_t> free_;     // Classes that are free.
  std::vector<uint32_t> touched_;  // Links that free classes pass.
  std::vector<Trial> trials_;      // By index into touched_.
  std::vector<uint32_t> to_free_;  // Classes to be freed next.
  std::vector<uint32_t> path_;     // Path as indices into touched_.
  MaxMinProblem problem_;          // Free classes on touched links.
  MaxMinRates result_;
  MaxMinSolver solver_;
  uint64_t num_solved_classes_ = 0;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_FLOW_FAIR_RATES_H_
