#include "collectives/nccl/tuning.h"

#include <algorithm>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using enum CollectiveKind;
using enum NcclAlgorithm;
using enum NcclProtocol;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

// GPUs of HGX H100 servers, each with a NIC of 400 Gbps whose hops take 2 us.
GroupHardware H100(uint32_t per_server, uint32_t num_servers = 1) {
  GroupHardware hardware;
  hardware.num_ranks = per_server * num_servers;
  hardware.num_servers = num_servers;
  hardware.ranks_per_server = per_server;
  hardware.fewest_ranks_per_server = per_server;
  hardware.gpu_GBps = 370.8;
  hardware.nics_per_server = per_server;
  hardware.nic_GBps = 50;
  hardware.has_nvls = true;
  hardware.net_latency_us = 2;
  return hardware;
}

GroupHardware B200(uint32_t per_server, uint32_t num_servers = 1) {
  GroupHardware hardware = H100(per_server, num_servers);
  hardware.architecture = GpuArchitecture::kBlackwell;
  hardware.gpu_GBps = 721.8;
  return hardware;
}

GroupHardware OfAmd(GroupHardware hardware) {
  hardware.cpu = CpuVendor::kAmd;
  return hardware;
}

NcclOptions Version(int32_t minor) { return {.version = {2, minor}}; }

NcclOptions Options(const std::string& list) {
  NcclOptions options;
  const absl::Status status = ApplyNcclOptionList(list, &options);
  ASTRA_CHECK(status.ok(), "{}", status.ToString());
  return options;
}

const TuningCandidate* Find(const TuningTable& table, NcclAlgorithm algorithm,
                            NcclProtocol protocol) {
  const auto found =
      std::find_if(table.candidates.begin(), table.candidates.end(),
                   [&](const TuningCandidate& candidate) {
                     return candidate.algorithm == algorithm &&
                            candidate.protocol == protocol;
                   });
  return found == table.candidates.end() ? nullptr : &*found;
}

const TuningCandidate& Of(const TuningTable& table, NcclAlgorithm algorithm,
                          NcclProtocol protocol) {
  const TuningCandidate* found = Find(table, algorithm, protocol);
  ASTRA_CHECK(found != nullptr, "{} {} is none", Name(algorithm),
              Name(protocol));
  return *found;
}

// As NCCL_DEBUG_SUBSYS=TUNING prints them: "Ring LL 10.2/94.0".
std::vector<std::string> Printed(const TuningTable& table) {
  std::vector<std::string> cells;
  for (const TuningCandidate& candidate : table.candidates) {
    cells.push_back(fmt::format(
        "{} {} {:.1f}/{:.1f}", Name(candidate.algorithm),
        Name(candidate.protocol), candidate.latency_us, candidate.GBps));
  }
  return cells;
}

// "Ring LL" of the one that is chosen.
std::string Choice(CollectiveKind kind, const GroupHardware& hardware,
                   Bytes bytes, const NcclOptions& options = {}) {
  const TuningTable table = Tune(kind, hardware, options);
  const TuningCandidate& chosen =
      table.candidates[ValueOrDie(Choose(table, bytes))];
  return fmt::format("{} {}", Name(chosen.algorithm), Name(chosen.protocol));
}

// Source of the figures: NCCL 2.29.2's own log of 4 H100 SXM5.
TEST(TuningTest, FourH100AreWhatNcclPrints) {
  const TuningTable table = Tune(kAllReduce, H100(4), Version(29));
  EXPECT_THAT(Printed(table),
              ElementsAre("Tree LL 10.4/43.6", "Tree LL128 21.5/128.8",
                          "Tree Simple 32.4/165.6", "Ring LL 10.2/94.0",
                          "Ring LL128 25.4/220.8", "Ring Simple 28.8/240.0",
                          "NVLS Simple 25.0/160.0"));
  EXPECT_EQ(Of(table, kRing, kLl).channels, 24U);
  EXPECT_EQ(Of(table, kNvls, kSimple).channels, 16U);
}

