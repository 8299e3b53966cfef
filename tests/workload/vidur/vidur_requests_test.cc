#include "workload/vidur/vidur_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/matchers.h"
#include "workload/vidur/python_random.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

// The numbers of this file are those of Python 3.11 and NumPy 1.24.
TEST(PythonRandomTest, IsTheRandomOfPython) {
  PythonRandom random(42);
  EXPECT_EQ(random.Random(), 0.6394267984578837);
  EXPECT_EQ(random.Random(), 0.025010755222666936);
  EXPECT_EQ(random.Random(), 0.27502931836911926);
  PythonRandom later(7);
  for (int i = 1; i < 700; ++i) later.Random();
  EXPECT_EQ(later.Random(), 0.034097423373332436);
}

TEST(PythonRandomTest, PermutesAsNumpy) {
  EXPECT_THAT(NumpyPermutation(42, 10),
              ElementsAre(8, 1, 5, 0, 7, 2, 9, 4, 3, 6));
  const std::vector<size_t> many = NumpyPermutation(3, 1000);
  EXPECT_THAT(std::vector<size_t>(many.begin(), many.begin() + 5),
              ElementsAre(642, 762, 909, 199, 586));
  EXPECT_THAT(NumpyPermutation(1, 1), ElementsAre(0));
  EXPECT_TRUE(NumpyPermutation(1, 0).empty());
}

TEST(VidurRequestsTest, DrawsThoseOfVidur) {
  VidurLoad load;
  load.qps = 2;
  load.lengths = VidurLengths::kUniform;
  load.count = 4;
  const auto requests = ValueOrDie(DrawVidurRequests(load));
  ASSERT_EQ(requests.size(), 4);
  EXPECT_EQ(requests[0].arrival, TimePs(510030143637));
  EXPECT_EQ(requests[3].arrival, TimePs(2451282561855));
  const std::pair<int64_t, int64_t> expected[] = {
      {1047, 53}, {1627, 82}, {2954, 148}, {1229, 62}};
  for (size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(requests[i].prompt_tokens, expected[i].first);
    EXPECT_EQ(requests[i].output_tokens, expected[i].second);
  }
}

// Of 6000 tokens, 1904 are too many; 5/6 of them are the prompt's.
TEST(VidurRequestsTest, ShufflesATraceOfLengthsAndCutsInProportion) {
  VidurLoad load;
  load.lengths = VidurLengths::kTrace;
  load.trace = {{0, 100, 1}, {0, 200, 2}, {0, 300, 3}, {0, 5000, 1000}};
  load.count = 4;
  const auto requests = ValueOrDie(DrawVidurRequests(load));
  const std::pair<int64_t, int64_t> expected[] = {
      {200, 2}, {3413, 682}, {100, 1}, {300, 3}};
  for (size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(requests[i].prompt_tokens, expected[i].first);
    EXPECT_EQ(requests[i].output_tokens, expected[i].second);
  }
  load.count = 5;
  EXPECT_THAT(DrawVidurRequests(load),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the trace of lengths has 4 rows: expected one for each "
                       "request"));
}

TEST(VidurRequestsTest, ReplaysATraceAndCutsThePrompt) {
  VidurLoad load;
  load.trace = {{4, 5000, 96}, {1, 10, 0}};
  load.time_scale = 0.5;
  load.prefill_scale = 2;
  const auto requests = ValueOrDie(ReplayVidurTrace(load));
  EXPECT_EQ(requests[0].arrival, TimePs(500'000'000'000));
  EXPECT_EQ(requests[0].prompt_tokens, 20);
  EXPECT_EQ(requests[0].output_tokens, 1);
  EXPECT_EQ(requests[1].arrival, TimePs(2'000'000'000'000));
  EXPECT_EQ(requests[1].prompt_tokens, 4000);
  EXPECT_EQ(requests[1].output_tokens, 96);
}

TEST(VidurRequestsTest, EndsWithTheDuration) {
  VidurLoad load;
  load.qps = 2;
  load.duration_s = 2;  // See DrawsThoseOfVidur; lengths draw nothing here.
  const auto requests = ValueOrDie(DrawVidurRequests(load));
  EXPECT_FALSE(requests.empty());
  for (const Request& request : requests) {
    EXPECT_LT(request.arrival, TimePs(2'000'000'000'000));
  }
}

TEST(VidurRequestsTest, ReadsTraces) {
  Warnings warnings;
  const auto rows = ValueOrDie(ParseVidurTrace(
      "t.csv", "num_prefill_tokens,num_decode_tokens,colour\n3,4,5\n", false,
      &warnings));
  EXPECT_EQ(rows[0].prefill_tokens, 3);
  EXPECT_EQ(rows[0].decode_tokens, 4);
  EXPECT_EQ(warnings.size(), 1);
  EXPECT_THAT(warnings[0], ::testing::HasSubstr("colour"));
  EXPECT_THAT(
      ParseVidurTrace("t.csv", "num_prefill_tokens,num_decode_tokens\n1,1\n",
                      true, &warnings),
      StatusIs(absl::StatusCode::kInvalidArgument,
               ::testing::HasSubstr("arrived_at")));
}

}  // namespace
}  // namespace astra
