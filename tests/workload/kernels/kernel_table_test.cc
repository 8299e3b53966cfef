#include "workload/kernels/kernel_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace astra {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

constexpr std::string_view kProducts =
    "# aic; the same in all rows: framework=VLLM; op_name=gemm\n"
    "gemm_dtype,m,n,k,latency\n"
    "bfloat16,1,32,64,0.002\n"
    "bfloat16,2,32,64,0.004\n"
    "bfloat16,2,32,64,0.009\n";

KernelTable Parsed(std::string_view text, std::string_view file = "f.csv") {
  const absl::StatusOr<KernelTable> table = ParseKernelTable(file, text);
  EXPECT_TRUE(table.ok()) << table.status();
  return table.ok() ? *table : KernelTable{};
}

std::string ProblemOf(std::string_view text) {
  return Parsed(text).rows.at(0).problem;
}

TEST(KernelTableTest, RowsAreCallsWithTheirTimes) {
  const KernelTable table = Parsed(kProducts);
  EXPECT_EQ(table.backend, "vllm");
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows[0].problem, "");
  EXPECT_EQ(table.rows[0].line, 3u);
  EXPECT_EQ(table.rows[0].call.family->name, "gemm");
  EXPECT_THAT(table.rows[0].call.words, ElementsAre("bfloat16"));
  EXPECT_EQ(table.rows[1].call.point[0], 2);
  EXPECT_EQ(table.rows[1].latency_ms, 0.004);
}

TEST(KernelTableTest, TheNameOfTheFileTellsTheFamilyToo) {
  const KernelTable table =
      Parsed("kv_cache_dtype,num_heads,batch_size,isl,latency\nfp8,8,1,16,1\n",
             "dir/context_mla_trtllm.csv");
  EXPECT_EQ(table.rows.at(0).call.family->name, "context_mla");
}

TEST(KernelTableTest, FillsInWhatAttentionDoesNotSay) {
  const KernelTable table = Parsed(
      "op_name,attn_dtype,kv_cache_dtype,batch_size,isl,num_heads,"
      "num_key_value_heads,head_dim,step,latency\n"
      "context_attention,fp8,fp8,1,16,8,0,128,32,1\n");
  const KernelCall& call = table.rows.at(0).call;
  EXPECT_EQ(call.sizes[1], 8);  // As many as heads.
  EXPECT_EQ(call.sizes[3], 0);  // No window.
  EXPECT_EQ(call.past, 32);
}

TEST(KernelTableTest, NemotronsExpertsHaveTwoMatrices) {
  constexpr std::string_view kColumns =
      "op_name,kernel_source,moe_dtype,num_tokens,hidden_size,inter_size,topk,"
      "num_experts,moe_tp_size,moe_ep_size,distribution,version,latency\n";
  const auto matrices = [&](std::string_view row) {
    return Parsed(std::string(kColumns) + std::string(row))
        .rows.at(0)
        .call.sizes[6];
  };
  EXPECT_EQ(matrices("moe,a,fp8,1,2688,1856,6,128,1,1,balanced,0.24.0,1\n"), 2);
  EXPECT_EQ(matrices("moe,a,fp8,1,2688,1856,6,128,1,1,balanced,0.14.0,1\n"), 3);
  EXPECT_EQ(matrices("moe,nongated,fp8,1,64,64,6,128,1,1,balanced,1,1\n"), 2);
  EXPECT_EQ(matrices("moe,a,fp8,1,64,64,6,128,1,1,power_law_1.2,1,1\n"), 3);
}

TEST(KernelTableTest, ARowThatIsNotKnownSaysWhy) {
  EXPECT_THAT(ProblemOf("op_name,latency\nall_reduce,1\n"),
              StartsWith("unknown op_name \"all_reduce\""));
  EXPECT_THAT(ProblemOf("op_name,gemm_dtype,m,n,k,latency\n"
                        "gemm,fp9,1,1,1,1\n"),
              StartsWith("unknown gemm_dtype \"fp9\"; did you mean \"fp8\"?"));
  EXPECT_EQ(ProblemOf("op_name,gemm_dtype,m,n,latency\ngemm,fp8,1,1,1\n"),
            "no column k");
  EXPECT_THAT(ProblemOf("op_name,gemm_dtype,m,n,k,latency\n"
                        "gemm,fp8,x,1,1,1\n"),
              StartsWith("m"));
  EXPECT_THAT(ProblemOf("op_name,gemm_dtype,m,n,k,latency\n"
                        "gemm,fp8,1,1,1,nan\n"),
              StartsWith("latency"));
}

TEST(KernelTableTest, RefusesWhatIsNoTable) {
  const auto error = [](std::string_view text) {
    return std::string(ParseKernelTable("f.csv", text).status().message());
  };
  EXPECT_THAT(error("# only a comment\nm,n\n1,2\n"), StartsWith("f.csv:2:"));
  EXPECT_THAT(error("m,latency\n1\n"), StartsWith("f.csv:2:"));
  EXPECT_FALSE(IsKernelTable("gpu,operator,time_us\n"));
  EXPECT_TRUE(IsKernelTable(kProducts));
}

TEST(KernelTableTest, ASurfaceHasTheGeometricMeanOfRepeats) {
  const auto surfaces = SurfacesOf(Parsed(kProducts), "h100-sxm");
  ASSERT_TRUE(surfaces.ok()) << surfaces.status();
  ASSERT_EQ(surfaces->size(), 1u);
  const SurfaceTimes& times = (*surfaces)[0];
  EXPECT_THAT(times.axes[0], ElementsAre(1, 2));
  EXPECT_FLOAT_EQ(times.log_us.at(0), std::log(2.0F));
  EXPECT_FLOAT_EQ(times.log_us.at(1), std::log(6.0F));
  // The quantile of 0.5 % of 2, 4 and 9 us.
  EXPECT_NEAR(times.floor_us, 2 + 0.01 * 2, 1e-9);
}

TEST(KernelTableTest, ATableOfOnesOwnMustBeRight) {
  const auto error = [](std::string_view row) {
    const KernelTable table =
        Parsed("op_name,gemm_dtype,m,n,k,latency\n" + std::string(row));
    return std::string(SurfacesOf(table, "h100-sxm").status().message());
  };
  EXPECT_EQ(error("gemm,fp8,1,1,1,0\n"),
            "f.csv:2:16: latency is 0: expected a time above 0");
  EXPECT_THAT(error("gemm,fp9,1,1,1,1\n"),
              StartsWith("f.csv:2:6: unknown gemm_dtype"));
}

}  // namespace
}  // namespace astra
