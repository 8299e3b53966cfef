#include "astra-core/planner/internevo/evo_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "astra-core/planner/internevo/evo_memory.h"
#include "astra-core/planner/internevo/evo_traffic.h"
#include "tests/astra-core/planner/internevo/small_evo_job.h"

namespace astra {
namespace {

using ::astra::testing::kSmallModel;
using ::astra::testing::kSmallSeqLen;
using ::astra::testing::SmallJob;
using ::astra::testing::SmallProfile;

constexpr double kMicro = 1e-6;

EvoCost Cost(const EvoLayout& layout, int64_t world) {
  const EvoProfile profile = SmallProfile(world);
  const EvoJob job = SmallJob(profile, world);
  return CostOf(job, layout, WorkOf(job, layout.micro_bsz, layout.sequence));
}

// Returns the bytes of all messages over `part` with `op`.
double Volume(const EvoLayout& layout, EvoPart part, EvoOp op) {
  double bytes = 0;
  for (const EvoMessages& messages :
       BlockMessages(kSmallModel, kSmallSeqLen, layout)) {
    if (messages.part != part || messages.op != op) continue;
    bytes += messages.bytes * messages.count;
  }
  return bytes;
}

TEST(EvoCostTest, VolumesFollowTheMode) {
  EvoLayout layout = {.sequence = 2};
  constexpr EvoPart kSequence = EvoPart::kSequence;
  // Hidden states of 4 positions are 64 bytes.
  EXPECT_EQ(Volume(layout, kSequence, EvoOp::kAllGather), 4 * 64);
  EXPECT_EQ(Volume(layout, kSequence, EvoOp::kReduceScatter), 4 * 64);
  layout.mode = EvoMode::kFsp;
  EXPECT_EQ(Volume(layout, kSequence, EvoOp::kAllGather), 6 * 64);
  layout.checkpoint = 1;
  EXPECT_EQ(Volume(layout, kSequence, EvoOp::kAllGather), 8 * 64);
  layout.mode = EvoMode::kIsp;
  layout.weight = 4;
  // Queries and output of 32 bytes, keys and values of 16: three times each.
  EXPECT_EQ(Volume(layout, kSequence, EvoOp::kAllToAll), 3 * 2 * (32 + 16));
  EXPECT_EQ(Volume(layout, EvoPart::kWeight, EvoOp::kAllGather), 2 * 2 * 768);
  EXPECT_EQ(Volume(layout, EvoPart::kWeight, EvoOp::kReduceScatter), 2 * 768);
}

TEST(EvoCostTest, AStepOfTwoStages) {
  const EvoCost cost =
      Cost({.pipeline = 2, .sequence = 2, .micro_bsz = 1, .micro_num = 2}, 8);
  // 2 x 4 positions x 768 weights / 2 ranks, forward and twice backward.
  EXPECT_NEAR(cost.comp_wp, 3 * 3.072 * kMicro, 1e-15);
  EXPECT_NEAR(cost.comp_attn, 3 * kMicro, 1e-15);
  EXPECT_NEAR(cost.sp_comm, 0.512 * kMicro, 1e-15);
  EXPECT_NEAR(cost.overlap_latency, cost.comp_wp, 1e-15);
  // 3 x 2 x 4 x 128 / 2 FLOPs and two collectives of 64 bytes.
  EXPECT_NEAR(cost.head, (1.536 + 0.128) * kMicro, 1e-15);
  EXPECT_NEAR(cost.embedding, 0.128 * kMicro, 1e-15);
  EXPECT_NEAR(cost.fwd_bwd, (2 * 12.728 + 1.664) * kMicro, 1e-15);
  EXPECT_NEAR(cost.all_fwd_bwd, 2 * 27.12 * kMicro, 1e-14);
  EXPECT_NEAR(cost.bubble, 27.12 * kMicro, 1e-15);
  EXPECT_NEAR(cost.p2p, (2 + 1 + 2) * 0.032 * kMicro, 1e-15);
  // 2 bytes of 2 x 784 / 2 + 128 / 2 gradients hide behind 18 us, but for 0.1.
  EXPECT_NEAR(cost.wdp_comm, 0.1 * 1.696 * kMicro, 1e-15);
  EXPECT_EQ(cost.zp_comm, 0);
  EXPECT_NEAR(cost.total, 81.6896 * kMicro, 1e-13);
  // 2 micro-batches of 4 positions by 2 replicas on 8 ranks.
  EXPECT_NEAR(cost.tgs, 16 / (8 * 81.6896 * kMicro), 1e-6);
}

TEST(EvoCostTest, WeightsOfIspHideBehindProducts) {
  const EvoCost cost = Cost({.mode = EvoMode::kIsp,
                             .weight = 4,
                             .zero = 2,
                             .micro_bsz = 1,
                             .micro_num = 1},
                            8);
  const double products = 3 * 6.144 * kMicro;
  const double weights = (2 + 1) * 1.536 * kMicro;
  EXPECT_NEAR(cost.wp_comm, weights, 1e-15);
  EXPECT_NEAR(cost.overlap_latency, products + 0.1 * weights, 1e-15);
  EXPECT_EQ(cost.sp_comm, 0);
  // Two broadcasts of half of 4 x 784 / 4 parameters; embedding and head of 256
  // parameters beside them.
  EXPECT_NEAR(cost.zp_comm, 1.568 * kMicro, 1e-15);
}

TEST(EvoCostTest, WithoutFlashAttentionScoresAreProducts) {
  const EvoProfile profile = SmallProfile(1);
  EvoJob job = SmallJob(profile, 1);
  job.model.flash_attention = false;
  const EvoWork work = WorkOf(job, 1, 1);
  // Two products of 2 x 4 x 4 x 8 FLOPs, and twice that backward.
  EXPECT_NEAR(work.attention_forward, 0.512 * kMicro, 1e-15);
  EXPECT_NEAR(work.attention_backward, 1.024 * kMicro, 1e-15);
}

TEST(EvoCostTest, MemoryOfTensorParallelism) {
  const EvoMemory memory =
      MemoryOf(kSmallModel, kSmallSeqLen, 4,
               {.sequence = 2, .zero = 2, .micro_bsz = 1, .micro_num = 1});
  // (4 x 784 + 2 x 128) / 2 parameters.
  EXPECT_EQ(memory.p_g, 4 * 1696);
  EXPECT_EQ(memory.os, 12 * 1696 / 2);
  // 4 blocks x 4 positions x 8 x (4 + (10 + 4 / 2 + 8 x 3) / 2).
  EXPECT_EQ(memory.blocks, 4 * 32 * 22);
  EXPECT_EQ(memory.norm, 64);
  EXPECT_EQ(memory.head_input, 0);
  EXPECT_EQ(memory.head_output, 64);
  EXPECT_EQ(memory.backward_peak, 128 + 64 + 128);
  EXPECT_EQ(memory.sincos_cache, 2 * 4 * 4 * 2);
  EXPECT_EQ(memory.isp_pool, 0);
  // Adam's update is above 6784 + 10176 + 3264 + 64.
  EXPECT_EQ(memory.total, 6784 + 5 * 10176 / 3.0);
}

TEST(EvoCostTest, MemoryOfIspAndRecomputation) {
  EvoLayout layout = {.mode = EvoMode::kIsp,
                      .pipeline = 3,
                      .weight = 2,
                      .zero = 1,
                      .micro_bsz = 1,
                      .micro_num = 4,
                      .checkpoint = 1};
  const EvoMemory memory = MemoryOf(kSmallModel, kSmallSeqLen, 12, layout);
  // The last of three stages has two blocks; embedding and head are apart.
  EXPECT_EQ(memory.p_g, 4 * (2 * 784 / 2 + 128));
  EXPECT_EQ(memory.os, 12 * (784 + 128 / 2));
  EXPECT_EQ(memory.isp_pool, 4 * 2 * 768);
  EXPECT_EQ(memory.blocks, 0);
  // The first stage has three micro-batches of one block under way.
  EXPECT_EQ(memory.block_output, 3 * 64);
  EXPECT_EQ(memory.pp_p2p_buffer, 64);
}

TEST(EvoCostTest, TrafficIsWhatTheGroupsSend) {
  const EvoLayout layout = {.pipeline = 2, .sequence = 2, .micro_num = 2};
  const TrafficMatrix matrix = TrafficOf(kSmallModel, kSmallSeqLen, 8, layout);
  // 2 blocks x 2 micro-batches x 8 collectives of 64 bytes, and 2 gathers of
  // the embedding; half of each goes to the neighbour.
  EXPECT_EQ(matrix.at(0, 1), 2 * (2 * 8 + 2) * 64 / 2);
  // Rings of 2 replicas with twice half of 2 x (784 + 64) bytes.
  EXPECT_EQ(matrix.at(0, 2), 1696);
  // Two micro-batches forward.
  EXPECT_EQ(matrix.at(0, 4), 2 * 32);
  EXPECT_EQ(matrix.at(4, 0), 2 * 32);
  EXPECT_EQ(matrix.at(0, 3), 0);
}

}  // namespace
}  // namespace astra
