#include "workload/generator/module_times.h"

#include <map>
#include <string>
#include <vector>

#include "tests/testing/matchers.h"
#include "tests/testing/small_models.h"
#include "workload/generator/training.h"

namespace astra {
namespace {

using ::astra::testing::FixedTime;
using ::astra::testing::ModuleOf;
using ::astra::testing::SmallLlama;
using ::astra::testing::SmallMoe;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

constexpr ModulePass kForward = ModulePass::kForward;
constexpr ModulePass kInput = ModulePass::kInputGradient;
constexpr ModulePass kWeight = ModulePass::kWeightGradient;

Blueprint Train(const ModelSpec& model) {
  TrainingSetup setup;
  setup.positions = 32;
  return ValueOrDie(TrainingBlueprint(model, setup));
}

// What AICB writes for a dense model, in nanoseconds.
AiobFile File(const std::map<std::string, int64_t>& averages) {
  AiobFile file;
  file.train_iter = 10;
  for (const auto& [name, average] : averages) {
    file.sections.push_back({.name = name,
                             .max = Nanoseconds(1'000'000),
                             .min = Nanoseconds(1),
                             .average = Nanoseconds(average)});
  }
  return file;
}

AiobFile DenseFile() {
  return File({{"Emb", 800},
               {"layernorm", 10},
               {"atten_qkv", 290},
               {"atten_core_qk", 5},
               {"atten_core_softmax", 6},
               {"atten_linear", 7},
               {"layernorm2", 11},
               {"mlp_linear_1", 400},
               {"mlp_gelu", 30},
               {"mlp_linear_2", 350},
               {"layernorm_post", 9},
               {"logit_time", 500},
               {"param_time", 17000}});
}

// An operator takes 1 us alone; the start and end of a kernel, 0.4 us.
TEST(ModuleTimesTest, FusedOperatorsStartNoKernel) {
  const FixedTime time(Nanoseconds(1000));
  const ModuleTimes times(time, 1, {},
                          {.names = {"residual_add"}, .kernel_us = 0.4});
  EXPECT_EQ(times.TimeOf({.name = "residual_add"}).time, Nanoseconds(600));
  EXPECT_EQ(times.TimeOf({.name = "rms_norm"}).time, Nanoseconds(1000));
  const ModuleTimes none_left(time, 1, {},
                              {.names = {"residual_add"}, .kernel_us = 4});
  EXPECT_EQ(none_left.TimeOf({.name = "residual_add"}).time, TimePs(1));
}

TEST(ModuleTimesTest, AsksTheModelForEachOperator) {
  const FixedTime time(Nanoseconds(7));
  const ModuleTimes times(time);
  MockModule module;
  ModuleStep collective;
  collective.kind = StepKind::kBlocking;
  module.passes[IndexOf(kForward)] = {ModuleStep(), collective, ModuleStep()};
  EXPECT_THAT(times.StepTimes(module, kForward),
              ElementsAre(Nanoseconds(7), TimePs(0), Nanoseconds(7)));
  EXPECT_EQ(times.Total(module, kForward), Nanoseconds(14));
  EXPECT_FALSE(times.IsMeasured(module, kForward));
}

TEST(ModuleTimesTest, ALoadSlowsProductsDown) {
  const FixedTime time;
  const ModuleTimes times(time, /*load=*/0.8);
  EXPECT_EQ(times.TimeOf({"product", Gemm{1, 2, 3, 4}}).time, TimePs(1250));
  EXPECT_EQ(times.TimeOf({"scores", Attention{}}).time, TimePs(1250));
  EXPECT_EQ(times.TimeOf({"norm", Stream{8}}).time, TimePs(1000));
}

// 10 ps by thirds are 3, 7 and 10 in sum.
TEST(ModuleTimesTest, SharesAddUpToWhatWasMeasured) {
  const FixedTime time;
  MeasuredModules measured;
  measured["module"][IndexOf(kForward)] = TimePs(10);
  const ModuleTimes times(time, /*load=*/1, measured);
  MockModule module;
  module.name = "module";
  module.passes[IndexOf(kForward)] = {ModuleStep(), ModuleStep(), ModuleStep()};
  module.passes[IndexOf(kInput)] = {ModuleStep()};
  EXPECT_THAT(times.StepTimes(module, kForward),
              ElementsAre(TimePs(3), TimePs(4), TimePs(3)));
  EXPECT_EQ(times.Total(module, kForward), TimePs(10));
  EXPECT_TRUE(times.IsMeasured(module, kForward));
  EXPECT_FALSE(times.IsMeasured(module, kInput));
  EXPECT_EQ(times.Total(module, kInput), Nanoseconds(1));
}

TEST(ModulesOfTest, AddsUpTheSectionsOfAModule) {
  std::vector<std::string> warnings;
  const Blueprint blueprint = Train(SmallLlama());
  const MeasuredModules measured = ModulesOf(DenseFile(), blueprint, &warnings);
  EXPECT_THAT(warnings, ElementsAre("the measured times have no section for "
                                    "cross_entropy: its time is a formula's"));
  const FixedTime time;
  const ModuleTimes times(time, /*load=*/1, measured);
  const auto total = [&](std::string_view name, ModulePass pass) {
    return times.Total(ModuleOf(blueprint.modules, name), pass);
  };
  EXPECT_EQ(total("embedding_layer", kForward), Nanoseconds(800));
  EXPECT_EQ(total("attention_column", kForward), Nanoseconds(300));
  EXPECT_EQ(total("attention_row", kForward), Nanoseconds(18));
  EXPECT_EQ(total("mlp_column", kForward), Nanoseconds(441));
  EXPECT_EQ(total("mlp_row", kForward), Nanoseconds(350));
  EXPECT_EQ(total("final_column", kForward), Nanoseconds(509));
  EXPECT_EQ(total("optimizer", kForward), Nanoseconds(17000));
  // Each gradient is taken to cost as much again.
  EXPECT_EQ(total("mlp_column", kInput), Nanoseconds(441));
  EXPECT_EQ(total("mlp_column", kWeight), Nanoseconds(441));
}

TEST(ModulesOfTest, NumberedModulesAreMeasuredToo) {
  const FixedTime time;
  MeasuredModules measured;
  measured["mlp_row"][IndexOf(kForward)] = TimePs(10);
  MockModule module;
  module.name = "mlp_row_2";
  module.passes[IndexOf(kForward)] = {ModuleStep()};
  EXPECT_EQ(ModuleTimes(time, /*load=*/1, measured).Total(module, kForward),
            TimePs(10));
}

TEST(ModulesOfTest, WarnsOfWhatDoesNotFit) {
  std::vector<std::string> warnings;
  const MeasuredModules measured =
      ModulesOf(File({{"Emb", 1}, {"mlp_gelu", 1}, {"warp\tdrive", 1}}),
                Train(SmallMoe()), &warnings);
  EXPECT_EQ(measured.size(), 1);
  ASSERT_EQ(warnings.size(), 12);
  EXPECT_EQ(warnings[0],
            "the measured section \"mlp_gelu\" has no effect: no module of "
            "this workload is it");
  EXPECT_EQ(warnings[1],
            "the measured section \"warp\\x09drive\" has no effect: no module "
            "of this workload is it");
  EXPECT_EQ(warnings[2],
            "the measured times have no section for attention_column: its time "
            "is a formula's");
}

TEST(ModulesOfTest, InferenceHasNoBackwardPass) {
  Blueprint blueprint = Train(SmallLlama());
  blueprint.forward_only = true;
  std::vector<std::string> warnings;
  const MeasuredModules measured = ModulesOf(DenseFile(), blueprint, &warnings);
  EXPECT_EQ(measured.at("mlp_row")[IndexOf(kForward)], Nanoseconds(350));
  EXPECT_EQ(measured.at("mlp_row")[IndexOf(kInput)], std::nullopt);
}

}  // namespace
}  // namespace astra
