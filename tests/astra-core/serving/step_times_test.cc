#include "astra-core/serving/step_times.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "astra-core/planner/group_seconds.h"
#include "astra-core/serving/draft_times.h"
#include "astra-core/serving/stage_times.h"
#include "collectives/inference_engines/engine_file.h"
#include "collectives/nccl/system_topology.h"
#include "collectives/systems/system_library.h"
#include "tests/astra-core/serving/tiny_llama.h"
#include "tests/testing/matchers.h"
#include "tests/testing/small_models.h"
#include "topology/routes.h"
#include "workload/kernels/kernel_model.h"
#include "workload/kernels/kernel_predictor.h"
#include "workload/kernels/surface_library.h"
#include "workload/models/model_library.h"
#include "workload/operators/gpu_library.h"
#include "workload/operators/roofline.h"

namespace astra {
namespace {

using ::astra::testing::SmallDeepSeek;
using ::astra::testing::SmallLlama;
using ::astra::testing::SmallMoe;
using ::astra::testing::TinyLlama;
using ::astra::testing::ValueOrDie;

// A GPU that takes a picosecond for a FLOP, and no time for other work.
class FlopClock : public ComputeModel {
 public:
  OperatorTime TimeOf(const Operator& op) const override {
    return {.time = TimePs(std::llround(Flops(op))), .bound = "compute"};
  }
};

// The parts of a replica on H100.
struct Replica {
  Replica(const ModelSpec& model, ServingLayout layout,
          const ComputeModel& times, FusedKernels fused = {})
      : topology(ValueOrDie(BuildSystemTopology(
            system, static_cast<uint32_t>(layout.num_gpus()),
            static_cast<uint32_t>(layout.num_gpus())))),
        routes(topology),
        groups(system, nccl, routes, layout.num_gpus()),
        prices(model, layout, times, std::move(fused), groups, groups),
        steps(prices, facts) {
    facts.graphs = {1, 2, 4, 8};
    EXPECT_TRUE(prices.Check().ok());
  }

