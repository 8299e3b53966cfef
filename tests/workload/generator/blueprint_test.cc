#include "workload/generator/blueprint.h"

#include "tests/testing/matchers.h"
#include "tests/testing/small_models.h"

namespace astra {
namespace {

using ::testing::ElementsAre;

MockModule Named(std::string_view name, int64_t parameters) {
  MockModule module;
  module.name = name;
  module.parameters = parameters;
  return module;
}

TEST(BlueprintBuilderTest, KeepsEqualModulesOnce) {
  BlueprintBuilder builder{Blueprint()};
  EXPECT_EQ(builder.Add(Named("a", 1)), ModuleId(0));
  EXPECT_EQ(builder.Add(Named("b", 1)), ModuleId(1));
  EXPECT_EQ(builder.Add(Named("a", 1)), ModuleId(0));
}

TEST(BlueprintBuilderTest, NumbersDifferentModulesOfOneName) {
  BlueprintBuilder builder{Blueprint()};
  EXPECT_THAT(builder.AddAll({Named("a", 1), Named("a", 2), Named("a", 3),
                              Named("a", 2), Named("a", 1)}),
              ElementsAre(ModuleId(0), ModuleId(1), ModuleId(2), ModuleId(1),
                          ModuleId(0)));
  EXPECT_EQ(builder.blueprint().modules[0].name, "a");
  EXPECT_EQ(builder.blueprint().modules[1].name, "a_2");
  EXPECT_EQ(builder.blueprint().modules[2].name, "a_3");
  EXPECT_EQ(builder.Take().modules.size(), 3);
}

TEST(BlueprintTest, NamesModulesWithoutTheirNumber) {
  EXPECT_EQ(PlainName("attention_row_12"), "attention_row");
  EXPECT_EQ(PlainName("attention_row"), "attention_row");
  EXPECT_EQ(PlainName("row12"), "row12");
}

TEST(BlueprintBuilderTest, CountsEqualRunsAndStagesTogether) {
  const std::vector<ModuleId> block = {ModuleId(0), ModuleId(1)};
  ProgramStage stage;
  AppendRun(block, stage.runs);
  AppendRun(block, stage.runs);
  AppendRun({}, stage.runs);
  AppendRun({ModuleId(1)}, stage.runs);
  AppendRun(block, stage.runs);
  AppendRun(block, stage.runs, /*chunk=*/1);
  AppendRun(block, stage.runs, /*chunk=*/1);
  EXPECT_THAT(stage.runs,
              ElementsAre(ModuleRun{2, block}, ModuleRun{1, {ModuleId(1)}},
                          ModuleRun{1, block}, ModuleRun{2, block, 1}));

  BlueprintBuilder builder{Blueprint()};
  builder.AddStage(stage);
  builder.AddStage(stage);
  stage.after = {ModuleId(0)};
  builder.AddStage(stage);
  const Blueprint blueprint = builder.Take();
  ASSERT_EQ(blueprint.stages.size(), 2);
  EXPECT_EQ(blueprint.stages[0].count, 2);
  EXPECT_EQ(blueprint.stages[1].count, 1);
}

TEST(BlueprintTest, AddsUpWhatAStageRuns) {
  MockModule first = Named("first", 100);
  first.replicated_parameters = 10;
  first.saved_bytes = 7;
  const auto add = [&first](ModulePass pass, int64_t n) {
    ModuleStep step;
    step.op = {"product", Gemm{1, 1, n, 1}};  // 2 n FLOPs.
    first.passes[IndexOf(pass)] = {step};
  };
  add(ModulePass::kForward, 1);
  add(ModulePass::kRecompute, 2);
  add(ModulePass::kInputGradient, 3);
  add(ModulePass::kWeightGradient, 4);
  MockModule second = Named("second", 0);
  second.expert_parameters = 1000;
  second.kv_cache_bytes = 5;

  Blueprint blueprint;
  blueprint.modules = {first, second};
  ProgramStage stage;
  stage.runs = {{3, {ModuleId(0), ModuleId(1)}}, {1, {ModuleId(1)}}};
  const StageTotals totals = Sum(blueprint, stage);
  EXPECT_EQ(totals.parameters, 300);
  EXPECT_EQ(totals.expert_parameters, 4000);
  EXPECT_EQ(totals.replicated_parameters, 30);
  EXPECT_EQ(totals.saved_bytes, 21);
  EXPECT_EQ(totals.kv_cache_bytes, 20);
  EXPECT_EQ(totals.forward_flops, 3 * 2);
  EXPECT_EQ(totals.recompute_flops, 3 * 4);
  EXPECT_EQ(totals.backward_flops, 3 * (6 + 8));
}

}  // namespace
}  // namespace astra