TEST(TuningTest, TwoAndSixH100FollowTheFormulas) {
  // 2: LL at most 141; 6.6 + 2 x 0.6; NVLS 2 x 60 x 0.85 x 1/2 x 2.
  EXPECT_THAT(Printed(Tune(kAllReduce, H100(2), Version(29))),
              ElementsAre("Tree LL 8.0/43.6", "Tree LL128 16.5/128.8",
                          "Tree Simple 16.4/165.6", "Ring LL 7.8/141.0",
                          "Ring LL128 17.8/331.2", "Ring Simple 15.2/360.0",
                          "NVLS Simple 25.0/102.0"));
  // 6: all bus bandwidths x 6/10; NVLS 6 x 60.
  EXPECT_THAT(Printed(Tune(kAllReduce, H100(6), Version(29))),
              ElementsAre("Tree LL 12.8/43.6", "Tree LL128 26.5/128.8",
                          "Tree Simple 48.4/165.6", "Ring LL 12.6/84.6",
                          "Ring LL128 33.0/198.7", "Ring Simple 42.4/216.0",
                          "NVLS Simple 25.0/216.0"));
}

TEST(TuningTest, AllGatherAndBroadcastFollowTheFormulas) {
  // Half of the steps of an all-reduce. NVLS: 8 x 60 x 0.85 x 7/8 x 7/8 x 8/7.
  EXPECT_THAT(Printed(Tune(kAllGather, H100(8), Version(29))),
              ElementsAre("Ring LL 10.8/161.1", "Ring LL128 27.3/378.5",
                          "Ring Simple 32.2/411.4", "NVLS Simple 25.0/357.0"));
  // One step and n of n.
  EXPECT_THAT(Printed(Tune(kBroadcast, H100(8), Version(29))),
              ElementsAre("Ring LL 7.2/141.0", "Ring LL128 15.9/331.2",
                          "Ring Simple 11.8/360.0"));
}

TEST(TuningTest, NvlsGathersFrom32RanksOfAServerAtMost) {
  EXPECT_NE(Find(Tune(kAllGather, B200(32), {}), kNvls, kSimple), nullptr);
  EXPECT_EQ(Find(Tune(kAllGather, B200(72), {}), kNvls, kSimple), nullptr);
  EXPECT_EQ(Find(Tune(kReduceScatter, B200(72), {}), kNvls, kSimple), nullptr);
  EXPECT_NE(Find(Tune(kAllReduce, B200(72), {}), kNvls, kSimple), nullptr);
}

TEST(TuningTest, FourServersFollowTheFormulas) {
  GroupHardware hardware = H100(8, 4);
  hardware.has_sharp = true;
  const TuningTable table =
      Tune(kAllReduce, hardware, {.version = {2, 29}, .collnet = true});
  // A ring has 62 steps, 6 between servers: 6.6 + 56 x 1 + 6 x (2.7 + 2), and
  // Simple 8.4 + 56 x 3.4 + 6 x (14 + 2 x 2). A tree has 2 levels: Simple
  // 8.4 + 2 x (7 x 4 + 2 x 18). Channels: 8 x 48, of trees at most 8 x 36.
  EXPECT_THAT(Printed(table),
              ::testing::IsSupersetOf(
                  {"Tree LL 43.2/10.2", "Tree LL128 73.5/116.0",
                   "Tree Simple 136.4/144.0", "Ring LL 90.8/10.5",
                   "Ring LL128 156.4/151.5", "Ring Simple 306.8/198.2",
                   "NVLSTree Simple 124.6/187.9"}));
  EXPECT_NEAR(Of(table, kCollnetDirect, kSimple).latency_us, 48, 1e-9);
  EXPECT_NEAR(Of(table, kCollnetChain, kSimple).latency_us, 73.2, 1e-9);
  EXPECT_EQ(Find(table, kNvls, kSimple), nullptr);  // None of ours runs it.
}

