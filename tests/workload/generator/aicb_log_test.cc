#include "workload/generator/aicb_log.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/core.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

constexpr std::string_view kHead =
    "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,"
    "_elapsed_time,algbw,busbw,count\n"
    "CommType.epoch_end,None,None,0,,None,None,,None,None,None,1\n";
constexpr std::string_view kEnd =
    "CommType.epoch_end,None,None,0,,None,None,,None,None,None,1\n";

ModuleStep Collective(StepKind kind, CollectiveKind collective,
                      ParallelDimension dimension, int64_t bytes) {
  ModuleStep step;
  step.kind = kind;
  step.communication = {collective, dimension, Bytes(bytes)};
  return step;
}

ModuleStep Blocking(CollectiveKind collective, ParallelDimension dimension,
                    int64_t bytes) {
  return Collective(StepKind::kBlocking, collective, dimension, bytes);
}

std::vector<ModuleStep>& PassOf(MockModule& module, ModulePass pass) {
  return module.passes[IndexOf(pass)];
}

MockModule Named(std::string_view name) {
  MockModule module;
  module.name = name;
  return module;
}

// A collective's line.
std::string Line(std::string_view type, std::string_view group, int64_t ranks,
                 int64_t bytes, std::string_view stage) {
  return fmt::format(
      "CommType.{},CommGroup.{},{},{},{},None,None,,None,None,None,1\n", type,
      group, ranks, bytes, stage);
}

std::string MessageLine(std::string_view type, int64_t stages,
                        std::string_view stage, std::string_view neighbour) {
  return fmt::format(
      "CommType.{},CommGroup.pp_group,{},640,{},None,None,{},None,None,None,"
      "1\n",
      type, stages, stage, neighbour);
}

std::string Lines(const Blueprint& blueprint,
                  const AicbLogOptions& options = {}) {
  std::string text = ValueOrDie(FormatAicbLog(blueprint, options));
  EXPECT_EQ(text.substr(0, kHead.size()), kHead);
  EXPECT_GE(text.size(), kHead.size() + kEnd.size());
  EXPECT_EQ(text.substr(text.size() - kEnd.size()), kEnd);
  return text.substr(kHead.size(), text.size() - kHead.size() - kEnd.size());
}

// TP 2 and DP 4 on 8 GPUs: "row" forward sums 100 B over TP and gathers 60 B
// back; "norm" has nothing to say.
Blueprint SmallBlueprint() {
  Blueprint blueprint;
  blueprint.sizes = {.num_ranks = 8, .tensor = 2};
  MockModule row = Named("row");
  PassOf(row, ModulePass::kForward) = {Blocking(
      CollectiveKind::kReduceScatter, ParallelDimension::kTensor, 100)};
  PassOf(row, ModulePass::kInputGradient) = {
      Blocking(CollectiveKind::kAllGather, ParallelDimension::kTensor, 60)};
  blueprint.modules = {row, Named("norm")};
  blueprint.stages = {{.runs = {{.modules = {ModuleId(0), ModuleId(1)}}}}};
  return blueprint;
}

TEST(AicbLogTest, RunsForwardThenBackwardThenTheStep) {
  Blueprint blueprint = SmallBlueprint();
  MockModule reduce = Named("grad_reduce");
  PassOf(reduce, ModulePass::kForward) = {
      Blocking(CollectiveKind::kReduceScatter, ParallelDimension::kData, 4000)};
  blueprint.modules.push_back(reduce);
  blueprint.stages[0].after = {ModuleId(2)};
  EXPECT_EQ(
      Lines(blueprint),
      Line("reduce_scatter", "tp_group", 2, 100, "forward.row") +
          Line("all_gather", "tp_group", 2, 60, "backward.row") +
          Line("reduce_scatter", "dp_group", 4, 4000, "step.grad_reduce"));
}

