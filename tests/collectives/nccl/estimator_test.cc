#include "collectives/nccl/estimator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "collectives/nccl/system_topology.h"
#include "collectives/systems/system_library.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using enum CollectiveKind;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kNicGBps = 50;  // Of 400 Gbps.

constexpr Bytes GiB(int64_t n) { return Bytes(n << 30); }

NcclOptions Options(const std::string& list) {
  NcclOptions options;
  const absl::Status status =
      list.empty() ? absl::OkStatus() : ApplyNcclOptionList(list, &options);
  ASTRA_CHECK(status.ok(), "{}", status.ToString());
  return options;
}

CollectiveEstimator Of(const std::string& system, uint32_t num_gpus,
                       const NcclOptions& options = {}) {
  return ValueOrDie(CollectiveEstimator::Create(system, num_gpus, 0, options));
}

CollectiveEstimate Estimate(const std::string& system, uint32_t num_gpus,
                            CollectiveKind kind, Bytes bytes,
                            const std::string& options = "") {
  CollectiveEstimator estimator = Of(system, num_gpus, Options(options));
  return ValueOrDie(estimator.Estimate(kind, bytes));
}

double BusGBps(const std::string& system, uint32_t num_gpus,
               CollectiveKind kind, Bytes bytes,
               const std::string& options = "") {
  return Estimate(system, num_gpus, kind, bytes, options).busbw_GBps;
}

TEST(EstimatorTest, NvlsPassesTheRateOfNvlink) {
  const CollectiveEstimate nvls = Estimate("dgx-h100", 8, kAllReduce, GiB(8));
  EXPECT_EQ(nvls.algorithm, "NVLS");
  EXPECT_GT(nvls.busbw_GBps, 450);
  EXPECT_LT(nvls.busbw_GBps, 500);
  const double ring =
      BusGBps("dgx-h100", 8, kAllReduce, GiB(8), "NCCL_ALGO=Ring");
  EXPECT_GT(ring, 340);
  EXPECT_LT(ring, 380);
}

TEST(EstimatorTest, TwoGpusDoBetterWithoutNvls) {
  const CollectiveEstimate chosen = Estimate("dgx-h100", 2, kAllReduce, GiB(8));
  EXPECT_EQ(chosen.algorithm, "Ring");
  EXPECT_LT(BusGBps("dgx-h100", 2, kAllReduce, GiB(8), "NCCL_ALGO=NVLS"),
            0.8 * chosen.busbw_GBps);
}

TEST(EstimatorTest, ATreeOverTwoServersPassesTheRateOfTheirNics) {
  EXPECT_GT(BusGBps("dgx-h100", 16, kAllReduce, GiB(8)), 8 * kNicGBps);
  const double ring =
      BusGBps("dgx-h100", 16, kAllReduce, GiB(8), "NCCL_ALGO=Ring");
  EXPECT_GT(ring, 370);
  EXPECT_LT(ring, 8 * kNicGBps);
}

TEST(EstimatorTest, FourServersAndMoreStayBelowTheRateOfTheirNics) {
  for (const uint32_t servers : {4U, 8U, 16U}) {
    const double rate = BusGBps("dgx-h100", 8 * servers, kAllReduce, GiB(16));
    EXPECT_GT(rate, 310) << servers;
    EXPECT_LT(rate, 8 * kNicGBps) << servers;
  }
}

TEST(EstimatorTest, MoreQueuePairsUseTheNicsOfManyServersBetter) {
  const std::string tuned = "NCCL_MIN_CTAS=24,NCCL_IB_QPS_PER_CONNECTION=2";
  EXPECT_GT(BusGBps("dgx-h100", 64, kAllReduce, GiB(16), tuned),
            1.1 * BusGBps("dgx-h100", 64, kAllReduce, GiB(16)));
}

TEST(EstimatorTest, RingsFallWithScaleForTheirLatency) {
  for (const CollectiveKind kind : {kAllGather, kReduceScatter}) {
    double previous = 400;
    for (const uint32_t servers : {2U, 4U, 8U, 16U, 32U}) {
      const double rate = BusGBps("aws-p5", 8 * servers, kind, GiB(2));
      EXPECT_LE(rate, previous) << servers << " servers";
      EXPECT_GT(rate, 200) << servers << " servers";
      previous = rate;
    }
    EXPECT_LT(previous, 300);
  }
}