TEST(TuningTest, AmdPostsSlower) {
  const TuningTable table = Tune(kAllReduce, OfAmd(H100(8, 4)), {});
  EXPECT_NEAR(Of(table, kRing, kLl).latency_us, 6.6 + 56 * 2 + 6 * 4.7, 1e-9);
  EXPECT_NEAR(Of(table, kRing, kLl128).latency_us, 14 + 56 * 2 + 6 * 6, 1e-9);
  EXPECT_NEAR(Of(table, kRing, kSimple).latency_us, 8.4 + 56 * 6 + 6 * 18,
              1e-9);
  // One server posts nothing.
  EXPECT_EQ(Printed(Tune(kAllReduce, OfAmd(H100(8)), {})),
            Printed(Tune(kAllReduce, H100(8), {})));
}

TEST(TuningTest, LlOverServersIsLimitedByTheCpu) {
  const auto bus = [](const GroupHardware& hardware) {
    const double n = hardware.num_ranks;
    return Of(Tune(kAllReduce, hardware, {}), kRing, kLl).GBps * 2 * (n - 1) /
           n;
  };
  EXPECT_NEAR(bus(H100(8, 2)), 39, 1e-9);
  EXPECT_NEAR(bus(H100(8, 4)), 20.4, 1e-9);
  EXPECT_NEAR(bus(H100(8, 3)), 20.4, 1e-9);
  EXPECT_NEAR(bus(OfAmd(H100(8, 2))), 22.5, 1e-9);
  EXPECT_NEAR(bus(OfAmd(H100(8, 4))), 19, 1e-9);
}

TEST(TuningTest, PatNeedsOneRankPerServerAndALaterNccl) {
  EXPECT_EQ(Find(Tune(kAllGather, H100(8, 4), {}), kPat, kSimple), nullptr);
  const TuningTable table = Tune(kAllGather, H100(1, 16), {});
  // 8 + log2(16) (14 + 2 x 2) / 3.5 + 2.8 x 16; 3/4 of 2 x 24.
  const TuningCandidate& pat = Of(table, kPat, kSimple);
  EXPECT_NEAR(pat.latency_us, 8 + 4 * 18 / 3.5 + 44.8, 1e-9);
  EXPECT_NEAR(pat.GBps, 36, 1e-9);
  EXPECT_EQ(Find(table, kPat, kLl), nullptr);
  // NCCL 2.23 brought it.
  EXPECT_NE(Find(Tune(kAllGather, H100(1, 16), Version(23)), kPat, kSimple),
            nullptr);
  EXPECT_EQ(Find(Tune(kAllGather, H100(1, 16), Version(22)), kPat, kSimple),
            nullptr);
  // The hops of a ring then take what a tree's do: 6.6 + 15 x (5 + 2).
  EXPECT_NEAR(Of(table, kRing, kLl).latency_us, 6.6 + 15 * 7, 1e-9);
}

TEST(TuningTest, LevelsOfATreeAreWhole) {
  const auto latency = [](uint32_t servers, NcclAlgorithm algorithm) {
    return Of(Tune(kAllReduce, H100(8, servers), {}), algorithm, kSimple)
        .latency_us;
  };
  for (const NcclAlgorithm algorithm : {kTree, kNvlsTree}) {
    EXPECT_EQ(latency(3, algorithm), latency(2, algorithm));
    EXPECT_GT(latency(4, algorithm), latency(3, algorithm));
    EXPECT_EQ(latency(7, algorithm), latency(4, algorithm));
  }
}

TEST(TuningTest, OverPcieHopsTakeLongerAndThereIsNoLl128) {
  GroupHardware hardware = H100(8);
  hardware.architecture = GpuArchitecture::kAmpere;
  hardware.interconnect = InterconnectKind::kPcie;
  hardware.gpu_GBps = 24;
  hardware.has_nvls = false;
  // 24 GB/s x 8/14; Tree x 0.92 / 2. 14 hops of 1, 5.7 and 4 us.
  EXPECT_THAT(Printed(Tune(kAllReduce, hardware, {})),
              ElementsAre("Tree LL 20.8/2.9", "Tree Simple 64.4/11.0",
                          "Ring LL 20.6/6.9", "Ring Simple 88.2/13.7"));
}

