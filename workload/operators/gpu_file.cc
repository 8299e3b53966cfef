#include "workload/operators/gpu_file.h"

#include <utility>
#include <vector>

#include "astra-core/base/files.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_reader.h"
#include "workload/operators/gpu_origins.h"

namespace astra {
namespace {

// These limits include every GPU and keep all times from overflowing.
constexpr double kLeastShare = 1e-3;
constexpr double kLeastRate = 1e-3;
constexpr double kMostRate = 1e6;
constexpr double kMostError = 10;
constexpr int64_t kMostSms = 100'000;

double Share(YamlFields& fields, std::string_view key) {
  return fields.Number(key, kLeastShare, 1);
}

double Rate(YamlFields& fields, std::string_view key) {
  return fields.Number(key, kLeastRate, kMostRate);
}

void ReadPeaks(YamlFields fields, GpuSpec& gpu) {
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    gpu.peak_tflops[IndexOf(precision)] = Rate(fields, Name(precision));
  }
  const auto set = [&gpu](Precision precision, double rate) {
    gpu.peak_tflops[IndexOf(precision)] = rate;
  };
  const double fp8 =
      fields.NumberOr(Name(Precision::kFp8), 0, kLeastRate, kMostRate);
  const double fp4 = fields.NumberOr("fp4", 0, kLeastRate, kMostRate);
  set(Precision::kFp8, fp8);
  set(Precision::kFp8Block, fp8);
  // Tensor cores with FP4 are also those that take scales.
  set(Precision::kMxfp8, fp4 > 0 ? fp8 : 0);
  set(Precision::kNvfp4, fp4);
  fields.Close();
}

void ReadGemm(YamlFields fields, Calibration& calibration) {
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    calibration.gemm[IndexOf(precision)] = Share(fields, Name(precision));
  }
  double otherwise = 0;
  for (const Precision precision : {Precision::kFp8, Precision::kFp8Block,
                                    Precision::kMxfp8, Precision::kNvfp4}) {
    const double share =
        fields.NumberOr(Name(precision), otherwise, kLeastShare, 1);
    calibration.gemm[IndexOf(precision)] = share;
    if (precision == Precision::kFp8) otherwise = share;
  }
  fields.Close();
}

Calibration ReadCalibration(YamlFields fields) {
  Calibration calibration;
  calibration.origin = fields.Text("origin");
  calibration.error = fields.Number("error", 0, kMostError);
  ReadGemm(fields.Map("gemm", "gemm"), calibration);
  calibration.grouped_gemm = Share(fields, "grouped_gemm");
  calibration.attention_forward = Share(fields, "attention_forward");
  calibration.attention_backward = Share(fields, "attention_backward");
  calibration.attention_bias =
      fields.NumberOr("attention_bias", 1, kLeastShare, 1);
  calibration.linear_attention = Share(fields, "linear_attention");
  calibration.memory = Share(fields, "memory");
  YamlFields named = fields.Map("memory_of", "memory_of");
  for (const std::string& name : named.keys()) {
    calibration.memory_of[name] = Share(named, name);
  }
  calibration.kernel_us = fields.Number("kernel_us", 0, kMostRate);
  calibration.tile_fill_k = fields.Number("tile_fill_k", 0, kMostRate);
  calibration.reached_compute =
      fields.NumberOr("reached_compute", 0, kLeastShare, 1);
  calibration.reached_memory =
      fields.NumberOr("reached_memory", 0, kLeastShare, 1);
  calibration.training_load =
      fields.NumberOr("training_load", 1, kLeastShare, 1);
  calibration.sharded_load = fields.NumberOr(
      "sharded_load", calibration.training_load, kLeastShare, 1);
  calibration.communication_slowdown =
      fields.NumberOr("communication_slowdown", 0, 0, 1 - kLeastShare);
  fields.Close();
  return calibration;
}

}  // namespace

absl::StatusOr<GpuSpec> ParseGpu(std::string_view file,
                                 std::string_view contents) {
  YamlDocument document(file, contents);
  YamlFields fields = document.Root("a GPU");
  GpuSpec gpu;
  gpu.name = fields.Text("name");
  gpu.aliases = fields.Texts("aliases");
  gpu.sources = fields.Texts("source");
  gpu.architecture = fields.Text("architecture");
  gpu.num_sms = fields.Integer("sms", 1, kMostSms);
  gpu.clock_mhz = Rate(fields, "clock_MHz");
  ReadPeaks(fields.Map("peak_TFLOPS", "peak_TFLOPS"), gpu);
  gpu.vector_tflops = Rate(fields, "vector_TFLOPS");
  gpu.memory_gb = Rate(fields, "memory_GB");
  gpu.cuda_gib = fields.NumberOr("cuda_GiB", 0, kLeastRate, gpu.memory_gb);
  gpu.memory_gb_per_s = Rate(fields, "memory_GBps");
  gpu.l2_cache_mb = Rate(fields, "l2_cache_MB");
  gpu.nvlink_gb_per_s = fields.Number("nvlink_GBps", 0, kMostRate);
  gpu.pcie_gb_per_s = fields.Number("pcie_GBps", 0, kMostRate);
  gpu.calibration = ReadCalibration(fields.Map("calibration", "calibration"));
  std::vector<YamlFields> origins = fields.Maps("origins", "an origin");
  fields.Close();
  gpu.origins = ReadOrigins(fields, std::move(origins));
  ASTRA_RETURN_IF_ERROR(document.status());
  return gpu;
}

absl::StatusOr<GpuSpec> ReadGpu(const std::string& path) {
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
  return ParseGpu(path, contents);
}

}  // namespace astra
