#include "astra-core/apps/plan/layout_cells.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/astra-core/apps/plan/plan_test_job.h"

namespace astra {
namespace {

using ::astra::testing::ReadPlanner;

TEST(LayoutCellsTest, EachColumnHasACell) {
  const SimaiPlannerOptions options = ReadPlanner(
      "-m llama3-8b --gpu H100 --gpus 16 --global-batch 64 --seq-length 8192 "
      "--framework megatron-core");
  EXPECT_EQ(LayoutColumns(),
            "tp,cp,pp,vpp,dp,ep,etp,micro_batch,zero,recompute,"
            "recompute_modules,recompute_layers,recompute_method,sp,cp_method,"
            "overlap,schedule,order");
  Layout layout = {.tensor = 2, .context = 2, .pipeline = 2};
  layout.sequence_parallel = true;
  EXPECT_EQ(LayoutCells(options.job, layout),
            "2,2,2,1,2,1,1,1,1,none,,0,,true,ring,gradients+parameters+tp,"
            "1f1b,tp-cp-ep-dp-pp");
  layout.overlaps = Overlaps();
  layout.context_method = ContextMethod::kAllToAll;
  layout.order = *ParseRankOrder("tp-cp-ep-pp-dp");
  layout.recompute = JustFits();
  layout.recompute.layers = 3;
  EXPECT_EQ(LayoutCells(options.job, layout),
            "2,2,2,1,2,1,1,1,1,full,,3,block,true,all-to-all,none,1f1b,"
            "tp-cp-ep-pp-dp");
}

}  // namespace
}  // namespace astra
