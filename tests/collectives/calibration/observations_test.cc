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

}  // namespace
}  // namespace astra
