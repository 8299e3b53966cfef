// The tables, trees and batch times of regressors.

#include <string>
#include <string_view>
#include <vector>

#include "tests/testing/files.h"
#include "tests/testing/matchers.h"
#include "workload/regressors/batch_time.h"
#include "workload/regressors/estimator_target.h"
#include "workload/regressors/operator_regressors.h"
#include "workload/regressors/sampling_table.h"
#include "workload/regressors/tree_model.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::TemporaryFolder;
using ::astra::testing::ValueOrDie;
using ::astra::testing::WriteText;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using enum absl::StatusCode;

TEST(SamplingTableTest, AProductHasItsRowsAndWidths) {
  const SamplingTable table = ValueOrDie(ParseSamplingTable(
      "a/A100_linear1_fp16.csv",
      "mp,b,l,dim,F_dur(us),B_dur(us)\n2,4,1024,4096,10,20\n"));
  EXPECT_EQ(table.name, "linear1");
  ASSERT_EQ(table.passes.size(), 2U);
  const TrainingSet& forward = table.passes.at(SampledPass::kForward);
  EXPECT_THAT(forward.features, ElementsAre("rows", "in", "out"));
  // 3 x 4096 / 2 columns of queries, keys and values.
  EXPECT_THAT(forward.values, ElementsAre(4096, 4096, 6144));
  EXPECT_THAT(forward.times_us, ElementsAre(10));
  EXPECT_THAT(table.passes.at(SampledPass::kBackward).times_us,
              ElementsAre(20));
}

// 128 x ceil(50257 / (128 x 2)).
TEST(SamplingTableTest, TheVocabularyIsPadded) {
  EXPECT_EQ(FeaturesOf("linear_final", {{"mp", 2}, {"dim", 8}}).at(2).second,
            25216);
}

TEST(SamplingTableTest, OthersHaveTheirColumns) {
  const SamplingTable table = ValueOrDie(
      ParseSamplingTable("A100_allreduce_large_fp16_2_4.csv",
                         "shape,nodes,GPUsPerNode,dur(us)\n1024,2,4,7\n"));
  EXPECT_EQ(table.name, "allreduce_large");
  EXPECT_THAT(table.passes.at(SampledPass::kWhole).features,
              ElementsAre("GPUsPerNode", "nodes", "shape"));
}

TEST(SamplingTableTest, SaysWhatIsWrongAndWhere) {
  const auto error = [](std::string_view file, std::string_view text) {
    return ParseSamplingTable(file, text).status();
  };
  EXPECT_THAT(error("t.csv", "b,dur(us)\n"),
              StatusIs(kInvalidArgument,
                       "t.csv: expected a file named "
                       "GPU_OPERATOR_PRECISION.csv"));
  EXPECT_THAT(
      error("G_x_fp16.csv", "b\n1\n"),
      StatusIs(kInvalidArgument, "G_x_fp16.csv:1:1: no column \"dur(us)\""));
  EXPECT_THAT(error("G_x_fp16.csv", "b,dur(us)\n1,0\n"),
              StatusIs(kInvalidArgument, HasSubstr("G_x_fp16.csv:2:3: ")));
  EXPECT_THAT(error("G_x_fp16.csv", "b,dur(us)\n"),
              StatusIs(kInvalidArgument, "G_x_fp16.csv: no samples"));
}

// Samples of time 2 x at x = 1 to 200.
TrainingSet Line() {
  TrainingSet line = {.features = {"x"}, .values = {}, .times_us = {}};
  for (int x = 1; x <= 200; ++x) {
    line.values.push_back(x);
    line.times_us.push_back(2 * x);
  }
  return line;
}

TEST(TreeModelTest, PredictsWhatItSawAndTheBoundaryBeyond) {
  for (const TreeKind kind : {TreeKind::kForest, TreeKind::kBoosted}) {
    const TreeModel model = ValueOrDie(TreeModel::Train(Line(), kind));
    EXPECT_NEAR(ValueOrDie(model.PredictUs({100.0})), 200, 4);
    EXPECT_EQ(ValueOrDie(model.PredictUs({200.0})),
              ValueOrDie(model.PredictUs({1000.0})));
    const TreeModel again = ValueOrDie(TreeModel::Train(Line(), kind));
    EXPECT_EQ(ValueOrDie(model.PredictUs({33.0})),
              ValueOrDie(again.PredictUs({33.0})));
  }
}

TEST(TreeModelTest, HeldOutSamplesArePredictedFromTheOthers) {
  const HeldOutErrors errors =
      ValueOrDie(CrossValidate(Line(), TreeKind::kForest, 5));
  EXPECT_EQ(errors.samples, 200U);
  EXPECT_GT(errors.median, 0.1);  // Samples that were seen have less.
  EXPECT_LT(errors.median, 3);
  EXPECT_LE(errors.median, errors.p90);
  EXPECT_THAT(CrossValidate(Line(), TreeKind::kForest, 201).status(),
              StatusIs(kInvalidArgument,
                       "201 folds of 200 samples: expected 2 folds or more, "
                       "and no more than samples"));
}

