#include "workload/operators/fitted_operators.h"

#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "tests/testing/matchers.h"
#include "workload/operators/fitted_model.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::HasSubstr;
using enum absl::StatusCode;

// A product takes its bound below 1024 rows, and e times its bound from there
// on: feature 1 of a product is m.
constexpr std::string_view kFile =
    "simai-operator-trees 1\n"
    "gpu h100-sxm\n"
    "peak_tflops 1000\n"
    "memory_gb_per_s 2000\n"
    "class product bf16\n"
    "samples 30 error 0.04\n"
    "sizes 1..1 64..4096 512..8192 512..8192 1..1 1..1 1..1 1..1\n"
    "start 0\n"
    "tree 3\n"
    "1 1024 1 2\n"
    "leaf 0\n"
    "leaf 1\n"
    "class stream bf16 name=norm\n"
    "samples 20 error 0.3\n"
    "sizes 100..1000000 1..1 1..1 1..1 1..1 1..1 1..1 1..1\n"
    "start 0.5\n";

class Everything : public ComputeModel {
 public:
  OperatorTime TimeOf(const Operator&) const override {
    return {.time = TimePs(7), .bound = "launch", .error = 0.5};
  }
};

OperatorTime TimeOf(const Operator& op) {
  static const Everything others;
  return FittedModel(ValueOrDie(ParseFittedOperators("f", kFile)), others)
      .TimeOf(op);
}

Operator Product(int64_t m) {
  return {"qkv", Gemm{.m = m, .n = 2048, .k = 2048}, Precision::kBf16};
}

// 2 x 1023 x 2048^2 / 10^15 = 8.581546... us, which is more than the bytes
// take.
TEST(FittedModelTest, TimesAreSharesOfTheBound) {
  const OperatorTime below = TimeOf(Product(1023));
  EXPECT_EQ(below.time, TimePs(8'581'546));
  EXPECT_EQ(below.source, TimeSource::kInterpolated);
  EXPECT_EQ(below.error, 0.04);
  const double bound = 2.0 * 1024 * 2048 * 2048 / 1e3;
  EXPECT_NEAR(static_cast<double>(TimeOf(Product(1024)).time.count()),
              bound * std::exp(1.0), 1);
}

TEST(FittedModelTest, SaysWhatWasNotSampled) {
  const OperatorTime beyond = TimeOf(Product(4097));
  EXPECT_EQ(beyond.source, TimeSource::kExtrapolated);
  EXPECT_EQ(beyond.error, 0.15);
  EXPECT_EQ(TimeOf(Product(4096)).source, TimeSource::kInterpolated);
}

TEST(FittedModelTest, OtherClassesHaveOtherTimes) {
  const OperatorTime time =
      TimeOf({"add", Stream{.bytes = 500}, Precision::kBf16});
  EXPECT_EQ(time.time, TimePs(7));
  EXPECT_EQ(time.source, TimeSource::kRoofline);
}

// 2000 bytes take 1 ns at the memory's rate.
TEST(FittedModelTest, AStreamWaitsForItsHost) {
  const OperatorTime time =
      TimeOf({"norm", Stream{.bytes = 2000, .host_ns = 3}, Precision::kBf16});
  EXPECT_EQ(time.time, TimePs(1649 + 3000));  // e^0.5 ns and 3 ns.
}

TEST(FittedOperatorsTest, ReadsWhatItWrites) {
  const FittedOperators read = ValueOrDie(ParseFittedOperators("f", kFile));
  EXPECT_EQ(FormatFittedOperators(read), kFile);
  EXPECT_TRUE(IsFittedOperators(kFile));
}

TEST(FittedOperatorsTest, SaysWhatIsWrongAndWhere) {
  const auto error = [](std::string_view from, std::string_view to) {
    std::string text(kFile);
    text.replace(text.find(from), from.size(), to);
    return ParseFittedOperators("f", text).status();
  };
  EXPECT_THAT(error("trees 1", "trees 2"),
              StatusIs(kInvalidArgument, "f:1:22: expected version 1"));
  EXPECT_THAT(error("gpu h", "cpu h"),
              StatusIs(kInvalidArgument, "f:2:1: \"cpu\": expected \"gpu\""));
  EXPECT_THAT(error("product", "prodct"),
              StatusIs(kInvalidArgument,
                       HasSubstr("f:5:7: unknown shape \"prodct\"; did you "
                                 "mean \"product\"?")));
  EXPECT_THAT(error("512..8192", "8192..512"),
              StatusIs(kInvalidArgument,
                       "f:7:21: \"8192..512\": expected LEAST..MOST"));
  EXPECT_THAT(error("1 1024 1 2", "1 1024 0 2"),
              StatusIs(kInvalidArgument,
                       "f:8:1: node 0 of tree 0: it leads to node 0: expected "
                       "a later one of the 3 nodes"));
  EXPECT_THAT(error("1 1024 1 2", "10 1024 1 2"),
              StatusIs(kInvalidArgument, HasSubstr("f:10:1: ")));
  EXPECT_THAT(
      error("leaf 1\n", ""),
      StatusIs(kInvalidArgument, "f:12:7: \"stream\": expected a number"));
  EXPECT_THAT(error("class stream bf16 name=norm", "class product bf16"),
              StatusIs(kInvalidArgument,
                       "f:13:1: product bf16: expected classes in order, each "
                       "once"));
  EXPECT_THAT(error(" name=norm", ""),
              StatusIs(kInvalidArgument,
                       "f:13:18: expected name=NAME for streams, and only "
                       "them"));
}

}  // namespace
}  // namespace astra