  SystemSpec system = ValueOrDie(FindSystem("dgx-h100"));
  NcclOptions nccl;
  Topology topology;
  Routes routes;
  GroupSeconds groups;
  StepPrices prices;
  ServingFacts facts;
  StepTimes steps;
};

// Prices by measured kernels.
struct H100 {
  GpuSpec gpu = ValueOrDie(FindGpu("H100"));
  Roofline roofline{gpu};
  KernelPredictor kernels{gpu, BundledSurfaces()};
  KernelModel model{kernels, roofline, KernelUse::kInference};
};

TEST(StepTimesTest, AStepIsWhatItsProductsAndPairsTake) {
  const FlopClock clock;
  Replica replica(TinyLlama(), {}, clock);
  // Two running sequences with 10 positions each, and 3 positions behind 5.
  const StepWork work = {.chunks = {{.tokens = 3, .cached = 5}},
                         .decodes = 2,
                         .decode_context = 20,
                         .samples = 3};
  // 5 positions by 64 x (128 + 64 + 256) + 128 x 64, in each block.
  const int64_t products = 2 * 5 * (64 * (128 + 64 + 256) + 128 * 64);
  // 4 heads of 16 + 16; the prompt has 6 + 7 + 8 pairs, the others 11 each.
  const int64_t attention = 2 * 4 * 32 * (6 + 7 + 8 + 2 * 11);
  const int64_t logits = 2 * 3 * 64 * 256;
  EXPECT_EQ(replica.steps.TimeOf(work),
            TimePs(2 * (products + attention) + logits));
}

TEST(StepTimesTest, PartsAddUpToTheStepThatGenWorkloadMakes) {
  const FlopClock clock;
  for (const ModelSpec& model : {SmallLlama(), SmallMoe(), SmallDeepSeek()}) {
    Replica replica(model, {}, clock);
    for (const InferencePhase phase :
         {InferencePhase::kPrefill, InferencePhase::kDecode}) {
      InferenceSetup setup;
      setup.phase = phase;
      setup.positions = 32;
      const Blueprint blueprint = ValueOrDie(InferenceBlueprint(model, setup));
      const double flops =
          Sum(blueprint, blueprint.stages.front()).forward_flops;
      const StepWork work =
          phase == InferencePhase::kPrefill
              ? StepWork{.chunks = {{.tokens = 32}}, .samples = 1}
              : StepWork{.decodes = 1, .decode_context = 32, .samples = 1};
      EXPECT_EQ(replica.steps.TimeOf(work), TimePs(std::llround(flops)))
          << model.name;
    }
  }
}

TEST(StepTimesTest, GraphsComputeAsMuchAsTheyWereMadeFor) {
  const FlopClock clock;
  Replica replica(TinyLlama(), {}, clock);
  const auto shared = [&](int64_t decodes) {
    return replica.steps.TimeOf(
        {.decodes = decodes, .decode_context = 8 * decodes});
  };
  const TimePs per_token(2 * 2 * (64 * (128 + 64 + 256) + 128 * 64));
  const TimePs per_sequence(2 * 2 * 4 * 32 * 9);
  EXPECT_EQ(shared(5),
            TimePs(8 * per_token.count() + 5 * per_sequence.count()));
  // No graph has 9.
  EXPECT_EQ(shared(9),
            TimePs(9 * per_token.count() + 9 * per_sequence.count()));
}

TEST(StepTimesTest, FusedOperatorsTakeNoKernel) {
  const H100 h100;
  const auto seconds = [&](FusedKernels fused) {
    Replica replica(TinyLlama(), {}, h100.model, std::move(fused));
    return replica.prices.Shared(1, /*in_graph=*/true).sum();
  };
  // Two residual adds in each of two blocks.
  EXPECT_NEAR(seconds({}) - seconds({{"residual_add"}, 0.5}), 4 * 0.5e-6,
              1e-12);
}

TEST(StepTimesTest, TheHostWaitsOrRunsBesideTheGpu) {
  const FlopClock clock;
  Replica replica(TinyLlama(), {}, clock);
  const StepWork work = {.decodes = 1, .decode_context = 8};
  const TimePs gpu = replica.steps.TimeOf(work);
  replica.facts.step_us = 3;
  replica.facts.sequence_us = 1;
  EXPECT_EQ(replica.steps.TimeOf(work), gpu + TimePs(4'000'000));
  replica.facts.overlapped_host = true;
  EXPECT_EQ(replica.steps.TimeOf(work), TimePs(4'000'000));
  // Without a graph, 31 kernels are launched one after the other.
  replica.facts.graphs.clear();
  replica.facts.launch_us = 1;
  const StepParts parts = replica.steps.PartsOf(work);
  EXPECT_NEAR(parts.launch + parts.gpu.sum(), parts.gpu.kernels * 1e-6, 1e-12);
  EXPECT_EQ(parts.host, 0);
}

// The products of two blocks, 4 in each, need 5 us of the host where no graph
// starts them; 18 other kernels need 1 us.
TEST(StepTimesTest, MeasuredStartsCountWithoutAGraph) {
  class : public FlopClock {
   public:
    OperatorTime TimeOf(const Operator& op) const override {
      OperatorTime time = FlopClock::TimeOf(op);
      if (std::holds_alternative<Gemm>(op.shape)) time.host = TimePs(5'000'000);
      return time;
    }
  } clock;
  Replica replica(TinyLlama(), {}, clock);
  replica.facts.launch_us = 1;
  const StepWork work = {.decodes = 1, .decode_context = 8};
  EXPECT_EQ(replica.steps.PartsOf(work).launch, 0);
  replica.facts.graphs.clear();
  const StepParts parts = replica.steps.PartsOf(work);
  EXPECT_NEAR(parts.gpu.host, 8 * 5e-6, 1e-12);
  EXPECT_NEAR(parts.gpu.kernels, 18, 1e-12);
  EXPECT_NEAR(parts.launch + parts.gpu.sum(), 8 * 5e-6 + 18e-6, 1e-12);
}

TEST(StepTimesTest, TimeGrowsWithPositionsAndContext) {
  const H100 h100;
  Warnings warnings;
  Replica replica(ValueOrDie(FindModel("llama3-8b", &warnings)), {.tensor = 2},
                  h100.model);
  TimePs last;
  for (const int64_t context : {1, 100, 1000, 10'000, 100'000}) {
    const TimePs time = replica.steps.TimeOf(
        {.decodes = 16, .decode_context = 16 * context, .samples = 16});
    EXPECT_GE(time, last) << context;
    last = time;
  }
  last = TimePs(0);
  for (const int64_t tokens : {300, 1000, 3000, 9000, 27'000}) {
    const TimePs time = replica.steps.TimeOf(
        {.chunks = {{.tokens = tokens}}, .decodes = 2, .decode_context = 900});
    EXPECT_GT(time, last) << tokens;
    last = time;
  }
}

TEST(StepTimesTest, TablesAreNearDirectPrices) {
  const H100 h100;
  Warnings warnings;
  Replica replica(ValueOrDie(FindModel("llama3-8b", &warnings)), {.tensor = 2},
                  h100.model);
  std::vector<double> errors;
  const auto add = [&](const StepWork& work) {
    const double exact = replica.steps.DirectPartsOf(work).sum();
    errors.push_back(std::abs(replica.steps.PartsOf(work).sum() / exact - 1));
  };
  for (const int64_t n : {1, 7, 23, 61, 117, 230}) {
    for (const int64_t context : {150, 777, 2900, 13'000}) {
      add({.decodes = n, .decode_context = n * context, .samples = n});
      add({.chunks = {{.tokens = 11 * n, .cached = context}},
           .decodes = n,
           .decode_context = n * context,
           .samples = n});
    }
  }
  std::sort(errors.begin(), errors.end());
  EXPECT_LT(errors[errors.size() / 2], 0.01);
  EXPECT_LT(errors.back(), 0.06);
}

// Two ranks of one GPU with 6 and 2 positions. The first takes its own products
// and pairs; each GPU multiplies half of the 8 x 2 copies of tokens.
TEST(StepTimesTest, RanksWaitForTheSlowestAndShareTheExperts) {
  const FlopClock clock;
  const ModelSpec model = SmallMoe();
  Replica ranks(model, {.attention_ranks = 2, .expert = 2}, clock);
  const std::vector<StepWork> works = {{.chunks = {{.tokens = 6}}},
                                       {.chunks = {{.tokens = 2}}}};
  // 4 blocks of 64, 8 heads of 8 over 2 of keys, and a router of 8.
  const int64_t products = 2 * 6 * 64 * (64 + 2 * 16 + 64 + 8);
  const int64_t pairs = 2 * 8 * 16 * (6 * 7 / 2);
  const int64_t experts = 2 * 8 * 3 * 64 * 32;
  const StepParts parts = ranks.steps.PartsOf(works);
  EXPECT_NEAR(parts.gpu.compute * 1e12,
              static_cast<double>(4 * (products + pairs + experts)), 1);
  EXPECT_GT(parts.gpu.collectives, 0);
  // An idle rank computes a position, and the other one waits for nothing.
  const std::vector<StepWork> alone = {{.chunks = {{.tokens = 7}}}, {}};
  Replica single(model, {}, clock);
  const double own = single.steps.PartsOf(alone[0]).gpu.compute;
  // 14 copies, of which each of 8 experts multiplies 2.
  const double all_experts = 4e-12 * 2 * 16 * 3 * 64 * 32;
  EXPECT_NEAR(ranks.steps.PartsOf(alone).gpu.compute,
              own - all_experts + 4e-12 * experts, 1e-15);
}

// Decodes of two ranks take the graph of the larger one.
TEST(StepTimesTest, RanksTakeOneGraph) {
  const FlopClock clock;
  Replica ranks(SmallMoe(), {.attention_ranks = 2, .expert = 2}, clock);
  const auto compute = [&](std::vector<StepWork> works) {
    return ranks.steps.PartsOf(works).gpu.compute;
  };
  const StepWork three = {.decodes = 3, .decode_context = 24};
  const StepWork one = {.decodes = 1, .decode_context = 8};
  EXPECT_EQ(compute({three, one}), compute({three, three}));
  EXPECT_LT(compute({{.chunks = {{.tokens = 3, .cached = 8}}}, one}),
            compute({three, one}));
}

// The stages of a replica, and what their parts add up to.
TEST(StageTimesTest, StagesAddUpToTheWholeStep) {
  const H100 h100;
  Warnings warnings;
  const ModelSpec model = ValueOrDie(FindModel("llama3-8b", &warnings));
  const ServingLayout layout = {.tensor = 2, .pipeline = 4};
  Replica whole(model, layout, h100.model);
  StageTimes stages(whole.facts);
  for (int64_t i = 0; i < 4; ++i) {
    stages.Add(StepPrices(model, layout, h100.model, {}, whole.groups,
                          whole.groups, i));
  }
  for (const StepWork& work :
       {StepWork{.chunks = {{.tokens = 500}}, .samples = 1},
        StepWork{.decodes = 8, .decode_context = 8000, .samples = 8}}) {
    std::vector<StepParts> parts;
    stages.AddParts({&work, 1}, &parts);
    // The host is a stage of its own, which takes no time here.
    ASSERT_EQ(parts.size(), 5u);
    EXPECT_EQ(parts[0].sum(), 0);
    double sum = 0;
    for (const StepParts& part : parts) sum += part.gpu.sum();
    EXPECT_NEAR(sum, whole.steps.PartsOf(work).gpu.sum(), 1e-12);
    // The last stage has the logits, and the first a message too.
    EXPECT_GT(parts[1].sum(), 0.2 * sum);
    EXPECT_GT(parts[4].sum(), parts[2].sum());
  }
}

TEST(StageTimesTest, TheHostIsAStageOrIsHidden) {
  const FlopClock clock;
  const ModelSpec model = TinyLlama();
  const ServingLayout layout = {.pipeline = 2};
  Replica whole(model, layout, clock);
  ServingFacts facts;
  facts.step_us = 100;
  facts.sequence_us = 1;
  const StepWork work = {.decodes = 3, .decode_context = 24};
  for (const bool overlapped : {false, true}) {
    facts.overlapped_host = overlapped;
    StageTimes stages(facts);
    for (int64_t i = 0; i < 2; ++i) {
      stages.Add(
          StepPrices(model, layout, clock, {}, whole.groups, whole.groups, i));
    }
    std::vector<StepParts> parts;
    stages.AddParts({&work, 1}, &parts);
    ASSERT_EQ(parts.size(), overlapped ? 2u : 3u);
    // The first stage and its message take less than the host.
    EXPECT_NEAR(parts[0].sum(), 103e-6, 1e-12);
    EXPECT_EQ(parts.back().host, 0);
  }
}

// Two sequences with 10 positions in the cache verify 5 drafts: 7 positions,
// and the pairs of 3 or 4 queries with the 10 before them and with one another.
TEST(StepTimesTest, DraftsAreComputedBehindTheirSequence) {
  const FlopClock clock;
  Replica replica(TinyLlama(), {}, clock);
  const StepWork work = {
      .decodes = 2, .draft_tokens = 5, .decode_context = 20, .samples = 7};
  const int64_t products = 2 * 8 * (64 * (128 + 64 + 256) + 128 * 64);
  const int64_t pairs = 10 * 3 + 6 + 10 * 4 + 10;
  const int64_t attention = 2 * 4 * 32 * pairs;
  const int64_t logits = 2 * 7 * 64 * 256;
  // The graph has 8 positions.
  EXPECT_EQ(replica.steps.TimeOf(work),
            TimePs(2 * (products + attention) + logits));
}

// The second block is the draft model: K passes of one position, and the prompt
// in the first of them.
TEST(DraftTimesTest, APassForEachDraft) {
  const FlopClock clock;
  const ModelSpec model = OneBlockOf(TinyLlama());
  EXPECT_EQ(model.layers, 1);
  Replica block(model, {}, clock);
  DraftTimes drafts(
      StepPrices(model, {}, clock, {}, block.groups, block.groups),
      block.facts);
  const StepWork work = {.chunks = {{.tokens = 3, .cached = 5}},
                         .decodes = 2,
                         .draft_tokens = 6,
                         .decode_context = 20,
                         .samples = 9};
  const StepWork pass = {.decodes = 2, .decode_context = 20, .samples = 2};
  StepWork first = pass;
  first.chunks = work.chunks;
  EXPECT_NEAR(
      drafts.Of({&work, 1}).sum(),
      block.steps.PartsOf(first).sum() + 2 * block.steps.PartsOf(pass).sum(),
      1e-15);
  const StepWork nothing;
  EXPECT_EQ(drafts.Of({&nothing, 1}).sum(), 0);
}

// TP over two servers: every collective crosses, and what the parts of the
// traffic take is what the collectives take.
TEST(StepPricesTest, TrafficIsThatOfCollectivesBetweenServers) {
  const FlopClock clock;
  const SystemSpec system = ValueOrDie(FindSystem("dgx-h100"));
  const NcclOptions nccl;
  const Topology topology = ValueOrDie(BuildSystemTopology(system, 16, 8));
  Routes routes(topology);
  GroupSeconds groups(system, nccl, routes, 16);
  Warnings warnings;
  const ModelSpec model = ValueOrDie(FindModel("llama3-70b", &warnings));
  for (const int64_t tensor : {8, 16}) {
    StepPrices prices(model, {.tensor = tensor}, clock, {}, groups, groups);
    prices.WatchTraffic();
    ASSERT_TRUE(prices.Check().ok());
    const StepSeconds step = prices.Shared(512, /*in_graph=*/false);
    if (tensor == 8) {
      EXPECT_TRUE(step.traffic.parts().empty());
      continue;
    }
    double seconds = 0;
    double bytes = 0;
    for (const TrafficPart& part : step.traffic.parts()) {
      EXPECT_EQ(part.kind.group, (RankGroup{.size = 16}));
      seconds += part.seconds;
      bytes += part.bytes;
    }
    EXPECT_NEAR(seconds, step.collectives, 1e-12);
    // 80 layers with two all-reduces of 512 x 8192 values, and an embedding;
    // more than that with what makes the closed form slower than the links.
    const double least = (2 * 80 + 1) * 512.0 * 8192 * 2;
    EXPECT_GE(bytes, least);
    EXPECT_LT(bytes, 3 * least);
  }
}

}  // namespace
}  // namespace astra