TEST(AicbLogTest, RunsModulesBackwardInReverseEachPassInOrder) {
  Blueprint blueprint = SmallBlueprint();
  MockModule column = Named("column");
  PassOf(column, ModulePass::kRecompute) = {
      Blocking(CollectiveKind::kAllGather, ParallelDimension::kTensor, 1)};
  PassOf(column, ModulePass::kInputGradient) = {
      Collective(StepKind::kLaunch, CollectiveKind::kReduceScatter,
                 ParallelDimension::kTensor, 2)};
  PassOf(column, ModulePass::kWeightGradient) = {
      Collective(StepKind::kWait, CollectiveKind::kAllReduce,
                 ParallelDimension::kTensor, 0),
      Collective(StepKind::kLaunch, CollectiveKind::kAllReduce,
                 ParallelDimension::kData, 3)};
  blueprint.modules.push_back(column);
  blueprint.stages[0].runs = {
      {.times = 2, .modules = {ModuleId(2), ModuleId(0)}}};
  const std::string backward =
      Line("all_gather", "tp_group", 2, 60, "backward.row") +
      Line("all_gather", "tp_group", 2, 1, "backward.column") +
      Line("reduce_scatter", "tp_group", 2, 2, "backward.column") +
      Line("all_reduce", "dp_group", 4, 3, "backward.column");
  const std::string forward =
      Line("reduce_scatter", "tp_group", 2, 100, "forward.row");
  EXPECT_EQ(Lines(blueprint), forward + forward + backward + backward);
}

TEST(AicbLogTest, DispatchAndCombineAreAllToAlls) {
  Blueprint blueprint = SmallBlueprint();
  blueprint.sizes.expert = 2;
  PassOf(blueprint.modules[0], ModulePass::kForward) = {
      Blocking(CollectiveKind::kDispatch, ParallelDimension::kExpert, 5),
      Blocking(CollectiveKind::kCombine, ParallelDimension::kExpert, 6)};
  PassOf(blueprint.modules[0], ModulePass::kInputGradient).clear();
  EXPECT_EQ(Lines(blueprint),
            Line("all_to_all", "ep_group", 2, 5, "forward.row") +
                Line("all_to_all", "ep_group", 2, 6, "forward.row"));
}

TEST(AicbLogTest, NamesTheGroupsOfExperts) {
  Blueprint blueprint = SmallBlueprint();
  blueprint.sizes.expert = 2;  // ETP 2 x EP 2 x DP_EP 2.
  PassOf(blueprint.modules[0], ModulePass::kForward) = {
      Blocking(CollectiveKind::kAllToAll, ParallelDimension::kExpert, 5),
      Blocking(CollectiveKind::kAllGather, ParallelDimension::kExpertTensor, 6),
      Blocking(CollectiveKind::kAllReduce, ParallelDimension::kDataExpert, 7)};
  PassOf(blueprint.modules[0], ModulePass::kInputGradient).clear();
  EXPECT_EQ(Lines(blueprint),
            Line("all_to_all", "ep_group", 2, 5, "forward.row") +
                Line("all_gather", "tp_group", 2, 6, "forward.row") +
                Line("all_reduce", "ep_dp_group", 2, 7, "forward.row"));
}

TEST(AicbLogTest, RunsSomeStepsInTheFirstOrLastMicroBatchOnly) {
  Blueprint blueprint = SmallBlueprint();
  blueprint.sizes.micro_batches = 3;
  std::vector<ModuleStep>& forward =
      PassOf(blueprint.modules[0], ModulePass::kForward);
  forward[0].when = StepWhen::kFirst;
  PassOf(blueprint.modules[0], ModulePass::kInputGradient)[0].when =
      StepWhen::kLast;
  EXPECT_EQ(Lines(blueprint),
            Line("reduce_scatter", "tp_group", 2, 100, "forward.row") +
                Line("all_gather", "tp_group", 2, 60, "backward.row"));
}

// Two stages of 4 GPUs, two micro-batches.
Blueprint TwoStages() {
  Blueprint blueprint = SmallBlueprint();
  blueprint.sizes.pipeline = 2;
  blueprint.sizes.micro_batches = 2;
  blueprint.pipeline_message = Bytes(640);
  blueprint.stages[0].count = 2;
  return blueprint;
}

