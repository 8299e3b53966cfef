#include "workload/generator/explain.h"

#include <string>

#include "tests/testing/matchers.h"
#include "tests/testing/schedules.h"
#include "tests/testing/small_models.h"
#include "workload/generator/inference.h"
#include "workload/generator/training.h"

namespace astra {
namespace {

using ::astra::testing::FixedTime;
using ::astra::testing::ScheduleNamed;
using ::astra::testing::SmallLlama;
using ::astra::testing::SmallMoe;
using ::astra::testing::ValueOrDie;
using ::testing::HasSubstr;
using ::testing::StartsWith;

GpuSpec TestGpu() {
  GpuSpec gpu;
  gpu.name = "Test GPU";
  gpu.calibration.origin = "calibrated by hand";
  gpu.origins = {{OriginGrade::kStated, "a datasheet", {"sms"}},
                 {OriginGrade::kGuessed, "nothing", {"memory"}},
                 {OriginGrade::kMeasured, "a run", {"gemm", "kernel_us"}}};
  return gpu;
}

// TP 2 x DP 2, in 2 micro-batches of one sequence of 32 positions.
TrainingSetup SmallSetup() {
  TrainingSetup setup;
  setup.world_size = 4;
  setup.tensor = 2;
  setup.global_batch = 4;
  setup.positions = 32;
  return setup;
}

std::string Explain(const ModelSpec& model, const TrainingSetup& setup) {
  const FixedTime time;
  return ExplainBlueprint(
      model, TestGpu(), ValueOrDie(TrainingBlueprint(model, setup)),
      WorkOfTraining(model, setup), setup.positions, ModuleTimes(time));
}

TEST(ExplainTest, BeginsWithTheModel) {
  ModelSpec model = SmallLlama();
  EXPECT_THAT(Explain(model, SmallSetup()),
              StartsWith("model      small-llama: 254528 parameters\n"
                         "layout     TP 2 x CP 1 x DP 2 x PP 1 = 4 GPUs; ETP "
                         "2, EP 1, DP_EP 2; VPP 1, 2 micro-batches\n"));
  model.published_parameters = 250'000;
  model.sources = {"a paper"};
  // 4528 / 250,000.
  EXPECT_THAT(Explain(model, SmallSetup()),
              StartsWith("model      small-llama: 254528 parameters; published "
                         "250000, +1.811 %\n"
                         "  source   a paper\n"));
  TrainingSetup setup = SmallSetup();
  setup.sequence_parallel = true;
  // 305,728 less 4 x 6 x 6144.
  EXPECT_THAT(Explain(SmallMoe(), setup),
              StartsWith("model      small-moe: 305728 parameters, 158272 "
                         "active\n"));
}

// A rank holds half of the model, and twice the norms: (254,528 + 576) / 2. It
// runs 2 + 5 + 2 operators in the ends, and 26 in each of 4 blocks.
TEST(ExplainTest, SaysWhatAStageHolds) {
  const std::string text = Explain(SmallLlama(), SmallSetup());
  EXPECT_THAT(text, HasSubstr("  0        127552 parameters, 0 of experts; "));
  EXPECT_THAT(text, HasSubstr("compute 0.113 us\n"));
}

// 6 x 254,528 less the look-up of 32,768, and 6 x 4 x 64 x 32 for the scores.
TEST(TrainingFlopsPerTokenTest, CountsSmallLlama) {
  EXPECT_EQ(TrainingFlopsPerToken(SmallLlama(), 32),
            6 * (254528 - 32768) + 6 * 4 * 64 * 32);
}

// 4 sequences of 32 positions.
TEST(WorkOfTrainingTest, IsThatOfTheGlobalBatch) {
  const ProgramWork work = WorkOfTraining(SmallLlama(), SmallSetup());
  EXPECT_EQ(work.tokens, 128);
  EXPECT_EQ(work.model_flops, 128.0 * (6 * (254528 - 32768) + 6 * 4 * 64 * 32));
}

TEST(ExplainTest, NamesTheScheduleOfAPipeline) {
  TrainingSetup setup = SmallSetup();
  setup.tensor = 1;
  setup.pipeline = 2;
  EXPECT_THAT(Explain(SmallLlama(), setup),
              HasSubstr("VPP 1, 2 micro-batches\nschedule   1f1b\nstages     "
                        "(of one GPU; of one micro-batch)\n"));
  setup.global_batch = 8;
  const auto work = [](const std::string& text) {
    const size_t begin = text.find("\nwork");
    return text.substr(begin, text.find('\n', begin + 1) - begin);
  };
  const std::string one_way = Explain(SmallLlama(), setup);
  setup.schedule = ScheduleNamed("dualpipe");
  const std::string both_ways = Explain(SmallLlama(), setup);
  EXPECT_THAT(
      both_ways,
      HasSubstr("schedule   dualpipe\n  weights  each part of the model "
                "is on two stages; that the gradients of the two are "
                "summed is left out\nstages     (of one GPU; of one "
                "micro-batch in each direction)\n"));
  EXPECT_EQ(work(both_ways), work(one_way));
}

TEST(ExplainTest, SaysPartsOfAProductOnce) {
  TrainingSetup setup = SmallSetup();
  setup.sequence_parallel = true;
  setup.tensor_overlap = true;
  setup.tensor = 4;
  const std::string text = Explain(SmallLlama(), setup);
  EXPECT_THAT(text, HasSubstr("      launch all-gather over TP, 4096 B\n"
                              "      qkv_linear        bf16 3 times 8 x 32 x "
                              "64: "));
}

// Forward and backward: 6 x (4 x 47,104 + 32,768) weights of products for each
// of 128 tokens, and 3.5 x 4 x 4 sequences x 8 heads x 528 pairs x 32 FLOPs for
// the scores: 169.869312 + 7.569408 MFLOP.
TEST(ExplainTest, SaysWhatAnIterationComputes) {
  const std::string text = Explain(SmallLlama(), SmallSetup());
  EXPECT_THAT(text, HasSubstr("work       4 sequences of 32 positions = 128 "
                              "tokens; 0.000177439 TFLOP in all, 0.00138624 "
                              "GFLOP a token (6 N + attention: 0.00137971)\n"));
  EXPECT_THAT(text, HasSubstr("GPU        Test GPU; calibrated by hand\n"
                              "  measured gemm, kernel_us\n"
                              "  guessed  memory\n"));
}

TEST(ExplainTest, ListsOperatorsAndCollectives) {
  TrainingSetup setup = SmallSetup();
  setup.overlap_gradients = true;
  setup.bucket_size = 1;
  const std::string text = Explain(SmallLlama(), setup);
  EXPECT_THAT(text, HasSubstr("\n  attention_column, 4 times: 3136 parameters, "
                              "8192 B kept\n"));
  // 32 x 48 x 64: 196,608 FLOP; (2048 + 3072 + 1536) x 2 B.
  EXPECT_THAT(text, HasSubstr("\n      qkv_linear        bf16 32 x 48 x 64: "
                              "0.000196608 GFLOP, 0.013312 MB, 0.001 us, "
                              "measured (bound by launch, +-5 %)\n"));
  EXPECT_THAT(text, HasSubstr("\n      launch all-reduce over TP, 4096 B\n"));
  EXPECT_THAT(text, HasSubstr("\n      wait for TP\n"));
  // 3136 + 2048 + 12,352 + 6144 parameters of 4 B.
  EXPECT_THAT(text, HasSubstr("\n      launch reduce-scatter over DP, 94720 B, "
                              "last micro-batch only\n"));
  EXPECT_THAT(text, HasSubstr("\n  optimizer, after the micro-batches: 0 "
                              "parameters, 0 B kept\n"));
}

TEST(ExplainTest, SaysTheCacheOfInference) {
  const FixedTime time;
  InferenceSetup setup;
  setup.world_size = 2;
  setup.pipeline = 2;
  setup.batch = 1024;
  setup.positions = 1024;
  const std::string text =
      ExplainBlueprint(SmallLlama(), TestGpu(),
                       ValueOrDie(InferenceBlueprint(SmallLlama(), setup)),
                       {.tokens = 1024 * 1024}, 1024, ModuleTimes(time));
  // 2 blocks x 2^20 tokens x 2 x 2 x 8 x 2 B.
  EXPECT_THAT(text, HasSubstr("KV cache 0.125 GiB\n"));
  EXPECT_THAT(text, HasSubstr("pipeline   a message of 134217728 B between "
                              "stages\n"));
}

TEST(FormatShapeTest, NamesSizes) {
  EXPECT_EQ(FormatShape({"a", Gemm{1, 2, 3, 4}}), "2 x 3 x 4");
  EXPECT_EQ(FormatShape({"a", Gemm{8, 2, 3, 4}}), "8 of 2 x 3 x 4");
  EXPECT_EQ(FormatShape({"a", Attention{.batch = 2,
                                        .queries = 16,
                                        .keys = 24,
                                        .heads = 8,
                                        .kv_heads = 2,
                                        .qk_dim = 12,
                                        .v_dim = 8,
                                        .window = 4,
                                        .backward = true}}),
            "2 x 16 queries, 24 keys, 8/2 heads of 12/8, window 4, backward");
  EXPECT_EQ(FormatShape({"a", Attention{.batch = 2,
                                        .queries = 16,
                                        .keys = 8,
                                        .heads = 8,
                                        .kv_heads = 2,
                                        .qk_dim = 12,
                                        .v_dim = 8,
                                        .causal = false}}),
            "2 x 16 queries, 8 keys, 8/2 heads of 12/8, all seen");
  EXPECT_EQ(FormatShape({"a", DeltaRule{.batch = 2,
                                        .positions = 32,
                                        .heads = 4,
                                        .key_dim = 8,
                                        .value_dim = 16}}),
            "2 x 32 positions, 4 heads of 8/16");
  EXPECT_EQ(FormatShape({"a", Stream{64}}), "64 B");
}

}  // namespace
}  // namespace astra
