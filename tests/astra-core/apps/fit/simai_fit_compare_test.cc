#include "astra-core/apps/fit/simai_fit_compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workload/kernels/surface_library.h"
#include "workload/operators/gpu_library.h"

namespace astra {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

KernelComparison Compare(std::string_view text) {
  const auto table = ParseKernelTable("f.csv", text);
  EXPECT_TRUE(table.ok()) << table.status();
  const KernelPredictor predictor(*FindGpu("H100"), BundledSurfaces());
  return CompareKernels(*table, predictor);
}

TEST(CompareKernelsTest, EachRowHasATimeAndItsSourceOrAReason) {
  // The first row is one of vLLM's table.
  const KernelComparison comparison = Compare(
      "# x; the same in all rows: op_name=gemm\n"
      "gemm_dtype,m,n,k,latency\n"
      "bfloat16,32768,65536,12288,60.324\n"
      "bfloat16,1,32,32,0\n"
      "fp9,1,32,32,1\n");
  EXPECT_EQ(comparison.num_rows, 3u);
  EXPECT_THAT(comparison.csv,
              StartsWith("gemm_dtype,m,n,k,latency,predicted_ms,error_pct,"
                         "status\nbfloat16,32768,65536,12288,60.324,60."));
  EXPECT_THAT(comparison.csv, HasSubstr(",ok: measured\n"));
  EXPECT_THAT(comparison.csv, HasSubstr(",,the measured time is 0\n"));
  EXPECT_THAT(comparison.csv,
              HasSubstr("fp9,1,32,32,1,,,\"unknown gemm_dtype"));
  EXPECT_THAT(comparison.summary, HasSubstr("gemm bfloat16"));
  EXPECT_THAT(comparison.summary, HasSubstr("without an error"));
}

TEST(CompareKernelsTest, TheErrorIsOfThePrediction) {
  const KernelComparison comparison = Compare(
      "op_name,gemm_dtype,m,n,k,latency\n"
      "gemm,bfloat16,32768,65536,12288,30.162\n");
  EXPECT_THAT(comparison.csv,
              ::testing::ContainsRegex(",(99|100)\\.[0-9]+,ok: measured"));
}

}  // namespace
}  // namespace astra
