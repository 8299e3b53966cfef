#include "astra-core/apps/serving/serving_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::TemporaryFolder;
using ::astra::testing::ValueOrDie;
using ::astra::testing::WriteText;
using ::testing::UnorderedElementsAre;

TEST(WriteServingFilesTest, RemovesWhatOtherQuestionsLeft) {
  const TemporaryFolder folder;
  const OutputFolder output = ValueOrDie(OutputFolder::Create(folder.path()));
  WriteText(folder.PathOf("notes.txt"), "of the user");
  for (const std::string name :
       {"run.json", "requests.csv", "serving.html", "curve.csv", "plans.csv",
        "front.csv", "plan.json", "comparison.csv"}) {
    WriteText(folder.PathOf(name), "old");
  }
  ASSERT_TRUE(
      WriteServingFiles(output, folder.path(), {{"capacity.csv", "new"}}).ok());
  EXPECT_THAT(folder.Names(),
              UnorderedElementsAre("capacity.csv", "notes.txt"));
  ASSERT_TRUE(
      WriteServingFiles(output, folder.path(), {{"run.json", "new"}}).ok());
  EXPECT_THAT(folder.Names(), UnorderedElementsAre("notes.txt", "run.json"));
}

TEST(WriteServingFilesTest, EmptiesFoldersOfPlansThatAreGone) {
  const TemporaryFolder folder;
  const OutputFolder output = ValueOrDie(OutputFolder::Create(folder.path()));
  for (const size_t plan : {0u, 1u}) {
    const std::string path = PlanFolder(folder.path(), plan);
    std::filesystem::create_directory(path);
    WriteText(path + "/commands.sh", "old");
    WriteText(path + "/notes.txt", "of the user");
  }
  ASSERT_TRUE(WriteServingFiles(output, folder.path(), {}, 1).ok());
  EXPECT_TRUE(Exists(folder.PathOf("plan-1/commands.sh")));
  EXPECT_FALSE(Exists(folder.PathOf("plan-2/commands.sh")));
  EXPECT_TRUE(Exists(folder.PathOf("plan-2/notes.txt")));
}

}  // namespace
}  // namespace astra
