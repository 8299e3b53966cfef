#include "workload/operators/measured_model.h"

#include <string_view>
#include <utility>
#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

// A roofline of one line: so many picoseconds for each byte of a stream, each
// multiplication of a product or each query of attention. Streams of up to 100
// bytes are bound by their launch.
class Line : public ComputeModel {
 public:
  explicit Line(int64_t ps) : ps_(ps) {}

  OperatorTime TimeOf(const Operator& op) const override {
    OperatorTime result = {.bound = "compute", .error = 0.5};
    int64_t work = 0;
    if (const auto* stream = std::get_if<Stream>(&op.shape)) {
      work = stream->bytes;
      result.bound = work <= 100 ? "launch" : "memory";
    } else if (const auto* gemm = std::get_if<Gemm>(&op.shape)) {
      work = gemm->groups * gemm->m * gemm->n * gemm->k;
    } else {
      const auto& attention = std::get<Attention>(op.shape);
      work = attention.queries * (attention.causal ? 1 : 2);
    }
    result.time = TimePs(ps_ * work);
    return result;
  }

 private:
  int64_t ps_;
};

OperatorSample Sample(std::string_view name, const OperatorShape& shape,
                      int64_t ps, std::string_view gpu = "H100") {
  return {.gpu = std::string(gpu),
          .name = std::string(name),
          .shape = shape,
          .precision = Precision::kBf16,
          .time = TimePs(ps)};
}
Gemm Product(int64_t m, int64_t n, int64_t k) {
  return {.groups = 1, .m = m, .n = n, .k = k};
}

// Of an operator on an H100 that takes 10 ps for what takes an A100 30.
OperatorTime TimeOf(std::vector<OperatorSample> samples, const Operator& op) {
  static const Line h100(10);
  static const Line a100(30);
  const MeasuredOperators measured(std::move(samples));
  return MeasuredModel("H100", measured, {{"H100", &h100}, {"A100", &a100}})
      .TimeOf(op);
}

void ExpectTime(const OperatorTime& time, int64_t ps, TimeSource source) {
  EXPECT_EQ(time.time, TimePs(ps));
  EXPECT_EQ(Name(time.source), Name(source));
}

TEST(MeasuredModelTest, FallsBackOnTheRoofline) {
  const OperatorTime time = TimeOf({}, {"norm", Stream{200}});
  ExpectTime(time, 2000, TimeSource::kRoofline);
  EXPECT_EQ(time.bound, "memory");
  EXPECT_EQ(time.error, 0.5);
}

TEST(MeasuredModelTest, KnowsTheShapeItself) {
  const OperatorTime time =
      TimeOf({Sample("norm", Stream{200}, 1), Sample("norm", Stream{300}, 7)},
             {"norm", Stream{300}});
  ExpectTime(time, 7, TimeSource::kMeasured);
  EXPECT_EQ(time.bound, "memory");
  EXPECT_EQ(time.error, 0.05);
}

TEST(MeasuredModelTest, AProductHasAnyName) {
  ExpectTime(
      TimeOf({Sample("qkv", Product(2, 3, 4), 7)}, {"mlp", Product(2, 3, 4)}),
      7, TimeSource::kMeasured);
}

TEST(MeasuredModelTest, OtherStreamsSayNothing) {
  ExpectTime(TimeOf({Sample("norm", Stream{200}, 7)}, {"add", Stream{200}}),
             2000, TimeSource::kRoofline);
}

TEST(MeasuredModelTest, OtherPrecisionsSayNothing) {
  ExpectTime(TimeOf({Sample("qkv", Product(2, 3, 4), 7)},
                    {"qkv", Product(2, 3, 4), Precision::kFp8}),
             240, TimeSource::kRoofline);
}

TEST(MeasuredModelTest, InterpolatesAlongOneDimension) {
  // A quarter of the way from 1000 to 1800.
  const OperatorTime time = TimeOf(
      {Sample("a", Product(16, 3, 4), 1000),
       Sample("a", Product(32, 3, 4), 1800),
       Sample("a", Product(64, 3, 4), 9000), Sample("a", Product(8, 3, 4), 1)},
      {"a", Product(20, 3, 4)});
  ExpectTime(time, 1200, TimeSource::kInterpolated);
  EXPECT_EQ(time.error, 0.10);
}

TEST(MeasuredModelTest, InterpolatesAlongTheNarrowestGap) {
  // m from 16 to 32 is a factor of 2, n from 20 to 30 one of 1.5: half of the
  // way from 500 to 700.
  ExpectTime(TimeOf({Sample("a", Product(16, 25, 4), 1000),
                     Sample("a", Product(32, 25, 4), 2000),
                     Sample("a", Product(24, 20, 4), 500),
                     Sample("a", Product(24, 30, 4), 700)},
                    {"a", Product(24, 25, 4)}),
             600, TimeSource::kInterpolated);
}

