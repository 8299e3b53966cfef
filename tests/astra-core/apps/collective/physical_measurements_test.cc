#include "astra-core/apps/collective/physical_measurements.h"

#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

constexpr std::string_view kRun =
    "{\"program\": \"simai_physical\",\n"
    " \"topology\": {\"gpus\": 4, \"gpus_per_server\": 8}}\n";

constexpr std::string_view kCollectives =
    "layer,collective,ranks,algorithm,protocol,bytes,time_us\n"
    "a,all-gather,2,Ring,LL128,4096,12.5\n";

std::string With(std::string_view text, std::string_view from,
                 std::string_view to) {
  std::string changed(text);
  const size_t at = changed.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return changed.replace(at, from.size(), to);
}

absl::StatusOr<PhysicalMeasurements> Parse(std::string_view run,
                                           std::string_view collectives) {
  return ParsePhysicalMeasurements({"r", std::string(run)},
                                   {"c", std::string(collectives)});
}

TEST(PhysicalMeasurementsTest, ReadsRanksAndCollectives) {
  const PhysicalMeasurements run = ValueOrDie(Parse(kRun, kCollectives));
  EXPECT_EQ(run.num_ranks, 4U);
  EXPECT_EQ(run.ranks_per_server, 4U);
  ASSERT_EQ(run.collectives.size(), 1U);
  const PhysicalCollective& collective = run.collectives[0];
  EXPECT_EQ(collective.kind, CollectiveKind::kAllGather);
  EXPECT_EQ(collective.num_ranks, 2U);
  EXPECT_EQ(collective.algorithm, "Ring");
  EXPECT_EQ(collective.protocol, "LL128");
  EXPECT_EQ(collective.bytes, Bytes(4096));
  EXPECT_EQ(collective.time_us, 12.5);
}

TEST(PhysicalMeasurementsTest, SaysWhatIsWrongWithRunJson) {
  const struct {
    std::string_view from;
    std::string_view to;
    std::string_view message;
  } kCases[] = {
      {"simai_physical", "simai_simulator",
       "r:1:13: a run of \"simai_simulator\": expected one of "
       "simai_physical"},
      {"\"gpus\": 4, ", "", "r:2:14: the topology has no \"gpus\""},
      {": 8", ": 0",
       "r:2:45: gpus_per_server is \"0\": expected a whole number from 1 to "
       "1048576"},
  };
  for (const auto& each : kCases) {
    EXPECT_THAT(Parse(With(kRun, each.from, each.to), kCollectives).status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         std::string(each.message)));
  }
}

TEST(PhysicalMeasurementsTest, SaysWhatIsWrongWithCollectives) {
  const struct {
    std::string_view from;
    std::string_view to;
    std::string_view message;
  } kCases[] = {
      {"all-gather", "all-gathr",
       "c:2:3: unknown collective \"all-gathr\"; did you mean "
       "\"all-gather\"? (known: all-reduce, all-gather, reduce-scatter, "
       "all-to-all, send-recv, broadcast, reduce, gather, scatter, dispatch, "
       "combine)"},
      {",2,", ",5,",
       "c:2:14: ranks is \"5\": expected a whole number from 1 to 4"},
      {"12.5", "-1",
       "c:2:32: time_us is \"-1\": expected a number from 0 to "
       "1000000000000"},
  };
  for (const auto& each : kCases) {
    EXPECT_THAT(Parse(kRun, With(kCollectives, each.from, each.to)).status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         std::string(each.message)));
  }
}

}  // namespace
}  // namespace astra
