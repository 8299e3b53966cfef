#include "astra-core/apps/plan/simumax_plan.h"

#include <string>
#include <vector>

#include "astra-core/apps/plan/simai_planner_options.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::SourcePath;
using ::astra::testing::StatusIs;
using ::astra::testing::TemporaryFolder;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

absl::Status RunWords(const std::vector<std::string>& words) {
  std::vector<const char*> argv = {"simai_planner"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  const CommandLine flags = ValueOrDie(CommandLine::Parse(
      SimaiPlannerOptionSpecs(), static_cast<int>(argv.size()), argv.data()));
  return RunSimumax(flags, Log("simai_planner"));
}

std::string Files() {
  return SourcePath("inputs/simumax/llama3-8b.json") + "," +
         SourcePath("inputs/simumax/tp1_pp2_dp4_mbs1.json") + "," +
         SourcePath("inputs/simumax/a100_pcie.json");
}

TEST(SimumaxPlanTest, WritesTheFilesOfSimumax) {
  const TemporaryFolder folder;
  EXPECT_TRUE(RunWords({"--simumax", Files(), "--output", folder.path()}).ok());
  EXPECT_THAT(folder.Names(),
              ElementsAre("base_info.json", "compute_result.json",
                          "efficiency.json", "mem_result.json", "net_info.json",
                          "run.json", "summary.txt"));
}

TEST(SimumaxPlanTest, RefusesOptionsWithoutEffect) {
  constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(RunWords({"--simumax", Files(), "--tp", "2"}),
              StatusIs(kInvalid,
                       "--tp has no effect: the files of --simumax say "
                       "everything"));
  EXPECT_THAT(RunWords({"--simumax", "a.json,,b.json"}),
              StatusIs(kInvalid,
                       "--simumax is \"a.json,,b.json\": expected three "
                       "files, MODEL,STRATEGY,SYSTEM"));
}

}  // namespace
}  // namespace astra