TEST(MeasuredModelTest, ScalesTheNearestWhereTheGapIsWide) {
  // 1000 bytes in 4 times the 10 ns of the roofline; 2500 is nearer to 1000
  // than to 10000.
  ExpectTime(TimeOf({Sample("a", Stream{1000}, 40'000),
                     Sample("a", Stream{10'000}, 200'000)},
                    {"a", Stream{2500}}),
             4L * 25'000, TimeSource::kInterpolated);
}

TEST(MeasuredModelTest, ScalesTheNearestOfAGrid) {
  // 20 x 20 x 4 is a factor of 1.25 x 1.25 from the first, 1.6 x 1.6 from the
  // last, 2 from the others. 16 x 16 x 4 at 10 ps are 10240 ps: half of what
  // was measured.
  ExpectTime(TimeOf({Sample("a", Product(16, 16, 4), 20'480),
                     Sample("a", Product(16, 32, 4), 1),
                     Sample("a", Product(32, 16, 4), 1),
                     Sample("a", Product(32, 32, 4), 1)},
                    {"a", Product(20, 20, 4)}),
             2L * 16'000, TimeSource::kInterpolated);
}

TEST(MeasuredModelTest, ExtrapolatesBeyondTheRange) {
  // 1000 bytes in 1.5 times the 10 ns of the roofline.
  const OperatorTime time =
      TimeOf({Sample("a", Stream{500}, 1), Sample("a", Stream{1000}, 15'000)},
             {"a", Stream{3000}});
  ExpectTime(time, 45'000, TimeSource::kExtrapolated);
  EXPECT_EQ(time.error, 0.15);
}

TEST(MeasuredModelTest, WhatIsBoundByAnotherLimitSaysNothing) {
  ExpectTime(TimeOf({Sample("a", Stream{100}, 7)}, {"a", Stream{200}}), 2000,
             TimeSource::kRoofline);
}

TEST(MeasuredModelTest, CarriesOver) {
  // 600 bytes take an A100 1.2 times the 18 ns of its roofline.
  const OperatorTime time =
      TimeOf({Sample("a", Stream{600}, 21'600, "A100")}, {"a", Stream{600}});
  ExpectTime(time, 7200, TimeSource::kCarriedOver);
  EXPECT_EQ(time.error, 0.40);
}

TEST(MeasuredModelTest, CarriesOverWithinTheRangeOnly) {
  const std::vector<OperatorSample> samples = {
      Sample("a", Stream{600}, 21'600, "A100"),
      Sample("a", Stream{900}, 27'000, "A100")};
  // 800 is nearer to 900, which takes an A100 what its roofline says.
  ExpectTime(TimeOf(samples, {"a", Stream{800}}), 8000,
             TimeSource::kCarriedOver);
  ExpectTime(TimeOf(samples, {"a", Stream{1000}}), 10'000,
             TimeSource::kRoofline);
}

TEST(MeasuredModelTest, PrefersItsOwnGpu) {
  ExpectTime(TimeOf({Sample("a", Stream{600}, 21'600, "A100"),
                     Sample("a", Stream{500}, 10'000)},
                    {"a", Stream{600}}),
             12'000, TimeSource::kExtrapolated);
}

TEST(MeasuredModelTest, GpusWithoutARooflineSayNothing) {
  ExpectTime(TimeOf({Sample("a", Stream{600}, 7, "B200")}, {"a", Stream{600}}),
             6000, TimeSource::kRoofline);
}

TEST(MeasuredModelTest, AttentionWithoutAMaskTellsAboutCausalAttention) {
  const auto attention = [](int64_t queries, bool causal) {
    return Attention{.batch = 1,
                     .queries = queries,
                     .keys = 8,
                     .heads = 1,
                     .kv_heads = 1,
                     .qk_dim = 1,
                     .v_dim = 1,
                     .causal = causal};
  };
  // 3 times the 2 x 80 ps of the roofline, and of its 80 ps.
  ExpectTime(TimeOf({Sample("a", attention(8, false), 480)},
                    {"a", attention(8, true)}),
             240, TimeSource::kExtrapolated);
}

TEST(MeasuredModelTest, IsNeverZero) {
  ExpectTime(TimeOf({Sample("a", Stream{1'000'000}, 1)}, {"a", Stream{101}}), 1,
             TimeSource::kExtrapolated);
}

}  // namespace
}  // namespace astra
