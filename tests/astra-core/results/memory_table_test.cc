#include "astra-core/results/memory_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ValueOrDie;

// Each of two stages holds 2800 B, and while it runs a micro-batch 32 more.
TEST(MemoryTableTest, HasALineForEachSlotAndForWhatRunsAfter) {
  ProgramParts parts;
  parts.sizes = {.num_ranks = 2, .pipeline = 2, .micro_batches = 1};
  parts.modules = {{.name = "block",
                    .memory = {.weights = Bytes(2800),
                               .saved = Bytes(30),
                               .workspace = Bytes(2)}},
                   {.name = "optimizer"}};
  parts.stages = {{.count = 2,
                   .runs = {{.modules = {ModuleId(0)}}},
                   .after = {ModuleId(1)}}};
  const Program program = ValueOrDie(Program::Create(std::move(parts)));
  EXPECT_EQ(MemoryCsv(program, MemoryOf(program)),
            "# bytes of each rank of a stage, as allocated; 1 micro-batches\n"
            "stage,slot,pass,chunk,micro_batch,in_flight,allocated_bytes\n"
            "0,0,forward,0,0,1,2832\n"
            "0,1,backward,0,0,1,2832\n"
            "0,2,after,-,-,0,2800\n"
            "1,0,forward,0,0,1,2832\n"
            "1,1,backward,0,0,1,2832\n"
            "1,2,after,-,-,0,2800\n");
}

}  // namespace
}  // namespace astra