constexpr std::string_view kTarget =
    "{\n"
    "  \"gpu_name\": \"G\",\n"
    "  \"operator_data_folder\": \"./op\",\n"
    "  \"nccl_data_folder\": \"./nccl\",\n"
    "  # pp, mp, dp, b, h, l, dim, steps_per_update, gpus_per_node\n"
    "  \"training_config\": [2, 1, 1, 1, 1, 8, 16, 4, 1],\n"
    "  \"comm_bucket\": 1000,\n"
    "  \"encoders\": 5,\n"
    "  'function_list':['embedding', 'norm'],\n"
    "  'encoder_function_list':['norm'],\n"
    "  \"layernorm_name\":'norm',\n"
    "  \"fwd_syncs\":2,\n"
    "  \"bwd_syncs\":2,\n"
    "}\n";

TEST(EstimatorTargetTest, ReadsTheEstimatorsForm) {
  const EstimatorTarget target =
      ValueOrDie(ParseEstimatorTarget("t.yml", kTarget, "base"));
  EXPECT_EQ(target.operator_folder, "base/op");
  EXPECT_EQ(target.pipeline, 2);
  EXPECT_EQ(target.hidden, 16);
  EXPECT_EQ(target.gpus_per_node, 1);
  EXPECT_THAT(target.layer_operators, ElementsAre("norm"));
}

TEST(EstimatorTargetTest, SaysWhatIsWrongAndWhere) {
  const auto error = [](std::string_view from, std::string_view to) {
    std::string text(kTarget);
    text.replace(text.find(from), from.size(), to);
    return ParseEstimatorTarget("t", text, "").status();
  };
  EXPECT_THAT(
      error("[2, 1,", "[1, 1,"),
      StatusIs(kInvalidArgument, EndsWith(": pp is 1: expected 2 or more")));
  EXPECT_THAT(
      error("[2, 1, 1,", "[2, 1,"),
      StatusIs(kInvalidArgument, HasSubstr("training_config has 8 numbers")));
  EXPECT_THAT(error("[2, 1,", "[2, x,"),
              StatusIs(kInvalidArgument, HasSubstr("mp is \"x\"")));
  EXPECT_THAT(error("\"encoders\": 5", "\"encoders\": 1"),
              StatusIs(kInvalidArgument, HasSubstr("encoders is 1: too few")));
  EXPECT_THAT(error("fwd_syncs", "fwd_sync"),
              StatusIs(kInvalidArgument, HasSubstr("fwd_sync")));
}

class BatchTimeTest : public ::testing::Test {
 protected:
  // Tables whose times do not depend on the sizes.
  void Write(const std::string& name, double forward, double backward) {
    WriteText(folder_.PathOf(fmt::format("G_{}_fp16.csv", name)),
              fmt::format("mp,b,h,l,dim,F_dur(us),B_dur(us)\n"
                          "1,1,1,8,16,{0},{1}\n1,1,1,16,16,{0},{1}\n",
                          forward, backward));
  }

  TemporaryFolder folder_;
  Warnings warnings_;
};

// 10 pseudo layers over 2 stages: 3 layers in the first, 2 in the last.
TEST_F(BatchTimeTest, PutsStagesTogether) {
  Write("norm", 10, 30);
  Write("embedding", 5, 6);
  Write("linear_final", 7, 8);
  Write("parallel_cross_entropy_128", 1, 2);
  WriteText(folder_.PathOf("G_p2p_fp16_2_1.csv"),
            "shape,nodes,GPUsPerNode,dur(us)\n64,2,1,4\n128,2,1,4\n");
  const EstimatorTarget target =
      ValueOrDie(ParseEstimatorTarget("t", kTarget, ""));
  OperatorRegressors all(std::string(folder_.path()), "G", TreeKind::kBoosted,
                         warnings_);
  const BatchTime batch = ValueOrDie(BatchTimeOf(target, all, all));
  // A layer takes 10 forward and, with its repetition, 40 backward. Forward:
  // 3 x 10 + 5 + 4 in the first stage, 2 x 10 + 10 + 7 + 1 in the last.
  // Backward: 3 x 40 + 6, and 2 x 40 + 30 + 8 + 2 + 4. 5 turns of the longest.
  EXPECT_NEAR(batch.total_us, 5 * (39 + 126), 0.1);
  EXPECT_EQ(batch.components.back().name, "pipeline");
  EXPECT_THAT(warnings_, ::testing::IsEmpty());
}

TEST_F(BatchTimeTest, NothingIsExtrapolatedInSilence) {
  Write("norm", 10, 30);
  OperatorRegressors all(std::string(folder_.path()), "G", TreeKind::kBoosted,
                         warnings_);
  EXPECT_NEAR(ValueOrDie(all.TimeUs(
                  "norm", SampledPass::kForward,
                  {{"mp", 1}, {"b", 1}, {"h", 1}, {"l", 32}, {"dim", 16}})),
              10, 0.01);
  EXPECT_THAT(warnings_,
              ElementsAre(AllOf(
                  HasSubstr("G_norm_fp16.csv"),
                  EndsWith(": l is 32, and samples have 8 to 16: the time is "
                           "that of the nearest"))));
  EXPECT_THAT(
      all.CollectiveUs("allreduce", 2, 4, 100).status(),
      StatusIs(kNotFound, EndsWith(": no table of allreduce over 2 nodes of 4 "
                                   "GPUs")));
}

}  // namespace
}  // namespace astra
