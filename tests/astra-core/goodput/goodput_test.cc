// Goodput by the formula and by simulation, and the file of failures.

#include "astra-core/goodput/goodput.h"

#include <cmath>
#include <string>
#include <vector>

#include "astra-core/goodput/failures_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace astra::testing {
namespace {

constexpr double kHour = 3600;
constexpr double kMonth = 30 * 24 * kHour;

// Llama 3 405B: 419 unexpected interruptions in 54 days on 16,384 H100. Source:
// "The Llama 3 Herd of Models", arXiv 2407.21783, section 3.3.4. The paper does
// not say how long checkpoints and restarts took.
GoodputJob Llama3() {
  return {.failures = {{"any", 54 * 24 * kHour / 419, 600}},
          .checkpoint_s = 30};
}

TEST(GoodputTest, WithoutFailuresOnlyCheckpointsCost) {
  const GoodputJob job = {.failures = {}, .checkpoint_s = 10};
  const ExpectedGoodput expected = ExpectGoodput(job, 90);
  EXPECT_DOUBLE_EQ(expected.goodput, 0.9);
  EXPECT_DOUBLE_EQ(expected.checkpoints, 0.1);
  EXPECT_EQ(expected.lost, 0);
  EXPECT_NEAR(SimulateGoodput(job, 90, 1e6, 1).goodput, 0.9, 1e-4);
}

// A segment of ln 2 mean times is hit every other time: its expected time is
// one mean time, and a restart of 0 costs nothing. With restarts of ln 2 mean
// times, each failure costs (2 - 1) mean times more.
TEST(GoodputTest, TheFormulaIsDalys) {
  const double segment = 100 * std::log(2.0);
  GoodputJob job = {.failures = {{"a", 100, 0}}, .checkpoint_s = 5};
  EXPECT_NEAR(ExpectGoodput(job, segment - 5).goodput, (segment - 5) / 100,
              1e-12);
  job.failures[0].restart_s = segment;
  const ExpectedGoodput slow = ExpectGoodput(job, segment - 5);
  EXPECT_NEAR(slow.goodput, (segment - 5) / 200, 1e-12);
  EXPECT_NEAR(slow.restarts, 0.5, 1e-12);
  EXPECT_NEAR(slow.goodput + slow.checkpoints + slow.lost + slow.restarts, 1,
              1e-12);
}

// Two kinds that restart alike are one kind that comes as often as both.
TEST(GoodputTest, KindsAddUp) {
  const GoodputJob two = {.failures = {{"a", 200, 7}, {"b", 200, 7}},
                          .checkpoint_s = 5};
  const GoodputJob one = {.failures = {{"c", 100, 7}}, .checkpoint_s = 5};
  EXPECT_NEAR(ExpectGoodput(two, 40).goodput, ExpectGoodput(one, 40).goodput,
              1e-12);
}

// A month on 16,384 H100.
TEST(GoodputTest, SimulationAndFormulaAgree) {
  const GoodputJob job = Llama3();
  for (const double interval : {300.0, 900.0, 3600.0, 4 * kHour}) {
    const double expected = ExpectGoodput(job, interval).goodput;
    const GoodputTrials trials = RunTrials(job, interval, kMonth, 400, 3);
    EXPECT_NEAR(trials.mean / expected, 1, 0.01) << interval;
    EXPECT_LE(trials.p5, trials.mean);
    EXPECT_GE(trials.p95, trials.mean);
  }
}

TEST(GoodputTest, SeveralKindsAreSimulatedAsTheyAreExpected) {
  const GoodputJob job = {
      .failures = {{"often", 2 * kHour, 60}, {"rare", 40 * kHour, 7200}},
      .checkpoint_s = 20};
  const GoodputTrials trials = RunTrials(job, 900, kMonth, 400, 5);
  EXPECT_NEAR(trials.mean / ExpectGoodput(job, 900).goodput, 1, 0.01);
  EXPECT_NEAR(trials.failures[0] / trials.failures[1], 20, 2);
}

// Failures of the short kind hit a restart of the long kind every other time,
// and then the long restart has to be done all the same: it takes 100 s, and
// the short kind, which does without, 0. A short restart of 100 ln(4 / 3) s is
// hit every fourth time, half of the times by the long kind: it takes E = (100
// + E / 2 + 100 / 2) / 4.
TEST(GoodputTest, TheLongestRestartHasToBeDone) {
  const double segment = 100 * std::log(2.0);
  GoodputJob job = {.failures = {{"short", 200, 0}, {"long", 200, segment}},
                    .checkpoint_s = 5};
  EXPECT_NEAR(ExpectGoodput(job, segment - 5).restarts, 50 / 150.0, 1e-12);
  job.failures[0].restart_s = 100 * std::log(4 / 3.0);
  const double expected = (100 + 300 / 7.0) / 2;
  EXPECT_NEAR(ExpectGoodput(job, segment - 5).restarts,
              expected / (100 + expected), 1e-12);
}

// Restarts of 5 h, three times as long as the time between failures.
TEST(GoodputTest, MoreFailuresCostMore) {
  const GoodputJob few = {.failures = {{"gpu", 10 * kHour, 5 * kHour}},
                          .checkpoint_s = 1};
  const double most = ExpectGoodput(few, 60).goodput;
  const double most_run = RunTrials(few, 60, 20 * kMonth, 100, 7).mean;
  for (const double restart_s : {0.0, 1.0, 2 * kHour, 5 * kHour, 8 * kHour}) {
    GoodputJob many = few;
    many.failures.push_back({"network", 2 * kHour, restart_s});
    const double expected = ExpectGoodput(many, 60).goodput;
    const double run = RunTrials(many, 60, 20 * kMonth, 100, 7).mean;
    EXPECT_LT(expected, most) << restart_s;
    EXPECT_LT(run, most_run) << restart_s;
    EXPECT_NEAR(run / expected, 1, 0.03) << restart_s;
  }
}

// Young's first-order interval is the square root of 2 C times the mean time.
TEST(GoodputTest, TheBestIntervalIsNearYoungs) {
  const GoodputJob job = Llama3();
  const double best = BestInterval(job);
  const double young = std::sqrt(2 * 30 * job.failures[0].mean_s);
  EXPECT_NEAR(best / young, 1, 0.05);
  for (const double factor : {0.9, 1.1}) {
    EXPECT_LT(ExpectGoodput(job, factor * best).goodput,
              ExpectGoodput(job, best).goodput);
  }
}

// Restarts that take longer than the time between failures never end.
TEST(GoodputTest, HopelessJobsDoNothing) {
  const GoodputJob job = {.failures = {{"a", 1, 1e6}}, .checkpoint_s = 1};
  EXPECT_EQ(ExpectGoodput(job, 10).goodput, 0);
  EXPECT_EQ(SimulateGoodput(job, 10, 1e4, 1).goodput, 0);
}

TEST(FailuresFileTest, FailuresOfGpusComeAsOftenAsThereAreGpus) {
  const std::vector<FailureKind> kinds = ValueOrDie(ParseFailures("f", R"(
simai_failures: 1
failures:
  - {name: gpu, per_gpu: 1000h, restart: 15min}
  - {name: network, mean: 2d, restart: 0s}
)",
                                                                  500));
  ASSERT_EQ(kinds.size(), 2u);
  EXPECT_EQ(kinds[0].mean_s, 2 * kHour);
  EXPECT_EQ(kinds[0].restart_s, 900);
  EXPECT_EQ(kinds[1].mean_s, 48 * kHour);
  EXPECT_EQ(kinds[1].restart_s, 0);
}

std::string ErrorOf(const std::string& failure) {
  return std::string(
      ParseFailures("f", "simai_failures: 1\nfailures: [" + failure + "]\n", 8)
          .status()
          .message());
}

TEST(FailuresFileTest, MistakesHaveAPlace) {
  EXPECT_EQ(ErrorOf("{name: a, mean: 3, restart: 1s}"),
            "f:2:28: \"3\" is not a duration: expected a number and ms, s, "
            "min, h or d, such as 15min");
  EXPECT_EQ(ErrorOf("{name: a, mean: 0s, restart: 1s}"),
            "f:2:28: expected above 0");
  EXPECT_EQ(ErrorOf("{name: a, mean: 1s, per_gpu: 1s, restart: 1s}"),
            "f:2:28: no effect beside per_gpu");
  EXPECT_EQ(ErrorOf("{name: gpu, men: 48h, restart: 10min}"),
            "f:2:29: unknown field of a failure \"men\"; did you mean "
            "\"mean\"? (known: mean, name, per_gpu, restart)");
  EXPECT_EQ(ErrorOf(""), "f:2:11: expected at least one failure");
}

}  // namespace
}  // namespace astra::testing