TEST(EstimatorTest, AllToAllIsBoundByTheNics) {
  for (const std::string name : {"dgx-h100", "aws-p5"}) {
    double previous = 100;
    for (const uint32_t servers : {2U, 4U, 8U, 16U, 32U}) {
      const CollectiveEstimate estimate =
          Estimate(name, 8 * servers, kAllToAll, GiB(2));
      const double n = 8.0 * servers;
      const double most = (n - 1) / (n - 8) * kNicGBps;
      EXPECT_LT(estimate.busbw_GBps, most) << name << ' ' << servers;
      EXPECT_GT(estimate.busbw_GBps, 0.7 * most) << name << ' ' << servers;
      EXPECT_LT(estimate.busbw_GBps, previous) << name << ' ' << servers;
      EXPECT_THAT(estimate.bottleneck, HasSubstr("switch"));
      previous = estimate.busbw_GBps;
    }
  }
}

TEST(EstimatorTest, AllToAllInARackPassesThatOverTwoByFar) {
  const double rack = BusGBps("gb200-nvl72", 72, kAllToAll, GiB(2));
  EXPECT_GT(rack, 500);
  EXPECT_LT(rack, 900);
  EXPECT_GT(rack, 5 * BusGBps("gb200-nvl72", 144, kAllToAll, GiB(2)));
}

TEST(EstimatorTest, ProtocolsStepFromLlOverLl128ToSimple) {
  for (const uint32_t num_gpus : {8U, 16U, 64U}) {
    CollectiveEstimator estimator =
        Of("dgx-h100", num_gpus, Options("NCCL_ALGO=Ring"));
    std::vector<std::string> seen;
    for (int64_t bytes = 8; bytes <= GiB(8).count(); bytes *= 2) {
      const std::string protocol =
          ValueOrDie(estimator.Estimate(kAllReduce, Bytes(bytes))).protocol;
      if (seen.empty() || seen.back() != protocol) seen.push_back(protocol);
    }
    EXPECT_THAT(seen, ElementsAre("LL", "LL128", "Simple"));
  }
}

TEST(EstimatorTest, SmallMessagesHaveAFloorThatDependsOnTheTransport) {
  const auto us = [](const std::string& system, uint32_t num_gpus) {
    return Estimate(system, num_gpus, kAllReduce, Bytes(8)).time_us;
  };
  const double server = us("dgx-h100", 8);
  const double infiniband = us("dgx-h100", 16);
  const double efa = us("aws-p5", 16);
  const double tcpx = us("gcp-a3-high", 16);
  EXPECT_GT(server, 5);
  EXPECT_LT(server, infiniband);
  EXPECT_LT(infiniband, 50);
  EXPECT_LT(infiniband, efa);
  EXPECT_LT(efa, 160);
  EXPECT_LT(efa, tcpx);
  EXPECT_GT(tcpx, 700);
  EXPECT_LT(tcpx, 2000);
}

TEST(EstimatorTest, CudaGraphsLowerTheFloor) {
  NcclOptions graph;
  graph.launch = Launch::kGraph;
  CollectiveEstimator plain = Of("dgx-h100", 4);
  CollectiveEstimator launched = Of("dgx-h100", 4, graph);
  EXPECT_LT(ValueOrDie(launched.Estimate(kAllReduce, Bytes(8))).time_us,
            0.8 * ValueOrDie(plain.Estimate(kAllReduce, Bytes(8))).time_us);
  EXPECT_EQ(ValueOrDie(launched.Estimate(kAllReduce, GiB(1))).time_us,
            ValueOrDie(plain.Estimate(kAllReduce, GiB(1))).time_us);
}

