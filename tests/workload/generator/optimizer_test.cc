#include "workload/generator/optimizer.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/testing/matchers.h"
#include "tests/testing/small_models.h"
#include "workload/generator/training.h"

namespace astra {
namespace {

using ::astra::testing::CollectiveTexts;
using ::astra::testing::ModuleOf;
using ::astra::testing::RunTexts;
using ::astra::testing::SmallDeepSeek;
using ::astra::testing::SmallGpt;
using ::astra::testing::SmallLlama;
using ::astra::testing::SmallMoe;
using ::astra::testing::StepTexts;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ModulePass kForward = ModulePass::kForward;
constexpr ModulePass kInput = ModulePass::kInputGradient;
constexpr ModulePass kWeight = ModulePass::kWeightGradient;

// DP 4. Two sequences of 32 positions in a micro-batch.
TrainingSetup SmallSetup() {
  TrainingSetup setup;
  setup.world_size = 4;
  setup.micro_batch = 2;
  setup.global_batch = 16;
  setup.positions = 32;
  return setup;
}

Blueprint Train(const ModelSpec& model, const TrainingSetup& setup) {
  return ValueOrDie(TrainingBlueprint(model, setup));
}

// The names of what runs after the last micro-batch.
std::vector<std::string> AfterTexts(const Blueprint& blueprint,
                                    size_t stage = 0) {
  std::vector<std::string> names;
  for (const ModuleId id : blueprint.stages.at(stage).after) {
    names.push_back(blueprint.modules[id.index()].name);
  }
  return names;
}

std::vector<std::string> CollectivesOf(const Blueprint& blueprint,
                                       std::string_view module,
                                       ModulePass pass = kForward) {
  return CollectiveTexts(ModuleOf(blueprint.modules, module), pass);
}

// SmallLlama: 32,768 in the embedding, 47,232 in each of 4 blocks, 32,832 in
// the logits and their norm: 254,528 in all.

// ZeRO, arXiv 1910.02054: an all-reduce is a reduce-scatter and an all-gather.
TEST(ZeroTest, WithoutItGradientsAreAllReduced) {
  TrainingSetup setup = SmallSetup();
  setup.zero = Zero::kNone;
  const Blueprint blueprint = Train(SmallLlama(), setup);
  EXPECT_THAT(AfterTexts(blueprint), ElementsAre("grad_reduce", "optimizer"));
  EXPECT_THAT(CollectivesOf(blueprint, "grad_reduce"),
              ElementsAre("all-reduce DP 1018112 B"));  // 254,528 x 4.
}

TEST(ZeroTest, Stage1ShardsTheOptimizer) {
  TrainingSetup setup = SmallSetup();
  setup.zero = Zero::kOptimizer;
  Blueprint blueprint = Train(SmallLlama(), setup);
  EXPECT_THAT(AfterTexts(blueprint),
              ElementsAre("grad_reduce", "optimizer", "param_gather"));
  EXPECT_THAT(CollectivesOf(blueprint, "grad_reduce"),
              ElementsAre("reduce-scatter DP 1018112 B"));
  EXPECT_THAT(CollectivesOf(blueprint, "param_gather"),
              ElementsAre("all-gather DP 509056 B"));  // 254,528 x 2.
  setup.gradient_bytes = 2;
  blueprint = Train(SmallLlama(), setup);
  EXPECT_THAT(CollectivesOf(blueprint, "grad_reduce"),
              ElementsAre("reduce-scatter DP 509056 B"));
}

// Each rank then needs the whole sums of its group's share.
TEST(ZeroTest, AGroupThatSharesTheOptimizerNeedsAllSums) {
  TrainingSetup setup = SmallSetup();
  setup.zero_group = 2;
  const Blueprint blueprint = Train(SmallLlama(), setup);
  EXPECT_THAT(CollectivesOf(blueprint, "grad_reduce"),
              ElementsAre("all-reduce DP 1018112 B"));
  EXPECT_THAT(CollectivesOf(blueprint, "param_gather"),
              ElementsAre("all-gather DP 509056 B"));
  const MockModule& optimizer = ModuleOf(blueprint.modules, "optimizer");
  // Of half of the parameters a gradient is read, three FP32 states are read
  // and written, and a weight is written: 4 + 24 + 2 B. The norm reads a
  // gradient; all gradients are zeroed.
  EXPECT_EQ(BytesMoved(optimizer, kForward),
            254528 / 2 * (30 + 4) + 254528 * 4);
}

TEST(ZeroTest, AGroupOfOneGathersNothing) {
  TrainingSetup setup = SmallSetup();
  setup.zero_group = 1;
  EXPECT_THAT(AfterTexts(Train(SmallLlama(), setup)),
              ElementsAre("grad_reduce", "optimizer"));
}

TEST(ZeroTest, Stage2ReducesInEveryMicroBatch) {
  TrainingSetup setup = SmallSetup();
  setup.zero = Zero::kGradients;
  const Blueprint blueprint = Train(SmallLlama(), setup);
  EXPECT_THAT(AfterTexts(blueprint), ElementsAre("optimizer", "param_gather"));
  EXPECT_EQ(RunTexts(blueprint, blueprint.stages[0]).at(1),
            "4 x block_begin attention_column attention_row mlp_column "
            "mlp_row");
  // 47,232, 32,768 and 32,832, by 4 B.
  EXPECT_THAT(CollectivesOf(blueprint, "block_begin", kWeight),
              ElementsAre("launch reduce-scatter DP 188928 B"));
  EXPECT_THAT(CollectivesOf(blueprint, "embedding_begin", kWeight),
              ElementsAre("launch reduce-scatter DP 131072 B"));
  EXPECT_THAT(CollectivesOf(blueprint, "logits_begin", kWeight),
              ElementsAre("launch reduce-scatter DP 131328 B"));
}

// FSDP, arXiv 2304.11277, section 3: parameters are gathered before a unit runs
// forward, and again before it runs backward.
TEST(ZeroTest, Stage3GathersBlockByBlock) {
  TrainingSetup setup = SmallSetup();
  setup.zero = Zero::kParameters;
  const Blueprint blueprint = Train(SmallLlama(), setup);
  EXPECT_THAT(AfterTexts(blueprint), ElementsAre("optimizer"));
  EXPECT_THAT(
      RunTexts(blueprint, blueprint.stages[0]),
      ElementsAre("1 x embedding_begin embedding_layer",
                  "4 x block_begin attention_column attention_row mlp_column "
                  "mlp_row block_end",
                  "1 x logits_begin final_column logits_end cross_entropy"));
  EXPECT_THAT(CollectivesOf(blueprint, "block_begin", kForward),
              ElementsAre("prefetch all-gather DP 94464 B"));  // 47,232 x 2.
  EXPECT_THAT(CollectivesOf(blueprint, "block_end", kForward), IsEmpty());
  EXPECT_THAT(CollectivesOf(blueprint, "block_end", kInput),
              ElementsAre("prefetch all-gather DP 94464 B"));
  EXPECT_THAT(CollectivesOf(blueprint, "block_begin", kWeight),
              ElementsAre("launch reduce-scatter DP 188928 B"));
  EXPECT_THAT(CollectivesOf(blueprint, "logits_end", kInput),
              ElementsAre("prefetch all-gather DP 65664 B"));
}

TEST(ZeroTest, OneReplicaNeedsNothing) {
  for (const Zero zero :
       {Zero::kNone, Zero::kOptimizer, Zero::kGradients, Zero::kParameters}) {
    TrainingSetup setup = SmallSetup();
    setup.world_size = 1;
    setup.zero = zero;
    const Blueprint blueprint = Train(SmallLlama(), setup);
    EXPECT_THAT(AfterTexts(blueprint), ElementsAre("optimizer"));
    EXPECT_EQ(RunTexts(blueprint, blueprint.stages[0]).at(1),
              "4 x attention_column attention_row mlp_column mlp_row");
  }
}

TEST(OverlapTest, ReducesBehindTheLastBackwardPass) {
  TrainingSetup setup = SmallSetup();
  setup.overlap_gradients = true;
  setup.bucket_size = 1;
  Blueprint blueprint = Train(SmallLlama(), setup);
  EXPECT_THAT(AfterTexts(blueprint), ElementsAre("optimizer", "param_gather"));
  EXPECT_THAT(CollectivesOf(blueprint, "block_begin", kWeight),
              ElementsAre("launch reduce-scatter DP 188928 B, last"));
  setup.zero = Zero::kNone;
  blueprint = Train(SmallLlama(), setup);
  EXPECT_THAT(AfterTexts(blueprint), ElementsAre("optimizer"));
  EXPECT_THAT(CollectivesOf(blueprint, "block_begin", kWeight),
              ElementsAre("launch all-reduce DP 188928 B, last"));
}

TEST(OverlapTest, GathersBehindTheFirstForwardPass) {
  TrainingSetup setup = SmallSetup();
  setup.overlap_parameters = true;
  setup.bucket_size = 1;
  const Blueprint blueprint = Train(SmallLlama(), setup);
  EXPECT_THAT(AfterTexts(blueprint), ElementsAre("grad_reduce", "optimizer"));
  EXPECT_THAT(CollectivesOf(blueprint, "block_begin", kForward),
              ElementsAre("prefetch all-gather DP 94464 B, first"));
  EXPECT_THAT(CollectivesOf(blueprint, "embedding_begin", kForward),
              ElementsAre("prefetch all-gather DP 65536 B, first"));
}

// From the end, 32,832 + 2 x 47,232 = 127,296 parameters are the first 100,000
// or more, and 2 x 47,232 + 32,768 = 127,232 the next.
TEST(BucketTest, SuccessiveUnitsShareOne) {
  TrainingSetup setup = SmallSetup();
  setup.overlap_gradients = true;
  setup.overlap_parameters = true;
  setup.bucket_size = 100'000;
  const Blueprint blueprint = Train(SmallLlama(), setup);
  EXPECT_THAT(
      RunTexts(blueprint, blueprint.stages[0]),
      ElementsAre("1 x embedding_begin embedding_layer",
                  "2 x attention_column attention_row mlp_column mlp_row",
                  "1 x block_begin attention_column attention_row mlp_column "
                  "mlp_row",
                  "1 x attention_column attention_row mlp_column mlp_row",
                  "1 x final_column cross_entropy"));
  EXPECT_THAT(CollectivesOf(blueprint, "block_begin", kWeight),
              ElementsAre("launch reduce-scatter DP 509184 B, last"));
  EXPECT_THAT(CollectivesOf(blueprint, "block_begin", kForward),
              ElementsAre("prefetch all-gather DP 254592 B, first"));
  EXPECT_THAT(CollectivesOf(blueprint, "embedding_begin", kWeight),
              ElementsAre("launch reduce-scatter DP 508928 B, last"));
  EXPECT_THAT(CollectivesOf(blueprint, "embedding_begin", kForward),
              ElementsAre("prefetch all-gather DP 254464 B, first"));
}

// 32,832 + 4 x 47,232 is the first one of 200,000 or more.
TEST(BucketTest, WhatIsLeftIsTheLastOne) {
  TrainingSetup setup = SmallSetup();
  setup.overlap_gradients = true;
  setup.bucket_size = 200'000;
  const Blueprint blueprint = Train(SmallLlama(), setup);
  EXPECT_THAT(CollectivesOf(blueprint, "block_begin", kWeight),
              ElementsAre("launch reduce-scatter DP 887040 B, last"));
  EXPECT_THAT(CollectivesOf(blueprint, "embedding_begin", kWeight),
              ElementsAre("launch reduce-scatter DP 131072 B, last"));
}

TEST(BucketTest, ExpertsHaveTheirOwn) {
  TrainingSetup setup = SmallSetup();
  setup.overlap_gradients = true;
  setup.expert = 2;
  EXPECT_THAT(
      CollectivesOf(Train(SmallMoe(), setup), "embedding_begin", kWeight),
      ElementsAre("launch reduce-scatter DP 436480 B, last",
                  "launch reduce-scatter DP_EP 393216 B, last"));
}

// Megatron-LM: max(40e6, 1e6 x DP), but one for all behind the first stage.
TEST(BucketTest, GrowsWithTheReplicas) {
  TrainingSetup setup = SmallSetup();
  EXPECT_EQ(BucketOf(setup, 0, 0), 40'000'000);
  setup.world_size = 512;
  setup.tensor = 2;
  setup.context = 4;
  setup.pipeline = 4;
  EXPECT_EQ(BucketOf(setup, 0, 0), 64'000'000);
  setup.bucket_size = 7;
  EXPECT_EQ(BucketOf(setup, 0, 0), 7);
  EXPECT_GT(BucketOf(setup, 1, 0), int64_t{1} << 60);
  EXPECT_GT(BucketOf(setup, 0, 1), int64_t{1} << 60);
}

// Two blocks and the logits: (2 x 47,232 + 32,832) x 4 B.
TEST(BucketTest, LaterStagesHaveOne) {
  TrainingSetup setup = SmallSetup();
  setup.pipeline = 2;
  setup.overlap_gradients = true;
  setup.bucket_size = 1;
  const Blueprint blueprint = Train(SmallLlama(), setup);
  EXPECT_EQ(RunTexts(blueprint, blueprint.stages[0]).at(1),
            "2 x block_begin attention_column attention_row mlp_column "
            "mlp_row");
  EXPECT_EQ(RunTexts(blueprint, blueprint.stages[1]).at(0),
            "1 x block_begin_2 attention_column attention_row mlp_column "
            "mlp_row");
  EXPECT_THAT(CollectivesOf(blueprint, "block_begin_2", kWeight),
              ElementsAre("launch reduce-scatter DP 509184 B, last"));
}

// Summed over a block, by what and over which ranks.
std::map<std::string, int64_t> BytesByKind(const ModelSpec& model,
                                           const TrainingSetup& setup) {
  std::map<std::string, int64_t> bytes;
  for (const MockModule& module :
       BlockModules(model, model.layers - 1, setup.module_context())) {
    for (const ModulePass pass : kModulePasses) {
      for (const ModuleStep& step : module.pass(pass)) {
        const Communication& what = step.communication;
        if (step.kind == StepKind::kCompute || step.kind == StepKind::kWait) {
          continue;
        }
        bytes[fmt::format("{} {} {}", Name(pass), Name(what.kind),
                          Name(what.dimension))] += what.bytes.count();
      }
    }
  }
  return bytes;
}

double BlockFlops(const ModelSpec& model, const TrainingSetup& setup) {
  double flops = 0;
  for (const MockModule& module :
       BlockModules(model, model.layers - 1, setup.module_context())) {
    for (const ModulePass pass : kModulePasses) flops += Flops(module, pass);
  }
  return flops;
}

TEST(OverlapTest, MovesAndComputesNoMoreThanWithout) {
  TrainingSetup setup = SmallSetup();
  setup.tensor = 4;
  setup.sequence_parallel = true;
  setup.expert = 4;
  setup.expert_tensor = 1;
  TrainingSetup overlapped = setup;
  overlapped.tensor_overlap = true;
  overlapped.shared_expert_overlap = true;
  for (const ModelSpec& model : {SmallLlama(), SmallMoe(), SmallDeepSeek()}) {
    EXPECT_EQ(BytesByKind(model, overlapped), BytesByKind(model, setup));
    EXPECT_EQ(BlockFlops(model, overlapped), BlockFlops(model, setup));
  }
}

TEST(OverlapTest, SharedExpertsRunWhileTokensAreOnTheirWay) {
  TrainingSetup setup = SmallSetup();
  setup.expert = 4;
  setup.shared_expert_overlap = true;
  setup.expert_host_ns = 1000;
  const Blueprint blueprint = Train(SmallDeepSeek(), setup);
  EXPECT_EQ(RunTexts(blueprint, blueprint.stages[0]).at(2),
            "2 x attention_linear_q_lora attention_q_column "
            "attention_linear_kv_lora attention_kv_column attention_o_row "
            "moe_router moe_dispatch shared_column moe_gather moe_experts "
            "shared_row moe_combine");
  // 64 tokens of 64 x 2 B, to 2 experts each.
  const auto steps = [&](std::string_view module, ModulePass pass) {
    return StepTexts(ModuleOf(blueprint.modules, module), pass);
  };
  EXPECT_THAT(steps("moe_dispatch", kForward),
              ElementsAre("routing", "permute", "launch dispatch EP 16384 B"));
  EXPECT_THAT(steps("moe_gather", kForward), ElementsAre("wait EP", "permute"));
  EXPECT_EQ(steps("moe_experts", kForward).back(), "launch combine EP 16384 B");
  EXPECT_EQ(steps("moe_combine", kForward).front(), "wait EP");
  // Backward, from the last module to the first.
  EXPECT_EQ(steps("moe_combine", kInput).back(), "launch dispatch EP 16384 B");
  EXPECT_EQ(steps("moe_experts", kInput).front(), "wait EP");
  EXPECT_EQ(steps("moe_gather", kInput).back(), "launch combine EP 16384 B");
  EXPECT_THAT(steps("moe_dispatch", kInput),
              ElementsAre("wait EP", "permute", "routing"));
}

TEST(OptimizerTest, ContextParallelRanksAreReplicas) {
  TrainingSetup setup = SmallSetup();
  setup.context = 4;
  EXPECT_THAT(CollectivesOf(Train(SmallLlama(), setup), "grad_reduce"),
              ElementsAre("reduce-scatter DP 1018112 B"));
}

// SmallMoe has 65,600 outside of its blocks, and in each block 10,880 beside
// 8 experts of 6144.
TEST(OptimizerTest, ExpertsHaveTheirOwnReplicas) {
  TrainingSetup setup = SmallSetup();
  setup.expert = 2;  // Two replicas of each half of the experts.
  const Blueprint two = Train(SmallMoe(), setup);
  // (65,600 + 4 x 10,880) x 4 B, 4 x 4 x 6144 x 4 B.
  EXPECT_THAT(CollectivesOf(two, "grad_reduce"),
              ElementsAre("reduce-scatter DP 436480 B",
                          "reduce-scatter DP_EP 393216 B"));
  EXPECT_THAT(
      CollectivesOf(two, "param_gather"),
      ElementsAre("all-gather DP 218240 B", "all-gather DP_EP 196608 B"));
  setup.expert = 4;  // One of each quarter.
  EXPECT_THAT(CollectivesOf(Train(SmallMoe(), setup), "grad_reduce"),
              ElementsAre("reduce-scatter DP 436480 B"));
  setup.expert =
      2;  // One of each quarter, too: of a half, half of the columns.
  setup.expert_tensor = 2;
  EXPECT_THAT(CollectivesOf(Train(SmallMoe(), setup), "grad_reduce"),
              ElementsAre("reduce-scatter DP 436480 B"));
}

// Norms work on split tokens, so that each rank has a part of their gradient:
// (4 x 2 + 1) x 64 x 4 B.
TEST(OptimizerTest, SumsReplicatedGradientsWithSequenceParallelism) {
  TrainingSetup setup = SmallSetup();
  setup.tensor = 2;
  EXPECT_THAT(AfterTexts(Train(SmallLlama(), setup)),
              ElementsAre("grad_reduce", "optimizer", "param_gather"));
  setup.sequence_parallel = true;
  const Blueprint blueprint = Train(SmallLlama(), setup);
  EXPECT_THAT(AfterTexts(blueprint), ElementsAre("grad_reduce", "layernorm",
                                                 "optimizer", "param_gather"));
  EXPECT_THAT(CollectivesOf(blueprint, "layernorm"),
              ElementsAre("all-reduce TP 2304 B"));
  // Of each block norms of 4 x 64 and biases of 2 x 64, and 2 x 64 at the end;
  // learned positions are looked up for all tokens on every rank.
  EXPECT_THAT(CollectivesOf(Train(SmallGpt(), setup), "layernorm"),
              ElementsAre("all-reduce TP 6656 B"));
}

std::vector<double> OptimizerBytes(const ModelSpec& model,
                                   const TrainingSetup& setup) {
  const Blueprint blueprint = Train(model, setup);
  std::vector<double> bytes;
  for (const ModuleStep& step :
       ModuleOf(blueprint.modules, "optimizer").pass(kForward)) {
    if (step.kind == StepKind::kCompute) bytes.push_back(BytesMoved(step.op));
  }
  return bytes;
}

// The norm reads gradients of 4 B. Adam reads them, reads and writes a weight
// and two moments in FP32, and writes a weight in BF16: 4 + 24 + 2 = 30 B. Then
// gradients are set to zero.
TEST(OptimizerTest, MovesTheStatesOfItsShare) {
  TrainingSetup setup = SmallSetup();
  setup.zero = Zero::kNone;
  EXPECT_THAT(OptimizerBytes(SmallLlama(), setup),
              ElementsAre(254528 * 4, 254528 * 30, 254528 * 4));
  setup.zero = Zero::kOptimizer;  // A quarter: 63,632.
  EXPECT_THAT(OptimizerBytes(SmallLlama(), setup),
              ElementsAre(63632 * 4, 63632 * 30, 254528 * 4));
  setup.zero = Zero::kGradients;
  EXPECT_THAT(OptimizerBytes(SmallLlama(), setup),
              ElementsAre(63632 * 4, 63632 * 30, 63632 * 4));
}

// A quarter of 109,120 parameters, and half of the 98,304 of 4 experts.
TEST(OptimizerTest, ExpertsAreSharedByTheirReplicas) {
  TrainingSetup setup = SmallSetup();
  setup.expert = 2;
  EXPECT_THAT(OptimizerBytes(SmallMoe(), setup),
              ElementsAre(76432 * 4, 76432 * 30, 207424 * 4));
}

// Experts that TP does not split have more replicas than the rest: 4 ranks
// share the 196,608 parameters of 32 experts. Adam moves 30 B for each
// parameter whose states, of 12 B, are in the memory of the rank.
TEST(OptimizerTest, TimeAndMemoryAreOfTheSameShare) {
  TrainingSetup setup = SmallSetup();
  setup.tensor = 4;
  setup.expert_tensor = 1;
  setup.sequence_parallel = true;
  double whole = 0;
  for (const Zero zero :
       {Zero::kNone, Zero::kOptimizer, Zero::kGradients, Zero::kParameters}) {
    setup.zero = zero;
    const Blueprint blueprint = Train(SmallMoe(), setup);
    int64_t states = 0;
    for (const ModuleRun& run : blueprint.stages[0].runs) {
      for (const ModuleId id : run.modules) {
        states +=
            run.times * blueprint.modules[id.index()].memory.optimizer.count();
      }
    }
    const double adam = OptimizerBytes(SmallMoe(), setup)[1];
    EXPECT_EQ(adam / 30, static_cast<double>(states) / 12);
    if (zero == Zero::kNone) whole = adam;
    EXPECT_EQ(whole - adam, zero == Zero::kNone ? 0 : 30.0 * 196608 * 3 / 4);
  }
}

TEST(OptimizerTest, AgreesOnTheNormOverTensorParallelRanks) {
  TrainingSetup setup = SmallSetup();
  EXPECT_THAT(CollectivesOf(Train(SmallLlama(), setup), "optimizer"),
              IsEmpty());
  setup.tensor = 2;
  EXPECT_THAT(CollectivesOf(Train(SmallLlama(), setup), "optimizer"),
              ElementsAre("all-reduce TP 4 B", "all-reduce TP 4 B",
                          "all-reduce TP 4 B", "all-reduce TP 4 B"));
}

}  // namespace
}  // namespace astra
