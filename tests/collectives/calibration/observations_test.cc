#include "collectives/calibration/observations.h"

#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(MeasurementIdsTest, OnlyTheTimeMakesNoOtherMeasurement) {
  const Observation first = {
      .num_gpus = 8, .gpus_per_server = 8, .bytes = Bytes(8), .time_us = 1};
  Observation again = first;
  again.time_us = 2;
  Observation larger = first;
  larger.bytes = Bytes(16);
  Observation queued = first;
  queued.options.launch = Launch::kQueued;
  Observation two_servers = first;
  two_servers.gpus_per_server = 4;
  Observation other_kind = first;
  other_kind.kind = CollectiveKind::kAllGather;
  EXPECT_THAT(MeasurementIds({}), IsEmpty());
  EXPECT_THAT(MeasurementIds({first, larger, again, queued, two_servers,
                              other_kind, larger}),
              ElementsAre(0, 1, 0, 2, 3, 4, 1));
}

TEST(MediansOfTest, EachMeasurementHasTheMedianOfItsTimes) {
  const auto of = [](int64_t bytes, double time_us) {
    return Observation{.num_gpus = 8,
                       .gpus_per_server = 8,
                       .bytes = Bytes(bytes),
                       .time_us = time_us};
  };
  const std::vector<Observation> medians = MediansOf(
      {{of(16, 5), of(8, 9), of(16, 7), of(8, 1), of(8, 3), of(8, 2)}});
  ASSERT_EQ(medians.size(), 2U);
  EXPECT_EQ(medians[0].bytes, Bytes(16));
  EXPECT_EQ(medians[0].time_us, 5);  // The lower of two.
  EXPECT_EQ(medians[1].time_us, 2);
}

}  // namespace
}  // namespace astra
