#include "astra-core/planner/simumax/blocking_pipeline.h"

#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

std::vector<std::vector<ChunkTimes>> Equal(const PipelineShape& shape,
                                           ChunkTimes times) {
  return std::vector<std::vector<ChunkTimes>>(
      static_cast<size_t>(shape.stages),
      std::vector<ChunkTimes>(static_cast<size_t>(shape.chunks), times));
}

TEST(BlockingPipelineTest, OneStageOnlyComputes) {
  const PipelineShape shape = {.stages = 1, .chunks = 1, .micro_batches = 5};
  EXPECT_EQ(BlockingPipelineMs(shape, Equal(shape, {10, 20}), 7), 150);
}

// Stage 0   F0 0-10, sends until 11, F1 11-21, waits for the gradient until 42,
//           sends until 43, B0 43-63, waits until 74, B1 74-94
// Stage 1   receives until 11, F0 11-21, B0 21-41, sends until 42, receives
//           until 43, F1 43-53, B1 53-73, sends until 74
TEST(BlockingPipelineTest, StagesWaitForTheirMessages) {
  const PipelineShape shape = {.stages = 2, .chunks = 1, .micro_batches = 2};
  EXPECT_EQ(BlockingPipelineMs(shape, Equal(shape, {10, 20}), 1), 94);
}

// Stage s begins at 11 s; the gradient of the last stage, which ends at 63,
// comes back in steps of 21.
TEST(BlockingPipelineTest, MicroBatchesMayBeFewerThanStages) {
  const PipelineShape shape = {.stages = 4, .chunks = 1, .micro_batches = 1};
  EXPECT_EQ(BlockingPipelineMs(shape, Equal(shape, {10, 20}), 1), 63 + 3 * 21);
  for (int64_t micro_batches = 1; micro_batches < 8; ++micro_batches) {
    const PipelineShape each = {
        .stages = 5, .chunks = 1, .micro_batches = micro_batches};
    EXPECT_GE(BlockingPipelineMs(each, Equal(each, {10, 20}), 1),
              30 * static_cast<double>(micro_batches + 4));
  }
}

// The bubble of interleaved 1F1B, (p - 1) (f + B), beside v m (f + B).
TEST(BlockingPipelineTest, ChunksShortenTheBubble) {
  const PipelineShape shape = {.stages = 2, .chunks = 2, .micro_batches = 2};
  EXPECT_EQ(BlockingPipelineMs(shape, Equal(shape, {1, 2}), 0), 12 + 3);
}

// Messages of both directions go at once, one for each pair of slots.
TEST(BlockingPipelineTest, ChunksExchangeAllMessagesAtOnce) {
  const PipelineShape shape = {.stages = 4, .chunks = 2, .micro_batches = 8};
  const double free = BlockingPipelineMs(shape, Equal(shape, {1, 2}), 0);
  const double slow = BlockingPipelineMs(shape, Equal(shape, {1, 2}), 0.5);
  EXPECT_EQ(free, 2 * 8 * 3 + 3 * 3);
  EXPECT_GT(slow, free);
  // A stage has 2 x 8 x 2 slots; with messages one after another each would
  // wait for both.
  EXPECT_LT(slow, free + 0.5 * 2 * 8 * 2);
}

}  // namespace
}  // namespace astra
