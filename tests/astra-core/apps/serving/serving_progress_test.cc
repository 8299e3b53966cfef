#include "astra-core/apps/serving/serving_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/testing/files.h"

namespace astra {
namespace {

// Into a file each update is a line, here at once.
TEST(ServingProgressTest, CountsRequestsThatHaveEnded) {
  const testing::TemporaryFolder folder;
  std::FILE* const out = std::fopen(folder.PathOf("log").c_str(), "w");
  {
    ServingProgress progress(4, out, std::chrono::milliseconds(0));
    progress.OnStep({});
    progress.OnRequest({});
  }
  std::fclose(out);
  EXPECT_THAT(
      testing::ReadText(folder.PathOf("log")),
      ::testing::AllOf(
          ::testing::HasSubstr("0 of 4 requests have ended"),
          ::testing::ContainsRegex("25 % +1 of 4 requests have ended")));
}

}  // namespace
}  // namespace astra
