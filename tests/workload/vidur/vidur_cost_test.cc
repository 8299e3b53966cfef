#include "workload/vidur/vidur_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fmt/core.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

VidurReplica Replica(int64_t tensor = 1) {
  VidurReplica replica;
  replica.model = ValueOrDie(FindVidurModel("meta-llama/Meta-Llama-3-8B"));
  replica.device = ValueOrDie(FindVidurDevice("a100"));
  replica.tensor = tensor;
  return replica;
}

// Every operator takes 1 ms at up to 8 tokens and 2 ms at up to 512. Rows are
// there often, so that every tree sees both times.
std::string Compute() {
  constexpr std::string_view kNames[] = {"attn_pre_proj",
                                         "attn_post_proj",
                                         "mlp_up_proj",
                                         "mlp_down_proj",
                                         "mlp_act",
                                         "input_layernorm",
                                         "attn_rope",
                                         "add",
                                         "post_attention_layernorm"};
  std::string header =
      "n_head,n_kv_head,n_embd,n_expanded_embd,vocab_size,use_gated_mlp,"
      "num_tokens,num_tensor_parallel_workers";
  for (const std::string_view name : kNames) {
    header += fmt::format(",time_stats.{}.median", name);
  }
  std::string rows;
  for (const int tokens :
       {1, 2, 3, 4, 5, 6, 7, 8, 505, 506, 507, 508, 509, 510, 511, 512}) {
    rows += fmt::format("\n32,8,4096,14336,128256,True,{},1", tokens);
    for (size_t i = 0; i < std::size(kNames); ++i) {
      rows += tokens > 8 ? ",2" : ",1";
    }
  }
  return header + rows + "\n";
}

constexpr std::string_view kAttention =
    "n_embd,n_q_head,n_kv_head,block_size,num_tensor_parallel_workers,"
    "batch_size,prefill_chunk_size,kv_cache_size,is_prefill,"
    "time_stats.attn_prefill.median,time_stats.attn_decode.median\n"
    "4096,32,8,16,1,1,16,0,True,4,\n"
    "4096,32,8,16,1,1,512,1024,True,4,\n"
    "4096,32,8,16,1,1,0,64,False,,8\n"
    "4096,32,8,16,1,4,0,1024,False,,8\n"
    "4096,32,8,16,2,4,0,1024,False,,99\n"
    "4096,32,8,32,1,4,0,1024,False,,99\n";

VidurCost Cost() {
  VidurSamples samples;
  Warnings warnings;
  EXPECT_TRUE(ReadVidurTable(VidurTable::kCompute, "mlp.csv", Compute(),
                             Replica(), false, &samples, &warnings)
                  .ok());
  EXPECT_TRUE(ReadVidurTable(VidurTable::kAttention, "attention.csv",
                             kAttention, Replica(), false, &samples, &warnings)
                  .ok());
  EXPECT_THAT(warnings, ElementsAre("attention.csv: no column "
                                    "time_stats.attn_kv_cache_save.median: "
                                    "attn_kv_cache_save takes no time"));
  return ValueOrDie(VidurCost::Create(Replica(), {}, samples));
}

double Milliseconds(TimePs time) {
  return 1e-9 * static_cast<double>(time.count());
}

// 32 layers. One decode of 8 ms and nine operators of 1 ms; two decodes take
// 10 % more, since queries are grouped.
TEST(VidurCostTest, AddsUpTheOperatorsOfALayer) {
  VidurCost cost = Cost();
  StepWork one{.chunks = {}, .decodes = 1, .decode_context = 100, .samples = 1};
  EXPECT_NEAR(Milliseconds(cost.TimeOf(one)), 32 * (9 + 8), 0.01);
  StepWork two{.chunks = {}, .decodes = 2, .decode_context = 200, .samples = 2};
  EXPECT_NEAR(Milliseconds(cost.TimeOf(two)), 32 * (9 + 8.8), 0.01);
  StepWork chunk{.chunks = {{512, 0}}};
  EXPECT_NEAR(Milliseconds(cost.TimeOf(chunk)), 32 * (18 + 4), 0.01);
  StepWork mixed{
      .chunks = {{300, 0}, {200, 64}}, .decodes = 2, .decode_context = 200};
  EXPECT_NEAR(Milliseconds(cost.TimeOf(mixed)), 32 * (18 + 4.4 + 8.8), 0.01);
  EXPECT_THAT(cost.Outside(), IsEmpty());
}

TEST(VidurCostTest, CountsSizesOutsideOfTheSamples) {
  VidurCost cost = Cost();
  cost.TimeOf({.chunks = {}, .decodes = 5, .decode_context = 500});
  cost.TimeOf({.chunks = {}, .decodes = 9, .decode_context = 900});
  cost.TimeOf({.chunks = {}, .decodes = 2, .decode_context = 200});
  EXPECT_THAT(
      cost.Outside(),
      ElementsAre("attn_decode: 2 of 3 steps lie outside of the samples, and "
                  "take the time of the nearest: they have batch_size 5 to 9, "
                  "and samples have 1 to 4"));
}

TEST(VidurProfileTest, SaysWhichRowsAreMissing) {
  VidurSamples samples;
  Warnings warnings;
  EXPECT_THAT(ReadVidurTable(VidurTable::kCompute, "mlp.csv", Compute(),
                             Replica(4), false, &samples, &warnings),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "mlp.csv: no row has num_tensor_parallel_workers 4 (the "
                       "file has: 1)"));
  EXPECT_THAT(ReadVidurTable(VidurTable::kAttention, "a.csv", "batch_size\n1\n",
                             Replica(), false, &samples, &warnings),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("num_tensor_parallel_workers")));
}

// 8192 bytes are a position of 4096 elements.
TEST(VidurProfileTest, ReadsCollectivesInPositions) {
  constexpr std::string_view kTable =
      ",time_stats.all_reduce.median,num_workers,size,collective,"
      "devices_per_node,speed\n"
      "0,0.5,2,8192,all_reduce,2,9\n"
      "1,0,2,16384,all_reduce,2,9\n"
      "2,0.7,2,16384,all_reduce,1,9\n"
      "3,0.7,2,16384,all_gather,2,9\n";
  VidurSamples samples;
  Warnings warnings;
  ASSERT_TRUE(ReadVidurTable(VidurTable::kAllReduce, "r.csv", kTable,
                             Replica(2), false, &samples, &warnings)
                  .ok());
  const TrainingSet& set =
      samples[static_cast<size_t>(VidurOperator::kAllReduce)];
  EXPECT_THAT(set.values, ElementsAre(1, 2));
  EXPECT_THAT(set.times_us, ElementsAre(500, 0.001));
  ASSERT_EQ(warnings.size(), 1);
  EXPECT_THAT(warnings[0], HasSubstr("speed"));
}

// 80 x 0.9 GiB less 13.0 GiB of weights hold 29 caches of 2 GiB.
TEST(VidurModelTest, PlansTheCacheAsVidur) {
  EXPECT_EQ(ValueOrDie(VidurBlocks(Replica(), 16384)), 1024 * 29);
  VidurReplica small = Replica();
  small.device.memory_gb = 14;
  EXPECT_THAT(VidurBlocks(small, 16384),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("no room for a request of 16384 tokens")));
  EXPECT_THAT(
      FindVidurModel("meta-llama/Llama-3-8B"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("did you mean")));
  VidurReplica odd = Replica(3);
  EXPECT_THAT(CheckVidurReplica(odd),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--replica_config_tensor_parallel_size 3 does not "
                       "divide the 32 heads of meta-llama/Meta-Llama-3-8B"));
}

}  // namespace
}  // namespace astra