TEST(EstimatorTest, SymmetricBuffersAreFasterAtMiddleSizes) {
  NcclOptions options;
  options.symmetric = true;
  CollectiveEstimator plain = Of("dgx-h100", 4);
  CollectiveEstimator symmetric = Of("dgx-h100", 4, options);
  for (const int64_t bytes : {4 << 20, 16 << 20, 64 << 20}) {
    EXPECT_LT(ValueOrDie(symmetric.Estimate(kAllReduce, Bytes(bytes))).time_us,
              ValueOrDie(plain.Estimate(kAllReduce, Bytes(bytes))).time_us)
        << bytes;
  }
}

TEST(EstimatorTest, SendsGoToTheNextServer) {
  const CollectiveEstimate estimate =
      Estimate("dgx-h100", 16, kSendRecv, GiB(1));
  EXPECT_EQ(estimate.algorithm, "P2P");
  EXPECT_EQ(estimate.busbw_GBps, estimate.algbw_GBps);
  EXPECT_GT(estimate.busbw_GBps, 0.7 * kNicGBps);
  EXPECT_LT(estimate.busbw_GBps, kNicGBps);
  EXPECT_GT(BusGBps("dgx-h100", 8, kSendRecv, GiB(1)), 5 * kNicGBps);
}

TEST(EstimatorTest, ASendRecvIsTimedBetweenServers) {
  const CollectiveEstimator estimator = Of("dgx-h100", 16);
  EXPECT_THAT(ValueOrDie(estimator.TimedRanks(kSendRecv, GiB(1))),
              ElementsAre(RankId(7), RankId(8)));
  EXPECT_EQ(ValueOrDie(estimator.TimedRanks(kAllToAll, GiB(1))),
            estimator.ranks());
}

// PCIe carries less than a NIC, but sooner.
TEST(EstimatorTest, OrWithinThemWhereThatTakesLonger) {
  const CollectiveEstimator estimator = Of("h100-pcie", 16);
  EXPECT_THAT(ValueOrDie(estimator.TimedRanks(kSendRecv, Bytes(256 << 20))),
              ElementsAre(RankId(0), RankId(1)));
  EXPECT_THAT(ValueOrDie(estimator.TimedRanks(kSendRecv, Bytes(8))),
              ElementsAre(RankId(7), RankId(8)));
  EXPECT_EQ(Estimate("h100-pcie", 16, kSendRecv, Bytes(256 << 20)).time_us,
            Estimate("h100-pcie", 8, kSendRecv, Bytes(256 << 20)).time_us);
}

// All sizes that a table of nccl-tests may have, and then some.
std::vector<Bytes> Sizes() {
  std::vector<Bytes> sizes;
  for (int power = 0; power <= 40; power += 4) {
    sizes.push_back(Bytes(int64_t{1} << power));
    sizes.push_back(Bytes((int64_t{1} << power) + 3));
  }
  return sizes;
}

class EstimatorSystemTest : public ::testing::TestWithParam<SystemSpec> {};

