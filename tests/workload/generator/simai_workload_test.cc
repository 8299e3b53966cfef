#include "workload/generator/simai_workload.h"

#include <string>
#include <string_view>
#include <vector>

#include "tests/testing/matchers.h"
#include "tests/testing/schedules.h"
#include "tests/testing/small_models.h"
#include "workload/generator/training.h"

namespace astra {
namespace {

using ::astra::testing::FixedTime;
using ::astra::testing::ScheduleNamed;
using ::astra::testing::SmallDeepSeek;
using ::astra::testing::SmallLlama;
using ::astra::testing::SmallMoe;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

// One block of SmallLlama.
ModelSpec OneBlock() {
  ModelSpec model = SmallLlama();
  model.layers = 1;
  return model;
}

// TP 2 x DP 2; a sequence of 32 positions in a micro-batch: its hidden states
// are 32 x 64 x 2 B = 4096 B.
TrainingSetup SmallSetup() {
  TrainingSetup setup;
  setup.world_size = 4;
  setup.tensor = 2;
  setup.global_batch = 2;
  setup.positions = 32;
  return setup;
}

absl::StatusOr<SimaiText> Write(const ModelSpec& model,
                                const TrainingSetup& setup, size_t stage = 0,
                                TimePs time = Nanoseconds(1)) {
  const FixedTime model_of_time(time);
  return SimaiTextOf(ValueOrDie(TrainingBlueprint(model, setup)), stage,
                     ModuleTimes(model_of_time));
}

std::string PhaseText(const SimaiPhase& phase) {
  std::string text = fmt::format("{}", phase.compute.count() / 1000);
  if (!phase.communication) return text;
  const Communication& what = *phase.communication;
  return fmt::format("{} {} {} {}", text, Name(what.kind), Name(what.dimension),
                     what.bytes.count());
}

// "NAME, forward, input gradient, weight gradient", each with nanoseconds.
std::vector<std::string> LayerTexts(const SimaiText& workload) {
  std::vector<std::string> texts;
  for (const SimaiLayer& layer : workload.layers) {
    std::string text = layer.name;
    for (const Phase phase : kPhases) {
      text += fmt::format(", {}", PhaseText(layer.phase(phase)));
    }
    texts.push_back(text);
  }
  return texts;
}

// Those whose layer has that name.
std::vector<std::string> Named(std::string_view name,
                               const std::vector<std::string>& texts) {
  std::vector<std::string> named;
  for (const std::string& text : texts) {
    if (text.rfind(name, 0) == 0) named.push_back(text);
  }
  return named;
}

// Every operator takes 1 ns, so that a time is their number. A rank holds
//   256 x 64                      in the embedding and in the logits,
//   64 + 64 x 48, 32 x 64         in attention,
//   64 + 64 x 192, 96 x 64        in the feed-forward part, and 64 in a norm:
// 56,512 parameters.
TEST(SimaiWorkloadTest, WritesAnIterationWithoutSequenceParallelism) {
  const SimaiText workload = ValueOrDie(Write(OneBlock(), SmallSetup()));
  EXPECT_THAT(
      LayerTexts(workload),
      ElementsAreArray({
          "grad_gather, 0, 0, 0 all-gather DP 113024",
          "grad_param_comm, 0, 0, 0 reduce-scatter DP 226048",
          "grad_param_compute, 0, 3, 0",
          "embedding_layer, 1 all-reduce TP 4096, 1, 0",
          "attention_layer, 6 all-reduce TP 4096, 6 all-reduce TP 4096, 2",
          "mlp_layer, 5 all-reduce TP 4096, 5 all-reduce TP 4096, 2",
          "final_column, 2, 2 all-reduce TP 4096, 1",
          "cross_entropy1, 1 all-reduce TP 128, 0, 0",
          "cross_entropy2, 0 all-reduce TP 128, 0, 0",
          "cross_entropy3, 0 all-reduce TP 128, 1, 0",
          "optimizer1, 0 all-reduce TP 4, 0, 0",
          "optimizer2, 0 all-reduce TP 4, 0, 0",
          "optimizer3, 0 all-reduce TP 4, 0, 0",
          "optimizer4, 0 all-reduce TP 4, 0, 0",
      }));
  EXPECT_EQ(workload.sizes.num_ranks, 4);
  EXPECT_EQ(workload.sizes.tensor, 2);
}

// 192 replicated parameters, in 3 norms.
TEST(SimaiWorkloadTest, WritesAnIterationWithSequenceParallelism) {
  TrainingSetup setup = SmallSetup();
  setup.sequence_parallel = true;
  const SimaiText workload = ValueOrDie(Write(OneBlock(), setup));
  EXPECT_THAT(
      LayerTexts(workload),
      ElementsAreArray({
          "grad_gather, 0, 0, 0 all-gather DP 113024",
          "grad_param_comm, 0, 0, 0 reduce-scatter DP 226048",
          "grad_param_compute, 0, 3, 0",
          "layernorm, 0, 0 all-reduce TP 768, 0",
          "embedding_layer, 1 reduce-scatter TP 4096, 1 all-gather TP 4096, 0",
          "attention_column, 3 all-gather TP 4096, 3 reduce-scatter TP 4096, 1",
          "attention_row, 3 reduce-scatter TP 4096, 3 all-gather TP 4096, 1",
          "mlp_column, 3 all-gather TP 4096, 3 reduce-scatter TP 4096, 1",
          "mlp_row, 2 reduce-scatter TP 4096, 2 all-gather TP 4096, 1",
          "final_column, 2 all-gather TP 4096, 2 reduce-scatter TP 4096, 1",
          "cross_entropy1, 1 all-reduce TP 128, 0, 0",
          "cross_entropy2, 0 all-reduce TP 128, 0, 0",
          "cross_entropy3, 0 all-reduce TP 128, 1, 0",
          "optimizer1, 0 all-reduce TP 4, 0, 0",
          "optimizer2, 0 all-reduce TP 4, 0, 0",
          "optimizer3, 0 all-reduce TP 4, 0, 0",
          "optimizer4, 0 all-reduce TP 4, 0, 0",
      }));
}

// EP 2 on the 4 ranks, ETP 1: each holds 4 of 8 experts, and two ranks hold the
// same. 16 tokens of a rank go to 2 experts: 32 x 64 x 2 B; 8 numbers of 8 B
// from 2 ranks.
TEST(SimaiWorkloadTest, WritesExperts) {
  ModelSpec model = SmallMoe();
  model.layers = 1;
  TrainingSetup setup = SmallSetup();
  setup.sequence_parallel = true;
  setup.expert = 2;
  setup.expert_tensor = 1;
  std::vector<std::string> texts = LayerTexts(ValueOrDie(Write(model, setup)));
  // A rank has 38,592 parameters beside those of its experts: 16,384 twice,
  // 3136 and 2048 in attention, 576 in the router, 64 in the last norm.
  EXPECT_THAT(texts, Contains("grad_gather, 0, 0, 0 all-gather DP 77184"));
  EXPECT_THAT(texts,
              Contains("grad_param_comm, 0, 0, 0 reduce-scatter DP 154368"));
  EXPECT_THAT(texts,
              Contains("moe_grad_norm1, 0, 0, 0 all-gather DP_EP 49152"));
  // The optimizer computes here, where no collective runs beside it: backward
  // passes run from the last layer to the first.
  EXPECT_THAT(texts,
              Contains("moe_grad_norm2, 0, 3, 0 reduce-scatter DP_EP 98304"));
  EXPECT_THAT(texts, Contains("grad_param_compute, 0, 0, 0"));
  EXPECT_THAT(
      Named("mlp_moelayer", texts),
      ElementsAre(
          "mlp_moelayer, 3 all-gather EP 128, 3, 1",
          "mlp_moelayer, 1 all-to-all EP 4096, 1 all-to-all EP 4096, 0",
          "mlp_moelayer, 1, 1, 0", "mlp_moelayer, 3, 3, 2",
          "mlp_moelayer, 2 all-to-all EP 4096, 2 all-to-all EP 4096, 0"));
}

std::vector<std::string> Names(const SimaiText& workload) {
  std::vector<std::string> names;
  for (const SimaiLayer& layer : workload.layers) names.push_back(layer.name);
  return names;
}

TEST(SimaiWorkloadTest, WritesSharedExpertsBesideTheOthers) {
  ModelSpec model = SmallDeepSeek();
  model.layers = 1;
  model.experts->dense_layers = 0;
  model.feed_forward.ffn = 0;
  TrainingSetup setup = SmallSetup();
  setup.world_size = 1;
  setup.tensor = 1;
  setup.global_batch = 1;
  EXPECT_THAT(
      Names(ValueOrDie(Write(model, setup))),
      ElementsAre("grad_param_compute", "embedding_layer",
                  "attention_linear_q_lora", "attention_q_column",
                  "attention_linear_kv_lora", "attention_kv_column",
                  "attention_o_row", "mlp_moelayer", "mlp_moelayer",
                  "mlp_moelayer", "mlp_moelayer", "mlp_moelayer", "mlp_column",
                  "mlp_row", "final_column", "cross_entropy"));
}

TEST(SimaiWorkloadTest, WritesOneStage) {
  TrainingSetup setup = SmallSetup();
  setup.world_size = 2;
  setup.tensor = 1;
  setup.pipeline = 2;
  EXPECT_THAT(Names(ValueOrDie(Write(SmallLlama(), setup, 0))),
              ElementsAre("grad_param_compute", "embedding_layer",
                          "attention_layer", "mlp_layer", "attention_layer",
                          "mlp_layer", "embedding_layer", "attention_layer",
                          "mlp_layer", "attention_layer", "mlp_layer"));
  EXPECT_EQ(ValueOrDie(Write(OneBlock(), SmallSetup())).pipeline_message,
            Bytes(0));
  EXPECT_EQ(ValueOrDie(Write(SmallLlama(), setup, 1)).pipeline_message,
            Bytes(4096));
}

TEST(SimaiWorkloadTest, TheFirstMicroBatchOfTheFileHasWhatRunsOnce) {
  TrainingSetup setup = SmallSetup();
  setup.tensor = 1;  // DP 4, in 3 micro-batches.
  setup.global_batch = 12;
  setup.overlap_gradients = true;
  setup.overlap_parameters = true;
  setup.bucket_size = 1;
  const std::vector<std::string> texts =
      LayerTexts(ValueOrDie(Write(OneBlock(), setup)));
  // 47,232 parameters; in the forward pass the format has DP_EP alone.
  EXPECT_THAT(Named("block_begin", texts),
              ElementsAre("block_begin, 0 all-gather DP_EP 94464, 0, 0 "
                          "reduce-scatter DP 188928",
                          "block_begin, 0, 0, 0", "block_begin, 0, 0, 0"));
}

TEST(SimaiWorkloadTest, RecomputedWorkIsAdded) {
  TrainingSetup setup = SmallSetup();
  setup.recompute = Recompute::kFull;
  EXPECT_THAT(LayerTexts(ValueOrDie(Write(OneBlock(), setup))),
              Contains("mlp_layer, 5 all-reduce TP 8192, 10 all-reduce TP "
                       "4096, 2"));
}

TEST(SimaiWorkloadTest, RoundsToNanoseconds) {
  // 6 operators of 400 ps are 2.4 ns, 2 are 0.8 ns.
  const SimaiText workload =
      ValueOrDie(Write(OneBlock(), SmallSetup(), 0, TimePs(400)));
  EXPECT_THAT(LayerTexts(workload),
              Contains("attention_layer, 2 all-reduce TP 4096, 2 all-reduce "
                       "TP 4096, 1"));
}

TEST(SimaiWorkloadTest, SaysWhatTheFormatLacks) {
  const auto refused = [](const std::string& what) {
    return StatusIs(
        absl::StatusCode::kUnimplemented,
        fmt::format("SimAI's text format has no {}; write a program (--format "
                    "program)",
                    what));
  };
  TrainingSetup context = SmallSetup();
  context.context = 2;
  EXPECT_THAT(Write(SmallLlama(), context), refused("context parallelism"));

  TrainingSetup expert = SmallSetup();
  expert.tensor = 1;
  expert.global_batch = 4;
  expert.expert_tensor = 2;
  EXPECT_THAT(Write(SmallMoe(), expert),
              refused("collectives over ETP other than TP"));

  TrainingSetup sharded = SmallSetup();
  sharded.tensor = 1;
  sharded.global_batch = 4;
  sharded.expert = 2;
  sharded.zero = Zero::kParameters;
  EXPECT_THAT(Write(SmallMoe(), sharded),
              refused("parameters gathered over DP beside experts"));
}

TEST(SimaiWorkloadTest, RefusesToWriteOutTooMuch) {
  TrainingSetup setup = SmallSetup();
  setup.world_size = 1;
  setup.tensor = 1;
  setup.global_batch = 600'000;
  // The embedding, two layers of a block, the logits and the loss.
  EXPECT_THAT(Write(OneBlock(), setup),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "600000 micro-batches of 5 layers each are too many for "
                       "SimAI's text format (at most 2097152 layers); write a "
                       "program (--format program)"));
  // The layers of the micro-batches alone would fit. Those of the optimizer and
  // of the gradients, which run once, do not fit beside them.
  setup.world_size = 2;
  setup.global_batch = 2 * (kMaxSimaiLayers / 5);
  EXPECT_THAT(Write(OneBlock(), setup),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("419430 micro-batches of 5 layers each")));
}

