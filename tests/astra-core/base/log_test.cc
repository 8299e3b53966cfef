#include "astra-core/base/log.h"

#include <cstdio>

#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

TEST(LogTest, PrintsOneLineForEachMessage) {
  const testing::TemporaryFolder folder;
  std::FILE* const file = std::fopen(folder.PathOf("log").c_str(), "w");
  const Log log("gen_topo", file);
  log.Error("no {} file");  // Not a format.
  log.Report({"first", "second"});
  std::fclose(file);

  EXPECT_EQ(testing::ReadText(folder.PathOf("log")),
            "gen_topo: error: no {} file\n"
            "gen_topo: warning: first\n"
            "gen_topo: warning: second\n");
}

}  // namespace
}  // namespace astra
