#include "astra-core/planner/calculon/calculon_cost.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "tests/astra-core/planner/calculon/calculon_test_inputs.h"

namespace astra {
namespace {

using ::astra::testing::CalculonChanges;
using ::astra::testing::CalculonTexts;
using ::astra::testing::TryReadCalculon;
using ::astra::testing::WithCalculonChanges;

struct Expected {
  double total_time;
  double bubble_time;
  double tp_comm_exposed_time;
  double dp_comm_exposed_time;
  double act_space;
  double proc_mem_tier1_cap_req;
  double proc_mem_tier2_cap_req;
};

struct CostCase {
  std::string name;
  CalculonChanges changes;  // Of the execution.
  bool roofline;
  Expected expected;
};

void PrintTo(const CostCase& one, std::ostream* out) { *out << one.name; }

// What Calculon says of its example and of changes of it: run apart from this
// code, with the formulas of llm.py at c02c5e9, layers.py at caa4b11 and
// network.py at 71f6435 of calculon-ai/calculon. Its README runs the example;
// it takes 131.90 s with an efficiency of 30.46 %.
std::vector<CostCase> Cases() {
  return {
      {"TheExample",
       {},
       false,
       {131.900616797, 65.0828960382, 2.96446396609, 0.699167075556, 5767168000,
        85420663466.7, 0}},
      {"NoRecomputation",
       {{"activation_recompute", "none"}, {"microbatch_size", "1"}},
       false,
       {65.5966586264, 12.8162333294, 2.99518396609, 0.699167075556,
        177890918400, 199374660267, 0}},
      {"GatheredAgain",
       {{"activation_recompute", "attn_only"},
        {"seq_par_ag_redo", "true"},
        {"microbatch_size", "1"}},
       false,
       {67.2425921607, 13.1412923033, 2.99518396609, 0.699167075556,
        44721766400, 66205508266.7, 0}},
      {"AllReduces",
       {{"tensor_par_comm_type", "ar"}, {"activation_recompute", "attn_only"}},
       false,
       {103.211662964, 50.8513677585, 1.90037182797, 0.699167075556,
        326736281600, 354694980267, 0}},
      {"InterleavedAndSplitAtEdges",
       {{"tensor_par_comm_type", "p2p_rs_ag"},
        {"pipeline_par", "32"},
        {"data_par", "24"},
        {"pipeline_interleaving", "2"},
        {"microbatch_size", "2"}},
       false,
       {85.6249726584, 16.4210120436, 2.32358945258, 1.39833415111, 3565158400,
        75413734400, 0}},
      {"UnevenBlocksAndMicroBatches",
       {{"pipeline_par", "48"},
        {"data_par", "16"},
        {"pipeline_interleaving", "3"}},
       false,
       {92.2636411676, 16.1575490202, 3.33502196185, 1.04875061333, 5767168000,
        116432537600, 0}},
      {"TilesInARing",
       {{"tensor_par", "8"}, {"data_par", "6"}, {"tensor_par_overlap", "ring"}},
       false,
       {94.7033439927, 31.1210454641, 0, 0.349641742222, 2359296000,
        70740821333.3, 0}},
      {"TilesInAPipe",
       {{"tensor_par_overlap", "pipe"},
        {"tensor_par_comm_type", "p2p_rs_ag"},
        {"activation_recompute", "attn_only"},
        {"attention_type", "multiquery"}},
       false,
       {83.8929326589, 41.3246182536, 0.416838734769, 0.585571342222,
        312475648000, 336457458347, 0}},
      {"TilesInAPipeUnfused",
       {{"tensor_par", "8"},
        {"data_par", "6"},
        {"tensor_par_overlap", "pipe"},
        {"activation_recompute", "none"},
        {"seq_par_ag_redo", "true"},
        {"fused_activation", "false"}},
       false,
       {73.3283997606, 24.0706711886, 0.728282138256, 0.349641742222,
        328833433600, 343737582933, 0}},
      {"HiddenReductions",
       {{"pipeline_par", "16"},
        {"data_par", "48"},
        {"pipeline_interleaving", "2"},
        {"data_par_overlap", "true"}},
       false,
       {97.5389699454, 30.851445123, 2.96446396609, 0.868370534333, 5767168000,
        134426449067, 0}},
      {"HiddenAllReductions",
       {{"pipeline_par", "16"},
        {"data_par", "48"},
        {"pipeline_interleaving", "4"},
        {"data_par_overlap", "true"},
        {"optimizer_sharding", "false"},
        {"microbatch_size", "1"},
        {"activation_recompute", "none"}},
       false,
       {55.557534989, 3.05148412605, 2.99518396609, 0.320535006686,
        219571814400, 476669747200, 0}},
      {"HiddenOnTheNetworkOfTensors",
       {{"num_procs", "512"},
        {"data_par", "2"},
        {"data_par_net", "0"},
        {"batch_size", "512"},
        {"data_par_overlap", "true"}},
       false,
       {131.37613342, 65.0828960382, 2.96446396609, 0.163183441687, 5767168000,
        106720972800, 0}},
      {"Offloading",
       {{"pipeline_par", "16"},
        {"data_par", "48"},
        {"weight_offload", "true"},
        {"activations_offload", "true"},
        {"optimizer_offload", "true"}},
       false,
       {132.141302159, 62.5847883052, 2.96446396609, 2.79666830222, 5767168000,
        29377386666.7, 89733768533.3}},
      {"OffloadingActivations",
       {{"pipeline_par", "16"},
        {"data_par", "48"},
        {"activations_offload", "true"},
        {"activation_recompute", "attn_only"}},
       false,
       {99.4712228623, 46.7766854198, 2.96446396609, 2.79666830222,
        232154726400, 57356113066.7, 232154726400}},
      {"Inference",
       {{"training", "false"},
        {"optimizer_sharding", "false"},
        {"activation_recompute", "none"}},
       false,
       {34.2559645247, 16.9937512209, 1.48223198304, 0, 5767168000, 13631897600,
        0}},
      {"Roofline",
       {{"activation_recompute", "attn_only"}},
       true,
       {96.0973504845, 47.3224498721, 2.95413952547, 0.699167075556,
        232154726400, 258121130667, 0}},
  };
}

class CalculonCostTest : public ::testing::TestWithParam<CostCase> {};

TEST_P(CalculonCostTest, IsThatOfCalculon) {
  CalculonTexts texts;
  texts.execution = WithCalculonChanges(texts.execution, GetParam().changes);
  if (GetParam().roofline) {
    texts.system =
        WithCalculonChanges(texts.system, {{"processing_mode", "roofline"}});
  }
  Warnings warnings;
  const CalculonCost cost =
      CalculonCostOf(testing::ValueOrDie(TryReadCalculon(texts, &warnings)));
  const Expected& expected = GetParam().expected;
  const auto expect = [](double actual, double wanted, const char* what) {
    EXPECT_NEAR(actual, wanted, 1e-11 * wanted) << what;
  };
  expect(cost.times.total(), expected.total_time, "total_time");
  expect(cost.times.bubble, expected.bubble_time, "bubble_time");
  expect(cost.times.tensor_exposed, expected.tp_comm_exposed_time,
         "tp_comm_exposed_time");
  expect(cost.times.data.exposed, expected.dp_comm_exposed_time,
         "dp_comm_exposed_time");
  expect(cost.space.whole.activations, expected.act_space, "act_space");
  expect(cost.space.tier1, expected.proc_mem_tier1_cap_req,
         "proc_mem_tier1_cap_req");
  expect(cost.space.tier2, expected.proc_mem_tier2_cap_req,
         "proc_mem_tier2_cap_req");
}

INSTANTIATE_TEST_SUITE_P(Calculon, CalculonCostTest,
                         ::testing::ValuesIn(Cases()),
                         [](const auto& one) { return one.param.name; });

TEST(CalculonCostTest, EfficiencyIsUsefulFlopsOverThePeak) {
  const CalculonCost cost = CalculonCostOf(testing::CalculonInputsWith({}));
  EXPECT_NEAR(cost.total_efficiency, 0.3046479, 1e-7);
  EXPECT_DOUBLE_EQ(cost.compute_efficiency * cost.system_efficiency,
                   cost.total_efficiency);
  EXPECT_DOUBLE_EQ(cost.sample_rate * cost.times.total(), 3072);
}

}  // namespace
}  // namespace astra