TEST(AicbLogTest, TheFirstStageIsOneMicroBatchAhead) {
  const std::string forward =
      Line("reduce_scatter", "tp_group", 2, 100, "forward.row") +
      MessageLine("isend", 2, "forward_step", "send_next");
  const std::string backward =
      MessageLine("irecv", 2, "backward_step", "recv_next") +
      Line("all_gather", "tp_group", 2, 60, "backward.row");
  EXPECT_EQ(Lines(TwoStages()), forward + forward + backward + backward);
}

TEST(AicbLogTest, TheLastStageAlternates) {
  const std::string one =
      MessageLine("irecv", 2, "forward_step", "recv_prev") +
      Line("reduce_scatter", "tp_group", 2, 100, "forward.row") +
      Line("all_gather", "tp_group", 2, 60, "backward.row") +
      MessageLine("isend", 2, "backward_step", "send_prev");
  EXPECT_EQ(Lines(TwoStages(), {.pipeline_rank = 1}), one + one);
}

TEST(AicbLogTest, HasNoBackwardPassInInference) {
  Blueprint blueprint = TwoStages();
  blueprint.forward_only = true;
  blueprint.sizes.micro_batches = 1;
  EXPECT_EQ(Lines(blueprint),
            Line("reduce_scatter", "tp_group", 2, 100, "forward.row") +
                MessageLine("isend", 2, "forward_step", "send_next"));
}

TEST(AicbLogTest, WritesTheShapesOfProductsIfAsked) {
  Blueprint blueprint = SmallBlueprint();
  ModuleStep product;
  product.op = {"up", Gemm{.groups = 1, .m = 2, .n = 3, .k = 4}};
  ModuleStep grouped;
  grouped.op = {"experts", Gemm{.groups = 8, .m = 2, .n = 3, .k = 4}};
  ModuleStep norm;
  norm.op = {"norm", Stream{100}};
  PassOf(blueprint.modules[1], ModulePass::kForward) = {product, grouped, norm};
  blueprint.stages[0].runs = {{.modules = {ModuleId(1)}}};
  EXPECT_EQ(Lines(blueprint), "");
  EXPECT_EQ(Lines(blueprint, {.with_products = true}),
            "CommType.computation,None,None,((2 4) (4 3)),forward.norm.up,None,"
            "None,,None,None,None,1\n"
            "CommType.computation,None,None,((8 2 4) (8 4 3)),forward.norm."
            "experts,None,None,,None,None,None,1\n");
}

TEST(AicbLogTest, RefusesWhatItHasNoNameFor) {
  Blueprint blueprint = SmallBlueprint();
  std::vector<ModuleStep>& forward =
      PassOf(blueprint.modules[0], ModulePass::kForward);
  forward[0].communication.dimension = ParallelDimension::kContext;
  EXPECT_THAT(FormatAicbLog(blueprint, {}),
              StatusIs(absl::StatusCode::kUnimplemented,
                       "AICB's log has no group for CP"));
  forward[0].communication.dimension = ParallelDimension::kExpertTensor;
  blueprint.sizes.expert_tensor = 1;
  EXPECT_THAT(FormatAicbLog(blueprint, {}),
              StatusIs(absl::StatusCode::kUnimplemented,
                       "AICB's log has no group for ETP other than TP"));
  blueprint.sizes.virtual_stages = 2;
  EXPECT_THAT(FormatAicbLog(blueprint, {}),
              StatusIs(absl::StatusCode::kUnimplemented,
                       "AICB's log has no virtual stages; write a program"));
}

TEST(AicbLogTest, RefusesAStageThatIsNotThere) {
  EXPECT_THAT(FormatAicbLog(TwoStages(), {.pipeline_rank = 2}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the pipeline rank is 2: the last of the stages is 1"));
}

}  // namespace
}  // namespace astra
