#include "astra-core/apps/fit/constants_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace astra {
namespace {

using ::testing::DoubleNear;

constexpr JobConstant kBoth[] = {JobConstant::kLoad, JobConstant::kIterationUs};

// A job that computes for some seconds at full speed, communicates for others,
// and waits once for the host.
struct Job {
  double computing;
  double communicating;
};

PredictTimes Model(std::vector<Job> jobs) {
  return [jobs](const JobConstants& constants) {
    std::vector<double> times;
    for (const Job& job : jobs) {
      times.push_back(job.computing / constants[0] + job.communicating +
                      constants[1] * 1e-6);
    }
    return times;
  };
}

ConstantsFit Fit(std::vector<MeasuredTime> observations, std::vector<Job> jobs,
                 absl::Span<const JobConstant> asked = kBoth) {
  const auto fit =
      FitConstants(observations, {0.9, 0, 450}, asked, Model(std::move(jobs)));
  EXPECT_TRUE(fit.ok()) << fit.status();
  return *fit;
}

ConstantState StateOf(const ConstantsFit& fit, JobConstant constant) {
  return fit.constants[static_cast<size_t>(constant)].state;
}

TEST(FitConstantsTest, TwoIterationsDetermineTwoConstants) {
  // 0.7 / load + 0.2 + 0.05 and 1.4 / load + 0.3 + 0.05 at a load of 0.7.
  const ConstantsFit fit =
      Fit({{1.25, 0.001}, {2.35, 0.001}}, {{0.7, 0.2}, {1.4, 0.3}});
  EXPECT_EQ(StateOf(fit, JobConstant::kLoad), ConstantState::kDetermined);
  EXPECT_EQ(StateOf(fit, JobConstant::kIterationUs),
            ConstantState::kDetermined);
  EXPECT_THAT(fit.values[0], DoubleNear(0.7, 1e-6));
  EXPECT_THAT(fit.values[1], DoubleNear(50'000, 1));
  // With u = 1 / load and h the host's seconds, 0.7 u = t2 - t1 - 0.1 and
  // h = 2 t1 - t2 - 0.1. So h deviates by sqrt(4 + 1) ms, u by sqrt(2) / 0.7
  // ms, and the load by 0.49 times that.
  EXPECT_THAT(fit.constants[1].deviation, DoubleNear(2236, 1));
  EXPECT_THAT(fit.constants[0].deviation, DoubleNear(0.00099, 1e-5));
  EXPECT_EQ(fit.values[2], 450);  // Nobody asked for it.
  EXPECT_EQ(StateOf(fit, JobConstant::kExpertHostUs), ConstantState::kNotAsked);
}

TEST(FitConstantsTest, OneIterationDeterminesTheLoad) {
  const ConstantsFit fit = Fit({{1.2, 0.012}}, {{0.8, 0.2}});
  EXPECT_THAT(fit.values[0], DoubleNear(0.8, 1e-6));
  // 0.8 u = t - 0.2: u deviates by 0.015, the load by 0.64 times that.
  EXPECT_THAT(fit.constants[0].deviation, DoubleNear(0.0096, 1e-4));
  EXPECT_EQ(fit.values[1], 0);
  EXPECT_EQ(StateOf(fit, JobConstant::kIterationUs), ConstantState::kTooFew);
}

TEST(FitConstantsTest, IterationsThatAreAlikeDetermineOneConstant) {
  const ConstantsFit fit =
      Fit({{1.2, 0.02}, {1.21, 0.02}}, {{0.8, 0.2}, {0.8, 0.2}});
  EXPECT_EQ(StateOf(fit, JobConstant::kLoad), ConstantState::kDetermined);
  EXPECT_EQ(StateOf(fit, JobConstant::kIterationUs), ConstantState::kUnstable);
  EXPECT_THAT(fit.predicted[0], DoubleNear(1.205, 1e-6));
}

TEST(FitConstantsTest, AJobThatOnlyCommunicatesDeterminesNoLoad) {
  const ConstantsFit fit = Fit({{1.001, 0.02}}, {{0.001, 1}}, {&kBoth[0], 1});
  EXPECT_EQ(StateOf(fit, JobConstant::kLoad), ConstantState::kUnstable);
  EXPECT_EQ(fit.values[0], 0.9);
}

TEST(FitConstantsTest, AConstantStaysWithinItsRange) {
  // The host would have to take -0.1 s.
  const ConstantsFit fit =
      Fit({{1.1, 0.01}, {2.3, 0.01}}, {{0.8, 0.2}, {1.6, 0.3}});
  EXPECT_EQ(StateOf(fit, JobConstant::kIterationUs), ConstantState::kBeyond);
  EXPECT_EQ(fit.values[1], 0);
  EXPECT_EQ(StateOf(fit, JobConstant::kLoad), ConstantState::kDetermined);
  EXPECT_GT(fit.values[0], 0.8);
}

TEST(FitConstantsTest, IterationsThatScatterAreLessCertain) {
  const std::vector<Job> jobs = {{0.8, 0.2}, {0.8, 0.2}};
  const ConstantsFit near =
      Fit({{1.2, 0.01}, {1.2, 0.01}}, jobs, {&kBoth[0], 1});
  const ConstantsFit far =
      Fit({{1.17, 0.01}, {1.23, 0.01}}, jobs, {&kBoth[0], 1});
  EXPECT_THAT(far.values[0], DoubleNear(near.values[0], 1e-6));
  // Each is 3 deviations off: sqrt((9 + 9) / 1) times the uncertainty.
  EXPECT_THAT(far.constants[0].deviation / near.constants[0].deviation,
              DoubleNear(4.243, 0.01));
}

TEST(FitConstantsTest, AnErrorOfTheModelIsReturned) {
  const auto fit = FitConstants(
      std::vector<MeasuredTime>{{1, 0.1}}, {1, 0, 0}, kBoth,
      [](const JobConstants&) -> absl::StatusOr<std::vector<double>> {
        return absl::InvalidArgumentError("no");
      });
  EXPECT_EQ(fit.status().message(), "no");
}

}  // namespace
}  // namespace astra