TEST(TuningTest, TreesLoseAtMiddleSizes) {
  const TuningTable table = {kAllReduce, H100(8), {}};
  // Of 100 GB/s, by size.
  const auto rate = [&](NcclProtocol protocol, int64_t bytes) {
    const TuningCandidate tree = {kTree, protocol, 24, 0, 100};
    return static_cast<double>(bytes) / PredictedUs(table, tree, Bytes(bytes)) /
           1000;
  };
  constexpr int64_t kKiB = 1024;
  constexpr int64_t kGiB = kKiB * kKiB * kKiB;
  EXPECT_NEAR(rate(kLl, 1), 100, 1e-9);
  EXPECT_NEAR(rate(kSimple, 64), 90, 1e-9);
  EXPECT_NEAR(rate(kLl, 16 * kKiB), 70, 1e-9);
  EXPECT_NEAR(rate(kLl128, 16 * kKiB), 80, 1e-9);
  EXPECT_NEAR(rate(kLl, 32 * kKiB - 1), 70, 1e-9);
  EXPECT_NEAR(rate(kLl, 256 * kKiB), 40, 1e-9);
  EXPECT_NEAR(rate(kSimple, 1024 * kKiB), 50, 1e-9);
  EXPECT_NEAR(rate(kSimple, kGiB - 1), 90, 1e-9);
  EXPECT_NEAR(rate(kSimple, kGiB), 100, 1e-9);
}

TEST(TuningTest, NvlsTreesOfBlackwellAndX86LoseAlike) {
  const auto us = [](GroupHardware hardware, CpuVendor cpu) {
    hardware.cpu = cpu;
    const TuningTable table = {kAllReduce, hardware, {}};
    return PredictedUs(table, {kNvlsTree, kSimple, 16, 0, 100}, MiB(1));
  };
  const double full = us(H100(8, 2), CpuVendor::kIntel);
  EXPECT_NEAR(us(B200(8, 2), CpuVendor::kIntel), 2 * full, 1e-9);
  EXPECT_NEAR(us(B200(8, 2), CpuVendor::kAmd), 2 * full, 1e-9);
  EXPECT_NEAR(us(B200(8, 2), CpuVendor::kArm), full, 1e-9);
}

TEST(TuningTest, RingsOverServersTakeLongerFrom64BytesAStep) {
  const TuningCandidate ring = {kRing, kSimple, 16, 100, 1e9};
  const auto us = [&](CollectiveKind kind, const GroupHardware& hardware,
                      int64_t bytes) {
    return PredictedUs({kind, hardware, {}}, ring, Bytes(bytes));
  };
  constexpr int64_t kLeast =
      int64_t{64} * 16 * 16;  // Bytes x channels x ranks.
  EXPECT_NEAR(us(kAllReduce, H100(8, 2), kLeast - 1), 100, 1e-3);
  EXPECT_NEAR(us(kAllReduce, H100(8, 2), kLeast), 140, 1e-3);
  EXPECT_NEAR(us(kAllGather, H100(8, 2), kLeast), 100, 1e-3);
  EXPECT_NEAR(us(kAllReduce, H100(16), kLeast), 100, 1e-3);
  GroupHardware volta = H100(8, 2);
  volta.architecture = GpuArchitecture::kVolta;
  EXPECT_NEAR(us(kAllReduce, volta, kLeast), 190, 1e-3);
}

// Sources of the choices: S. Bekman, Machine Learning Engineering, network
// (NCCL 2.27.7 on H200 and B200); a log of NCCL 2.29.2 on H100.
struct ChoiceOfVersion {
  bool is_blackwell;
  int32_t minor;
  uint32_t gpus;
  std::string expected;
};
void PrintTo(const ChoiceOfVersion& c, std::ostream* out) {
  *out << (c.is_blackwell ? "Blackwell" : "Hopper") << " x " << c.gpus;
}
class TuningChoiceTest : public ::testing::TestWithParam<ChoiceOfVersion> {};

