#include "astra-core/planner/simumax/simulate.h"

#include <map>
#include <string>

#include "astra-core/planner/simumax/result_json.h"
#include "astra-core/planner/simumax/result_parts.h"
#include "nlohmann/json.hpp"
#include "tests/astra-core/planner/simumax/simumax_test_files.h"

namespace astra {
namespace {

using ::astra::testing::LlamaFiles;
using ::astra::testing::SmallFiles;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::DoubleNear;

using Json = nlohmann::ordered_json;

constexpr double kGib = 1 << 30;

// What SimuMax 1.2 printed for these files, to the digits it gave.
TEST(SimulateTest, LlamaTakesWhatSimumaxSays) {
  const SimumaxResult result = ValueOrDie(Simulate(LlamaFiles()));
  EXPECT_THAT(result.iteration_ms, DoubleNear(5554.7, 0.05));
  EXPECT_THAT(result.tflops_per_gpu, DoubleNear(151.83, 0.005));
  EXPECT_THAT(result.tokens_per_gpu, DoubleNear(2949.6, 0.05));
  const SimumaxStage& first = result.stages.at(0);
  EXPECT_THAT(first.cost.forward_ms(), DoubleNear(144.96, 0.005));
  EXPECT_THAT(first.cost.backward_ms(), DoubleNear(302.24, 0.005));
  EXPECT_THAT(first.dense_data.reduce_ms, DoubleNear(558.73, 0.005));
  EXPECT_THAT(first.dense_data.gather_ms, DoubleNear(276.12, 0.005));
  EXPECT_THAT(first.optimizer.total_ms(), DoubleNear(78.62, 0.005));
  EXPECT_EQ(result.misses.size(), 0);
}

TEST(SimulateTest, LlamaNeedsTheMemoryThatSimumaxSays) {
  const SimumaxResult result = ValueOrDie(Simulate(LlamaFiles()));
  const SimumaxStage& first = result.stages.at(0);
  const SimumaxStage& last = result.stages.at(1);
  EXPECT_THAT(first.dense.weights / kGib, DoubleNear(7.480, 0.0005));
  EXPECT_THAT(first.dense.gradients / kGib, DoubleNear(14.960, 0.001));
  EXPECT_THAT(first.dense.optimizer / kGib, DoubleNear(11.220, 0.0005));
  constexpr double kShare = 0.003;
  EXPECT_THAT(first.peak_bytes() / kGib, DoubleNear(50.885, 50.885 * kShare));
  EXPECT_THAT(last.peak_bytes() / kGib, DoubleNear(45.164, 45.164 * kShare));
  EXPECT_THAT(first.saved_bytes / kGib, DoubleNear(8.5039, 8.5039 * kShare));
  EXPECT_THAT(last.saved_bytes / kGib, DoubleNear(10.5254, 10.5254 * kShare));
}

TEST(SimulateTest, StragglersAreOfNodes) {
  SimumaxFiles files = LlamaFiles();
  EXPECT_EQ(ValueOrDie(Simulate(files)).straggler_ratio, 1);
  files.strategy.gpus = 64;
  // x = log2(8): 1 + 3/4 x 0.09 x sqrt(3).
  EXPECT_THAT(ValueOrDie(Simulate(files)).straggler_ratio,
              DoubleNear(1.116913, 1e-6));
  files.strategy.has_stragglers = false;
  EXPECT_EQ(ValueOrDie(Simulate(files)).straggler_ratio, 1);
}

// Each of two blocks of four runs its forward pass once more, and keeps only
// its input of 32 x 64 elements.
TEST(SimulateTest, OnlyTheFirstBlocksOfAStageRecompute) {
  SimumaxFiles files = SmallFiles();
  const SimumaxStage none = ValueOrDie(Simulate(files)).stages.at(0);
  files.strategy.recompute = {.granularity = SimumaxGranularity::kFullBlock,
                              .layers = 2};
  const SimumaxStage two = ValueOrDie(Simulate(files)).stages.at(0);
  files.strategy.recompute.layers = 4;
  const SimumaxStage four = ValueOrDie(Simulate(files)).stages.at(0);
  EXPECT_EQ(none.cost.recompute.flops, 0);
  EXPECT_GT(two.cost.recompute.flops, 0);
  EXPECT_EQ(four.cost.recompute.flops, 2 * two.cost.recompute.flops);
  EXPECT_EQ(none.saved_bytes - two.saved_bytes,
            two.saved_bytes - four.saved_bytes);
  EXPECT_EQ(two.cost.forward.flops, none.cost.forward.flops);
}

// Of a block, the products of queries, keys and values and the attention run
// again, and the products of the feed-forward part:
// 2 x 32 x 64 x (64 + 2 x 32) + 4 x 16 x 4 x 32^2 + 3 x 2 x 32 x 64 x 128.
TEST(SimulateTest, FlagsChooseWhatRunsAgain) {
  SimumaxFiles files = SmallFiles();
  files.strategy.recompute = {.granularity = SimumaxGranularity::kSelective,
                              .layers = 1,
                              .attention = true,
                              .mlp = true};
  const SimumaxStage stage = ValueOrDie(Simulate(files)).stages.at(0);
  EXPECT_EQ(stage.cost.recompute.flops,
            2.0 * 32 * 64 * 128 + 4.0 * 16 * 4 * 32 * 32 + 6.0 * 32 * 64 * 128);
  files.strategy.recompute.skips_tails = true;
  const SimumaxStage tails = ValueOrDie(Simulate(files)).stages.at(0);
  // Neither attention nor the last product.
  EXPECT_EQ(tails.cost.recompute.flops,
            2.0 * 32 * 64 * 128 + 4.0 * 32 * 64 * 128);
}

TEST(SimulateTest, BrokenRulesNameTheNearestLegalValue) {
  const auto error = [](const auto& change) {
    SimumaxFiles files = SmallFiles();
    change(files);
    return Simulate(files).status();
  };
  constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(error([](SimumaxFiles& files) { files.strategy.tensor = 8; }),
              StatusIs(kInvalid,
                       "s.json:1:1: tp_size is 8: expected a divisor of "
                       "head_num = 4; the nearest is 4"));
  EXPECT_THAT(error([](SimumaxFiles& files) { files.strategy.pipeline = 8; }),
              StatusIs(kInvalid,
                       "s.json:1:1: pp_size is 8: expected a divisor of "
                       "layer_num = 4; the nearest is 4"));
  EXPECT_THAT(error([](SimumaxFiles& files) { files.strategy.expert = 2; }),
              StatusIs(kInvalid,
                       "s.json:1:1: ep_size is 2: expected 1; small has no "
                       "experts"));
  EXPECT_THAT(
      error(
          [](SimumaxFiles& files) { files.strategy.micro_batches = 1 << 20; }),
      StatusIs(kInvalid,
               "s.json:1:1: 1048576 micro-batches of 1 stages with 1 chunks "
               "each: expected at most 1048576 forward and backward slots in "
               "all"));
}

TEST(SimulateTest, WritesTextsAsSimumaxDoes) {
  EXPECT_EQ(SimumaxTimeText(999.99994), "999.9999 ms");
  EXPECT_EQ(SimumaxTimeText(5554.69), "5.5547 s");
  EXPECT_EQ(SimumaxBytesText(50.885 * kGib), "50.8850 GB");
  EXPECT_EQ(SimumaxCountText(8.4337e14), "843.3700 T");
}

TEST(SimulateTest, ResultsHaveSimumaxNames) {
  const SimumaxResult result = ValueOrDie(Simulate(LlamaFiles()));
  std::map<std::string, Json> files;
  for (const NamedFile& file : SimumaxResultFiles(result)) {
    files[file.name] = Json::parse(file.contents);
  }
  const Json& compute = files.at("compute_result.json");
  EXPECT_EQ(compute["duration_time_per_iter"], "5.5547 s");
  EXPECT_EQ(compute["comm_details"]["dp_comm_time"]["dense"]["details"]
                   ["reduce_scatter_time"],
            "558.7312 ms");
  EXPECT_EQ(compute["param_numel_info"]["all"], "8.03B");
  const Json& memory = files.at("mem_result.json");
  EXPECT_EQ(memory["first_stage"]["model_mem"], "33.6588 GB");
  EXPECT_EQ(memory["last_stage"]["cached_micro_batch_num"], 0);
  EXPECT_EQ(files.at("net_info.json")["p2p"]["pp"]["net"],
            "intra_node_pcie_8x");
  const Json& efficiency = files.at("efficiency.json");
  EXPECT_EQ(efficiency["hit_efficiency"].size(), 3);
  EXPECT_TRUE(efficiency["miss_efficiency"].empty());
}

// 50.9244 GiB is the peak of the first stage, and 0.94 of it is allocated.
TEST(SimulateTest, ARunHasTheNamesOfOtherRuns) {
  const SimumaxResult result = ValueOrDie(Simulate(LlamaFiles()));
  const Json run = Json::parse(SimumaxRunJson(result));
  EXPECT_THAT(run["result"]["iteration_ps"].get<double>(),
              DoubleNear(5'554'700'000'000, 50'000'000));
  EXPECT_THAT(run["result"]["model_tflops_per_gpu"].get<double>(),
              DoubleNear(151.83, 0.005));
  EXPECT_THAT(run["memory"]["allocated_memory_gib"].get<double>(),
              DoubleNear(50.9244, 0.0001));
  EXPECT_THAT(run["memory"]["reserved_memory_gib"].get<double>(),
              DoubleNear(50.9244 / 0.94, 0.0002));
}

}  // namespace
}  // namespace astra
