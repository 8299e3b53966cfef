#include "astra-core/sweep/swept_program.h"

#include "tests/astra-core/sweep/made_up_programs.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

constexpr const SweptProgram& kTopology = testing::kMadePrograms[0];
constexpr const SweptProgram& kWorkload = testing::kMadePrograms[1];
constexpr const SweptProgram& kCollective = testing::kMadePrograms[4];

TEST(FindOptionTest, KnowsEverySpellingOfACommandLine) {
  for (const std::string_view spelling :
       {"nvlink-bw", "nvlink_bw", "nvbw", "nv-bw", "nv_bw", "--nvlink-bw",
        "-nvbw"}) {
    const OptionSpec* option = FindOption(kTopology, spelling);
    ASSERT_NE(option, nullptr) << spelling;
    EXPECT_EQ(option->name, "nvlink-bw") << spelling;
  }
  for (const std::string_view spelling : {"", "-", "NVBW", "nv bw", "nv"}) {
    EXPECT_EQ(FindOption(kTopology, spelling), nullptr) << spelling;
  }
}

TEST(WhyRefusedTest, SaysWhatEachOptionWouldDo) {
  EXPECT_EQ(WhyRefused(kTopology, "o"), "the sweep itself gives --output");
  EXPECT_EQ(WhyRefused(kTopology, "-h"),
            "--help prints and stops: it cannot be swept");
  EXPECT_EQ(WhyRefused(kTopology, "version"),
            "--version prints and stops: it cannot be swept");
  EXPECT_EQ(WhyRefused(kWorkload, "list_models"),
            "--list-models prints and stops: it cannot be swept");
  EXPECT_EQ(WhyRefused(kCollective, "flows"), "--flows cannot be swept");
  EXPECT_EQ(WhyRefused(kTopology, "gpu"), "");
  EXPECT_EQ(WhyRefused(kTopology, "flows"), "");  // Is not an option of it.
}

TEST(UnknownOptionOfTest, OffersWhatMayBeSwept) {
  EXPECT_EQ(UnknownOptionOf(kTopology, "nvb"),
            "unknown option of make_topo \"nvb\"; did you mean \"nvbw\"? "
            "(known: topology, gpu, nvlink-bw, ro)");
  // Not --output, though that is near.
  EXPECT_EQ(UnknownOptionOf(kTopology, "outputs"),
            "unknown option of make_topo \"outputs\" (known: topology, gpu, "
            "nvlink-bw, ro)");
}

}  // namespace
}  // namespace astra
