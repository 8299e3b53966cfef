#include "workload/operators/estimator_table.h"

#include <string>
#include <string_view>
#include <vector>

#include "fmt/core.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string FileOf(std::string_view op) {
  return fmt::format("tables/NVIDIAA100_{}_fp16.csv", op);
}

std::vector<OperatorSample> Read(std::string_view op,
                                 std::string_view contents) {
  Warnings warnings;
  std::vector<OperatorSample> samples =
      ValueOrDie(ParseEstimatorTable(FileOf(op), contents, "A100", &warnings));
  EXPECT_THAT(warnings, IsEmpty());
  return samples;
}

// On 2 GPUs: 4 sequences of 8 positions, 4 heads, a hidden size of 64.
constexpr std::string_view kLayer =
    "mp,b,h,l,dim,F_dur(us),B_dur(us)\n2.0,4.0,4.0,8.0,64.0,10.5,20\n";

TEST(EstimatorTableTest, HasTheProductsOfALayer) {
  const auto shape = [](std::string_view op) {
    const std::vector<OperatorSample> samples = Read(op, kLayer);
    EXPECT_EQ(samples.size(), 1);
    return samples[0].shape;
  };
  const auto product = [](int64_t n, int64_t k) {
    return OperatorShape(Gemm{.groups = 1, .m = 32, .n = n, .k = k});
  };
  EXPECT_EQ(shape("linear1"), product(96, 64));
  EXPECT_EQ(shape("linear2"), product(64, 32));
  EXPECT_EQ(shape("linear3"), product(128, 64));
  EXPECT_EQ(shape("linear4"), product(64, 128));
  // ceil(50257 / 256) x 128 = 197 x 128.
  EXPECT_EQ(shape("linear_final"), product(25216, 64));
}

