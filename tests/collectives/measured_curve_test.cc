#include "collectives/measured_curve.h"

#include <cmath>

#include "absl/status/status.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::DoubleNear;

MeasuredCurve ThreeSizes() {
  return {{KiB(1), KiB(4), KiB(32)}, {10, 20, 160}, "a.csv"};
}

// A model of 2 us, and 1 us for each KiB.
absl::StatusOr<double> ModelUs(Bytes bytes) {
  return 2 + static_cast<double>(bytes.count()) / 1024;
}

// A model that must not be asked.
absl::StatusOr<double> NoModel(Bytes /*bytes*/) {
  return absl::InternalError("the model was asked");
}

double TimeOf(int64_t bytes) {
  return ValueOrDie(MeasuredTimeOf(ThreeSizes(), Bytes(bytes), ModelUs))
      .time_us;
}

TEST(MeasuredCurveTest, AMeasuredSizeHasItsMeasuredTime) {
  for (const auto& [bytes, us] :
       {std::pair(KiB(1), 10.0), {KiB(4), 20.0}, {KiB(32), 160.0}}) {
    const SourcedTime time =
        ValueOrDie(MeasuredTimeOf(ThreeSizes(), bytes, NoModel));
    EXPECT_EQ(time.time_us, us);
    EXPECT_EQ(time.source, CollectiveTimeSource::kMeasured);
  }
}

// 2 KiB is half way from 1 to 4 KiB in its logarithm: 10 x 2^(1/2). 8 and 16
// KiB are a third and two thirds of the way from 4 to 32 KiB, and the time
// grows eightfold on it: 20 x 8^(1/3) and 20 x 8^(2/3).
TEST(MeasuredCurveTest, LogarithmsAreInterpolatedBetweenSizes) {
  const SourcedTime time =
      ValueOrDie(MeasuredTimeOf(ThreeSizes(), KiB(2), NoModel));
  EXPECT_THAT(time.time_us, DoubleNear(14.142135623730951, 1e-12));
  EXPECT_EQ(time.source, CollectiveTimeSource::kInterpolated);
  EXPECT_THAT(TimeOf(8192), DoubleNear(40, 1e-12));
  EXPECT_THAT(TimeOf(16384), DoubleNear(80, 1e-12));
}

// The model says 3 us for 1 KiB, 2.5 us for 512 B and 2 us for nothing; 34 us
// for 32 KiB and 66 us for 64 KiB.
TEST(MeasuredCurveTest, BeyondTheSizesTheModelIsScaled) {
  const SourcedTime time =
      ValueOrDie(MeasuredTimeOf(ThreeSizes(), Bytes(512), ModelUs));
  EXPECT_DOUBLE_EQ(time.time_us, 2.5 * 10 / 3);
  EXPECT_EQ(time.source, CollectiveTimeSource::kBeyond);
  EXPECT_DOUBLE_EQ(TimeOf(0), 2.0 * 10 / 3);
  EXPECT_DOUBLE_EQ(TimeOf(65536), 66.0 * 160 / 34);
}

// One byte changes the time by less than a thousandth, so that nothing jumps
// where the rule changes.
TEST(MeasuredCurveTest, TimesAreContinuousAtMeasuredSizes) {
  for (const int64_t size : {1024, 4096, 32768}) {
    const double at = TimeOf(size);
    EXPECT_THAT(TimeOf(size - 1) / at, DoubleNear(1, 1e-3)) << size;
    EXPECT_THAT(TimeOf(size + 1) / at, DoubleNear(1, 1e-3)) << size;
    EXPECT_LT(TimeOf(size - 1), at);
    EXPECT_GT(TimeOf(size + 1), at);
  }
}

TEST(MeasuredCurveTest, OneSizeScalesTheModelEverywhere) {
  const MeasuredCurve curve = {{KiB(1)}, {6}, "a.csv"};
  const auto time = [&](Bytes bytes) {
    return ValueOrDie(MeasuredTimeOf(curve, bytes, ModelUs)).time_us;
  };
  EXPECT_EQ(time(Bytes(512)), 5);
  EXPECT_EQ(time(KiB(1)), 6);
  EXPECT_EQ(time(KiB(2)), 8);
}

TEST(MeasuredCurveTest, ErrorsOfTheModelArePassedOn) {
  EXPECT_THAT(MeasuredTimeOf(ThreeSizes(), Bytes(512), NoModel),
              StatusIs(absl::StatusCode::kInternal, "the model was asked"));
  const auto no_time = [](Bytes /*bytes*/) -> absl::StatusOr<double> {
    return 0.0;
  };
  EXPECT_THAT(MeasuredTimeOf(ThreeSizes(), KiB(64), no_time),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "the model takes 0 us for 32768 B, and cannot be scaled "
                       "to the measured 160 us"));
}

TEST(MeasuredCurveTest, DispatchAndCombineHaveTheCurveOfAllToAlls) {
  using enum CollectiveKind;
  const auto source_of = [](const MeasuredCurves& curves, CollectiveKind kind) {
    const MeasuredCurve* const curve = FindCurve(curves, {kind, 2, 8});
    return curve == nullptr ? "" : curve->source;
  };
  const MeasuredCurve one = {{Bytes(1)}, {1}, "one"};
  const MeasuredCurve two = {{Bytes(1)}, {1}, "two"};
  const MeasuredCurves common = {{{kAllToAll, 2, 8}, one}};
  EXPECT_EQ(source_of(common, kDispatch), "one");
  EXPECT_EQ(source_of(common, kCombine), "one");
  EXPECT_EQ(source_of(common, kAllGather), "");
  const MeasuredCurves own = {{{kAllToAll, 2, 8}, one},
                              {{kDispatch, 2, 8}, two}};
  EXPECT_EQ(source_of(own, kDispatch), "two");
  EXPECT_EQ(source_of(own, kCombine), "one");
  EXPECT_EQ(source_of(own, kAllToAll), "one");
  EXPECT_EQ(source_of({{{kDispatch, 2, 8}, two}}, kAllToAll), "");
}

TEST(MeasuredCurveTest, SourcesHaveNames) {
  EXPECT_EQ(Name(CollectiveTimeSource::kModel), "model");
  EXPECT_EQ(Name(CollectiveTimeSource::kMeasured), "measured");
  EXPECT_EQ(Name(CollectiveTimeSource::kInterpolated), "interpolated");
  EXPECT_EQ(Name(CollectiveTimeSource::kBeyond), "scaled");
}

}  // namespace
}  // namespace astra