// Without times, which differ.
std::vector<std::string> Communications(const SimaiText& workload) {
  std::vector<std::string> texts;
  for (SimaiLayer layer : workload.layers) {
    std::string text = layer.name;
    for (const Phase phase : kPhases) {
      layer.phases[IndexOf(phase)].compute = TimePs(0);
      text += fmt::format(", {}", PhaseText(layer.phase(phase)));
    }
    texts.push_back(text);
  }
  return texts;
}

TEST(SimaiWorkloadTest, OverlappedCollectivesAreWaitedFor) {
  TrainingSetup setup = SmallSetup();
  setup.sequence_parallel = true;
  const std::vector<std::string> blocking =
      Communications(ValueOrDie(Write(OneBlock(), setup)));
  setup.tensor_overlap = true;
  EXPECT_EQ(Communications(ValueOrDie(Write(OneBlock(), setup))), blocking);
}

// The embedding, blocks 0 and 3, and the logits.
TEST(SimaiWorkloadTest, AStageIsAllOfItsChunks) {
  TrainingSetup setup = SmallSetup();
  setup.tensor = 1;
  setup.world_size = 2;
  setup.pipeline = 2;
  setup.schedule = ScheduleNamed("zb-v");
  setup.global_batch = 1;
  EXPECT_THAT(Names(ValueOrDie(Write(SmallLlama(), setup, 0))),
              ElementsAre("grad_param_compute", "embedding_layer",
                          "attention_layer", "mlp_layer", "attention_layer",
                          "mlp_layer", "final_column", "cross_entropy"));
}

