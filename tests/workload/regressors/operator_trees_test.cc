#include "workload/regressors/operator_trees.h"

#include <cmath>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/testing/matchers.h"
#include "workload/operators/fitted_model.h"
#include "workload/operators/gpu_library.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using enum absl::StatusCode;

// Products that take twice their bound, or four times below 512 rows.
std::vector<OperatorSample> Products(const GpuSpec& gpu) {
  std::vector<OperatorSample> samples;
  const FittedOperators bound = {
      .gpu = gpu.name,
      .peak_tflops = gpu.peak_tflops[IndexOf(Precision::kBf16)],
      .memory_gb_per_s = gpu.memory_gb_per_s,
      .classes = {}};
  for (int64_t m = 64; m <= 8192; m += 64) {
    OperatorSample sample = {.gpu = gpu.name,
                             .name = "qkv",
                             .shape = Gemm{.m = m, .n = 4096, .k = 4096},
                             .source = "test"};
    const double share = m < 512 ? 4 : 2;
    sample.time =
        TimePs(std::llround(1e12 * share * bound.BoundOf(sample.op())));
    samples.push_back(std::move(sample));
  }
  return samples;
}

class None : public ComputeModel {
 public:
  OperatorTime TimeOf(const Operator&) const override {
    return {.time = TimePs(1)};
  }
};

TEST(FitOperatorsTest, LearnsTheShareOfTheBound) {
  const GpuSpec gpu = ValueOrDie(FindGpu("H100"));
  for (const TreeKind kind : {TreeKind::kForest, TreeKind::kBoosted}) {
    Warnings warnings;
    const std::vector<OperatorSample> samples = Products(gpu);
    const FittedTrees fitted =
        ValueOrDie(FitOperators(samples, gpu, kind, 4, &warnings));
    EXPECT_THAT(warnings, ElementsAre());
    ASSERT_EQ(fitted.operators.classes.size(), 1U);
    EXPECT_LT(fitted.operators.classes[0].error, 0.03);
    const None others;
    const FittedModel model(fitted.operators, others);
    for (const OperatorSample& sample : samples) {
      // Trees of a part of the samples put the step elsewhere.
      const int64_t m = std::get<Gemm>(sample.shape).m;
      if (std::abs(m - 512) < 256) continue;
      EXPECT_NEAR(static_cast<double>(model.TimeOf(sample.op()).time.count()) /
                      static_cast<double>(sample.time.count()),
                  1, 0.02);
    }
    // Beyond the samples the bound still grows.
    const Operator larger = {"qkv", Gemm{.m = 81920, .n = 4096, .k = 4096}};
    EXPECT_NEAR(static_cast<double>(model.TimeOf(larger).time.count()) * 1e-12 /
                    fitted.operators.BoundOf(larger),
                2, 0.05);
  }
}

TEST(FitOperatorsTest, NamesWhatItLeavesOut) {
  const GpuSpec gpu = ValueOrDie(FindGpu("H100"));
  std::vector<OperatorSample> samples = Products(gpu);
  samples.push_back({.gpu = "a100-sxm",
                     .name = "qkv",
                     .shape = Gemm{.m = 1, .n = 1, .k = 1},
                     .time = TimePs(1),
                     .source = ""});
  samples.push_back({.gpu = gpu.name,
                     .name = "norm",
                     .shape = Stream{.bytes = 1},
                     .time = TimePs(1),
                     .source = ""});
  Warnings warnings;
  ASSERT_TRUE(FitOperators(samples, gpu, TreeKind::kForest, 2, &warnings).ok());
  EXPECT_THAT(
      warnings,
      ElementsAre("1 samples of GPUs other than h100-sxm are left out",
                  "stream bf16 name=norm: 1 shapes are too few to fit trees "
                  "to: expected 20 or more"));
  EXPECT_THAT(
      FitOperators({samples.back()}, gpu, TreeKind::kForest, 2, &warnings)
          .status(),
      StatusIs(kInvalidArgument, HasSubstr("no class of operators ")));
}

}  // namespace
}  // namespace astra
