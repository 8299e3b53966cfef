#include "workload/serving/synthetic_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <tuple>

#include "workload/serving/random_draws.h"

namespace astra {
namespace {

std::vector<Request> Drawn(const SyntheticOptions& options) {
  SyntheticRequests source = *SyntheticRequests::Create(options);
  std::vector<Request> requests;
  while (std::optional<Request> request = source.Next(TimePs(0))) {
    requests.push_back(*std::move(request));
  }
  return requests;
}

// Mean of a value of all requests, and its coefficient of variation.
template <class Value>
std::pair<double, double> MeanAndCv(const std::vector<Request>& requests,
                                    const Value& value) {
  double sum = 0;
  double squares = 0;
  for (size_t i = 1; i < requests.size(); ++i) {
    const double x = value(requests[i], requests[i - 1]);
    sum += x;
    squares += x * x;
  }
  const double n = static_cast<double>(requests.size() - 1);
  const double mean = sum / n;
  return {mean, std::sqrt(squares / n - mean * mean) / mean};
}

double GapSeconds(const Request& request, const Request& before) {
  return ToMicroseconds(request.arrival - before.arrival) * 1e-6;
}

TEST(RandomDrawsTest, LogarithmAndPowerAreThoseOfTheLibrary) {
  for (const double x : {1e-300, 0.3, 0.7071, 1.0, 1.5, 2.0, 1e10, 1e300}) {
    EXPECT_NEAR(ExactLog(x), std::log(x), 1e-15 * (1 + std::abs(std::log(x))))
        << x;
  }
  for (const double y : {-30.0, -0.6, 0.0, 0.4, 2.5, 20.0}) {
    EXPECT_NEAR(ExactPower(3.7, y) / std::pow(3.7, y), 1, 1e-14) << y;
  }
  EXPECT_EQ(ExactPower(1e-200, 5), 0);
}

// Sessions of one group share 128 tokens, each as many blocks as its first
// prompt has.
TEST(SyntheticRequestsTest, ATurnContinuesItsSession) {
  SyntheticOptions options = {.count = 3};
  options.lengths = {.prompt_tokens = 200, .output_tokens = 30};
  options.prefix_tokens = 128;
  options.turns = 3;
  options.turn_wait = Microseconds(1'000'000);
  SyntheticRequests source = *SyntheticRequests::Create(options);
  const Request first = *source.Next(TimePs(0));
  const Request other = *source.Next(TimePs(0));
  EXPECT_EQ(other.id, 3);
  const Request second = *source.After(first, TimePs(7));
  EXPECT_EQ(second.id, 1);
  EXPECT_EQ(second.turn, 1);
  EXPECT_EQ(second.prompt_tokens, 200 + 30 + 200);
  EXPECT_GT(second.arrival, TimePs(7));
  // 230 and 460 tokens in blocks of 64.
  ASSERT_EQ(first.prefix.hashes.size(), 4u);
  ASSERT_EQ(second.prefix.hashes.size(), 8u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(second.prefix.hashes[i], first.prefix.hashes[i]) << i;
    EXPECT_EQ(other.prefix.hashes[i] == first.prefix.hashes[i], i < 2) << i;
  }
  const Request third = *source.After(second, second.arrival);
  EXPECT_EQ(third.prompt_tokens, 460 + 200);
  EXPECT_FALSE(source.After(third, third.arrival).has_value());
}

TEST(SyntheticRequestsTest, WaitsHaveTheirMeanAndSpread) {
  SyntheticOptions options = {.count = 1};
  options.turns = 10'000;
  options.turn_wait = Microseconds(2'000'000);
  options.turn_wait_cv = 0.5;
  SyntheticRequests source = *SyntheticRequests::Create(options);
  std::vector<Request> turns = {*source.Next(TimePs(0))};
  for (int i = 1; i < 4000; ++i) {
    turns.back().prefix = {};  // All of a session, which takes long.
    turns.back().prompt_tokens = 1;
    turns.push_back(*source.After(turns.back(), turns.back().arrival));
  }
  const auto [mean, cv] = MeanAndCv(turns, GapSeconds);
  EXPECT_NEAR(mean, 2, 0.05);
  EXPECT_NEAR(cv, 0.5, 0.02);
  options.turn_wait_cv = 11;
  EXPECT_EQ(SyntheticRequests::Create(options).status().message(),
            "turn_wait_cv is 11: expected 0 to 10");
}

TEST(SyntheticRequestsTest, ArrivalsHaveTheirRateAndSpread) {
  SyntheticOptions options = {.per_second = 4, .count = 40'000};
  auto [mean, cv] = MeanAndCv(Drawn(options), GapSeconds);
  EXPECT_NEAR(mean, 0.25, 0.005);
  EXPECT_NEAR(cv, 1, 0.02);
  options.arrivals = ArrivalProcess::kGamma;
  for (const double expected : {0.5, 2.0}) {
    options.arrival_cv = expected;
    std::tie(mean, cv) = MeanAndCv(Drawn(options), GapSeconds);
    EXPECT_NEAR(mean, 0.25, 0.01);
    EXPECT_NEAR(cv, expected, 0.04 * expected);
  }
  options.arrivals = ArrivalProcess::kConstant;
  options.count = 3;
  EXPECT_EQ(Drawn(options)[2].arrival, Microseconds(500'000));
  options.arrivals = ArrivalProcess::kAtOnce;
  EXPECT_EQ(Drawn(options)[2].arrival, TimePs(0));
}

// Fixed bits: they are the same on every machine.
TEST(SyntheticRequestsTest, ArrivalsAreTheSameEverywhere) {
  const std::vector<Request> requests = Drawn({.count = 3, .seed = 42});
  EXPECT_EQ(requests[0].arrival, TimePs(0));
  EXPECT_EQ(requests[1].arrival, TimePs(929'650'773'471));
  EXPECT_EQ(requests[2].arrival, TimePs(1'198'648'162'203));
}

TEST(SyntheticRequestsTest, DoubleRateHalvesTheArrivals) {
  const std::vector<Request> slow = Drawn({.per_second = 1, .count = 100});
  const std::vector<Request> fast = Drawn({.per_second = 2, .count = 100});
  for (size_t i = 0; i < slow.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(slow[i].arrival.count()),
                2 * static_cast<double>(fast[i].arrival.count()), 200);
  }
}

// The whole length is uniform in 1024 to 4096, of which an output is 1 / 21,
// rounded up.
TEST(SyntheticRequestsTest, UniformLengthsAreSplit) {
  SyntheticOptions options = {.count = 20'000};
  options.lengths.distribution = LengthDistribution::kUniform;
  double sum = 0;
  for (const Request& request : Drawn(options)) {
    EXPECT_GE(request.tokens(), 1024);
    EXPECT_LE(request.tokens(), 4096);
    EXPECT_EQ(request.output_tokens, (request.tokens() + 20) / 21);
    sum += static_cast<double>(request.tokens());
  }
  EXPECT_NEAR(sum / 20'000, 2560, 15);
}

// Of 3 lengths with weights 1, 2^-0.5 and 3^-0.5, the sum of which is 2.2845,
// the first comes in 43.8 % of all cases.
TEST(SyntheticRequestsTest, ZipfPrefersShortLengths) {
  SyntheticOptions options = {.count = 20'000};
  options.lengths = {.distribution = LengthDistribution::kZipf,
                     .min_tokens = 10,
                     .max_tokens = 12,
                     .theta = 0.5};
  std::vector<int> counts(3);
  for (const Request& request : Drawn(options)) {
    ++counts[static_cast<size_t>(request.tokens() - 10)];
  }
  EXPECT_NEAR(counts[0], 0.4377 * 20'000, 250);
  EXPECT_NEAR(counts[1], 0.3095 * 20'000, 250);
}

TEST(SyntheticRequestsTest, GammaLengthsHaveTheirMeansWithinTheLimit) {
  SyntheticOptions options = {.count = 20'000};
  options.lengths = {.distribution = LengthDistribution::kGamma,
                     .prompt_tokens = 1000,
                     .output_tokens = 200,
                     .prompt_cv = 0.5,
                     .output_cv = 0,
                     .max_tokens = 100'000};
  const std::vector<Request> requests = Drawn(options);
  const auto [mean, cv] =
      MeanAndCv(requests, [](const Request& request, const Request&) {
        return static_cast<double>(request.prompt_tokens);
      });
  EXPECT_NEAR(mean, 1000, 15);
  EXPECT_NEAR(cv, 0.5, 0.01);
  EXPECT_EQ(requests[7].output_tokens, 200);
  options.lengths.max_tokens = 900;
  for (const Request& request : Drawn(options)) {
    EXPECT_LE(request.prompt_tokens, 900);
  }
}

TEST(SyntheticRequestsTest, DurationEndsTheSource) {
  SyntheticOptions options = {.arrivals = ArrivalProcess::kConstant,
                              .per_second = 10,
                              .duration = Microseconds(1'000'000)};
  EXPECT_EQ(Drawn(options).size(), 11u);
  options.arrivals = ArrivalProcess::kAtOnce;
  SyntheticRequests source = *SyntheticRequests::Create(options);
  EXPECT_TRUE(source.Next(Microseconds(1'000'000)).has_value());
  EXPECT_FALSE(source.Next(Microseconds(1'000'001)).has_value());
}

TEST(SyntheticRequestsTest, PrefixesBelongToGroups) {
  SyntheticOptions options = {
      .count = 100, .prefix_tokens = 200, .prefix_groups = 2};
  options.lengths = {.prompt_tokens = 150, .output_tokens = 1};
  const std::vector<Request> requests = Drawn(options);
  std::set<std::vector<uint64_t>> prefixes;
  for (const Request& request : requests) {
    EXPECT_EQ(request.prefix.hashes.size(), 2u);  // 150 / 64.
    prefixes.insert(request.prefix.hashes);
  }
  EXPECT_EQ(prefixes.size(), 2u);
}

TEST(SyntheticRequestsTest, OptionsHaveRanges) {
  const auto error = [](const SyntheticOptions& options) {
    return std::string(SyntheticRequests::Create(options).status().message());
  };
  EXPECT_EQ(error({}), "neither a count of requests nor a duration");
  EXPECT_EQ(error({.per_second = 0, .count = 1}),
            "per_second is 0: expected 0.001 to 1e9");
  SyntheticOptions options = {.count = 1};
  options.lengths.theta = 1;
  EXPECT_EQ(error(options), "theta is 1: expected 0.01 to 0.99");
  options.lengths.distribution = LengthDistribution::kUniform;
  options.lengths.max_tokens = 1000;
  EXPECT_EQ(error(options), "max_tokens is 1000: expected 1024 to 10000000");
}

}  // namespace
}  // namespace astra
