// What NCCL_COLLNET_ENABLE=1 yields on a fabric that reduces.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "collectives/nccl/collective_time.h"
#include "collectives/nccl/system_topology.h"
#include "collectives/systems/system_library.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ValueOrDie;

constexpr uint32_t kNumServers = 4;
constexpr uint32_t kGpusPerServer = 8;
constexpr uint32_t kNumRanks = kNumServers * kGpusPerServer;

std::vector<RankId> AllRanks() {
  std::vector<RankId> ranks;
  for (uint32_t i = 0; i < kNumRanks; ++i) ranks.emplace_back(i);
  return ranks;
}

NcclOptions OptionsFor(const std::string& algorithm) {
  NcclOptions options;
  const absl::Status status = ApplyNcclOptionList(
      "NCCL_COLLNET_ENABLE=1,NCCL_ALGO=" + algorithm, &options);
  ASTRA_CHECK(status.ok(), "{}", status.ToString());
  return options;
}

// All-reduces of 32 GPUs on four DGX H100, by one algorithm.
class AllReduces {
 public:
  explicit AllReduces(const std::string& algorithm)
      : options_(OptionsFor(algorithm)) {}

  TimedCollective Time(Bytes bytes) {
    return ValueOrDie(times_.Time(0, bytes));
  }

  // The most that a link to or from a switch of the fabric carries, for each
  // byte of the buffer.
  double NicBytesPerByte() {
    const absl::Span<const double> bytes =
        ValueOrDie(times_.LinkBytesPerByte(0, MiB(1)));
    double most = 0;
    for (uint32_t i = 0; i < topology_.links().size(); ++i) {
      const Link& link = topology_.link(LinkId(i));
      if (topology_.kind(link.source) == NodeKind::kSwitch ||
          topology_.kind(link.target) == NodeKind::kSwitch) {
        most = std::max(most, bytes[i]);
      }
    }
    return most;
  }

 private:
  SystemSpec system_ = ValueOrDie(FindSystem("dgx-h100"));
  Topology topology_ =
      ValueOrDie(BuildSystemTopology(system_, kNumRanks, kGpusPerServer));
  Routes routes_{topology_};
  NcclOptions options_;
  CollectiveTimes times_ = ValueOrDie(CollectiveTimes::Create(
      CollectiveKind::kAllReduce, {AllRanks()}, system_, options_, routes_));
};

class CollnetTimeTest : public ::testing::TestWithParam<std::string> {};

TEST_P(CollnetTimeTest, GrowsWithTheBuffer) {
  AllReduces all_reduces(GetParam());
  TimePs last(0);
  for (int64_t bytes = 8; bytes <= int64_t{1} << 34; bytes *= 2) {
    const TimedCollective timed = all_reduces.Time(Bytes(bytes));
    EXPECT_EQ(timed.algorithm, GetParam());
    EXPECT_EQ(timed.protocol, "Simple");
    EXPECT_GE(timed.time, last) << bytes;
    EXPECT_LT(timed.time, kMaxCollectiveTime) << bytes;
    last = timed.time;
  }
}

// A ring takes 2 (n - 1)/n S through the NICs of a server, the fabric half.
TEST_P(CollnetTimeTest, HalvesWhatTheNicsCarry) {
  EXPECT_NEAR(AllReduces(GetParam()).NicBytesPerByte(), 1.0 / kGpusPerServer,
              1e-9);
  EXPECT_NEAR(AllReduces("Ring").NicBytesPerByte(),
              2 * (1 - 1.0 / kNumRanks) / kGpusPerServer, 1e-9);
}

TEST_P(CollnetTimeTest, TakesNoLongerThanARingForLargeBuffers) {
  AllReduces collnet(GetParam());
  AllReduces ring("Ring");
  for (const Bytes bytes : {MiB(1 << 10), MiB(1 << 14)}) {
    EXPECT_LE(collnet.Time(bytes).time, ring.Time(bytes).time);
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, CollnetTimeTest,
                         ::testing::Values("CollNetDirect", "CollNetChain"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace astra