TEST_P(TuningChoiceTest, IsWhatWasSeenForLargeBuffers) {
  const ChoiceOfVersion& c = GetParam();
  EXPECT_EQ(Choice(kAllReduce, c.is_blackwell ? B200(c.gpus) : H100(c.gpus),
                   MiB(8192), Version(c.minor)),
            c.expected);
}

INSTANTIATE_TEST_SUITE_P(
    Published, TuningChoiceTest,
    ::testing::Values(ChoiceOfVersion{false, 27, 4, "Ring Simple"},
                      ChoiceOfVersion{false, 27, 5, "NVLS Simple"},
                      ChoiceOfVersion{false, 27, 6, "NVLS Simple"},
                      ChoiceOfVersion{false, 27, 7, "NVLS Simple"},
                      ChoiceOfVersion{false, 27, 8, "NVLS Simple"},
                      ChoiceOfVersion{false, 29, 2, "Ring Simple"},
                      ChoiceOfVersion{false, 29, 4, "Ring Simple"},
                      ChoiceOfVersion{false, 29, 6, "NVLS Simple"},
                      ChoiceOfVersion{false, 29, 8, "NVLS Simple"},
                      ChoiceOfVersion{true, 27, 4, "Ring Simple"},
                      ChoiceOfVersion{true, 27, 5, "Ring Simple"},
                      ChoiceOfVersion{true, 27, 6, "NVLS Simple"},
                      ChoiceOfVersion{true, 27, 7, "NVLS Simple"},
                      ChoiceOfVersion{true, 27, 8, "NVLS Simple"}));

TEST(TuningTest, EightH200GoFromLlToNvlsAt2MiB) {
  EXPECT_EQ(Choice(kAllReduce, H100(8), KiB(1), Version(27)), "Ring LL");
  EXPECT_EQ(Choice(kAllReduce, H100(8), MiB(1), Version(27)), "Ring LL");
  EXPECT_EQ(Choice(kAllReduce, H100(8), MiB(2), Version(27)), "NVLS Simple");
}

TEST(TuningTest, Before2Dot28NvlsHadFiveSixthsOfItsChannels) {
  const auto rate = [](CollectiveKind kind, const GroupHardware& hardware,
                       NcclAlgorithm algorithm) {
    return Of(Tune(kind, hardware, Version(27)), algorithm, kSimple).GBps;
  };
  EXPECT_NEAR(rate(kAllReduce, H100(4), kNvls), 4 * 60 * 5 / 6.0, 1e-9);
  // 8 channels, and their own once more, on the links of a head.
  EXPECT_NEAR(rate(kAllReduce, H100(8), kNvls), 370.8 * 8 / 9 * 5 / 6, 1e-9);
  EXPECT_NEAR(rate(kAllGather, H100(8), kNvls), 370.8 * 8 / 9 * 7 / 8, 1e-9);
  EXPECT_NEAR(rate(kAllReduce, H100(8, 2), kNvlsTree), 370.8 * 8 / 9 * 5 / 6,
              1e-9);
  EXPECT_NEAR(rate(kAllReduce, H100(8, 4), kNvlsTree), 8 * 24 * 5 / 6.0, 1e-9);
}

TEST(TuningTest, VariablesRestrictTheChoice) {
  const GroupHardware hardware = H100(8);
  const auto choice = [&](const std::string& list) {
    return Choice(kAllReduce, hardware, MiB(1024), Options(list));
  };
  EXPECT_EQ(choice("NCCL_ALGO=Ring"), "Ring Simple");
  EXPECT_EQ(choice("NCCL_ALGO=Tree"), "Tree Simple");
  EXPECT_EQ(choice("NCCL_ALGO=^NVLS"), "Ring Simple");
  EXPECT_EQ(choice("NCCL_NVLS_ENABLE=0"), "Ring Simple");
  EXPECT_EQ(choice("NCCL_PROTO=LL128"), "Ring LL128");
  EXPECT_EQ(choice("NCCL_ALGO=Tree,NCCL_PROTO=LL"), "Tree LL");
  EXPECT_EQ(choice("NCCL_ALGO=allgather:tree"), "NVLS Simple");
}