TEST(SimaiWorkloadTest, MicroBatchesOfDualPipeRunOneChunkOfAStage) {
  TrainingSetup setup = SmallSetup();
  setup.tensor = 1;
  setup.world_size = 2;
  setup.pipeline = 2;
  setup.schedule = ScheduleNamed("dualpipe");
  setup.global_batch = 4;
  EXPECT_THAT(Write(SmallLlama(), setup),
              StatusIs(absl::StatusCode::kUnimplemented,
                       "SimAI's text format has no micro-batches that run one "
                       "chunk of a stage only; write a program (--format "
                       "program)"));
}

TEST(SlowestStageTest, IsTheFirstOfThose) {
  const FixedTime time;
  TrainingSetup setup = SmallSetup();
  setup.tensor = 1;
  setup.world_size = 2;
  setup.pipeline = 2;
  // The logits and the loss are more than the embedding.
  EXPECT_EQ(SlowestStage(ValueOrDie(TrainingBlueprint(SmallLlama(), setup)),
                         ModuleTimes(time)),
            1);
  setup.stage_layers = {3, 1};
  EXPECT_EQ(SlowestStage(ValueOrDie(TrainingBlueprint(SmallLlama(), setup)),
                         ModuleTimes(time)),
            0);
}

}  // namespace
}  // namespace astra
