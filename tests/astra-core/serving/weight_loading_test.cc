#include "astra-core/serving/weight_loading.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;
using Triple = std::tuple<uint32_t, uint32_t, int64_t>;

std::vector<Triple> Triples(const WeightLoad& load) {
  std::vector<Triple> triples;
  for (const WeightFlow& flow : load) {
    triples.emplace_back(flow.source.index(), flow.target.index(),
                         flow.bytes.count());
  }
  return triples;
}

// Replicas of two GPUs, then one of four and one of one, each with 400 B of
// weights in all but for the last: its only GPU has them all.
TEST(WeightLoadingTest, RanksReadTheirShardFromThoseThatHoldIt) {
  const WeightPlace pools[] = {
      {{.gpus_per_replica = 2, .replicas = 2}, Bytes(200)},
      {{.first_gpu = 4, .gpus_per_replica = 4}, Bytes(100)},
      {{.first_gpu = 8, .gpus_per_replica = 1}, Bytes(400)}};
  const std::vector<WeightLoad> loads = LoadsFromReplica(pools);
  ASSERT_EQ(loads.size(), 4u);
  EXPECT_TRUE(loads[0].empty());
  EXPECT_THAT(Triples(loads[1]),
              ElementsAre(Triple{0, 2, 200}, Triple{1, 3, 200}));
  EXPECT_THAT(Triples(loads[2]),
              ElementsAre(Triple{0, 4, 100}, Triple{0, 5, 100},
                          Triple{1, 6, 100}, Triple{1, 7, 100}));
  EXPECT_THAT(Triples(loads[3]),
              ElementsAre(Triple{0, 8, 200}, Triple{1, 8, 200}));
}

// Servers of two GPUs with NICs of 50 GB/s: each NIC of the storage server
// sends 5 GB to each of two servers, in 0.2 s.
TEST(WeightLoadingTest, StorageIsSharedByAllReplicas) {
  const Topology topology = Star(3, 2);
  Routes routes(topology);
  const WeightPlace pool = {{.gpus_per_replica = 2, .replicas = 2},
                            Bytes(5'000'000'000)};
  const std::vector<WeightLoad> loads = LoadsFromStorage({&pool, 1}, 4, 2);
  EXPECT_THAT(Triples(loads[1]), ElementsAre(Triple{4, 2, 5'000'000'000},
                                             Triple{5, 3, 5'000'000'000}));
  EXPECT_THAT(ValueOrDie(LoadTimes(loads, routes)),
              ElementsAre(TimePs(200'000'000'000), TimePs(200'000'000'000)));
  EXPECT_THAT(ValueOrDie(LoadTimes({loads.data(), 1}, routes)),
              ElementsAre(TimePs(100'000'000'000)));
}

}  // namespace
}  // namespace astra::testing
