#include "astra-core/serving/kv_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra-core/serving/kv_path.h"
#include "tests/testing/matchers.h"
#include "tests/testing/small_models.h"

namespace astra {

bool operator==(const KvFlow& a, const KvFlow& b) {
  return a.source == b.source && a.target == b.target && a.share == b.share;
}

namespace {

using ::astra::testing::SmallDeepSeek;
using ::astra::testing::SmallLlama;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

std::vector<KvFlow> FlowsOf(const ServingLayout& from,
                            const ServingLayout& to) {
  return ValueOrDie(KvLayoutOf(SmallLlama(), from, to)).flows;
}

// 2 x 4 layers x 2 heads x 8 x 2 bytes.
TEST(KvLayoutTest, BytesOfGroupedHeads) {
  const KvLayout kv = ValueOrDie(KvLayoutOf(SmallLlama(), {}, {}));
  EXPECT_EQ(kv.BytesOf(1), 256);
  EXPECT_EQ(kv.BytesOf(100), 25600);
  EXPECT_EQ(kv.layers, 4);
  EXPECT_THAT(kv.flows, ElementsAre(KvFlow{0, 0, 1}));
}

TEST(KvLayoutTest, RanksSendTheHeadsThatOthersNeed) {
  EXPECT_THAT(FlowsOf({.tensor = 2}, {.tensor = 2}),
              ElementsAre(KvFlow{0, 0, 0.5}, KvFlow{1, 1, 0.5}));
  EXPECT_THAT(FlowsOf({.tensor = 1}, {.tensor = 2}),
              ElementsAre(KvFlow{0, 0, 0.5}, KvFlow{0, 1, 0.5}));
  EXPECT_THAT(FlowsOf({.tensor = 2}, {.tensor = 1}),
              ElementsAre(KvFlow{0, 0, 0.5}, KvFlow{1, 0, 0.5}));
}

// With two heads, four ranks hold two copies of each half.
TEST(KvLayoutTest, CopiesTakeTurns) {
  EXPECT_THAT(FlowsOf({.tensor = 4}, {.tensor = 2}),
              ElementsAre(KvFlow{0, 0, 0.5}, KvFlow{3, 1, 0.5}));
  EXPECT_THAT(FlowsOf({.tensor = 2}, {.tensor = 4}),
              ElementsAre(KvFlow{0, 0, 0.5}, KvFlow{0, 1, 0.5},
                          KvFlow{1, 2, 0.5}, KvFlow{1, 3, 0.5}));
}

TEST(KvLayoutTest, StagesSendTheirLayers) {
  EXPECT_THAT(FlowsOf({.pipeline = 2}, {.tensor = 2}),
              ElementsAre(KvFlow{0, 0, 0.25}, KvFlow{1, 0, 0.25},
                          KvFlow{0, 1, 0.25}, KvFlow{1, 1, 0.25}));
}

// 3 layers x (16 + 4) x 2 bytes, all of it on each rank.
TEST(KvLayoutTest, LatentCachesAreNotDivided) {
  const KvLayout kv =
      ValueOrDie(KvLayoutOf(SmallDeepSeek(), {.tensor = 2}, {.tensor = 4}));
  EXPECT_EQ(kv.BytesOf(10), 1200);
  EXPECT_THAT(kv.flows, ElementsAre(KvFlow{0, 0, 1}, KvFlow{1, 1, 1},
                                    KvFlow{0, 2, 1}, KvFlow{1, 3, 1}));
}

TEST(KvLayoutTest, Fp8CachesAreHalfAsLargeAndLieTheSame) {
  const KvLayout kv =
      ValueOrDie(KvLayoutOf(SmallLlama(), {.tensor = 2, .fp8_cache = true},
                            {.tensor = 2, .fp8_cache = true}));
  EXPECT_EQ(kv.BytesOf(1), 128);
  EXPECT_THAT(kv.flows, ElementsAre(KvFlow{0, 0, 0.5}, KvFlow{1, 1, 0.5}));
}

// Blocks 0 and 2 of 4 keep the last 5 positions, of 64 bytes each.
TEST(KvLayoutTest, WindowsKeepTheirLastPositions) {
  ModelSpec model = SmallLlama();
  model.attention = FullAttention{
      .heads = 8, .kv_heads = 2, .head_dim = 8, .window = 5, .window_every = 2};
  const KvLayout kv = ValueOrDie(KvLayoutOf(model, {}, {}));
  EXPECT_EQ(kv.BytesOf(3), 3 * 256);
  EXPECT_EQ(kv.BytesOf(5), 5 * 256);
  EXPECT_EQ(kv.BytesOf(100), 100 * 128 + 5 * 128);
}

// Blocks 0 and 2 of 4 keep keys of 2 bytes, or of 1 in FP8; the others a state
// of 2 heads of 4 x 4 in FP32.
TEST(KvLayoutTest, StatesKeepTheirSizeBesideAnFp8Cache) {
  ModelSpec model = SmallLlama();
  model.other_attention = LinearAttention{.key_heads = 2,
                                          .value_heads = 2,
                                          .key_head_dim = 4,
                                          .value_head_dim = 4,
                                          .conv_kernel = 4,
                                          .full_attention_every = 2};
  EXPECT_EQ(ValueOrDie(KvLayoutOf(model, {}, {})).BytesOf(10),
            10 * 128 + 2 * 128);
  const ServingLayout fp8 = {.fp8_cache = true};
  EXPECT_EQ(ValueOrDie(KvLayoutOf(model, fp8, fp8)).BytesOf(10),
            10 * 64 + 2 * 128);
}

// Two replicas of two stages, on each two ranks of attention with TP 2.
TEST(PoolPlaceTest, RanksOfAttentionLieBesideOneAnotherOnEachStage) {
  const PoolPlace place = {.first_gpu = 8,
                           .gpus_per_replica = 8,
                           .replicas = 2,
                           .attention_ranks = 2,
                           .tensor = 2};
  EXPECT_EQ(place.end(), 24);
  EXPECT_EQ(place.GpuOf(0, 0), RankId(8));
  EXPECT_EQ(place.GpuOf(0, 1), RankId(9));
  EXPECT_EQ(place.GpuOf(1, 0), RankId(10));  // The other rank of attention.
  EXPECT_EQ(place.GpuOf(0, 2), RankId(12));  // The second stage.
  EXPECT_EQ(place.GpuOf(3, 3), RankId(23));  // The last GPU.
}

}  // namespace
}  // namespace astra
