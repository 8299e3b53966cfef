#include "workload/operators/gpu_file.h"

#include <string>

#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::Pair;

constexpr char kFile[] = R"(name: toy
aliases: [Toy-1, Toy-2]
source:
  - a datasheet
architecture: None
sms: 10
clock_MHz: 1000
peak_TFLOPS:
  fp32: 50
  bf16: 100
  fp8: 200
vector_TFLOPS: 5
memory_GB: 16
memory_GBps: 800
l2_cache_MB: 4
nvlink_GBps: 0
pcie_GBps: 32
calibration:
  origin: made up
  error: 0.25
  gemm: {bf16: 0.8, fp8: 0.7, fp32: 0.6}
  grouped_gemm: 0.9
  attention_forward: 0.5
  attention_backward: 0.4
  linear_attention: 0.1
  memory: 0.75
  memory_of:
    layer_norm: 0.5
    adam: 0.6
  kernel_us: 3
  tile_fill_k: 100
)";

// The file with `text`, which is there, in another form.
std::string With(std::string_view text, std::string_view other) {
  std::string changed = kFile;
  const size_t at = changed.find(text);
  ASTRA_CHECK(at != std::string::npos, "no {}", text);
  return changed.replace(at, text.size(), other);
}

TEST(GpuFileTest, ReadsWhatItSays) {
  const GpuSpec gpu = ValueOrDie(ParseGpu("g", kFile));
  EXPECT_EQ(gpu.name, "toy");
  EXPECT_THAT(gpu.aliases, ElementsAre("Toy-1", "Toy-2"));
  EXPECT_THAT(gpu.sources, ElementsAre("a datasheet"));
  EXPECT_EQ(gpu.architecture, "None");
  EXPECT_EQ(gpu.num_sms, 10);
  EXPECT_EQ(gpu.clock_mhz, 1000);
  EXPECT_THAT(gpu.peak_tflops, ElementsAre(50, 100, 200, 200, 0, 0));
  EXPECT_EQ(gpu.vector_tflops, 5);
  EXPECT_EQ(gpu.memory_gb, 16);
  EXPECT_EQ(gpu.memory_gb_per_s, 800);
  EXPECT_EQ(gpu.l2_cache_mb, 4);
  EXPECT_EQ(gpu.nvlink_gb_per_s, 0);
  EXPECT_EQ(gpu.pcie_gb_per_s, 32);
}

TEST(GpuFileTest, ReadsTheCalibration) {
  const Calibration c = ValueOrDie(ParseGpu("g", kFile)).calibration;
  EXPECT_EQ(c.origin, "made up");
  EXPECT_EQ(c.error, 0.25);
  EXPECT_THAT(c.gemm, ElementsAre(0.6, 0.8, 0.7, 0.7, 0.7, 0.7));
  EXPECT_EQ(c.grouped_gemm, 0.9);
  EXPECT_EQ(c.attention_forward, 0.5);
  EXPECT_EQ(c.attention_backward, 0.4);
  EXPECT_EQ(c.linear_attention, 0.1);
  EXPECT_EQ(c.memory, 0.75);
  EXPECT_THAT(c.memory_of,
              ElementsAre(Pair("adam", 0.6), Pair("layer_norm", 0.5)));
  EXPECT_EQ(c.kernel_us, 3);
  EXPECT_EQ(c.tile_fill_k, 100);
}

TEST(GpuFileTest, UnitsForFp4AlsoTakeScales) {
  const std::string rates = With("  fp8: 200", "  fp8: 200\n  fp4: 400");
  EXPECT_THAT(ValueOrDie(ParseGpu("g", rates)).peak_tflops,
              ElementsAre(50, 100, 200, 200, 200, 400));
  const std::string shares =
      With("fp8: 0.7", "fp8: 0.7, fp8_block: 0.6, nvfp4: 0.5");
  EXPECT_THAT(ValueOrDie(ParseGpu("g", shares)).calibration.gemm,
              ElementsAre(0.6, 0.8, 0.7, 0.6, 0.7, 0.5));
}

TEST(GpuFileTest, TheLoadOfShardedTrainingIsThatOfTraining) {
  const Calibration none = ValueOrDie(ParseGpu("g", kFile)).calibration;
  EXPECT_EQ(none.attention_bias, 1);
  EXPECT_EQ(none.training_load, 1);
  EXPECT_EQ(none.sharded_load, 1);
  const std::string one =
      With("  tile_fill_k: 100", "  tile_fill_k: 100\n  training_load: 0.8");
  EXPECT_EQ(ValueOrDie(ParseGpu("g", one)).calibration.sharded_load, 0.8);
  const std::string all =
      With("  tile_fill_k: 100",
           "  tile_fill_k: 100\n  training_load: 0.8\n  sharded_load: 0.7\n  "
           "attention_bias: 0.6");
  const Calibration c = ValueOrDie(ParseGpu("g", all)).calibration;
  EXPECT_EQ(c.training_load, 0.8);
  EXPECT_EQ(c.sharded_load, 0.7);
  EXPECT_EQ(c.attention_bias, 0.6);
}

