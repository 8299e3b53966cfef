#include "collectives/measurements/measured_environment.h"

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(MeasuredEnvironmentTest, TakesTheSettingsOfNccl) {
  EXPECT_THAT(
      ParseMeasuredEnvironment("-x NCCL_ALGO=Ring,Tree,NCCL_PROTO=LL; FOO=1 "
                               "(NCCL_IB_HCA=mlx5_0..7); algo default",
                               MiB(1), 8)
          .settings,
      ElementsAre(Pair("NCCL_ALGO", "Ring,Tree"), Pair("NCCL_PROTO", "LL"),
                  Pair("NCCL_IB_HCA", "mlx5_0..7")));
  EXPECT_THAT(
      ParseMeasuredEnvironment("NCCL_TOPO_FILE=\"a.xml\" NCCL_X", MiB(1), 8)
          .settings,
      ElementsAre(Pair("NCCL_TOPO_FILE", "a.xml")));
  EXPECT_THAT(ParseMeasuredEnvironment("", MiB(1), 8).settings, IsEmpty());
}

// "ALGORITHM PROTOCOL", or "-" for what is not stated.
std::string Stated(std::string_view text, Bytes size, uint32_t num_gpus) {
  const MeasuredEnvironment environment =
      ParseMeasuredEnvironment(text, size, num_gpus);
  return fmt::format("{} {}",
                     environment.algorithm ? Name(*environment.algorithm)
                                           : std::string_view("-"),
                     environment.protocol ? Name(*environment.protocol)
                                          : std::string_view("-"));
}

TEST(MeasuredEnvironmentTest, AStatementHoldsWhereItsConditionDoes) {
  constexpr std::string_view kBySize =
      "default: RING LL <=1MiB, NVLS Simple >=2MiB";
  EXPECT_EQ(Stated(kBySize, MiB(1), 8), "Ring LL");
  EXPECT_EQ(Stated(kBySize, MiB(2), 8), "NVLS Simple");
  EXPECT_EQ(Stated(kBySize, KiB(1536), 8), "- -");
  constexpr std::string_view kByGpus =
      "default: Ring at 2 and 4 GPUs, NVLS at 6";
  EXPECT_EQ(Stated(kByGpus, MiB(1), 4), "Ring -");
  EXPECT_EQ(Stated(kByGpus, MiB(1), 6), "NVLS -");
  EXPECT_EQ(Stated(kByGpus, MiB(1), 8), "- -");
  EXPECT_EQ(Stated("Tree at 2..8 GPUs < 1 MB", KiB(1023), 8), "Tree -");
  EXPECT_EQ(Stated("Tree < 1M", MiB(1), 8), "- -");
}

TEST(MeasuredEnvironmentTest, OnlyPlainStatementsCount) {
  EXPECT_EQ(Stated("NVLS", MiB(1), 8), "NVLS -");
  EXPECT_EQ(Stated("default, NCCL picked NVLS", MiB(1), 8), "NVLS -");
  EXPECT_TRUE(ParseMeasuredEnvironment("NVLS", MiB(1), 8).is_asked);
  EXPECT_TRUE(ParseMeasuredEnvironment("Ring LL", MiB(1), 8).is_asked);
  EXPECT_FALSE(ParseMeasuredEnvironment("default: Ring", MiB(1), 8).is_asked);
  EXPECT_FALSE(ParseMeasuredEnvironment("picked NVLS", MiB(1), 8).is_asked);
  EXPECT_EQ(Stated("NCCL_NVLS_ENABLE=0 (Ring)", MiB(1), 8), "Ring -");
  EXPECT_EQ(Stated("AWS ofi tuner (NVLS_TREE/LL128)", MiB(1), 8),
            "NVLSTree LL128");
  EXPECT_EQ(Stated("NCCL_ALGO=NVLS", MiB(1), 8), "- -");
  EXPECT_EQ(Stated("table says NVLS but A100 has no NVLS", MiB(1), 8), "- -");
  EXPECT_EQ(Stated("Tree/NVLSTree", MiB(1), 8), "- -");
  EXPECT_EQ(Stated("Ring for large sizes", MiB(1), 8), "- -");
  EXPECT_EQ(Stated("Simple", MiB(1), 8), "- -");
  EXPECT_EQ(Stated("Ring <=99999999999999999999", MiB(1), 8), "- -");
}

TEST(MeasuredEnvironmentTest, KnowsHowItWasLaunched) {
  const auto launch = [](std::string_view text) {
    const MeasuredEnvironment environment =
        ParseMeasuredEnvironment(text, MiB(1), 8);
    return std::pair(
        environment.launch ? Name(*environment.launch) : "not stated",
        environment.symmetric);
  };
  EXPECT_THAT(launch("CUDA graph (-G 1) symmetric registration (-R 2)"),
              Pair("graph", true));
  EXPECT_THAT(launch("CUDA graph (-G 1) no registration"),
              Pair("graph", false));
  EXPECT_THAT(launch("symmetric registration"), Pair("not stated", true));
  EXPECT_THAT(launch("queued"), Pair("queued", false));
  EXPECT_THAT(launch("no CUDA graph, -R1"), Pair("not stated", false));
  EXPECT_THAT(launch("default; -g 4 single process -w 5 -n 50"),
              Pair("not stated", false));
}

}  // namespace
}  // namespace astra
