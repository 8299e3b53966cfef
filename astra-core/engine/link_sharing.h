// Finds how far collectives that overlap on a rank slow one another down.
//
// Usage:
//   LinkSharing sharing(costs, topology);
//   const LinkUse use = sharing.UseOf(key, cost.Time(group, bytes));
//   sharing.Speeds({use, other_use});  // {1, 1} if both fit on every link.
//
// Model: a collective that runs alone fills its busiest link for the part of
// its time that goes with its bytes, and every other link in proportion to the
// seconds that its bytes take there. Collectives of one rank that overlap are
// sped up together from 0 until a link is full; those that load this link keep
// their speed, and the others go on (max-min fairness). No collective is faster
// than alone. Messages of the pipeline to and from a rank's neighbours take
// different directions of its links, so they do not slow one another down.
//
// Left out: how many messages each collective has on a link, which decides the
// shares on a real port. The sum of the shares does not depend on it.
//
// Source: D. Bertsekas and R. Gallager, "Data Networks", 1992, section 6.5.2.

#ifndef ASTRA_CORE_ENGINE_LINK_SHARING_H_
#define ASTRA_CORE_ENGINE_LINK_SHARING_H_

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/result.h"
#include "topology/topology.h"

namespace astra {

// How a collective that runs alone uses links.
struct LinkUse {
  uint32_t pattern = 0;   // Row of LinkSharing that says which links it loads.
  double busy_share = 0;  // Part of its time in which its busiest link is busy.

  friend auto operator<=>(const LinkUse&, const LinkUse&) = default;
};

class LinkSharing {
 public:
  // Both must outlive the object.
  LinkSharing(const CollectiveCosts& costs, const Topology& topology);

  // Returns the use of links by a collective of `key` that is timed as `timed`.
  LinkUse UseOf(const CostKey& key, const TimedCollective& timed) const;

  // Returns the speed of each of `uses`, above 0 and at most 1, if they overlap
  // on one rank.
  std::vector<double> Speeds(absl::Span<const LinkUse> uses);

 private:
  struct Pattern {
    CostKey key;
    std::string_view registry_name;
    absl::Span<const double> bytes_per_byte;  // By link.
  };

  void FindLoads();
  std::vector<double> Fill(const std::vector<LinkUse>& uses) const;

  const Topology& topology_;
  std::vector<Pattern> patterns_;
  // Loads of the links, each once: by pattern, the seconds that a byte takes on
  // the link over those on the busiest link of the pattern. They are found when
  // the first collectives overlap.
  std::vector<std::vector<double>> loads_;
  std::map<std::vector<LinkUse>, std::vector<double>> known_;  // From Fill().
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_LINK_SHARING_H_
