#include "workload/serving/kv_blocks.h"

#include <gtest/gtest.h>

#include "astra-core/base/random.h"

namespace astra {
namespace {

Request Prompt(int64_t tokens, std::vector<uint64_t> hashes,
               int64_t hashed = 8) {
  return {.prompt_tokens = tokens,
          .output_tokens = 1,
          .prefix = {hashed, std::move(hashes)}};
}

// Computes a request as far as `tokens` and gives its blocks back.
void ComputeAndLeave(const Request& request, int64_t tokens, KvBlocks* blocks) {
  KvHolding holding;
  blocks->Acquire(blocks->Match(request, request.prompt_tokens - 1), request,
                  &holding);
  ASSERT_TRUE(blocks->Grow(tokens, &holding));
  blocks->Publish(request, tokens, &holding);
  blocks->Release(&holding);
}

// Seven layers with windows to three others: 7 / 3 of 27 are 63 as reals, too.
TEST(HeldBlocksTest, AQuotientIsNotRoundedUpForItsLastDigit) {
  const HeldBlocks held = {.windows_per_block = 7 / 3.0, .most_windows = 1000};
  EXPECT_EQ(held.Beside(27), 63);
  EXPECT_EQ(held.Beside(28), 66);
}

TEST(KvBlocksTest, GrowsByWholeBlocksUntilNoneIsLeft) {
  KvBlocks blocks(4, 16, false);
  KvHolding a;
  KvHolding b;
  EXPECT_TRUE(blocks.Grow(17, &a));
  EXPECT_EQ(blocks.used(), 2);
  EXPECT_TRUE(blocks.Grow(32, &a));
  EXPECT_EQ(blocks.used(), 2);
  EXPECT_FALSE(blocks.Grow(33, &b));
  EXPECT_EQ(b.blocks(), 0);
  EXPECT_TRUE(blocks.Grow(32, &b));
  EXPECT_EQ(blocks.available(), 0);
  blocks.CheckConserved(4);
  blocks.Release(&a);
  EXPECT_EQ(blocks.available(), 2);
  EXPECT_EQ(blocks.cached(), 0);
}

// Blocks of 4 in hashes of 8 tokens: 19 tokens are 2 hashes and 3 tokens of the
// third, which is no whole block.
TEST(KvBlocksTest, FindsWholeBlocksOfEqualPrefixes) {
  KvBlocks blocks(10, 4, true);
  ComputeAndLeave(Prompt(18, {1, 2, 3}), 18, &blocks);
  EXPECT_EQ(blocks.cached(), 4);
  EXPECT_EQ(blocks.available(), 10);
  EXPECT_EQ(blocks.Match(Prompt(19, {1, 2, 4}), 18).tokens, 16);
  EXPECT_EQ(blocks.Match(Prompt(19, {1, 5, 3}), 18).tokens, 8);
  EXPECT_EQ(blocks.Match(Prompt(19, {5, 2, 3}), 18).tokens, 0);
  // One position at least is left to compute, so the last block is not whole.
  EXPECT_EQ(blocks.Match(Prompt(16, {1, 2}), 15).tokens, 12);
  EXPECT_EQ(blocks.Match(Prompt(16, {1, 2}), 15).blocks, 4);
}

TEST(KvBlocksTest, EvictsTheOldestPrefixFromItsEnd) {
  KvBlocks blocks(6, 4, true);
  const Request old = Prompt(16, {1, 2});
  const Request recent = Prompt(8, {7});
  ComputeAndLeave(old, 16, &blocks);
  ComputeAndLeave(recent, 8, &blocks);
  EXPECT_EQ(blocks.cached(), 6);
  KvHolding holding;
  EXPECT_TRUE(blocks.Grow(4, &holding));  // Half of hash 2.
  EXPECT_EQ(blocks.Match(old, 15).tokens, 12);
  EXPECT_TRUE(blocks.Grow(16, &holding));  // The rest of it, and hash 1.
  EXPECT_EQ(blocks.Match(old, 15).tokens, 0);
  EXPECT_EQ(blocks.Match(recent, 7).tokens, 4);
  blocks.CheckConserved(4);
}

TEST(KvBlocksTest, PrefixInUseIsNotEvicted) {
  KvBlocks blocks(4, 4, true);
  const Request request = Prompt(9, {1});
  ComputeAndLeave(request, 9, &blocks);
  KvHolding holding;
  const PrefixMatch match = blocks.Match(request, 8);
  EXPECT_EQ(match.idle_blocks, 2);
  blocks.Acquire(match, request, &holding);
  EXPECT_EQ(blocks.available(), 2);
  KvHolding other;
  EXPECT_FALSE(blocks.Grow(12, &other));
  EXPECT_TRUE(blocks.Grow(8, &other));
  blocks.CheckConserved(2);
}

TEST(KvBlocksTest, SequenceCompletesAPrefixThatLostItsEnd) {
  KvBlocks blocks(4, 4, true);
  const Request request = Prompt(9, {1});
  ComputeAndLeave(request, 9, &blocks);
  KvHolding other;
  ASSERT_TRUE(blocks.Grow(12, &other));  // Takes one block of hash 1.
  blocks.Release(&other);
  ASSERT_EQ(blocks.Match(request, 8).tokens, 4);
  ComputeAndLeave(request, 9, &blocks);
  EXPECT_EQ(blocks.Match(request, 8).tokens, 8);
  EXPECT_EQ(blocks.cached(), 2);
  blocks.CheckConserved(0);
}

// Both computed the same at the same time: one copy is indexed.
TEST(KvBlocksTest, SecondCopyOfAPrefixIsFreedAtItsEnd) {
  KvBlocks blocks(6, 4, true);
  const Request request = Prompt(9, {1});
  KvHolding a;
  KvHolding b;
  ASSERT_TRUE(blocks.Grow(9, &a));
  ASSERT_TRUE(blocks.Grow(9, &b));
  blocks.Publish(request, 9, &a);
  blocks.Publish(request, 9, &b);
  EXPECT_EQ(a.shared, 2);
  EXPECT_EQ(b.shared, 0);
  blocks.CheckConserved(a.own + b.own);
  blocks.Release(&a);
  blocks.Release(&b);
  EXPECT_EQ(blocks.cached(), 2);
  EXPECT_EQ(blocks.used(), 0);
}

TEST(KvBlocksTest, ConservesBlocksUnderAnyUse) {
  KvBlocks blocks(64, 4, true);
  std::vector<KvHolding> holdings(8);
  std::vector<Request> requests(8);
  for (uint64_t step = 0; step < 20'000; ++step) {
    const uint64_t draw = HashOf(1, step);
    const size_t i = draw % 8;
    KvHolding& holding = holdings[i];
    if (holding.blocks() == 0) {
      std::vector<uint64_t> hashes;
      uint64_t hash = 0;
      for (uint64_t k = 0; k < 3 + draw / 8 % 3; ++k) {
        hash = HashOf(hash, HashOf(draw, k) % 2);
        hashes.push_back(hash);
      }
      requests[i] = Prompt(20 + static_cast<int64_t>(draw / 64 % 21), hashes);
      blocks.Acquire(blocks.Match(requests[i], requests[i].prompt_tokens - 1),
                     requests[i], &holding);
    }
    if (draw / 4096 % 4 == 0) {
      blocks.Release(&holding);
    } else if (blocks.Grow(requests[i].prompt_tokens, &holding)) {
      blocks.Publish(requests[i], requests[i].prompt_tokens, &holding);
    }
    int64_t owned = 0;
    for (const KvHolding& each : holdings) owned += each.own;
    blocks.CheckConserved(owned);
  }
}

}  // namespace
}  // namespace astra
