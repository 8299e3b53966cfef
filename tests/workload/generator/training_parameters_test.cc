// How many parameters models have, and how training spreads them over ranks.

#include <string>

#include "tests/testing/matchers.h"
#include "tests/testing/small_models.h"
#include "workload/generator/training.h"
#include "workload/models/model_library.h"

namespace astra {
namespace {

using ::astra::testing::SmallDeepSeek;
using ::astra::testing::SmallGpt;
using ::astra::testing::SmallLlama;
using ::astra::testing::SmallMoe;
using ::astra::testing::ValueOrDie;

TEST(CountParametersTest, CountsSmallModels) {
  // Of a block: 64 + 64 x 96 + 64 x 64, and 64 + 3 x 64 x 192; two tables of
  // 512 x 64 and the last norm.
  EXPECT_EQ(CountParameters(SmallLlama()),
            4 * (10304 + 36928) + 2 * 32768 + 64);
  // 12 h^2, biases of 9 h and norms of 4 h; one table, 128 positions, a norm.
  EXPECT_EQ(CountParameters(SmallGpt()),
            4 * (12 * 64 * 64 + 13 * 64) + 32768 + 8192 + 128);
  // A norm, a router and 8 experts instead of the feed-forward part.
  EXPECT_EQ(CountParameters(SmallMoe()),
            4 * (10304 + 64 + 512 + 8 * 6144) + 2 * 32768 + 64);
  // Attention has 7144: see latent_attention_test.cc. One block is dense; two
  // have 8 experts, a bias for each, and a shared one.
  EXPECT_EQ(
      CountParameters(SmallDeepSeek()),
      3 * 7144 + 36928 + 2 * (64 + 512 + 8 + 8 * 6144 + 6144) + 2 * 32768 + 64);
}

TEST(CountParametersTest, OnlyTheChosenExpertsAreActive) {
  EXPECT_EQ(CountActiveParameters(SmallLlama()), CountParameters(SmallLlama()));
  EXPECT_EQ(CountParameters(SmallMoe()) - CountActiveParameters(SmallMoe()),
            4 * 6 * 6144);
}

TEST(CountParametersTest, BundledModelsHaveWhatWasPublished) {
  for (const std::string& name : ModelNames()) {
    Warnings warnings;
    const ModelSpec model = ValueOrDie(FindModel(name, &warnings));
    if (!model.published_parameters) continue;
    const auto published = static_cast<double>(*model.published_parameters);
    const auto counted = static_cast<double>(CountParameters(model));
    EXPECT_NEAR(counted / published, 1, 0.005) << name;
  }
}

struct Layout {
  int64_t world_size;
  int64_t tensor;
  int64_t pipeline;
  int64_t expert;
  int64_t expert_tensor;
};

TrainingSetup SetupOf(const Layout& layout) {
  TrainingSetup setup;
  setup.world_size = layout.world_size;
  setup.tensor = layout.tensor;
  setup.pipeline = layout.pipeline;
  setup.expert = layout.expert;
  setup.expert_tensor = layout.expert_tensor;
  setup.sequence_parallel = layout.tensor > 1;
  setup.global_batch = layout.world_size;
  setup.positions = 32;
  return setup;
}

// What all ranks of one replica hold, copies counted once.
int64_t Held(const Blueprint& blueprint, const Layout& layout) {
  int64_t sum = 0;
  for (const ProgramStage& stage : blueprint.stages) {
    const StageTotals totals = Sum(blueprint, stage);
    const int64_t split = totals.parameters - totals.replicated_parameters;
    sum += stage.count *
           (layout.tensor * split + totals.replicated_parameters +
            layout.expert * layout.expert_tensor * totals.expert_parameters);
  }
  return sum;
}

TEST(TrainingParametersTest, RanksHoldTheWholeModel) {
  constexpr Layout kDense[] = {
      {1, 1, 1, 1, 1}, {4, 2, 1, 1, 2}, {4, 1, 4, 1, 1}, {8, 2, 2, 1, 2}};
  for (const Layout& layout : kDense) {
    const TrainingSetup setup = SetupOf(layout);
    EXPECT_EQ(Held(ValueOrDie(TrainingBlueprint(SmallLlama(), setup)), layout),
              CountParameters(SmallLlama()));
    // The last stage has a copy of a tied table.
    EXPECT_EQ(
        Held(ValueOrDie(TrainingBlueprint(SmallGpt(), setup)), layout),
        CountParameters(SmallGpt()) + (layout.pipeline > 1 ? 512 * 64 : 0));
  }
}

TEST(TrainingParametersTest, RanksHoldAllExperts) {
  constexpr Layout kLayouts[] = {{8, 1, 1, 8, 1},  {8, 2, 1, 4, 1},
                                 {8, 2, 1, 2, 2},  {12, 2, 3, 2, 2},
                                 {12, 1, 3, 2, 2}, {16, 4, 1, 2, 1}};
  for (const Layout& layout : kLayouts) {
    const TrainingSetup setup = SetupOf(layout);
    EXPECT_EQ(
        Held(ValueOrDie(TrainingBlueprint(SmallDeepSeek(), setup)), layout),
        CountParameters(SmallDeepSeek()));
  }
}

TEST(TrainingParametersTest, TheVocabularyIsPadded) {
  const TrainingSetup setup = SetupOf({4, 2, 1, 1, 2});
  ModelSpec model = SmallLlama();
  model.vocabulary = 500;  // 512 is the next multiple of 2 x 128.
  EXPECT_EQ(Held(ValueOrDie(TrainingBlueprint(model, setup)), {4, 2, 1, 1, 2}),
            CountParameters(SmallLlama()));
}

}  // namespace
}  // namespace astra
