#include "workload/operators/roofline.h"

#include "tests/testing/matchers.h"
#include "workload/operators/gemm_time.h"
#include "workload/operators/gpu_library.h"

namespace astra {
namespace {

// 100 SMs, each of 0.5 TFLOP/s in BF16 at the calibrated half of the peak, and
// 500 GB/s. scripts/calibrate_operators.py --check prints the times of this
// GPU.
GpuSpec TestGpu() {
  GpuSpec gpu;
  gpu.num_sms = 100;
  gpu.peak_tflops = {50, 100, 200};
  gpu.memory_gb_per_s = 1000;
  gpu.calibration.gemm = {0.5, 0.5, 0.5};
  gpu.calibration.grouped_gemm = 0.8;
  gpu.calibration.attention_forward = 0.5;
  gpu.calibration.attention_backward = 0.4;
  gpu.calibration.linear_attention = 0.1;
  gpu.calibration.memory = 0.5;
  gpu.calibration.memory_of = {{"layer_norm", 0.25}};
  gpu.calibration.kernel_us = 2;
  gpu.calibration.tile_fill_k = 64;
  gpu.calibration.error = 0.1;
  return gpu;
}

OperatorTime TimeOf(const Operator& op) {
  return Roofline(TestGpu()).TimeOf(op);
}

double GemmMicroseconds(const Gemm& gemm,
                        Precision precision = Precision::kBf16) {
  return 1e6 * GemmComputeTime(TestGpu(), gemm, precision);
}

TEST(TimeSourceTest, HasNames) {
  EXPECT_EQ(Name(TimeSource::kMeasured), "measured");
  EXPECT_EQ(Name(TimeSource::kInterpolated), "interpolated");
  EXPECT_EQ(Name(TimeSource::kCarriedOver), "carried over");
  EXPECT_EQ(Name(TimeSource::kExtrapolated), "extrapolated");
  EXPECT_EQ(Name(TimeSource::kRoofline), "roofline");
}

TEST(RooflineTest, AProductOfOneWave) {
  // 100 tiles of 256 x 128, depth 448 + 64, 0.5 TFLOP/s for each SM:
  // 2 x 256 x 128 x 512 / 0.5e12 = 67.108864 us, and the kernel's 2 us.
  const OperatorTime time =
      TimeOf({"qkv_linear", Gemm{.m = 2560, .n = 1280, .k = 448}});
  EXPECT_NEAR(ToMicroseconds(time.time), 69.108864, 2e-6);
  EXPECT_EQ(time.bound, "compute");
  EXPECT_EQ(time.source, TimeSource::kRoofline);
  EXPECT_EQ(time.error, 0.1);
}

TEST(RooflineTest, OneMoreRowTakesAnotherWave) {
  EXPECT_NEAR(GemmMicroseconds({.m = 2305, .n = 1280, .k = 448}), 67.108864,
              1e-6);
  EXPECT_NEAR(GemmMicroseconds({.m = 2560, .n = 1280, .k = 448}), 67.108864,
              1e-6);
  // 41 x 20 tiles of 64 x 64 in 9 waves, at 0.73 of the rate:
  // 9 x 2 x 64 x 64 x 512 / (0.73 x 0.5e12).
  EXPECT_NEAR(GemmMicroseconds({.m = 2561, .n = 1280, .k = 448}), 103.421195,
              1e-6);
}

TEST(RooflineTest, ADeepProductIsSplit) {
  // One tile of 16 x 64 in 8 parts of 1024, at 0.59 of the rate:
  // 2 x 16 x 64 x 1088 / (0.59 x 0.5e12) = 7.553302 us, and 16 x 64 partial
  // results of 8 bytes at 0.5 TB/s, 0.016384 us.
  EXPECT_NEAR(GemmMicroseconds({.m = 16, .n = 64, .k = 8192}), 7.569686, 1e-6);
  // Parts are at least 512 deep: 2 x 16 x 64 x 576 / (0.59 x 0.5e12), and as
  // much for the partial results.
  EXPECT_NEAR(GemmMicroseconds({.m = 16, .n = 64, .k = 1024}), 4.015191, 1e-6);
}

TEST(RooflineTest, GroupsShareTheWaves) {
  // 20 groups of 5 tiles of 256 x 128 are one wave at 0.8 of the rate.
  EXPECT_NEAR(GemmMicroseconds({.groups = 20, .m = 1280, .n = 128, .k = 448}),
              67.108864 / 0.8, 1e-6);
}

TEST(RooflineTest, AProductRunsInItsPrecision) {
  const Gemm gemm = {.m = 2560, .n = 1280, .k = 448};
  EXPECT_NEAR(GemmMicroseconds(gemm, Precision::kFp8), 67.108864 / 2, 1e-6);
  EXPECT_NEAR(GemmMicroseconds(gemm, Precision::kFp32), 67.108864 * 2, 1e-6);

  GpuSpec without_unit = TestGpu();
  without_unit.peak_tflops[IndexOf(Precision::kFp8)] = 0;
  EXPECT_EQ(GemmFlopsPerSecond(without_unit, Precision::kFp8), 50e12);
  GpuSpec without_calibration = TestGpu();
  without_calibration.calibration.gemm[IndexOf(Precision::kFp8)] = 0;
  EXPECT_EQ(GemmFlopsPerSecond(without_calibration, Precision::kFp8), 50e12);
}

TEST(RooflineTest, AProductOfOneTokenReadsItsWeights) {
  // 2 x (10000 + 10000 x 10000 + 10000) bytes at 0.5 TB/s, and 2 us.
  const OperatorTime time =
      TimeOf({"ffn_up", Gemm{.m = 1, .n = 10000, .k = 10000}});
  EXPECT_NEAR(ToMicroseconds(time.time), 402.08, 2e-6);
  EXPECT_EQ(time.bound, "memory");
}

TEST(RooflineTest, Attention) {
  Attention attention = {.batch = 1,
                         .queries = 1280,
                         .keys = 1280,
                         .heads = 10,
                         .kv_heads = 10,
                         .qk_dim = 100,
                         .v_dim = 100};
  // 2 x 10 x 819840 x (200 + 110) FLOPs at 50 TFLOP/s: 101.66016 us; 100 blocks
  // on 100 SMs: half as much more; and 2 us.
  const OperatorTime forward = TimeOf({"attention", attention});
  EXPECT_NEAR(ToMicroseconds(forward.time), 154.49024, 2e-6);
  EXPECT_EQ(forward.bound, "compute");
  // 2.5 times the FLOPs at 40 TFLOP/s.
  attention.backward = true;
  EXPECT_NEAR(ToMicroseconds(TimeOf({"attention", attention}).time),
              152.49024 * 2.5 * 50 / 40 + 2, 2e-6);
  // FP8 is no faster.
  EXPECT_EQ(TimeOf({"attention", attention, Precision::kFp8}).time,
            TimeOf({"attention", attention}).time);
}

TEST(RooflineTest, DecodingReadsTheCache) {
  // 64 x 2 x 128 x (8 + 8 x 1000) elements of 2 bytes at 0.5 TB/s, and 2 us.
  const OperatorTime time = TimeOf({"attention", Attention{.batch = 64,
                                                           .queries = 1,
                                                           .keys = 1000,
                                                           .heads = 8,
                                                           .kv_heads = 8,
                                                           .qk_dim = 128,
                                                           .v_dim = 128}});
  EXPECT_NEAR(ToMicroseconds(time.time), 526.812288, 2e-6);
  EXPECT_EQ(time.bound, "memory");
}

TEST(RooflineTest, TheDeltaRule) {
  // 6 x 128 x 128 + 2 x 64 x 5 x 128 FLOPs for each of 8000 x 10, at 10
  // TFLOP/s: 1441.792 us, and 2 us.
  const OperatorTime time = TimeOf({"delta_rule", DeltaRule{.batch = 1,
                                                            .positions = 8000,
                                                            .heads = 10,
                                                            .key_dim = 128,
                                                            .value_dim = 128}});
  EXPECT_NEAR(ToMicroseconds(time.time), 1443.792, 2e-6);
  EXPECT_EQ(time.bound, "compute");
}

TEST(RooflineTest, AStreamRunsAtTheShareOfItsName) {
  EXPECT_NEAR(ToMicroseconds(TimeOf({"gelu", Stream{2'000'000}}).time), 6,
              2e-6);
  EXPECT_NEAR(ToMicroseconds(TimeOf({"layer_norm", Stream{1'000'000}}).time), 6,
              2e-6);
  EXPECT_EQ(TimeOf({"gelu", Stream{2'000'000}}).bound, "memory");
}

// A kernel takes 2 us.
TEST(RooflineTest, TheHostAddsToAKernel) {
  EXPECT_NEAR(
      ToMicroseconds(TimeOf({"routing", Stream{.host_ns = 450'000}}).time), 452,
      2e-6);
  EXPECT_EQ(TimeOf({"permute", Stream{0}}).time, Microseconds(2));
}

// Beside the first of 8 kernels of 2 us, 7 more.
TEST(RooflineTest, GroupsMayBeKernelsOfTheirOwn) {
  Gemm gemm = {.groups = 8, .m = 512, .n = 512, .k = 512};
  const TimePs one = TimeOf({"experts_up", gemm}).time;
  gemm.starts_each_group = true;
  EXPECT_EQ(TimeOf({"experts_up", gemm}).time, one + Microseconds(7 * 2));
}

TEST(RooflineTest, NothingIsFasterThanItsKernel) {
  const OperatorTime time = TimeOf({"gelu", Stream{0}});
  EXPECT_EQ(time.time, Microseconds(2));
  EXPECT_EQ(time.bound, "launch");
  EXPECT_EQ(TimeOf({"attention", Attention{.queries = 128}}).time,
            Microseconds(2));
  EXPECT_EQ(TimeOf({"experts_up", Gemm{}}).time, Microseconds(2));

  GpuSpec gpu = TestGpu();
  gpu.calibration.kernel_us = 0;
  EXPECT_EQ(Roofline(gpu).TimeOf({"gelu", Stream{0}}).time, TimePs(1));
}

// Of a larger product, or a longer attention, none is faster.
TEST(RooflineTest, GrowsWithTheWork) {
  for (const GpuSpec& gpu : BundledGpus()) {
    const Roofline roofline(gpu);
    TimePs last[4] = {};
    for (int64_t size = 1; size < 20'000; size += 1 + size / 16) {
      const Operator larger[] = {
          {"ffn_up", Gemm{.m = size, .n = 4096, .k = 5120}},
          {"experts_up", Gemm{.groups = 8, .m = size, .n = 1536, .k = 2048},
           Precision::kFp8},
          {"ffn_up", Gemm{.m = 512, .n = 512, .k = size}},
          {"attention", Attention{.batch = 1,
                                  .queries = 512,
                                  .keys = 511 + size,
                                  .heads = 8,
                                  .kv_heads = 1,
                                  .qk_dim = 192,
                                  .v_dim = 128}}};
      for (size_t i = 0; i < std::size(larger); ++i) {
        const TimePs time = roofline.TimeOf(larger[i]).time;
        EXPECT_GE(time, last[i]) << gpu.name << " " << i << " " << size;
        last[i] = time;
      }
    }
  }
}

// The peaks bound every time, and the largest products come near them.
TEST(RooflineTest, StaysBelowThePeaks) {
  const Operator large = {"ffn_up", Gemm{.m = 16384, .n = 16384, .k = 16384}};
  for (const GpuSpec& gpu : BundledGpus()) {
    const double seconds =
        1e-6 * ToMicroseconds(Roofline(gpu).TimeOf(large).time);
    const double share = Flops(large) / seconds /
                         (1e12 * gpu.peak_tflops[IndexOf(Precision::kBf16)]);
    const double reached = gpu.calibration.gemm[IndexOf(Precision::kBf16)];
    EXPECT_LE(share, reached) << gpu.name;
    EXPECT_GE(share, 0.9 * reached) << gpu.name;
  }
}

}  // namespace
}  // namespace astra
