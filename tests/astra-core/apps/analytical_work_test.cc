#include "astra-core/apps/analytical_work.h"

#include <string>
#include <utility>

#include "tests/testing/files.h"
#include "tests/testing/matchers.h"
#include "tests/testing/schedules.h"
#include "workload/program.h"

namespace astra {
namespace {

using ::astra::testing::ScheduleNamed;
using ::astra::testing::ValueOrDie;
using ::astra::testing::WriteText;

// Two stages that run one module of two steps five times.
Program TenStepsAStage(PipelineSchedule schedule, int64_t micro_batches) {
  ProgramParts parts;
  parts.sizes.num_ranks = 2;
  parts.sizes.pipeline = 2;
  parts.sizes.micro_batches = micro_batches;
  parts.schedule = schedule;
  ProgramModule module;
  module.name = "block";
  Step step;
  step.compute = Microseconds(1);
  module.passes[IndexOf(ModulePass::kForward)] = {step};
  module.passes[IndexOf(ModulePass::kInputGradient)] = {step};
  parts.modules = {module};
  ProgramStage stage;
  stage.count = 2;
  stage.runs = {{.times = 5, .modules = {ModuleId(0)}}};
  parts.stages = {stage};
  return ValueOrDie(Program::Create(std::move(parts)));
}

TEST(AnalyticalWorkTest, GrowsWithCables) {
  const Program program = TenStepsAStage(ScheduleNamed("1f1b"), 4);
  const WorkBudget one = AnalyticalWork(program, 1000, false);
  const WorkBudget two = AnalyticalWork(program, 2000, false);
  EXPECT_GT(one.seconds, 0);
  EXPECT_GT(one.memory_bytes, 0);
  EXPECT_EQ(two.seconds, 2 * one.seconds);
  EXPECT_EQ(two.memory_bytes, 2 * one.memory_bytes);
}

// 2 stages, 10 steps, 1,000,000 micro-batches: 20 million steps.
TEST(AnalyticalWorkTest, GrowsWithMicroBatchesWhereAllAreRun) {
  constexpr int64_t kMillion = 1'000'000;
  const WorkBudget gpipe = AnalyticalWork(
      TenStepsAStage(ScheduleNamed("gpipe"), kMillion), 0, false);
  EXPECT_GT(gpipe.seconds, 10);
  EXPECT_GT(gpipe.memory_bytes, 1e9);
  const Program steady = TenStepsAStage(ScheduleNamed("1f1b"), kMillion);
  EXPECT_EQ(AnalyticalWork(steady, 0, false).memory_bytes, 0);
  EXPECT_EQ(AnalyticalWork(steady, 0, true).memory_bytes, gpipe.memory_bytes);
}

TEST(AnalyticalWorkTest, CablesComeFromTheSizeOfTheFile) {
  testing::TemporaryFolder folder;
  RunOptions options;
  const Program program = TenStepsAStage(ScheduleNamed("1f1b"), 1);
  EXPECT_EQ(EstimateCables(options, program), 2 * program.sizes().num_ranks);
  options.topology_file = folder.PathOf("topology");
  EXPECT_EQ(EstimateCables(options, program), 0);
  WriteText(*options.topology_file, std::string(3200, ' '));
  EXPECT_EQ(EstimateCables(options, program), 100);
}

}  // namespace
}  // namespace astra
