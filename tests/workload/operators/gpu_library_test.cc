#include "workload/operators/gpu_library.h"

#include <algorithm>
#include <map>

#include "astra-core/base/names.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

std::string NameOf(std::string_view name) {
  return ValueOrDie(FindGpu(name)).name;
}

TEST(GpuLibraryTest, FindsNamesAndAliases) {
  EXPECT_EQ(NameOf("h100-sxm"), "h100-sxm");
  EXPECT_EQ(NameOf("H100_SXM"), "h100-sxm");
  EXPECT_EQ(NameOf("H100"), "h100-sxm");
  EXPECT_EQ(NameOf("A100"), "a100-sxm-80gb");
  EXPECT_EQ(NameOf("A100-80GB"), "a100-sxm-80gb");
  EXPECT_EQ(NameOf("a100-40gb"), "a100-sxm-40gb");
  EXPECT_EQ(NameOf("H800"), "h800-sxm");
  EXPECT_EQ(NameOf("H20"), "h20");
  EXPECT_EQ(NameOf("GB200"), "gb200");
}

TEST(GpuLibraryTest, FindsTheNamesOfDrivers) {
  EXPECT_EQ(NameOf("NVIDIA H100 80GB HBM3"), "h100-sxm");
  EXPECT_EQ(NameOf("NVIDIA H100 PCIe"), "h100-pcie");
  EXPECT_EQ(NameOf("NVIDIA A100-SXM4-40GB"), "a100-sxm-40gb");
  EXPECT_EQ(NameOf("NVIDIA A100-PCIE-40GB"), "a100-pcie-40gb");
  EXPECT_EQ(NameOf("NVIDIA A100 80GB PCIe"), "a100-pcie-80gb");
  for (const std::string other :
       {"NVIDIA H100 NVL", "NVIDIA H20-3e", "NVIDIA GeForce RTX 4090 D",
        "Tesla V100-SXM2-16GB"}) {
    EXPECT_THAT(FindGpu(other), StatusIs(absl::StatusCode::kNotFound,
                                         ::testing::HasSubstr(other)));
  }
}

TEST(GpuLibraryTest, ListsTheNames) {
  EXPECT_THAT(
      GpuNames(),
      ::testing::ElementsAre(
          "a100-pcie-40gb", "a100-pcie-80gb", "a100-sxm-40gb", "a100-sxm-80gb",
          "a800-sxm-80gb", "b200", "b300", "gb200", "gb300", "gh200",
          "h100-pcie", "h100-sxm", "h100-sxm-500w", "h20", "h200", "h800-sxm",
          "l40s", "mi300x", "rtx-pro-6000", "rtx4090", "v100-sxm-32gb"));
}

TEST(GpuLibraryTest, ReadsAFile) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.PathOf("mine.yaml");
  testing::WriteText(path, "name: mine\n");
  EXPECT_THAT(FindGpu(path),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       path + ":1:1: a GPU has no \"architecture\""));
  EXPECT_THAT(FindGpu("no/such"), StatusIs(absl::StatusCode::kNotFound,
                                           ::testing::HasSubstr("no/such")));
}

TEST(GpuLibraryTest, OffersTheNearestName) {
  EXPECT_THAT(
      FindGpu("h100-sxn"),
      StatusIs(absl::StatusCode::kNotFound,
               "unknown GPU \"h100-sxn\"; did you mean \"h100-sxm\"? (known: "
               "a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb, "
               "a800-sxm-80gb, b200, b300, gb200, gb300, gh200, h100-pcie, "
               "h100-sxm, h100-sxm-500w, h20, h200, h800-sxm, l40s, mi300x, "
               "rtx-pro-6000, rtx4090, "
               "v100-sxm-32gb)"));
}

TEST(GpuLibraryTest, NoNameIsGivenTwice) {
  std::map<std::string, std::string> owners;
  for (const GpuSpec& gpu : BundledGpus()) {
    std::vector<std::string> names = gpu.aliases;
    names.push_back(gpu.name);
    for (const std::string& given : names) {
      std::string name = LowerCase(given);
      std::replace(name.begin(), name.end(), '_', '-');
      EXPECT_TRUE(owners.emplace(name, gpu.name).second)
          << name << " is " << owners[name] << " and " << gpu.name;
    }
  }
}

TEST(GpuLibraryTest, ATypeOfATopologyMeansAGpuOrItsFamily) {
  for (const auto& [type, name] :
       {std::pair{"H100", "h100-sxm"}, std::pair{"h100", "h100-pcie"},
        std::pair{"A100", "a100-sxm-40gb"}, std::pair{"A800", "a800-sxm-80gb"},
        std::pair{"H20", "h20"}, std::pair{"GB200-NVL72", "gb200"},
        std::pair{"H100_SXM", "h100-sxm"}, std::pair{"mine", "MINE"}}) {
    EXPECT_TRUE(IsGpuType(type, name)) << type << " " << name;
  }
  for (const auto& [type, name] :
       {std::pair{"H200", "h20"}, std::pair{"H20", "h200"},
        std::pair{"A100", "h100-sxm"}, std::pair{"B2000", "b200"},
        std::pair{"H100-SXM", "h100-pcie"}, std::pair{"", "h100-sxm"}}) {
    EXPECT_FALSE(IsGpuType(type, name)) << type << " " << name;
  }
}

TEST(GpuLibraryTest, TheNumbersAreSane) {
  for (const GpuSpec& gpu : BundledGpus()) {
    SCOPED_TRACE(gpu.name);
    const auto [fp32, bf16, fp8, fp8_block, mxfp8, nvfp4] = gpu.peak_tflops;
    EXPECT_FALSE(gpu.origins.empty());
    EXPECT_GE(fp32, gpu.vector_tflops);
    EXPECT_GE(bf16, 1.9 * fp32);
    EXPECT_LE(bf16, 8 * fp32);
    if (fp8 > 0) {
      EXPECT_NEAR(fp8 / bf16, 2, 0.05);
    }
    EXPECT_EQ(fp8_block, fp8);
    EXPECT_EQ(mxfp8, nvfp4 > 0 ? fp8 : 0);  // Blackwell and later.
    EXPECT_GE(nvfp4, 1.9 * mxfp8);
    // Two operations for each of 64 or 128 lanes, and clock.
    const double lanes = gpu.vector_tflops * 1e6 /
                         (static_cast<double>(gpu.num_sms) * gpu.clock_mhz) / 2;
    EXPECT_GT(lanes, 60);
    EXPECT_LT(lanes, 150);
    EXPECT_GE(gpu.memory_gb_per_s, 10 * gpu.memory_gb);
    EXPECT_LE(gpu.memory_gb_per_s, 50 * gpu.memory_gb);
    EXPECT_GE(gpu.pcie_gb_per_s, 16);

    const Calibration& c = gpu.calibration;
    EXPECT_EQ(fp8 > 0, c.gemm[IndexOf(Precision::kFp8)] > 0);
    EXPECT_LE(c.attention_backward, c.attention_forward + 0.05);
    EXPECT_GE(c.error, 0.05);
    EXPECT_LE(c.error, 0.3);
    EXPECT_FALSE(c.origin.empty());
  }
}

}  // namespace
}  // namespace astra
