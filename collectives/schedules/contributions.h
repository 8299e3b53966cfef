// Sets of ranks whose contributions are in a piece of data.

#ifndef COLLECTIVES_SCHEDULES_CONTRIBUTIONS_H_
#define COLLECTIVES_SCHEDULES_CONTRIBUTIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "astra-core/base/ids.h"

namespace astra {

// Identifies a set of a ContributionSets.
using ContributionsId = Id<struct ContributionsTag>;

// Stores sets as one bit per rank.
class ContributionSets {
 public:
  explicit ContributionSets(uint32_t num_ranks);

  // Return the empty set, the set of all ranks, and the set of one rank.
  ContributionsId none() const { return ContributionsId(num_ranks_); }
  ContributionsId all() const { return ContributionsId(num_ranks_ + 1); }
  ContributionsId only(uint32_t rank) const { return ContributionsId(rank); }

  // Returns the union of two sets and stores it.
  ContributionsId Sum(ContributionsId a, ContributionsId b);

  // Returns the first rank that is in both sets.
  std::optional<uint32_t> FirstOfBoth(ContributionsId a,
                                      ContributionsId b) const;

  // Returns the first rank that is in `a` and not in `b`.
  std::optional<uint32_t> FirstOnlyOf(ContributionsId a,
                                      ContributionsId b) const;

  bool AreEqual(ContributionsId a, ContributionsId b) const {
    return !FirstOnlyOf(a, b) && !FirstOnlyOf(b, a);
  }

 private:
  const uint64_t* words(ContributionsId id) const {
    return &words_[id.index() * words_per_set_];
  }
  template <class Combine>
  std::optional<uint32_t> FirstOf(ContributionsId a, ContributionsId b,
                                  const Combine& combine) const;

  uint32_t num_ranks_;
  size_t words_per_set_;
  std::vector<uint64_t> words_;  // Bits of the sets, set by set.
};

}  // namespace astra

#endif  // COLLECTIVES_SCHEDULES_CONTRIBUTIONS_H_