TEST(TuningTest, ItIsAnErrorIfNothingIsLeft) {
  const TuningTable table =
      Tune(kAllReduce, H100(8), Options("NCCL_ALGO=NVLS,NCCL_PROTO=LL"));
  EXPECT_THAT(
      Choose(table, MiB(1)),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               "no algorithm is left for all-reduce: NCCL_ALGO, NCCL_PROTO and "
               "the like exclude all that this group has (Tree/LL, Tree/LL128, "
               "Tree/Simple, Ring/LL, Ring/LL128, Ring/Simple, NVLS/Simple)"));
}

TEST(TuningTest, SendsAndReceivesHaveNoCandidates) {
  for (const CollectiveKind kind :
       {kAllToAll, kSendRecv, kGather, kScatter, kDispatch, kCombine}) {
    EXPECT_TRUE(Tune(kind, H100(8), {}).candidates.empty()) << Name(kind);
  }
}

TEST(TuningTest, PredictionsAreFiniteForAllHardwareAndSizes) {
  for (const CollectiveKind kind :
       {kAllReduce, kAllGather, kReduceScatter, kBroadcast, kReduce}) {
    for (const uint32_t per_server : {1U, 2U, 3U, 8U, 72U}) {
      for (const uint32_t servers : {1U, 2U, 3U, 8192U}) {
        if (per_server * servers < 2) continue;
        for (int power = 0; power <= 40; power += 5) {
          const TuningTable table = Tune(kind, H100(per_server, servers), {});
          for (const TuningCandidate& candidate : table.candidates) {
            const double us =
                PredictedUs(table, candidate, Bytes(int64_t{1} << power));
            EXPECT_TRUE(us > 0 && us < 1e15)
                << Name(candidate.algorithm) << ' ' << us;
          }
        }
      }
    }
  }
}

TEST(TuningTest, TheTextMarksWhatWinsAndWhatIsExcluded) {
  const TuningTable table =
      Tune(kBroadcast, H100(8), Options("NCCL_PROTO=^Simple"));
  EXPECT_EQ(TuningText(table, MiB(1)),
            "algorithm      proto   channels   latency_us   bandwidth_GBps   "
            "predicted_us\n"
            "Ring           LL            24          7.2            141.0   "
            "        14.6  <- chosen\n"
            "Ring           LL128         24         15.9            331.2   "
            "        19.1\n"
            "Ring           Simple        24         11.8            360.0   "
            "        14.7  (excluded)\n");
}

// Along the longest path they come to the latency that NCCL reckons with: 4
// servers of 8 have rings of 62 steps, 6 of them between servers, and trees of
// 7 ranks and 2 levels.
TEST(TuningTest, TheLatencyIsThatOfItsParts) {
  const GroupHardware hardware = H100(8, 4);
  const TuningTable table = Tune(CollectiveKind::kAllReduce, hardware, {});
  for (const TuningCandidate& candidate : table.candidates) {
    const auto [start, within, between] =
        LatencyPartsOf(candidate.algorithm, candidate.protocol,
                       CollectiveKind::kAllReduce, hardware);
    double sum = start;
    if (candidate.algorithm == NcclAlgorithm::kRing) {
      sum += 56 * within + 6 * between;
    } else if (candidate.algorithm == NcclAlgorithm::kTree) {
      sum += 2 * (7 * within + 2 * between);
    } else {
      ASSERT_EQ(candidate.algorithm, NcclAlgorithm::kNvlsTree);
      // To the switch, to the head, and the same way back: 4 halves.
      sum += 4 * within / 2 + 2 * 2 * between;
    }
    EXPECT_NEAR(sum, candidate.latency_us, 1e-9) << Name(candidate.algorithm);
  }
}

}  // namespace
}  // namespace astra
