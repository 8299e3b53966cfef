#include "collectives/measurements/measured_terms.h"

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::testing::Optional;

TEST(MeasuredTermsTest, ACollectiveIsNamedInManyWays) {
  EXPECT_THAT(CollectiveOf("all_reduce"), Optional(CollectiveKind::kAllReduce));
  EXPECT_THAT(CollectiveOf("All-Reduce"), Optional(CollectiveKind::kAllReduce));
  EXPECT_THAT(CollectiveOf("allreduce"), Optional(CollectiveKind::kAllReduce));
  EXPECT_THAT(CollectiveOf("alltoall_perf_mpi"),
              Optional(CollectiveKind::kAllToAll));
  EXPECT_THAT(CollectiveOf("all_to_all"), Optional(CollectiveKind::kAllToAll));
  EXPECT_THAT(CollectiveOf("send_recv"), Optional(CollectiveKind::kSendRecv));
  EXPECT_THAT(CollectiveOf("Dispatch"), Optional(CollectiveKind::kDispatch));
  EXPECT_THAT(CollectiveOf("combine"), Optional(CollectiveKind::kCombine));
  EXPECT_EQ(CollectiveOf("hypercube_perf"), std::nullopt);
  EXPECT_EQ(CollectiveOf(""), std::nullopt);
}

TEST(MeasuredTermsTest, ItsNameInNcclTestsIsUnderstood) {
  for (const CollectiveKind kind : kCollectiveKinds) {
    EXPECT_THAT(CollectiveOf(NcclTestsName(kind)), Optional(kind));
    EXPECT_THAT(CollectiveOf(Name(kind)), Optional(kind));
  }
}

TEST(MeasuredTermsTest, TheModelOfAGpuIsFoundInItsName) {
  EXPECT_EQ(GpuModelOf("NVIDIA H100 80GB HBM3"), "H100");
  EXPECT_EQ(GpuModelOf("A100-SXM4-80GB"), "A100");
  EXPECT_EQ(GpuModelOf("H20-3e"), "H20");
  EXPECT_EQ(GpuModelOf("B200-SXM"), "B200");
  EXPECT_EQ(GpuModelOf("GB200 NVL72"), "GB200");
  EXPECT_EQ(GpuModelOf("NVL72 GB300"), "GB300");
  EXPECT_EQ(GpuModelOf("NVIDIA GH200 480GB"), "GH200");
  EXPECT_EQ(GpuModelOf("Tesla V100-SXM2-16GB"), "V100");
  EXPECT_EQ(GpuModelOf("TPU"), "TPU");
}

struct NicCase {
  std::string text;
  MeasuredNics nics;
};

class MeasuredNicsTest : public ::testing::TestWithParam<NicCase> {};

TEST_P(MeasuredNicsTest, AreReadFromAText) {
  const MeasuredNics nics = ParseMeasuredNics(GetParam().text);
  EXPECT_TRUE(nics == GetParam().nics)
      << fmt::format("{}: none {}, count {}, per_gpu {}, gbps {}, '{}'",
                     GetParam().text, nics.none, nics.count.value_or(0),
                     nics.per_gpu, nics.gbps.value_or(0), nics.transport);
}

INSTANTIATE_TEST_SUITE_P(
    All, MeasuredNicsTest,
    ::testing::Values(
        NicCase{"none", {.none = true}}, NicCase{"", {}},
        NicCase{"not stated", {}},
        NicCase{"8x400 IB", {.count = 8, .gbps = 400, .transport = "IB"}},
        NicCase{"32x100 EFA", {.count = 32, .gbps = 100, .transport = "EFA"}},
        NicCase{"4x200 TCPX", {.count = 4, .gbps = 200, .transport = "TCPX"}},
        NicCase{"8x200 TCPXO", {.count = 8, .gbps = 200, .transport = "TCPXO"}},
        NicCase{"8x400 RoCEv2", {.count = 8, .gbps = 400, .transport = "RoCE"}},
        NicCase{"4x200 Slingshot-11",
                {.count = 4, .gbps = 200, .transport = "Slingshot"}},
        NicCase{"2 bonded RoCE per VM (1 per GPU)",
                {.count = 2, .transport = "RoCE"}},
        NicCase{"1x400", {.count = 1, .gbps = 400}},
        NicCase{"8x50GB/s", {.count = 8, .gbps = 400}},
        NicCase{"8x50 GB/s IB", {.count = 8, .gbps = 400, .transport = "IB"}},
        NicCase{"8x400GB", {.count = 8, .gbps = 400}},
        NicCase{"3200 Gbps", {.gbps = 3200}},
        NicCase{"8x EDR", {.count = 8, .gbps = 100}},
        NicCase{"1x400 per GPU", {.count = 1, .per_gpu = true, .gbps = 400}},
        NicCase{"4x400 CX7", {.count = 4, .gbps = 400, .transport = "RDMA"}},
        NicCase{"8x CX-7 400G", {.count = 8, .gbps = 400, .transport = "RDMA"}},
        NicCase{"8x400 CX-7 RoCE",
                {.count = 8, .gbps = 400, .transport = "RoCE"}},
        NicCase{"8 x 400Gb/s NDR",
                {.count = 8, .gbps = 400, .transport = "IB"}},
        NicCase{"8x NDR200", {.count = 8, .gbps = 200, .transport = "IB"}},
        NicCase{"400 Gb/s EFA", {.gbps = 400, .transport = "EFA"}},
        NicCase{"EFAv2", {.transport = "EFA"}},
        NicCase{"NVL72", {.nvlink_domain = 72}}));

TEST(MeasuredTermsTest, NvlinkIsReadFromAText) {
  EXPECT_TRUE(
      ParseMeasuredNvlink("NVLink4 NVSwitch3 (18 links, 450 GB/s/dir)") ==
      (MeasuredNvlink{.generation = 4,
                      .num_links = 18,
                      .gb_per_s = 450,
                      .has_switch = true}));
  EXPECT_TRUE(ParseMeasuredNvlink("NVLink 5, NVL72").nvlink_domain == 72);
  EXPECT_FALSE(ParseMeasuredNvlink("NVLink4, no NVSwitch").has_switch);
  EXPECT_TRUE(ParseMeasuredNvlink("PCIe") == MeasuredNvlink{});
  EXPECT_TRUE(ParseMeasuredNvlink("bridges, pairs").joins_pairs);
}

TEST(MeasuredTermsTest, TheFirstVersionOfATextCounts) {
  const auto version = [](uint32_t minor, uint32_t patch) {
    return Optional(MeasuredVersion{2, minor, patch});
  };
  EXPECT_THAT(ParseMeasuredVersion("2.26.2+cuda12.8"), version(26, 2));
  EXPECT_THAT(ParseMeasuredVersion("2.29.2 (library 22902; README: 2.18.3)"),
              version(29, 2));
  EXPECT_THAT(ParseMeasuredVersion("NCCL v2.18"), version(18, 0));
  EXPECT_THAT(ParseMeasuredVersion("2.21.5-1"), version(21, 5));
  EXPECT_THAT(ParseMeasuredVersion("22902"), version(29, 2));
  EXPECT_EQ(ParseMeasuredVersion("not stated"), std::nullopt);
  EXPECT_EQ(ParseMeasuredVersion("cuda12.8"), std::nullopt);
  EXPECT_EQ(ParseMeasuredVersion("99999999999999999999.1"), std::nullopt);
}

}  // namespace
}  // namespace astra
