#include "astra-core/apps/plan/simai_planner_calculon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fmt/core.h"
#include "tests/testing/files.h"
#include "tests/testing/programs.h"

namespace astra {
namespace {

using ::astra::testing::ProgramResult;
using ::astra::testing::RunProgram;
using ::astra::testing::SourcePath;
using ::astra::testing::TemporaryFolder;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Example(const std::string& name) {
  return SourcePath("inputs/calculon/" + name);
}

ProgramResult RunCalculonFiles(const TemporaryFolder& folder,
                               const std::string& files,
                               const std::string& more) {
  return RunProgram("simai_planner",
                    fmt::format("--calculon '{}' {}", files, more),
                    folder.path());
}

std::string Files() {
  return fmt::format("{},{},{}", Example("megatron-1T.json"),
                     Example("3072_t4_p64_d12_mbs4_full.json"),
                     Example("a100_80g.json"));
}

TEST(SimaiPlannerCalculonTest, WritesTheStatistics) {
  const TemporaryFolder folder;
  const ProgramResult result =
      RunCalculonFiles(folder, Files(), "-o out -r example");
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_THAT(result.out,
              EndsWith("\nresults    out: calculon.json run.json summary.txt\n"
                       "finished   example: 131.900617 s, efficiency 30.46 "
                       "%\n"));
  EXPECT_THAT(testing::ReadText(folder.PathOf("out/run.json")),
              HasSubstr("\"iteration_ps\": 13190061679739"));
}

TEST(SimaiPlannerCalculonTest, RefusesWhatHasNoEffect) {
  const TemporaryFolder folder;
  const ProgramResult result = RunCalculonFiles(folder, Files(), "--tp 4");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.error,
            "simai_planner: error: --tp has no effect: the files of --calculon "
            "say all of the job\n");
  EXPECT_EQ(
      RunCalculonFiles(folder, "a,b", "").error,
      "simai_planner: error: --calculon is \"a,b\": expected three files, "
      "APPLICATION,EXECUTION,SYSTEM\n");
  EXPECT_THAT(folder.Names(), IsEmpty());
}

}  // namespace
}  // namespace astra
