#include "workload/generator/training_setup.h"

#include "tests/testing/matchers.h"
#include "tests/testing/schedules.h"
#include "tests/testing/small_models.h"
#include "workload/generator/layout_rules.h"

namespace astra {
namespace {

using ::astra::testing::ScheduleNamed;
using ::astra::testing::SmallLlama;

// TP 2 x CP 2 x DP 2 x PP 2, in 4 micro-batches of 2 sequences.
TrainingSetup SmallSetup() {
  TrainingSetup setup;
  setup.world_size = 16;
  setup.tensor = 2;
  setup.context = 2;
  setup.pipeline = 2;
  setup.micro_batch = 2;
  setup.global_batch = 16;
  setup.positions = 32;
  return setup;
}

TEST(TrainingSetupTest, FollowsFromTheSizes) {
  const TrainingSetup setup = SmallSetup();
  EXPECT_EQ(CheckTraining(SmallLlama(), setup), absl::OkStatus());
  EXPECT_EQ(setup.data(), 2);
  EXPECT_EQ(setup.micro_batches(), 4);
  EXPECT_EQ(setup.sizes(), (ParallelSizes{.num_ranks = 16,
                                          .tensor = 2,
                                          .context = 2,
                                          .pipeline = 2,
                                          .micro_batches = 4}));
  EXPECT_EQ(setup.module_context().expert_tensor, 2);
  EXPECT_EQ(setup.module_context().tokens(), 2 * 16);
}

TEST(TrainingSetupTest, TheScheduleFollowsFromTheChunks) {
  TrainingSetup setup = SmallSetup();
  EXPECT_EQ(setup.pipeline_schedule(), ScheduleNamed("1f1b"));
  EXPECT_EQ(setup.chunks(), 1);
  setup.virtual_stages = 2;
  EXPECT_EQ(setup.pipeline_schedule(), ScheduleNamed("interleaved"));
  EXPECT_EQ(setup.chunks(), 2);
  // And the chunks from the schedule.
  setup.virtual_stages = 1;
  for (const PipelineSchedule schedule :
       {ScheduleNamed("zb-v"), ScheduleNamed("dualpipe")}) {
    setup.schedule = schedule;
    EXPECT_EQ(setup.chunks(), 2);
    EXPECT_EQ(setup.sizes().virtual_stages, 2);
    EXPECT_EQ(CheckTraining(SmallLlama(), setup), absl::OkStatus());
  }
}

}  // namespace
}  // namespace astra
