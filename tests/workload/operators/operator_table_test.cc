#include "workload/operators/operator_table.h"

#include <string>
#include <string_view>

#include "tests/testing/bad_input.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::BadInput;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

constexpr std::string_view kTable =
    "gpu,operator,precision,groups,m,n,k,batch,queries,keys,heads,kv_heads,"
    "qk_dim,v_dim,causal,window,backward,bytes,time_us,source\n"
    "H100,qkv,bf16,1,4096,12288,2048,,,,,,,,,,,,584.5,\"nsys, 2024\"\n"
    "H100,experts,fp8,8,16,32,64,,,,,,,,,,,,20,\n"
    "H100,flash,bf16,,,,,2,128,4096,32,8,192,128,false,0,true,,0.000001,\n"
    "H100,gdn,bf16,,,,,2,512,,16,,128,64,,,false,,7,\n"
    "A100,norm,fp32,,,,,,,,,,,,,,,67108864,66.5,\n";

OperatorSamples Expected() {
  return {{.gpu = "H100",
           .name = "qkv",
           .shape = Gemm{.groups = 1, .m = 4096, .n = 12288, .k = 2048},
           .precision = Precision::kBf16,
           .time = Nanoseconds(584'500),
           .source = "nsys, 2024"},
          {.gpu = "H100",
           .name = "experts",
           .shape = Gemm{.groups = 8, .m = 16, .n = 32, .k = 64},
           .precision = Precision::kFp8,
           .time = Microseconds(20)},
          {.gpu = "H100",
           .name = "flash",
           .shape = Attention{.batch = 2,
                              .queries = 128,
                              .keys = 4096,
                              .heads = 32,
                              .kv_heads = 8,
                              .qk_dim = 192,
                              .v_dim = 128,
                              .causal = false,
                              .backward = true},
           .precision = Precision::kBf16,
           .time = TimePs(1)},
          {.gpu = "H100",
           .name = "gdn",
           .shape = DeltaRule{.batch = 2,
                              .positions = 512,
                              .heads = 16,
                              .key_dim = 128,
                              .value_dim = 64},
           .precision = Precision::kBf16,
           .time = Microseconds(7)},
          {.gpu = "A100",
           .name = "norm",
           .shape = Stream{67'108'864},
           .precision = Precision::kFp32,
           .time = Nanoseconds(66'500)}};
}

TEST(OperatorTableTest, ReadsWhatItSays) {
  EXPECT_EQ(ValueOrDie(ParseOperatorTable("t", kTable)), Expected());
}

TEST(OperatorTableTest, WritesWhatItRead) {
  EXPECT_EQ(FormatOperatorTable(Expected()), kTable);
}

TEST(OperatorTableTest, NeedsOnlyTheColumnsOfItsShapes) {
  const OperatorSamples samples = ValueOrDie(ParseOperatorTable(
      "t", "time_us,k,n,m,gpu,operator,precision\n5,3,2,1,A,x,fp16\n"));
  EXPECT_THAT(samples,
              ElementsAre(OperatorSample{.gpu = "A",
                                         .name = "x",
                                         .shape = Gemm{.m = 1, .n = 2, .k = 3},
                                         .precision = Precision::kBf16,
                                         .time = Microseconds(5)}));
}

TEST(OperatorTableTest, EmptyCellsHaveDefaults) {
  const OperatorSamples samples = ValueOrDie(ParseOperatorTable(
      "t",
      "gpu,operator,precision,batch,queries,keys,heads,kv_heads,qk_dim,v_dim,"
      "causal,backward,time_us\nA,x,bf16,1,2,3,4,5,6,7,,,8\n"));
  const auto& attention = std::get<Attention>(samples[0].shape);
  EXPECT_TRUE(attention.causal);
  EXPECT_FALSE(attention.backward);
  EXPECT_EQ(attention.window, 0);
}

TEST(OperatorTableTest, ReadsFilesInAnyForm) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.PathOf("A100_res_add_fp16.csv");
  Warnings warnings;
  testing::WriteText(path, kTable);
  EXPECT_EQ(ValueOrDie(ReadOperatorTable(path, "", &warnings)), Expected());
  testing::WriteText(path, "b,l,dim,F_dur(us),B_dur(us)\n2,3,4,5,5\n");
  EXPECT_EQ(ValueOrDie(ReadOperatorTable(path, "G", &warnings))[0].name,
            "residual_add");
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(
      ReadOperatorTable(folder.PathOf("none"), "", &warnings).status().code(),
      absl::StatusCode::kNotFound);
}

TEST(OperatorTableTest, NeedsAGpuWhereTheTableNamesNone) {
  Warnings warnings;
  EXPECT_THAT(
      ParseAnyOperatorTable("t", "b,l,dim,F_dur(us),B_dur(us)\n", "",
                            &warnings),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "t: the table does not say on which GPU it was measured: say so "
               "with --table-gpu NAME"));
}

class BadOperatorTableTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadOperatorTableTest, SaysWhatAndWhere) {
  Warnings warnings;
  EXPECT_THAT(ParseAnyOperatorTable("t", GetParam().contents, "", &warnings),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

std::string Row(const std::string& row) {
  return "gpu,operator,precision,m,n,k,queries,keys,backward,bytes,time_us\n" +
         row + "\n";
}

INSTANTIATE_TEST_SUITE_P(
    All, BadOperatorTableTest,
    ::testing::Values(
        BadInput{"Empty", "",
                 "t:1:1: no line: expected the names of the columns"},
        BadInput{"UnknownColumn", "gpu,operater\n",
                 "t:1:5: unknown column \"operater\"; did you mean "
                 "\"operator\"? (known: gpu, operator, precision, groups, m, "
                 "n, k, batch, queries, keys, heads, kv_heads, qk_dim, v_dim, "
                 "causal, window, backward, bytes, time_us, source)"},
        BadInput{"NoTime", "gpu,operator,precision,bytes\n",
                 "t:1:1: no column \"time_us\""},
        BadInput{"NoGpu", Row(",x,bf16,1,2,3,,,,,5"),
                 "t:2:1: gpu is \"\": expected a name"},
        BadInput{"ControlCharacter", Row("A,\x01,bf16,1,2,3,,,,,5"),
                 "t:2:3: operator is \"\\x01\": expected a name"},
        BadInput{"UnknownPrecision", Row("A,x,bf61,1,2,3,,,,,5"),
                 "t:2:5: unknown precision \"bf61\"; did you mean \"bf16\"? "
                 "(known: fp32, bf16, fp16, fp8)"},
        BadInput{"NoShape", Row("A,x,bf16,,,,,,,,5"),
                 "t:2:1: no shape: expected m, keys, queries or bytes"},
        BadInput{"TwoShapes", Row("A,x,bf16,1,2,3,,,,4,5"),
                 "t:2:19: a product has no bytes"},
        BadInput{"ShapeIsIncomplete", Row("A,x,bf16,1,2,,,,,,5"),
                 "t:2:14: a product lacks k"},
        BadInput{"ColumnIsLacking", Row("A,x,bf16,,,,1,2,,,5"),
                 "t:2:1: attention lacks batch"},
        BadInput{"NoSize", Row("A,x,bf16,0,2,3,,,,,5"),
                 "t:2:10: m is \"0\": expected a whole number from 1 to "
                 "1099511627776"},
        BadInput{"NoFlag",
                 "gpu,operator,precision,batch,queries,keys,heads,kv_heads,"
                 "qk_dim,v_dim,backward,time_us\n"
                 "A,x,bf16,1,2,3,4,5,6,7,yes,8\n",
                 "t:2:24: backward is \"yes\": expected true or false"},
        BadInput{"NoDuration", Row("A,x,bf16,1,2,3,,,,,0"),
                 "t:2:20: time_us is \"0\": expected a number from 1e-06 to "
                 "1000000000"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace astra
