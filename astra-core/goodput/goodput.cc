#include "astra-core/goodput/goodput.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "astra-core/base/random.h"

namespace astra {
namespace {

double RateOf(const GoodputJob& job) {
  double rate = 0;
  for (const FailureKind& kind : job.failures) rate += 1 / kind.mean_s;
  return rate;
}

// Expected time from a failure until work goes on. Where failures hit restarts,
// the longest restart that one of them needs has to pass without a failure.
//
// With kinds from the longest restart to the shortest, let h be the chance that
// a restart of D is hit. Its first try takes h / rate, and a hit by a kind that
// takes no longer begins it anew, so that its time E follows from
//
//   E = h (1 / rate + P E + the sum of p_i E_i over the longer kinds i),
//
// where p_i is the share of a kind in the failures and P that of all that take
// no longer.
double ExpectedRestart(const GoodputJob& job) {
  std::vector<FailureKind> kinds = job.failures;
  std::sort(kinds.begin(), kinds.end(),
            [](const FailureKind& a, const FailureKind& b) {
              return a.restart_s > b.restart_s;
            });
  const double rate = RateOf(job);
  double longer = 0;    // Share of the longer kinds.
  double expected = 0;  // Sum of share and time over them.
  for (const FailureKind& kind : kinds) {
    if (kind.restart_s == 0) break;  // These take no time.
    const double share = 1 / kind.mean_s / rate;
    const double whole = std::exp(-rate * kind.restart_s);
    const double hit = -std::expm1(-rate * kind.restart_s);
    // 1 - h P, which may be tiny.
    const double ended = whole + hit * longer;
    expected += share * hit * (1 / rate + expected) / ended;
    longer += share;
  }
  return expected;
}

// Draws the random numbers of one run, one after the other.
class Draws {
 public:
  explicit Draws(uint64_t seed) : seed_(seed) {}

  double Uniform() { return UnitInterval(HashOf(seed_, number_++)); }

  // Time until the next failure.
  double Exponential(double rate) {
    return rate == 0 ? std::numeric_limits<double>::infinity()
                     : -std::log1p(-Uniform()) / rate;
  }

  // Number of a kind, by rate.
  size_t Kind(const GoodputJob& job, double rate) {
    double left = Uniform() * rate;
    for (size_t i = 0; i + 1 < job.failures.size(); ++i) {
      left -= 1 / job.failures[i].mean_s;
      if (left < 0) return i;
    }
    return job.failures.size() - 1;
  }

 private:
  const uint64_t seed_;
  uint64_t number_ = 0;
};

}  // namespace

// A segment is an interval of work and its checkpoint. With rate r and restarts
// of D, it is done after (e^(r T) - 1) (1 / r + D), where T is the segment
// without failures (Daly, equation 13).
ExpectedGoodput ExpectGoodput(const GoodputJob& job, double interval_s) {
  ExpectedGoodput expected;
  expected.interval_s = interval_s;
  const double rate = RateOf(job);
  const double segment = interval_s + job.checkpoint_s;
  const double tries = std::expm1(rate * segment);  // Failures of a segment.
  const double restarts = tries == 0 ? 0 : tries * ExpectedRestart(job);
  const double working = rate == 0 ? segment : tries / rate;
  const double all = working + restarts;
  if (!std::isfinite(all)) {
    expected.restarts = 1;
    return expected;
  }
  expected.goodput = interval_s / all;
  expected.checkpoints = job.checkpoint_s / all;
  expected.lost = std::max(0.0, (working - segment) / all);
  expected.restarts = restarts / all;
  return expected;
}

// The goodput has one maximum in the interval: golden-section search over its
// logarithm, from a thousandth of a checkpoint's time to a thousand mean times.
double BestInterval(const GoodputJob& job) {
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double low = std::log(job.checkpoint_s * 1e-3);
  double high = std::log(1e3 / RateOf(job) + job.checkpoint_s);
  const auto goodput = [&job](double log_interval) {
    return ExpectGoodput(job, std::exp(log_interval)).goodput;
  };
  while (high - low > 1e-4) {
    const double a = high - golden * (high - low);
    const double b = low + golden * (high - low);
    // Far beyond the best interval, all goodputs are 0.
    if (goodput(a) >= goodput(b)) {
      high = b;
    } else {
      low = a;
    }
  }
  return std::exp((low + high) / 2);
}

SimulatedGoodput SimulateGoodput(const GoodputJob& job, double interval_s,
                                 double duration_s, uint64_t seed) {
  Draws draws(seed);
  const double rate = RateOf(job);
  const double segment = interval_s + job.checkpoint_s;
  SimulatedGoodput run;
  run.failures.resize(job.failures.size());
  double time = 0;
  double work = 0;
  double until_failure = draws.Exponential(rate);
  while (time < duration_s) {
    if (until_failure >= segment) {
      // All segments until then at once; the last one counts as far as it goes.
      const double left = std::min(until_failure, duration_s - time);
      const double count = std::max(1.0, std::floor(left / segment));
      work += std::min(count * interval_s, duration_s - time);
      time += count * segment;
      until_failure -= count * segment;
      continue;
    }
    time += until_failure;
    double restart = 0;  // The longest that one of the failures needs.
    while (time < duration_s) {
      const size_t kind = draws.Kind(job, rate);
      ++run.failures[kind];
      restart = std::max(restart, job.failures[kind].restart_s);
      until_failure = draws.Exponential(rate);
      time += std::min(restart, until_failure);
      if (until_failure < restart) continue;
      until_failure -= restart;
      break;
    }
  }
  run.goodput = work / duration_s;
  return run;
}

GoodputTrials RunTrials(const GoodputJob& job, double interval_s,
                        double duration_s, int64_t trials, uint64_t seed) {
  std::vector<double> goodputs;
  GoodputTrials all;
  all.failures.resize(job.failures.size());
  for (int64_t i = 0; i < trials; ++i) {
    const SimulatedGoodput run =
        SimulateGoodput(job, interval_s, duration_s, HashOf(seed, i));
    goodputs.push_back(run.goodput);
    all.mean += run.goodput / static_cast<double>(trials);
    for (size_t kind = 0; kind < run.failures.size(); ++kind) {
      all.failures[kind] +=
          static_cast<double>(run.failures[kind]) / static_cast<double>(trials);
    }
  }
  std::sort(goodputs.begin(), goodputs.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(goodputs.size() - 1);
    return goodputs[static_cast<size_t>(std::lround(place))];
  };
  all.p5 = at(0.05);
  all.p95 = at(0.95);
  return all;
}

}  // namespace astra
