#include "astra-core/apps/memory_snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ValueOrDie;
using ::testing::HasSubstr;
using ::testing::Not;

// A loadable file with names of any bytes; script tests load whole ones.
TEST(MemorySnapshotTest, SaysWhatIsBeyondTheLimit) {
  ProgramParts parts;
  parts.sizes = {.num_ranks = 1};
  parts.modules = {
      {.name = "b\xff"
               "d",
       .memory = {
           .weights = Bytes(100), .saved = Bytes(10), .workspace = Bytes(1)}}};
  parts.stages = {{.runs = {{.modules = {ModuleId(0)}}}}};
  const Program program = ValueOrDie(Program::Create(parts));
  const StageMemory memory = MemoryOf(program).front();

  // Weights; forward: saved, workspace, its release; backward: workspace, its
  // release, the release of what was saved.
  const MemorySnapshot whole = SnapshotOf(program, memory, {}, 7);
  EXPECT_EQ(whole.events, 7U);
  EXPECT_EQ(DescribeLeftOut(whole), "");
  EXPECT_THAT(whole.file, HasSubstr("b\xef\xbf\xbd"
                                    "d"));
  EXPECT_THAT(whole.file, Not(HasSubstr("\xff"
                                        "d")));

  const MemorySnapshot some = SnapshotOf(program, memory, {}, 4);
  EXPECT_EQ(
      DescribeLeftOut(some),
      "snapshot   has the first 4 of 7 allocations and releases: more are "
      "left out, and the peak may be among them\n");
}

}  // namespace
}  // namespace astra