TEST(GpuFileTest, SaysWhatCudaReportsAndWhatKernelsReach) {
  const GpuSpec none = ValueOrDie(ParseGpu("g", kFile));
  EXPECT_EQ(none.cuda_gib, 0);
  EXPECT_EQ(none.calibration.reached_compute, 0);
  const std::string memory =
      With("memory_GB: 16", "memory_GB: 16\ncuda_GiB: 15");
  EXPECT_EQ(ValueOrDie(ParseGpu("g", memory)).cuda_gib, 15);
  const std::string reached =
      With("  tile_fill_k: 100",
           "  tile_fill_k: 100\n  reached_compute: 0.9\n  reached_memory: 0.8");
  const Calibration c = ValueOrDie(ParseGpu("g", reached)).calibration;
  EXPECT_EQ(c.reached_compute, 0.9);
  EXPECT_EQ(c.reached_memory, 0.8);
}

TEST(GpuFileTest, CollectivesSlowComputationDown) {
  EXPECT_EQ(ValueOrDie(ParseGpu("g", kFile)).calibration.communication_slowdown,
            0);
  const auto with = [](std::string_view share) {
    return ParseGpu("g", With("  tile_fill_k: 100",
                              fmt::format("  tile_fill_k: 100\n  "
                                          "communication_slowdown: {}",
                                          share)));
  };
  EXPECT_EQ(ValueOrDie(with("0.1")).calibration.communication_slowdown, 0.1);
  EXPECT_THAT(with("1"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "g:32:27: communication_slowdown is \"1\": expected a "
                       "number from 0 to 0.999"));
}

TEST(GpuFileTest, Fp8AndNamedSharesMayBeAbsent) {
  std::string file = With("  fp8: 200\n", "");
  file.replace(file.find("fp8: 0.7, "), 10, "");
  file.replace(file.find("  memory_of:"),
               file.find("  kernel_us") - file.find("  memory_of:"), "");
  const GpuSpec gpu = ValueOrDie(ParseGpu("g", file));
  EXPECT_EQ(gpu.peak_tflops[IndexOf(Precision::kFp8)], 0);
  EXPECT_EQ(gpu.calibration.gemm[IndexOf(Precision::kFp8)], 0);
  EXPECT_TRUE(gpu.calibration.memory_of.empty());
}

TEST(GpuFileTest, ReadsAFile) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.PathOf("toy.yaml");
  testing::WriteText(path, kFile);
  EXPECT_EQ(ValueOrDie(ReadGpu(path)).name, "toy");
  EXPECT_THAT(ReadGpu(folder.PathOf("none.yaml")),
              StatusIs(absl::StatusCode::kNotFound, ::testing::_));
}

constexpr char kOrigins[] = R"(origins:
  - {grade: stated, source: a sheet, of: [sms, clock_MHz, peak_TFLOPS,
     vector_TFLOPS, memory_GB, memory_GBps, l2_cache_MB, nvlink_GBps]}
  - {grade: guessed, source: none, of: [pcie_GBps, error, gemm.fp8, memory_of]}
  - {grade: measured, source: a run, of: [gemm, grouped_gemm,
     attention_forward, attention_backward, linear_attention, memory,
     kernel_us, tile_fill_k]}
)";

TEST(GpuFileTest, EachConstantHasAnOrigin) {
  EXPECT_TRUE(ValueOrDie(ParseGpu("g", kFile)).origins.empty());
  const auto origins =
      ValueOrDie(ParseGpu("g", fmt::format("{}{}", kFile, kOrigins))).origins;
  ASSERT_EQ(origins.size(), 3U);
  EXPECT_EQ(origins[0].grade, OriginGrade::kStated);
  EXPECT_EQ(origins[1].grade, OriginGrade::kGuessed);
  EXPECT_EQ(origins[2].source, "a run");
  EXPECT_THAT(origins[1].constants,
              ElementsAre("pcie_GBps", "error", "gemm.fp8", "memory_of"));
}

