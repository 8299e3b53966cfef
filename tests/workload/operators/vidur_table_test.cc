#include "workload/operators/vidur_table.h"

#include <string>
#include <vector>

#include "fmt/core.h"
#include "tests/testing/bad_input.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::BadInput;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string& Header() {
  static const std::string* const header = [] {
    auto* text = new std::string;
    for (const char* timed :
         {"emb", "input_layernorm", "attn_pre_proj", "attn_rope",
          "attn_post_proj", "post_attention_layernorm", "mlp_up_proj",
          "mlp_act", "mlp_down_proj", "add"}) {
      *text += fmt::format("time_stats.{0}.max,time_stats.{0}.median,", timed);
    }
    *text +=
        "n_head,n_kv_head,n_embd,n_expanded_embd,vocab_size,use_gated_mlp,"
        "num_tokens,num_tensor_parallel_workers\n";
    return text;
  }();
  return *header;
}

// Medians of 1 ms, 2 ms and so on, in the order of the header.
std::string Table(const std::string& sizes) {
  return Header() + "9,0.001,9,2,9,3,9,4,9,5,9,6,9,7,9,8,9,9,9,10," + sizes +
         "\n";
}

std::vector<OperatorSample> Read(const std::string& table) {
  Warnings warnings;
  std::vector<OperatorSample> samples =
      ValueOrDie(ParseVidurTable("v", table, "H100", &warnings));
  EXPECT_THAT(warnings, IsEmpty());
  return samples;
}

OperatorShape Product(int64_t m, int64_t n, int64_t k) {
  return Gemm{.groups = 1, .m = m, .n = n, .k = k};
}

std::vector<OperatorShape> ShapesOf(const std::vector<OperatorSample>& all) {
  std::vector<OperatorShape> shapes;
  shapes.reserve(all.size());
  for (const OperatorSample& sample : all) shapes.push_back(sample.shape);
  return shapes;
}

// 8 heads of 16, 4 of keys: (8 + 2 x 4) x 16 / 2 = 128 columns on each of two
// GPUs; the gated part is 2 x 512 / 2 wide.
TEST(VidurTableTest, HasTheShapesOfALayer) {
  EXPECT_THAT(
      ShapesOf(Read(Table("8,4,128,512,1000,True,10,2"))),
      ElementsAre(Product(10, 128, 128), Product(10, 128, 64),
                  Product(10, 512, 128), Product(10, 128, 256),
                  Stream{2L * 2 * 10 * 128}, Stream{2L * 2 * 10 * 128},
                  Stream{2L * 2 * 10 * 128}, Stream{2L * 2 * 10 * (4 + 2) * 16},
                  Stream{2L * 3 * 10 * 256}, Stream{2L * 3 * 10 * 128}));
}

TEST(VidurTableTest, WithoutAGateThePartIsHalfAsWide) {
  const std::vector<OperatorSample> samples =
      Read(Table("8,4,128,512,1000,False,10,2"));
  EXPECT_EQ(samples[2].shape, Product(10, 256, 128));
  EXPECT_EQ(samples[8].shape, OperatorShape(Stream{2L * 2 * 10 * 256}));
  EXPECT_EQ(samples[8].name, "gelu");
}

TEST(VidurTableTest, RepeatsHeadsOfKeys) {
  // One head of queries and one of keys on each of eight GPUs.
  EXPECT_EQ(Read(Table("8,4,128,512,1000,True,10,8"))[0].shape,
            Product(10, (1L + 2) * 16, 128));
}

TEST(VidurTableTest, HasMediansInMilliseconds) {
  const std::vector<OperatorSample> samples =
      Read(Table("8,4,128,512,1000,True,10,2"));
  EXPECT_EQ(samples[0], (OperatorSample{.gpu = "H100",
                                        .name = "attn_pre_proj",
                                        .shape = Product(10, 128, 128),
                                        .precision = Precision::kBf16,
                                        .time = Microseconds(3000),
                                        .source = "Vidur profile v"}));
  EXPECT_EQ(samples[4].name, "embedding");
  EXPECT_EQ(samples[4].time, Microseconds(1));
  EXPECT_EQ(samples[5].name, "rms_norm");
  EXPECT_EQ(samples[5].time, Microseconds(2000));
  EXPECT_EQ(samples[6].name, "rms_norm");
  EXPECT_EQ(samples[6].time, Microseconds(6000));
  EXPECT_EQ(samples[8].name, "swiglu");
  EXPECT_EQ(samples[9].name, "residual_add");
}

TEST(VidurTableTest, WarnsOfOtherColumns) {
  Warnings warnings;
  EXPECT_TRUE(
      ParseVidurTable("v", "extra," + Header(), "H100", &warnings).ok());
  EXPECT_THAT(warnings, ElementsAre("v:1:1: column \"extra\" is not used"));
}

class BadVidurTableTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadVidurTableTest, SaysWhatAndWhere) {
  Warnings warnings;
  EXPECT_THAT(ParseVidurTable("v", GetParam().contents, "H100", &warnings),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadVidurTableTest,
    ::testing::Values(
        BadInput{"NoTime", "num_tensor_parallel_workers\n",
                 "v:1:1: no column \"time_stats.attn_pre_proj.median\""},
        BadInput{"NoTokens", Table("8,4,128,512,1000,True,0,2"),
                 "v:2:68: num_tokens is \"0\": expected a whole number from 1 "
                 "to 1048576"},
        BadInput{"HeadsDoNotDivide", Table("8,4,100,512,1000,True,10,2"),
                 "v:2:50: 100 is no multiple of n_head, which is 8"},
        BadInput{"GpusDoNotDivide", Table("8,4,128,512,1000,True,10,3"),
                 "v:2:46: 8 is no multiple of num_tensor_parallel_workers, "
                 "which is 3"},
        BadInput{"NoGate", Table("8,4,128,512,1000,yes,10,2"),
                 "v:2:63: use_gated_mlp is neither True nor False"},
        BadInput{"NoDuration",
                 Header() + "9,0,9,2,9,3,9,4,9,5,9,6,9,7,9,8,9,9,9,10,"
                            "8,4,128,512,1000,True,10,2\n",
                 "v:2:3: time_stats.emb.median is \"0\": expected a number "
                 "from 1e-09 to 1000000"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace astra
