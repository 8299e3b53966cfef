// The requests that the contract of collective algorithms is tested with.

#ifndef TESTS_COLLECTIVES_CONTRACT_CASES_H_
#define TESTS_COLLECTIVES_CONTRACT_CASES_H_

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "collectives/collective_request.h"
#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"

namespace astra::testing {

struct Layout {
  std::string name;
  std::shared_ptr<const GroupLayout> layout;
};

// Leaves of two servers each, in turns below two reducers that are below one.
inline void AddReducers(GroupLayout& layout) {
  const uint32_t num_leaves = (layout.num_servers() + 1) / 2;
  std::vector<GroupLayout::Reducer> reducers;
  for (uint32_t i = 0; i < num_leaves; ++i) {
    reducers.push_back({num_leaves + i % 2});
  }
  reducers.insert(reducers.end(), {{num_leaves + 2}, {num_leaves + 2}, {}});
  std::vector<uint32_t> leaf_of;
  for (uint32_t i = 0; i < layout.num_ranks(); ++i) {
    leaf_of.push_back(layout.server_of(GroupRank(i)) / 2);
  }
  layout.SetReducers(std::move(reducers), std::move(leaf_of));
}

// Servers of 3, 1, 2, 3, 1, 2, ... ranks.
inline GroupLayout UnevenLayout(uint32_t n) {
  constexpr uint32_t kSizes[] = {3, 1, 2};
  std::vector<uint32_t> sizes;
  for (uint32_t left = n; left > 0; left -= sizes.back()) {
    sizes.push_back(std::min(left, kSizes[sizes.size() % 3]));
  }
  return GroupLayout::Uneven(sizes, 1);
}

// Ranks here and there on four servers of four.
inline GroupLayout ScatteredLayout(uint32_t n) {
  std::vector<RankId> ranks;
  for (uint32_t i = 0; i < n; ++i) ranks.push_back(RankId((5 * i + 2) % 16));
  return GroupLayout::Of(ranks, Star(4, 4));
}

inline std::vector<Layout> LayoutsOf(uint32_t n) {
  std::vector<Layout> layouts;
  const auto add = [&](std::string name, GroupLayout layout) {
    layouts.push_back(
        {std::move(name), std::make_shared<GroupLayout>(std::move(layout))});
  };
  add("one server", GroupLayout::Even(1, n));
  add("one server with 2 NVSwitches", GroupLayout::Even(1, n, 2));
  for (const uint32_t m : {1u, 2u, 4u, 8u}) {
    if (n % m != 0 || n == m) continue;
    GroupLayout even = GroupLayout::Even(n / m, m, m == 4 ? 2 : 1);
    AddReducers(even);
    add(fmt::format("servers of {}", m), std::move(even));
  }
  GroupLayout uneven = UnevenLayout(n);
  AddReducers(uneven);
  add("uneven servers", std::move(uneven));
  if (n > 2) {
    add("two servers", GroupLayout::Uneven({n / 2 + 1, n - n / 2 - 1}, 1));
  }
  if (n <= 16) add("scattered", ScatteredLayout(n));
  return layouts;
}

// Which way of cutting, from 0 to 3.
inline constexpr uint32_t kNumChunkings = 4;
inline Chunking ChunkingOf(uint32_t i, Bytes bytes, uint32_t n) {
  if (i == 0) return {};
  if (i == 1) return {.num_channels = 2};
  if (i == 2) return {.max_chunk = Bytes(bytes.count() / (2 * n) + 1)};
  return {.num_channels = 4,
          .max_chunk = Bytes(bytes.count() / (12 * n) + 1),
          .slices_per_chunk = 2};
}

// Sizes of an all-to-all-v; many pairs have nothing to exchange.
inline std::vector<int64_t> RandomSizes(uint32_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int64_t> sizes(size_t{n} * n);
  for (int64_t& size : sizes) {
    size = random() % 3 == 0 ? 0 : static_cast<int64_t>(random() % 1000);
  }
  sizes[1] = 7;
  return sizes;
}

struct Case {
  std::string name;
  CollectiveRequest request;
};

// Every number of ranks on every layout; with few ranks cut in every way, else
// each in one. Half of the all-to-alls are all-to-all-vs. Bytes divide by
// whatever they are cut into, or are rather few or odd.
inline std::vector<Case> CasesOf(CollectiveKind kind, bool divides) {
  std::vector<Case> cases;
  uint32_t turn = 0;
  const auto add = [&](const Layout& layout, uint32_t chunking_index) {
    const uint32_t n = layout.layout->num_ranks();
    ++turn;
    const int64_t sizes[] = {1, n - 1, n, 10'007, (1 << 20) + 1};
    const Bytes bytes(divides ? int64_t{720'720} * n * n * 4
                              : sizes[turn % std::size(sizes)]);
    auto request = CollectiveRequest::Create(kind, bytes, layout.layout);
    const bool is_v = kind == CollectiveKind::kAllToAll && turn % 2 == 1;
    if (is_v) {
      request =
          CollectiveRequest::AllToAllV(RandomSizes(n, turn), layout.layout);
    }
    const Chunking chunking = ChunkingOf(chunking_index, request->bytes(), n);
    const GroupRank root(turn % n);
    cases.push_back(
        {fmt::format("{} of {} ranks: {}{}, {} channel(s), chunks of {}, {} "
                     "slice(s), root {}",
                     layout.name, n, request->bytes(), is_v ? " (v)" : "",
                     chunking.num_channels, chunking.max_chunk,
                     chunking.slices_per_chunk, root),
         ValueOrDie(ValueOrDie(request->With(chunking)).WithRoot(root))});
  };
  std::vector<uint32_t> counts = {24, 31, 32, 33, 48, 63, 64};
  for (uint32_t n = 2; n <= 17; ++n) counts.push_back(n);
  if (kind == CollectiveKind::kSendRecv) counts = {2};
  for (const uint32_t n : counts) {
    for (const Layout& layout : LayoutsOf(n)) {
      if (n <= 9) {
        for (uint32_t i = 0; i < kNumChunkings; ++i) add(layout, i);
      } else {
        add(layout, n <= 17 ? n % kNumChunkings : n % 2);
      }
    }
  }
  return cases;
}

}  // namespace astra::testing

#endif  // TESTS_COLLECTIVES_CONTRACT_CASES_H_
