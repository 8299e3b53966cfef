#include "astra-core/serving/cache_memory.h"

#include <cstdint>
#include <variant>

#include "tests/astra-core/serving/tiny_llama.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::TinyLlama;
using ::astra::testing::ValueOrDie;

TEST(CacheMemoryTest, BlocksFillWhatWeightsLeave) {
  ServingFacts facts;
  facts.memory_share = 0.5;
  facts.block_positions = 16;
  const ModelSpec model = TinyLlama();
  const CacheRoom room = ValueOrDie(
      RoomForCache(model, {}, facts, MiB(4 * 1024), {.step_tokens = 64}));
  // Keys and values of 2 heads of 16, in 2 blocks, in BF16.
  EXPECT_EQ(room.block.bytes, Bytes(16 * 2 * 2 * 2 * 16 * 2));
  EXPECT_EQ(room.blocks,
            (MiB(1 * 1024) - room.weights - room.workspace).count() /
                room.block.bytes.count());
  EXPECT_THAT(RoomForCache(model, {}, facts, MiB(1 * 1024), {.step_tokens = 64})
                  .status(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "no room for the KV cache: weights of 0.0 GiB, 0.0 GiB "
                       "of workspace and 1.0 GiB of CUDA and NCCL fill the "
                       "share of 0.5 of the 1.0 GiB of a GPU that the engine "
                       "takes: expected more TP or PP, or a smaller "
                       "precision"));
  facts.memory_of = MemoryShareOf::kStatic;
  EXPECT_EQ(
      ValueOrDie(RoomForCache(model, {}, facts, MiB(1024), {.step_tokens = 64}))
          .blocks,
      (MiB(512) - room.weights).count() / room.block.bytes.count());
}

// Returns the tiny model with windows of 100 positions in every n-th layer.
ModelSpec WithWindows(int64_t every) {
  ModelSpec model = TinyLlama();
  FullAttention& attention = std::get<FullAttention>(model.attention);
  attention.window = 100;
  attention.window_every = every;
  return model;
}

// Of two layers one keeps the last 100 positions: 7 blocks and one that is part
// full, of 16 x 128 bytes as those of the other layer. A shorter sequence has
// as many as of the other layer.
TEST(CacheMemoryTest, WindowsTakeBlocksOfEachSequence) {
  ServingFacts facts;
  facts.block_positions = 16;
  const CacheUse frees = {.frees_windows = true};
  const CacheBlock freed =
      ValueOrDie(CacheBlockOf(WithWindows(2), {}, facts, frees));
  EXPECT_EQ(freed.bytes, Bytes(16 * 128));
  EXPECT_EQ(freed.held.Beside(3), 3);
  EXPECT_EQ(freed.held.Beside(8), 8);
  EXPECT_EQ(freed.held.Beside(1000), 8);
  const CacheBlock kept =
      ValueOrDie(CacheBlockOf(WithWindows(2), {.fp8_cache = true}, facts, {}));
  EXPECT_EQ(kept.bytes, Bytes(16 * 2 * 128 / 2));
  EXPECT_EQ(kept.held, HeldBlocks());
  // All layers have windows, which count in full length.
  const CacheBlock only =
      ValueOrDie(CacheBlockOf(WithWindows(1), {}, facts, frees));
  EXPECT_EQ(only.bytes, Bytes(16 * 2 * 128));
  EXPECT_EQ(only.held, HeldBlocks());
}

// A draft model of two layers adds their blocks. What it keeps does not make a
// model give back its windows.
TEST(CacheMemoryTest, DraftsAddToBlocksOfWindows) {
  ServingFacts facts;
  facts.block_positions = 16;
  const CacheUse use = {.frees_windows = true, .draft = TinyLlama()};
  const CacheBlock all =
      ValueOrDie(CacheBlockOf(WithWindows(1), {}, facts, use));
  EXPECT_EQ(all.bytes, Bytes(16 * 4 * 128));
  EXPECT_EQ(all.held, HeldBlocks());
  const CacheBlock half =
      ValueOrDie(CacheBlockOf(WithWindows(2), {}, facts, use));
  EXPECT_EQ(half.bytes, Bytes(16 * 3 * 128));
  // A third for each block; 8 thirds in a full window.
  EXPECT_EQ(half.held.Beside(4), 2);
  EXPECT_EQ(half.held.Beside(100), 3);
}

// Of two layers one keeps a state of 2 heads of 32 x 32 in FP32, 8 KiB, which
// is as much as 4 blocks of the other.
TEST(CacheMemoryTest, StatesTakeBlocksOfEachSequence) {
  ServingFacts facts;
  facts.block_positions = 16;
  ModelSpec model = TinyLlama();
  model.other_attention = LinearAttention{.key_heads = 2,
                                          .value_heads = 2,
                                          .key_head_dim = 32,
                                          .value_head_dim = 32,
                                          .conv_kernel = 4,
                                          .full_attention_every = 2};
  const CacheBlock block = ValueOrDie(CacheBlockOf(model, {}, facts, {}));
  EXPECT_EQ(block.bytes, Bytes(16 * 128));
  EXPECT_EQ(block.held, HeldBlocks({.states = 4}));
}

// Of two stages the first has the window and the second keeps all positions:
// the blocks are those of the second alone, and the first has room for
// sequences of 8 blocks of a window.
TEST(CacheMemoryTest, StagesThatDoNotGrowLimitSequences) {
  ServingFacts facts;
  facts.memory_of = MemoryShareOf::kStatic;
  facts.memory_share = 1;
  facts.block_positions = 16;
  const Bytes memory = MiB(64);
  const CacheRoom room =
      ValueOrDie(RoomForCache(WithWindows(2), {.pipeline = 2}, facts, memory,
                              {.step_tokens = 64, .frees_windows = true}));
  EXPECT_EQ(room.block.bytes, Bytes(16 * 128));
  EXPECT_EQ(room.block.held, HeldBlocks());
  EXPECT_EQ(room.blocks,
            (memory - room.weights).count() / room.block.bytes.count());
  ASSERT_TRUE(room.max_sequences);
  EXPECT_NEAR(static_cast<double>(*room.max_sequences),
              static_cast<double>(room.blocks) / 8,
              static_cast<double>(room.blocks) / 80);
  BatchingOptions options = {.max_sequences = *room.max_sequences + 5};
  UseRoom(room, &options);
  EXPECT_EQ(options.num_blocks, room.blocks);
  EXPECT_EQ(options.max_sequences, *room.max_sequences);
}

// No layer of either grows: a state of 2 heads of 32 x 32 in FP32 in each of
// the 2 layers. The blocks suffice for as many of the longest sequences.
TEST(CacheMemoryTest, StatesAloneLimitSequences) {
  ServingFacts facts;
  facts.memory_of = MemoryShareOf::kStatic;
  facts.memory_share = 1;
  facts.block_positions = 16;
  ModelSpec model = TinyLlama();
  model.max_positions = 100;
  model.other_attention = LinearAttention{.key_heads = 2,
                                          .value_heads = 2,
                                          .key_head_dim = 32,
                                          .value_head_dim = 32,
                                          .conv_kernel = 4,
                                          .full_attention_every = 3};
  const CacheRoom room =
      ValueOrDie(RoomForCache(model, {}, facts, MiB(64), {.step_tokens = 64}));
  ASSERT_TRUE(room.max_sequences);
  EXPECT_EQ(room.blocks, 7 * *room.max_sequences);
  EXPECT_EQ(room.block.held, HeldBlocks());
  EXPECT_GE(room.block.bytes, Bytes(2 * 8 * 1024 / 7));
}

}  // namespace
}  // namespace astra
