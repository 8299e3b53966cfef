#include "astra-core/apps/serving/serving_rows.h"

#include <utility>

#include "tests/testing/files.h"
#include "tests/testing/matchers.h"
#include "workload/serving/serving_tables.h"

namespace astra {
namespace {

using ::astra::testing::ReadText;
using ::astra::testing::TemporaryFolder;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

RequestResult ResultOf(int64_t id) {
  RequestResult result;
  result.id = id;
  result.prompt_tokens = 3;
  result.output_tokens = 1;
  return result;
}

// Requests stand in the order in which they end.
TEST(ServingRowsTest, WritesWhatTheTablesSay) {
  const TemporaryFolder folder;
  const OutputFolder output = ValueOrDie(OutputFolder::Create(folder.path()));
  LatencyLimits limits;
  limits.end_to_end = TimePs(1);
  std::string requests = RequestsHeader();
  for (const int64_t id : {1, 0}) {
    AppendRequestRow(ResultOf(id), limits, &requests);
  }
  std::string steps = StepsHeader();
  StepRecord step;
  step.replica = 7;
  AppendStepRow(step, &steps);

  ServingRows rows = ValueOrDie(ServingRows::Begin(output, limits, true));
  rows.OnRequest(ResultOf(1));
  rows.OnStep(step);
  rows.OnRequest(ResultOf(0));
  ASSERT_TRUE(output.Write({}, {}, std::move(rows).Files()).ok());
  EXPECT_EQ(ReadText(folder.PathOf("requests.csv")), requests);
  EXPECT_EQ(ReadText(folder.PathOf("steps.csv")), steps);
}

TEST(ServingRowsTest, LeavesNothingOfARunThatFailed) {
  const TemporaryFolder folder;
  const OutputFolder output = ValueOrDie(OutputFolder::Create(folder.path()));
  {
    ServingRows rows = ValueOrDie(ServingRows::Begin(output, {}, false));
    rows.OnStep({});
    rows.OnRequest(ResultOf(0));
  }
  EXPECT_THAT(folder.Names(), ElementsAre());
}

}  // namespace
}  // namespace astra
