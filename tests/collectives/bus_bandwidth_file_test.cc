#include "collectives/bus_bandwidth_file.h"

#include <string>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::Optional;

constexpr std::string_view kFile =
    "test\n"
    "TP:\n"
    "  allreduce,: 300   # measured\n"
    "  alltoall: 230.5\n"
    "DP:\n"
    "allreduce,: null\n"
    "\n"
    "PP:\n"
    "  busbw: 47.5\n";

TEST(BusBandwidthFileTest, ReadsWhatItSays) {
  const BusBandwidths file = ValueOrDie(ParseBusBandwidths("b", kFile));
  using D = ParallelDimension;
  using K = CollectiveKind;
  EXPECT_THAT(file.Find(D::kTensor, K::kAllReduce), Optional(300.0));
  EXPECT_THAT(file.Find(D::kTensor, K::kAllToAll), Optional(230.5));
  EXPECT_THAT(file.Find(D::kPipeline, K::kSendRecv), Optional(47.5));
  EXPECT_EQ(file.Find(D::kData, K::kAllReduce), std::nullopt);
  EXPECT_EQ(file.Find(D::kTensor, K::kAllGather), std::nullopt);
}

TEST(BusBandwidthFileTest, AllToAllsAlsoGiveDispatchAndCombine) {
  const BusBandwidths file = ValueOrDie(
      ParseBusBandwidths("b", "TP:\n  allreduce: 300\nEP:\n  alltoall: 40\n"));
  for (const CollectiveKind kind :
       {CollectiveKind::kAllToAll, CollectiveKind::kDispatch,
        CollectiveKind::kCombine}) {
    EXPECT_THAT(file.Find(ParallelDimension::kExpert, kind), Optional(40.0));
    EXPECT_EQ(file.Find(ParallelDimension::kTensor, kind), std::nullopt);
  }
  EXPECT_EQ(file.entries().size(), 2u);
}

TEST(BusBandwidthFileTest, ATimeAtABusBandwidthHasNoLatency) {
  // 2 x 7/8 x 16 MiB / 360 GB/s.
  EXPECT_EQ(AtBusBandwidth(CollectiveKind::kAllReduce, 8, 360).TimeOf(MiB(16)),
            TimePs(81'555'911));
  EXPECT_EQ(AtBusBandwidth(CollectiveKind::kSendRecv, 2, 1).TimeOf(Bytes(1)),
            Nanoseconds(1));
}

struct BadFile {
  std::string contents;
  std::string message;
};

class BadBusBandwidthFileTest : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadBusBandwidthFileTest, SaysWhatAndWhere) {
  EXPECT_THAT(ParseBusBandwidths("b", GetParam().contents),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadBusBandwidthFileTest,
    ::testing::Values(
        BadFile{"",
                "b:1:1: no bus bandwidth: expected a dimension, such as "
                "\"TP:\", and keys below it"},
        BadFile{"test\n# nothing\n",
                "b:3:1: no bus bandwidth: expected a dimension, such as "
                "\"TP:\", and keys below it"},
        BadFile{"test\nTP\n", "b:2:1: \"TP\" lacks a \":\""},
        BadFile{"TPP:\n allreduce: 1\n",
                "b:1:1: unknown dimension \"TPP\"; did you mean \"TP\"? "
                "(known: TP, DP, EP, DP_EP, PP, CP, ETP)"},
        BadFile{"allreduce: 3\n",
                "b:1:1: expected a dimension, such as \"TP:\", first"},
        BadFile{"TP:\n  allreduc: 3\n",
                "b:2:3: unknown key of TP \"allreduc\"; did you mean "
                "\"allreduce\"? (known: allreduce, allgather, reducescatter, "
                "alltoall)"},
        BadFile{"EP:\n  dispatch: 3\n",
                "b:2:3: unknown key of EP \"dispatch\" (known: allreduce, "
                "allgather, reducescatter, alltoall)"},
        BadFile{"PP:\n  allreduce: 3\n",
                "b:2:3: unknown key of PP \"allreduce\" (known: busbw)"},
        BadFile{"TP:\n  allreduce: 3\n  allreduce,: 4\n",
                "b:3:3: \"allreduce,:\" of TP is given twice"},
        BadFile{"TP:\n  allreduce: 3GB\n",
                "b:2:14: the bus bandwidth in GB/s is \"3GB\": expected a "
                "number from 1e-06 to 1000000"},
        BadFile{"TP:\n  allreduce: nan\n",
                "b:2:14: the bus bandwidth in GB/s is \"nan\": expected a "
                "number from 1e-06 to 1000000"},
        BadFile{"TP:\n  allreduce: 0\n",
                "b:2:14: the bus bandwidth in GB/s is \"0\": expected a "
                "number from 1e-06 to 1000000"},
        BadFile{"TP:\n  allreduce: -1\n",
                "b:2:14: the bus bandwidth in GB/s is \"-1\": expected a "
                "number from 1e-06 to 1000000"},
        BadFile{"TP:\n  allreduce: 1e308\n",
                "b:2:14: the bus bandwidth in GB/s is \"1e308\": expected a "
                "number from 1e-06 to 1000000"},
        BadFile{"TP:\n  allreduce: 3 4\n", "b:2:16: unexpected \"4\""}));

}  // namespace
}  // namespace astra