// The file with `text` of its origins in another form.
std::string WithOrigins(std::string_view text, std::string_view other) {
  std::string origins = kOrigins;
  const size_t at = origins.find(text);
  ASTRA_CHECK(at != std::string::npos, "no {}", text);
  return kFile + origins.replace(at, text.size(), other);
}

struct BadFile {
  std::string contents;
  std::string message;
};

class BadGpuFileTest : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadGpuFileTest, SaysWhatAndWhere) {
  EXPECT_THAT(ParseGpu("g", GetParam().contents),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadGpuFileTest,
    ::testing::Values(
        BadFile{"", "g:1:1: a GPU is nothing, expected a mapping"},
        BadFile{With("name: toy\n", ""), "g:1:1: a GPU has no \"name\""},
        BadFile{With("sms: 10", "sms: 0"),
                "g:6:6: sms is \"0\": expected a whole number from 1 to "
                "100000"},
        BadFile{With("clock_MHz: 1000", "clock_MHz: fast"),
                "g:7:12: clock_MHz is \"fast\": expected a number from 0.001 "
                "to 1000000"},
        BadFile{With("  bf16: 100\n", ""),
                "g:9:3: peak_TFLOPS has no \"bf16\""},
        BadFile{With("  fp8: 200", "  fp6: 200"),
                "g:11:8: unknown field of peak_TFLOPS \"fp6\"; did you mean "
                "\"fp4\"? (known: bf16, fp32, fp4, fp8)"},
        BadFile{With("memory_GBps: 800", "memory_GBps: nan"),
                "g:14:14: memory_GBps is \"nan\": expected a number from 0.001 "
                "to 1000000"},
        BadFile{With("  memory: 0.75", "  memory: 75"),
                "g:26:11: memory is \"75\": expected a number from 0.001 to 1"},
        BadFile{With("    adam: 0.6", "    adam: 0"),
                "g:29:11: adam is \"0\": expected a number from 0.001 to 1"},
        BadFile{With("  error: 0.25", "  error: -1"),
                "g:20:10: error is \"-1\": expected a number from 0 to 10"},
        BadFile{With("  kernel_us: 3", "  kernel_ms: 3"),
                "g:30:14: unknown field of calibration \"kernel_ms\"; did you "
                "mean \"kernel_us\"? (known: attention_backward, "
                "attention_bias, attention_forward, communication_slowdown, "
                "error, gemm, grouped_gemm, kernel_us, linear_attention, "
                "memory, memory_of, origin, reached_compute, reached_memory, "
                "sharded_load, tile_fill_k, training_load)"},
        BadFile{With("architecture: None", "arch: None"),
                "g:5:7: unknown field of a GPU \"arch\"; did you mean "
                "\"architecture\"? (known: aliases, architecture, "
                "calibration, clock_MHz, cuda_GiB, l2_cache_MB, memory_GB, "
                "memory_GBps, name, nvlink_GBps, origins, pcie_GBps, "
                "peak_TFLOPS, sms, source, vector_TFLOPS)"},
        BadFile{std::string(kFile) + "price: 1\n",
                "g:32:8: unknown field of a GPU \"price\" (known: aliases, "
                "architecture, calibration, clock_MHz, cuda_GiB, l2_cache_MB, "
                "memory_GB, "
                "memory_GBps, name, nvlink_GBps, origins, pcie_GBps, "
                "peak_TFLOPS, sms, source, vector_TFLOPS)"},
        BadFile{WithOrigins("pcie_GBps, ", ""),
                "g:33:3: pcie_GBps has no origin"},
        BadFile{WithOrigins("memory_of]", "memory_off]"),
                "g:35:40: unknown constant \"memory_off\"; did you mean "
                "\"memory_of\"? (known: attention_backward, "
                "attention_forward, clock_MHz, error, gemm, gemm.bf16, "
                "gemm.fp32, gemm.fp8, grouped_gemm, kernel_us, l2_cache_MB, "
                "linear_attention, memory, memory_GB, memory_GBps, memory_of, "
                "memory_of.adam, memory_of.layer_norm, nvlink_GBps, "
                "pcie_GBps, peak_TFLOPS, peak_TFLOPS.bf16, peak_TFLOPS.fp32, "
                "peak_TFLOPS.fp8, sms, tile_fill_k, vector_TFLOPS)"},
        BadFile{WithOrigins("pcie_GBps, ", "sms, pcie_GBps, "),
                "g:35:40: sms has two origins"},
        BadFile{WithOrigins("guessed", "gessed"),
                "g:35:13: unknown grade \"gessed\"; did you mean "
                "\"guessed\"? (known: stated, measured, derived, guessed)"}));

}  // namespace
}  // namespace astra