TEST(EstimatorTableTest, HasTimesAndTheirSource) {
  EXPECT_THAT(
      Read("linear1", kLayer),
      ElementsAre(OperatorSample{
          .gpu = "A100",
          .name = "linear1",
          .shape = Gemm{.groups = 1, .m = 32, .n = 96, .k = 64},
          .precision = Precision::kBf16,
          .time = Nanoseconds(10'500),
          .source = "estimator table tables/NVIDIAA100_linear1_fp16.csv"}));
}

TEST(EstimatorTableTest, HasAttention) {
  const std::vector<OperatorSample> samples = Read(
      "flash_atten", "mp,b,h,l,dim,F_dur(us),B_dur(us)\n2,4,8,16,256,10,25\n");
  ASSERT_EQ(samples.size(), 2);
  Attention attention = {.batch = 4,
                         .queries = 16,
                         .keys = 16,
                         .heads = 4,
                         .kv_heads = 4,
                         .qk_dim = 32,
                         .v_dim = 32,
                         .causal = false};
  EXPECT_EQ(samples[0].shape, OperatorShape(attention));
  EXPECT_EQ(samples[0].time, Microseconds(10));
  attention.backward = true;
  EXPECT_EQ(samples[1].shape, OperatorShape(attention));
  EXPECT_EQ(samples[1].time, Microseconds(25));
}

TEST(EstimatorTableTest, DropsABackwardPassThatIsTooFast) {
  Warnings warnings;
  const std::vector<OperatorSample> samples = ValueOrDie(ParseEstimatorTable(
      FileOf("flash_atten"),
      "mp,b,h,l,dim,F_dur(us),B_dur(us)\n2,4,8,16,256,10,9\n"
      "2,4,8,8,256,5,5\n",
      "A100", &warnings));
  EXPECT_EQ(samples.size(), 2);
  EXPECT_THAT(warnings,
              ElementsAre("tables/NVIDIAA100_flash_atten_fp16.csv: the "
                          "backward pass takes less time than the forward "
                          "pass and is not used"));
}

struct StreamCase {
  std::string op;
  std::string name;
  int64_t forward;   // Bytes.
  int64_t backward;  // 0: none.
};

// 32 positions of 64, or of 4 x 64 / 2 in the middle; 25216 words of the
// vocabulary on each GPU; 2 bytes each.
TEST(EstimatorTableTest, HasStreams) {
  const StreamCase cases[] = {
      {"layernorm", "layer_norm", 2L * 2 * 32 * 64, 2L * 3 * 32 * 64},
      {"RMSlayernorm", "rms_norm", 2L * 2 * 32 * 64, 2L * 3 * 32 * 64},
      {"gelu", "gelu", 2L * 2 * 32 * 128, 2L * 3 * 32 * 128},
      {"embedding", "embedding", 2L * 2 * 32 * 64, 0},
      {"RoPE", "rope", 2L * 2 * 32 * 32, 2L * 2 * 32 * 32},
      {"res_add", "residual_add", 2L * 3 * 32 * 64, 0},
      {"parallel_cross_entropy_128", "cross_entropy", 2L * 13 * 32 * 25216,
       2L * 5 * 32 * 25216},
  };
  for (const StreamCase& expected : cases) {
    const std::vector<OperatorSample> samples = Read(expected.op, kLayer);
    ASSERT_EQ(samples.size(), expected.backward > 0 ? 2 : 1) << expected.op;
    EXPECT_EQ(samples[0].name, expected.name);
    EXPECT_EQ(samples[0].shape, OperatorShape(Stream{expected.forward}))
        << expected.op;
    if (expected.backward == 0) continue;
    EXPECT_EQ(samples[1].name, expected.name);
    EXPECT_EQ(samples[1].shape, OperatorShape(Stream{expected.backward}))
        << expected.op;
  }
}

TEST(EstimatorTableTest, BytesFollowThePrecision) {
  Warnings warnings;
  const std::vector<OperatorSample> samples = ValueOrDie(
      ParseEstimatorTable("G_res_add_fp32.csv", kLayer, "A100", &warnings));
  EXPECT_EQ(samples[0].precision, Precision::kFp32);
  EXPECT_EQ(samples[0].shape, OperatorShape(Stream{4L * 3 * 32 * 64}));
}

TEST(EstimatorTableTest, LeavesOutOtherOperators) {
  Warnings warnings;
  EXPECT_THAT(ValueOrDie(ParseEstimatorTable(
                  FileOf("firstStage_optimizer"),
                  "mp,dim,encoders,dur(us)\n1,2,3,4\n", "A100", &warnings)),
              IsEmpty());
  EXPECT_THAT(warnings,
              ElementsAre("tables/NVIDIAA100_firstStage_optimizer_fp16.csv: "
                          "operator \"firstStage_optimizer\" is not used"));
}

struct BadTable {
  std::string file;
  std::string contents;
  std::string message;
};

class BadEstimatorTableTest : public ::testing::TestWithParam<BadTable> {};

TEST_P(BadEstimatorTableTest, SaysWhatAndWhere) {
  Warnings warnings;
  EXPECT_THAT(ParseEstimatorTable(GetParam().file, GetParam().contents, "A100",
                                  &warnings),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

constexpr std::string_view kHeader = "mp,b,l,dim,F_dur(us),B_dur(us)\n";

INSTANTIATE_TEST_SUITE_P(
    All, BadEstimatorTableTest,
    ::testing::Values(
        BadTable{"linear1.csv", "",
                 "linear1.csv: expected a file named "
                 "GPU_OPERATOR_PRECISION.csv"},
        BadTable{"a_b/G_linear1.csv", "",
                 "a_b/G_linear1.csv: expected a file named "
                 "GPU_OPERATOR_PRECISION.csv"},
        BadTable{"G_linear1_fp16.txt", "",
                 "G_linear1_fp16.txt: expected a file named "
                 "GPU_OPERATOR_PRECISION.csv"},
        BadTable{"G_linear1_fp15.csv", "",
                 "G_linear1_fp15.csv: unknown precision \"fp15\"; did you mean "
                 "\"fp16\"? (known: fp32, bf16, fp16, fp8)"},
        BadTable{"G_gelu_fp16.csv", "mp,b,l,dim,F_dur(us)\n",
                 "G_gelu_fp16.csv:1:1: no column \"B_dur(us)\""},
        BadTable{"G_flash_atten_fp16.csv",
                 std::string(kHeader) + "1,2,3,4,5,6\n",
                 "G_flash_atten_fp16.csv:1:1: no column \"h\""},
        BadTable{"G_gelu_fp16.csv", std::string(kHeader) + "1,2.5,3,4,5,6\n",
                 "G_gelu_fp16.csv:2:3: b is no whole number"},
        BadTable{"G_gelu_fp16.csv", std::string(kHeader) + "3,2,3,4,5,6\n",
                 "G_gelu_fp16.csv:2:7: dim is no multiple of mp = 3"},
        BadTable{"G_gelu_fp16.csv", std::string(kHeader) + "1,0,3,4,5,6\n",
                 "G_gelu_fp16.csv:2:3: b is \"0\": expected a number from 1 "
                 "to 262144"},
        BadTable{"G_gelu_fp16.csv", std::string(kHeader) + "1,2,3,4,5,-6\n",
                 "G_gelu_fp16.csv:2:11: B_dur(us) is \"-6\": expected a "
                 "number from 1e-06 to 1000000000"}));

}  // namespace
}  // namespace astra
