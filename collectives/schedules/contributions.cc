#include "collectives/schedules/contributions.h"

#include <bit>

namespace astra {
namespace {

constexpr uint32_t kWordBits = 64;

}  // namespace

ContributionSets::ContributionSets(uint32_t num_ranks)
    : num_ranks_(num_ranks),
      words_per_set_((size_t{num_ranks} + kWordBits - 1) / kWordBits),
      words_((size_t{num_ranks} + 2) * words_per_set_) {
  for (uint32_t rank = 0; rank < num_ranks; ++rank) {
    const uint64_t bit = uint64_t{1} << (rank % kWordBits);
    words_[only(rank).index() * words_per_set_ + rank / kWordBits] = bit;
    words_[all().index() * words_per_set_ + rank / kWordBits] |= bit;
  }
}

ContributionsId ContributionSets::Sum(ContributionsId a, ContributionsId b) {
  if (a == none() || a == b) return b;
  if (b == none()) return a;
  const auto sum =
      ContributionsId(static_cast<uint32_t>(words_.size() / words_per_set_));
  words_.resize(words_.size() + words_per_set_);
  for (size_t i = 0; i < words_per_set_; ++i) {
    words_[sum.index() * words_per_set_ + i] = words(a)[i] | words(b)[i];
  }
  return sum;
}

template <class Combine>
std::optional<uint32_t> ContributionSets::FirstOf(
    ContributionsId a, ContributionsId b, const Combine& combine) const {
  for (size_t i = 0; i < words_per_set_; ++i) {
    const uint64_t word = combine(words(a)[i], words(b)[i]);
    if (word == 0) continue;
    return static_cast<uint32_t>(i * kWordBits +
                                 static_cast<size_t>(std::countr_zero(word)));
  }
  return std::nullopt;
}

std::optional<uint32_t> ContributionSets::FirstOfBoth(ContributionsId a,
                                                      ContributionsId b) const {
  return FirstOf(a, b, [](uint64_t x, uint64_t y) { return x & y; });
}

std::optional<uint32_t> ContributionSets::FirstOnlyOf(ContributionsId a,
                                                      ContributionsId b) const {
  return FirstOf(a, b, [](uint64_t x, uint64_t y) { return x & ~y; });
}

}  // namespace astra
