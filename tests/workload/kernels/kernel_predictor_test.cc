#include "workload/kernels/kernel_predictor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "workload/kernels/kernel_model.h"
#include "workload/kernels/kernel_table.h"
#include "workload/operators/gpu_library.h"
#include "workload/operators/roofline.h"

namespace astra {
namespace {

KernelCall Product(double m, double n, double k,
                   std::string word = "bfloat16") {
  return {.family = FindKernelFamily("gemm"),
          .words = {std::move(word)},
          .sizes = {n, k},
          .point = {m}};
}

// Sequences of so many positions, with the heads of Llama 3 8B.
KernelCall Decode(double sequences, double positions) {
  return {.family = FindKernelFamily("generation_attention"),
          .words = {"bfloat16"},
          .sizes = {32, 8, 128, 0},
          .point = {sequences, positions}};
}

KernelEstimate Estimate(const KernelPredictor& predictor,
                        const KernelCall& call) {
  const absl::StatusOr<KernelEstimate> estimate = predictor.Estimate(call);
  EXPECT_TRUE(estimate.ok()) << estimate.status();
  return estimate.ok() ? *estimate : KernelEstimate{};
}

KernelPredictor Predictor(std::string_view gpu,
                          LeaveOut leave_out = LeaveOut::kNone) {
  return {*FindGpu(gpu), BundledSurfaces(), "", leave_out};
}

TEST(BundledSurfacesTest, EachFileIsRead) {
  const SurfaceLibrary& library = BundledSurfaces();
  size_t points = 0;
  for (const GpuSpec* gpu : library.NearestTo(*FindGpu("H100"))) {
    for (const KernelFamily& family : KernelFamilies()) {
      for (const std::string_view backend : library.backends()) {
        for (const Surface& s : library.Find(gpu->name, family, backend)) {
          points += s.times().log_us.size();
          EXPECT_FALSE(s.times().lines.empty()) << gpu->name << family.name;
        }
      }
    }
  }
  EXPECT_GT(points, 1'900'000u);
}

TEST(BundledSurfacesTest, TheNearestGpuIsOfTheSameArchitecture) {
  const auto nearest = [](std::string_view gpu) {
    return BundledSurfaces().NearestTo(*FindGpu(gpu))[0]->name;
  };
  EXPECT_EQ(nearest("H100"), "h100-sxm");
  EXPECT_EQ(nearest("H20"), "h100-sxm");
  EXPECT_EQ(nearest("GB300"), "b200");
  EXPECT_EQ(nearest("RTX4090"), "l40s");
  EXPECT_EQ(nearest("RTXPRO6000"), "a100-sxm-80gb");
  EXPECT_EQ(nearest("A800"), "a100-sxm-80gb");
}

// A bound of 2 TFLOP or 1 GB: 20 and 4 ms at the peaks of 100 TFLOP/s and 250
// GB/s, of which kernels reach 80 and 50 %.
TEST(KernelPeaksTest, ReachedPeaksNeedBothGpus) {
  GpuSpec gpu;
  gpu.peak_tflops[IndexOf(Precision::kBf16)] = 100;
  gpu.memory_gb_per_s = 250;
  gpu.calibration.reached_compute = 0.8;
  gpu.calibration.reached_memory = 0.5;
  GpuSpec other = gpu;
  const KernelPeaks both = ReachedPeaks(gpu, other);
  EXPECT_DOUBLE_EQ(both.ComputeUs(2e12, KernelUnit::kBf16), 25'000);
  EXPECT_DOUBLE_EQ(both.MemoryUs(1e9), 8'000);
  other.calibration.reached_compute = 0;
  const KernelPeaks one = ReachedPeaks(gpu, other);
  EXPECT_DOUBLE_EQ(one.ComputeUs(2e12, KernelUnit::kBf16), 20'000);
  EXPECT_DOUBLE_EQ(one.MemoryUs(1e9), 8'000);
}

TEST(KernelPredictorTest, AMeasuredProductTakesWhatItTook) {
  // The row 32768,65536,12288 of vLLM's table: 60.324 ms.
  const KernelEstimate estimate =
      Estimate(Predictor("H100"), Product(32768, 65536, 12288));
  EXPECT_NEAR(estimate.time_us, 60324, 0.005 * 60324);
  EXPECT_EQ(DescribeSource(estimate), "measured");
}

TEST(KernelPredictorTest, EachClassSaysItsName) {
  const KernelPredictor here = Predictor("H100");
  EXPECT_EQ(DescribeSource(Estimate(here, Product(5000, 4096, 4096))),
            "interpolated");
  EXPECT_EQ(DescribeSource(Estimate(here, Product(4096, 4000, 4000))),
            "neighbours");
  EXPECT_EQ(DescribeSource(Estimate(here, Product(1e6, 4096, 4096))),
            "extrapolated");
  EXPECT_EQ(DescribeSource(Estimate(here, Product(64, 4096, 4096, "nvfp4"))),
            "other precision");
  const KernelEstimate there =
      Estimate(Predictor("H200"), Product(64, 4096, 4096));
  EXPECT_EQ(DescribeSource(there), "carried over from h100-sxm");
  EXPECT_EQ(there.error, 0.12);
}

TEST(KernelPredictorTest, LeavesOutTheShapeOrTheGpu) {
  const KernelCall call = Product(4096, 4096, 4096);
  EXPECT_EQ(DescribeSource(Estimate(Predictor("H100", LeaveOut::kShape), call)),
            "neighbours");
  EXPECT_EQ(DescribeSource(Estimate(Predictor("B200", LeaveOut::kGpu), call)),
            "carried over from h100-sxm");
}

TEST(KernelPredictorTest, OnesOwnTableGoesFirst) {
  KernelPredictor predictor = Predictor("H100");
  const auto table = ParseKernelTable(
      "mine.csv",
      "op_name,gemm_dtype,m,n,k,latency\ngemm,bfloat16,64,4096,4096,7\n");
  ASSERT_TRUE(table.ok());
  auto surfaces = SurfacesOf(*table, "h100-sxm");
  ASSERT_TRUE(surfaces.ok());
  for (SurfaceTimes& times : *surfaces) predictor.AddOwn(std::move(times));
  EXPECT_NEAR(Estimate(predictor, Product(64, 4096, 4096)).time_us, 7000, 1);
  EXPECT_LT(Estimate(predictor, Product(64, 4096, 4096, "fp8")).time_us, 100);
  // It says something of twice the rows or of twice the depth, and nothing of
  // a product that is bound by computation.
  for (const auto& [m, n, k] :
       {std::array{128, 4096, 4096}, std::array{64, 4096, 8192}}) {
    EXPECT_GT(Estimate(predictor, Product(m, n, k)).time_us, 7000);
  }
  const KernelCall far = Product(16384, 8192, 8192);
  EXPECT_EQ(Estimate(predictor, far).time_us,
            Estimate(Predictor("H100"), far).time_us);
}

// The chips are the same, but for NVLink.
TEST(KernelPredictorTest, TheSameChipByAnotherNameTakesTheSameTime) {
  for (const auto& [name, other] :
       {std::pair{"H100", "H800"}, std::pair{"A100", "A800"}}) {
    for (const KernelCall& call :
         {Product(64, 4096, 4096), Decode(64, 8192), Decode(1, 1024)}) {
      EXPECT_NEAR(Estimate(Predictor(other), call).time_us,
                  Estimate(Predictor(name), call).time_us, 1e-6)
          << other << ' ' << call.family->name;
    }
  }
}

// One row can be padded to two.
TEST(KernelPredictorTest, OneRowTakesNoLongerThanTwo) {
  const KernelPredictor b200 = Predictor("B200");
  for (const int width : {4096, 8192}) {
    EXPECT_LE(Estimate(b200, Product(1, width, width, "fp8")).time_us,
              1.5 * Estimate(b200, Product(2, width, width, "fp8")).time_us);
  }
}

// vLLM's table says 57 us or more of any product in blocks of FP8, which is how
// long its program takes to start one. TensorRT-LLM's says 11.6 us of this one.
TEST(KernelPredictorTest, TheTimeOfTheHostIsApart) {
  const KernelCall small = Product(8, 4096, 4096, "fp8_block");
  const KernelEstimate here = Estimate(Predictor("H100"), small);
  EXPECT_NEAR(here.time_us, 11.6, 0.1);
  EXPECT_GT(here.host_us, 57);
  const KernelEstimate there = Estimate(Predictor("H200"), small);
  EXPECT_LT(there.time_us, here.time_us);
  EXPECT_EQ(there.host_us, here.host_us);
  const KernelEstimate other = Estimate(
      KernelPredictor(*FindGpu("H100"), BundledSurfaces(), "trtllm"), small);
  EXPECT_EQ(other.time_us, here.time_us);
  EXPECT_EQ(other.host_us, 0);
  const KernelEstimate asked = Estimate(
      KernelPredictor(*FindGpu("H100"), BundledSurfaces(), "vllm"), small);
  EXPECT_EQ(asked.time_us, here.host_us);
  KernelPredictor sglang = Predictor("H100");
  sglang.SetEngine("sglang");
  EXPECT_EQ(Estimate(sglang, small).time_us, here.time_us);
  EXPECT_EQ(Estimate(sglang, small).host_us, 0);
  const KernelEstimate large =
      Estimate(Predictor("H100"), Product(8192, 8192, 8192, "fp8_block"));
  EXPECT_GT(large.time_us, 500);
  EXPECT_EQ(large.host_us, 0);
}

TEST(KernelPredictorTest, SaysWhatNoTableIsNear) {
  const SurfaceLibrary empty{{}};
  const KernelPredictor predictor(*FindGpu("H100"), empty);
  EXPECT_EQ(predictor.Estimate(Product(1, 1, 1)).status().message(),
            "no table of gemm of bfloat16");
}

TEST(KernelPredictorTest, EqualQuestionsHaveEqualAnswers) {
  const KernelCall call = Product(1234, 5000, 3000);
  EXPECT_EQ(Estimate(Predictor("GB200"), call).time_us,
            Estimate(Predictor("GB200"), call).time_us);
}

// The rows of the table in KernelOf's comment.
TEST(KernelModelTest, OperatorsAreTimedByTheirKernels) {
  const auto family = [](const Operator& op) {
    const std::optional<OperatorKernel> kernel =
        KernelOf(op, KernelUse::kInference);
    return kernel ? kernel->call.family->name : std::string_view("none");
  };
  EXPECT_EQ(family({"qkv_linear", Gemm{.m = 1, .n = 64, .k = 64}}), "gemm");
  EXPECT_EQ(family({"experts_up",
                    Gemm{.groups = 8,
                         .m = 1,
                         .n = 64,
                         .k = 64,
                         .routed = {.experts = 8, .top_k = 2, .rows = 8}}}),
            "moe");
  EXPECT_EQ(family({"attention_product",
                    Gemm{.groups = 16, .m = 4, .n = 512, .k = 128}}),
            "mla_bmm");
  Attention attention = {.batch = 4,
                         .queries = 1,
                         .keys = 100,
                         .heads = 8,
                         .kv_heads = 2,
                         .qk_dim = 128,
                         .v_dim = 128};
  EXPECT_EQ(family({"attention", attention}), "generation_attention");
  attention.queries = 100;
  EXPECT_EQ(family({"attention", attention}), "context_attention");
  attention.has_bias = true;
  EXPECT_EQ(family({"attention", attention}), "none");
  EXPECT_EQ(family({"norm", Stream{1024}}), "none");
  EXPECT_EQ(family({"router", Gemm{.m = 1, .n = 8, .k = 8}, Precision::kFp32}),
            "none");
}

// The steps of a ring over 8 ranks of context parallelism have as many pairs
// each, so they take as long.
TEST(KernelModelTest, QueriesThatSeeAllKeysTakeTheTimeOfAsManyPairs) {
  const GpuSpec gpu = *FindGpu("H100");
  const Roofline roofline(gpu);
  const KernelPredictor predictor(gpu, BundledSurfaces());
  const KernelModel model(predictor, roofline, KernelUse::kTraining);
  for (const bool backward : {false, true}) {
    Attention own = {.batch = 1,
                     .queries = 16384,
                     .keys = 16384,
                     .heads = 32,
                     .kv_heads = 8,
                     .qk_dim = 128,
                     .v_dim = 128,
                     .backward = backward};
    Attention other = own;
    other.keys /= 2;
    other.causal = false;
    const OperatorTime first = model.TimeOf({"attention", own});
    const OperatorTime next = model.TimeOf({"attention", other});
    EXPECT_NEAR(ToMicroseconds(next.time) / ToMicroseconds(first.time), 1,
                1e-3);
    EXPECT_EQ(next.source, TimeSource::kExtrapolated);
  }
}

// B300 is B200 with exponentials at twice the rate: attention forward is faster
// by the shares of the peak in their files, and backward as fast.
TEST(KernelModelTest, AttentionIsCarriedOverByItsShareOfThePeak) {
  const auto time_on = [](const char* name, bool backward) {
    const GpuSpec gpu = *FindGpu(name);
    const Roofline roofline(gpu);
    const KernelPredictor predictor(gpu, BundledSurfaces());
    const KernelModel model(predictor, roofline, KernelUse::kTraining);
    return ToMicroseconds(
        model
            .TimeOf({"attention", Attention{.batch = 1,
                                            .queries = 8192,
                                            .keys = 8192,
                                            .heads = 32,
                                            .kv_heads = 8,
                                            .qk_dim = 128,
                                            .v_dim = 128,
                                            .backward = backward}})
            .time);
  };
  EXPECT_NEAR(time_on("B300", false) / time_on("B200", false), 0.66 / 0.795,
              0.005);
  EXPECT_NEAR(time_on("B300", true) / time_on("B200", true), 1, 0.005);
}

TEST(KernelModelTest, OthersTakeTheTimeOfTheFormula) {
  const GpuSpec gpu = *FindGpu("H100");
  const Roofline roofline(gpu);
  const KernelPredictor predictor(gpu, BundledSurfaces());
  const KernelModel model(predictor, roofline, KernelUse::kInference);
  const Operator norm = {"rms_norm", Stream{1 << 20}};
  EXPECT_EQ(model.TimeOf(norm).source, TimeSource::kRoofline);
  EXPECT_EQ(model.TimeOf(norm).time, roofline.TimeOf(norm).time);
  const Operator product = {"qkv_linear", Gemm{.m = 64, .n = 4096, .k = 4096}};
  EXPECT_EQ(model.TimeOf(product).source, TimeSource::kMeasured);
}

TEST(KernelModelTest, NoOperatorBeatsThePeaks) {
  // L40S has 96 MB of cache: 67 MB of activations stay there while they are
  // measured (27.7 us), but at 864 GB/s memory takes 82.7 us.
  const GpuSpec gpu = *FindGpu("L40S");
  const Roofline roofline(gpu);
  const KernelPredictor predictor(gpu, BundledSurfaces());
  const KernelModel model(predictor, roofline, KernelUse::kInference);
  const Operator product = {"ffn_up", Gemm{.m = 32768, .n = 64, .k = 1024}};
  EXPECT_NEAR(Estimate(predictor, Product(32768, 64, 1024)).time_us, 27.7, 0.2);
  EXPECT_NEAR(ToMicroseconds(model.TimeOf(product).time),
              2.0 * (32768 * 1024 + 64 * 1024 + 32768 * 64) / 864e3, 1e-5);
}

TEST(KernelModelTest, TheTwoProductsOfExpertsShareTheirTime) {
  // 8 experts of 2 rows, 3 matrices of 4096 x 2048: the first product has two.
  const GpuSpec gpu = *FindGpu("H100");
  const Roofline roofline(gpu);
  const KernelPredictor predictor(gpu, BundledSurfaces());
  const KernelModel model(predictor, roofline, KernelUse::kInference);
  const double up = ToMicroseconds(
      model
          .TimeOf({"experts_up", Gemm{.groups = 8,
                                      .m = 2,
                                      .n = 4096,
                                      .k = 4096,
                                      .routed = {8, 2, 1, 1, 16}}})
          .time);
  const double down = ToMicroseconds(
      model
          .TimeOf({"experts_down", Gemm{.groups = 8,
                                        .m = 2,
                                        .n = 4096,
                                        .k = 2048,
                                        .routed = {8, 2, 1, 1, 16}}})
          .time);
  EXPECT_NEAR(up / down, 2, 0.05);
}

// 128 experts of Qwen3-235B over 8 ranks, 8 for each of 32 tokens: 125 and 132
// us for both products in the tables of TensorRT-LLM and vLLM.
TEST(KernelModelTest, ExpertsOfSeveralRanksAreTimedByTheirRows) {
  const GpuSpec gpu = *FindGpu("H100");
  const Roofline roofline(gpu);
  const Operator up = {"experts_up",
                       Gemm{.groups = 16,
                            .m = 2,
                            .n = 3072,
                            .k = 4096,
                            .routed = {128, 8, 8, 1, 32}},
                       Precision::kFp8Block};
  const auto time = [&](std::string engine) {
    KernelPredictor predictor(gpu, BundledSurfaces());
    predictor.SetEngine(std::move(engine));
    const KernelModel model(predictor, roofline, KernelUse::kInference);
    const OperatorTime found = model.TimeOf(up);
    EXPECT_EQ(found.source, TimeSource::kMeasured);
    return ToMicroseconds(found.time);
  };
  EXPECT_NEAR(time(""), 132 * 2 / 3.0, 3);
  EXPECT_NEAR(time("trtllm"), 125 * 2 / 3.0, 3);
}

TEST(KernelModelTest, TrainingTakesAttentionAndOwnProducts) {
  const GpuSpec gpu = *FindGpu("H100");
  const Roofline roofline(gpu);
  KernelPredictor predictor(gpu, BundledSurfaces());
  const KernelModel model(predictor, roofline, KernelUse::kTraining);
  Operator attention = {"attention", Attention{.batch = 1,
                                               .queries = 4096,
                                               .keys = 4096,
                                               .heads = 32,
                                               .kv_heads = 8,
                                               .qk_dim = 128,
                                               .v_dim = 128}};
  const OperatorTime forward = model.TimeOf(attention);
  EXPECT_EQ(forward.source, TimeSource::kMeasured);
  const double share = ToMicroseconds(forward.time) /
                       ToMicroseconds(roofline.TimeOf(attention).time);
  std::get<Attention>(attention.shape).backward = true;
  const OperatorTime backward = model.TimeOf(attention);
  EXPECT_EQ(backward.source, TimeSource::kExtrapolated);
  EXPECT_NEAR(ToMicroseconds(backward.time),
              share * ToMicroseconds(roofline.TimeOf(attention).time), 0.01);

  const Operator product = {"qkv_linear", Gemm{.m = 64, .n = 4096, .k = 4096}};
  EXPECT_EQ(model.TimeOf(product).source, TimeSource::kRoofline);
  const absl::StatusOr<KernelTable> table = ParseKernelTable(
      "own.csv",
      "op_name,gemm_dtype,m,n,k,latency\ngemm,bfloat16,64,4096,4096,7\n");
  ASSERT_TRUE(table.ok());
  auto surfaces = SurfacesOf(*table, "h100-sxm");
  ASSERT_TRUE(surfaces.ok());
  for (SurfaceTimes& times : *surfaces) predictor.AddOwn(std::move(times));
  EXPECT_NEAR(ToMicroseconds(model.TimeOf(product).time), 7000, 1);
}

}  // namespace
}  // namespace astra