TEST_P(EstimatorSystemTest, TimesAreFiniteAndGrowWithTheBytes) {
  const SystemSpec& system = GetParam();
  for (const uint32_t servers : {1U, 2U, 4U}) {
    const uint32_t num_gpus = servers * system.gpus_per_server;
    if (num_gpus < 2 || servers > system.max_servers) continue;
    CollectiveEstimator estimator = Of(system.name, num_gpus);
    for (const CollectiveKind kind : kCollectiveKinds) {
      std::map<std::string, double> latest;  // By algorithm and protocol.
      for (const Bytes bytes : Sizes()) {
        const CollectiveEstimate estimate =
            ValueOrDie(estimator.Estimate(kind, bytes));
        EXPECT_TRUE(std::isfinite(estimate.time_us) && estimate.time_us > 0);
        EXPECT_TRUE(std::isfinite(estimate.busbw_GBps));
        double& before = latest[estimate.algorithm + estimate.protocol];
        EXPECT_GE(estimate.time_us, before)
            << servers << " servers, " << Name(kind) << ' ' << bytes.count();
        before = estimate.time_us;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Bundled, EstimatorSystemTest,
                         ::testing::ValuesIn(BundledSystems()),
                         [](const ::testing::TestParamInfo<SystemSpec>& param) {
                           std::string name = param.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// The time on 2 or 4 servers of a system.
double Us(const SystemSpec& system, uint32_t servers, CollectiveKind kind,
          Bytes bytes, const NcclOptions& options) {
  Topology topology = ValueOrDie(BuildSystemTopology(
      system, servers * system.gpus_per_server, system.gpus_per_server));
  CollectiveEstimator estimator = ValueOrDie(
      CollectiveEstimator::Create(system, std::move(topology), {}, options));
  return ValueOrDie(estimator.Estimate(kind, bytes)).time_us;
}

TEST(EstimatorTest, FasterNicsAreNeverSlower) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> factor(1, 3);
  const NcclOptions options = Options("NCCL_ALGO=Ring,NCCL_PROTO=Simple");
  for (int i = 0; i < 60; ++i) {
    SystemSpec system = BundledSystems()[random() % BundledSystems().size()];
    if (system.max_servers < 4) continue;
    const uint32_t servers = random() % 2 == 0 ? 2 : 4;
    const Bytes bytes(int64_t{1} << random() % 35);
    for (const CollectiveKind kind : {kAllReduce, kAllGather, kAllToAll}) {
      const double before = Us(system, servers, kind, bytes, options);
      SystemSpec faster = system;
      faster.nic_GBps *= factor(random);
      EXPECT_LE(Us(faster, servers, kind, bytes, options), before)
          << system.name << ' ' << Name(kind) << ' ' << bytes.count();
    }
  }
}

TEST(EstimatorTest, FewerChannelsAreNeverFaster) {
  for (const std::string algorithm : {"Ring", "Tree", "NVLS,NVLSTree"}) {
    for (const uint32_t num_gpus : {8U, 16U}) {
      for (const Bytes bytes : {KiB(1), MiB(1), GiB(1)}) {
        const std::string choice = "NCCL_PROTO=Simple,NCCL_ALGO=" + algorithm;
        const auto us = [&](const std::string& limit) {
          return Estimate("dgx-h100", num_gpus, kAllReduce, bytes,
                          choice + limit)
              .time_us;
        };
        EXPECT_GE(us(",NCCL_MAX_NCHANNELS=1"), us(",NCCL_MAX_NCHANNELS=4"));
        EXPECT_GE(us(",NCCL_MAX_NCHANNELS=4"), us(""));
      }
    }
  }
  EXPECT_GT(Estimate("dgx-h100", 8, kAllGather, GiB(1), "NCCL_MAX_NCHANNELS=1")
                .time_us,
            5 * Estimate("dgx-h100", 8, kAllGather, GiB(1)).time_us);
}

TEST(EstimatorTest, TheOrderOfQuestionsDoesNotMatter) {
  CollectiveEstimator forwards = Of("dgx-h100", 32);
  CollectiveEstimator backwards = Of("dgx-h100", 32);
  const std::vector<Bytes> sizes = Sizes();
  std::vector<double> first;
  std::vector<double> second;
  for (size_t i = 0; i < sizes.size(); ++i) {
    first.push_back(
        ValueOrDie(forwards.Estimate(kAllReduce, sizes[i])).time_us);
    second.push_back(
        ValueOrDie(backwards.Estimate(kAllReduce, sizes[sizes.size() - 1 - i]))
            .time_us);
  }
  std::reverse(second.begin(), second.end());
  EXPECT_EQ(first, second);
}

TEST(EstimatorTest, AGroupMayBeAnyRanks) {
  const SystemSpec system = ValueOrDie(FindSystem("dgx-h100"));
  const auto estimate = [&](const std::vector<uint32_t>& numbers) {
    const std::vector<RankId> ranks(numbers.begin(), numbers.end());
    CollectiveEstimator estimator = ValueOrDie(CollectiveEstimator::Create(
        system, ValueOrDie(BuildSystemTopology(system, 32, 8)), ranks, {}));
    return ValueOrDie(estimator.Estimate(kAllReduce, GiB(1)));
  };
  EXPECT_EQ(estimate({8, 9, 10, 11}).time_us, estimate({0, 1, 2, 3}).time_us);
  EXPECT_EQ(estimate({0, 8}).time_us, estimate({5, 29}).time_us);
  // Two ranks on two servers have a NIC each: half goes there and back.
  EXPECT_GT(estimate({0, 8}).busbw_GBps, 0.8 * kNicGBps);
  EXPECT_LT(estimate({0, 8}).busbw_GBps, kNicGBps);
  // Servers with 3 and 1, and three servers.
  EXPECT_GT(estimate({0, 1, 2, 8}).busbw_GBps, 10);
  EXPECT_GT(estimate({0, 1, 8, 9, 16, 17}).busbw_GBps, kNicGBps);
}

TEST(EstimatorTest, TellsWhatItChoseAmong) {
  CollectiveEstimator estimator = Of("dgx-h100", 8);
  EXPECT_THAT(ValueOrDie(estimator.Tuning(kAllReduce, GiB(1))),
              HasSubstr("<- chosen"));
  EXPECT_EQ(estimator.ranks().size(), 8U);
  EXPECT_EQ(estimator.system().name, "dgx-h100");
  EXPECT_EQ(estimator.topology().num_gpus(), 8U);
}

TEST(EstimatorTest, ImpossibleGroupsAreErrors) {
  const auto error = [](const std::string& name, uint32_t num_gpus,
                        uint32_t per_server = 0) {
    return CollectiveEstimator::Create(name, num_gpus, per_server, {}).status();
  };
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(error("dgx-h1000", 8),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("dgx-h100")));
  EXPECT_THAT(
      error("dgx-h100", 1),
      StatusIs(kInvalid, "a collective of 1 GPU(s): expected 2 or more"));
  EXPECT_THAT(error("dgx-h100", 12),
              StatusIs(kInvalid, "12 GPUs do not divide into servers of 8"));
  EXPECT_THAT(error("dgx-h100", 16, 16),
              StatusIs(kInvalid, "16 GPUs of a server: dgx-h100 has 8"));

  const SystemSpec system = ValueOrDie(FindSystem("dgx-h100"));
  const auto ranks_error = [&](const std::vector<RankId>& ranks) {
    return CollectiveEstimator::Create(
               system, ValueOrDie(BuildSystemTopology(system, 8, 8)), ranks, {})
        .status();
  };
  EXPECT_THAT(
      ranks_error({RankId(3)}),
      StatusIs(kInvalid, "a collective of 1 GPU(s): expected 2 or more"));
  EXPECT_THAT(ranks_error({RankId(0), RankId(8)}),
              StatusIs(kInvalid, "rank 8: the topology has 8 GPUs"));
  EXPECT_THAT(ranks_error({RankId(2), RankId(0), RankId(2)}),
              StatusIs(kInvalid, "rank 2 is in the group twice"));
}

TEST(EstimatorTest, ImpossibleQuestionsAreErrors) {
  CollectiveEstimator estimator = Of("dgx-h100", 8);
  EXPECT_THAT(estimator.Estimate(kAllReduce, Bytes(0)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "a collective of 0B: expected 1 byte or more"));
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_THAT(estimator.Estimate(kAllReduce, Bytes(kMost)),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "the all-reduce of 9223372036854775807B would take "
                       "longer than the limit of 26 days"));
  CollectiveEstimator contradiction =
      Of("dgx-h100", 8, Options("NCCL_MIN_NCHANNELS=8,NCCL_MAX_NCHANNELS=4"));
  EXPECT_THAT(contradiction.Estimate(kAllReduce, MiB(1)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "NCCL_MIN_NCHANNELS is 8, more than "
                       "NCCL_MAX_NCHANNELS, 4"));
  CollectiveEstimator without_sharp =
      Of("aws-p5", 16, Options("NCCL_COLLNET_ENABLE=1"));
  EXPECT_THAT(without_sharp.Estimate(kAllReduce, MiB(1)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "NCCL_COLLNET_ENABLE=1 has no effect: the fabric of "
                       "aws-p5 does not reduce (sharp: false)"));
}

}  // namespace
}  // namespace astra
