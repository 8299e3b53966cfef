// How much of its time a long training job spends on work that counts, when
// GPUs, links and software fail: by a formula, and by simulation.
//
// The model: failures of all kinds come independently of one another, each at a
// constant rate. After `interval` of work the job writes a checkpoint, during
// which it does not compute. A failure loses the work since the last
// checkpoint; then the job restarts. A failure during that begins the restart
// anew, and the longest restart that one of these failures needs has to pass.
//
// Source: J. Daly, "A higher order estimate of the optimum checkpoint interval
// for restart dumps", Future Generation Computer Systems 22(3), 2006, here with
// several kinds of failures and with failures during restarts.

#ifndef ASTRA_CORE_GOODPUT_GOODPUT_H_
#define ASTRA_CORE_GOODPUT_GOODPUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace astra {

struct FailureKind {
  std::string name;
  double mean_s = 0;     // Mean time between failures of the job, above 0.
  double restart_s = 0;  // From the failure until work goes on.
};

struct GoodputJob {
  std::vector<FailureKind> failures;  // None: nothing fails.
  double checkpoint_s = 0;            // Time of a checkpoint.
};

// Holds what the formula expects with one interval between checkpoints.
struct ExpectedGoodput {
  double interval_s = 0;  // Of work.
  double goodput = 0;     // Work that counts over time, 0 to 1.
  // The rest of the time, as shares.
  double checkpoints = 0;
  double lost = 0;  // Work and checkpoints that failures cut short.
  double restarts = 0;
};

// Requires an interval above 0.
ExpectedGoodput ExpectGoodput(const GoodputJob& job, double interval_s);

// Returns the interval in seconds with the highest goodput, to a thousandth of
// the interval.
// Requires checkpoints that take time and something that fails.
double BestInterval(const GoodputJob& job);

// One simulated run of `duration_s`.
struct SimulatedGoodput {
  double goodput = 0;
  std::vector<int64_t> failures;  // By kind.
};

// Equal seeds give equal runs.
SimulatedGoodput SimulateGoodput(const GoodputJob& job, double interval_s,
                                 double duration_s, uint64_t seed);

// Many runs, with seeds that follow from `seed`.
struct GoodputTrials {
  double mean = 0;  // Of the goodputs of all runs.
  double p5 = 0;    // One run in twenty is worse.
  double p95 = 0;
  std::vector<double> failures;  // By kind: the mean number.
};

// Requires at least one trial.
GoodputTrials RunTrials(const GoodputJob& job, double interval_s,
                        double duration_s, int64_t trials, uint64_t seed);

}  // namespace astra

#endif  // ASTRA_CORE_GOODPUT_GOODPUT_H_
