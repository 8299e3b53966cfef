// Finds the constants of a training job that its measured times determine.
//
// Each observation is a measured time, and a model predicts it from the
// constants. They are found by weighted least squares: an observation weighs as
// the inverse square of its deviation. A constant counts as determined if its
// own uncertainty moves times by at most kMostEffect: for the load, that of a
// job that only computes; for others, those of the observations. While some
// constant is not, the last one is left as it was.

#ifndef ASTRA_CORE_APPS_FIT_CONSTANTS_FIT_H_
#define ASTRA_CORE_APPS_FIT_CONSTANTS_FIT_H_

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace astra {

// The constants, in the order in which observations are spent on them.
enum class JobConstant : uint8_t { kLoad, kIterationUs, kExpertHostUs };
inline constexpr size_t kNumJobConstants = 3;
// Keys of a file of a framework, by JobConstant.
inline constexpr std::string_view kJobConstantNames[kNumJobConstants] = {
    "load", "iteration_us", "expert_host_us"};

// Values by JobConstant, in the units of these keys.
using JobConstants = std::array<double, kNumJobConstants>;

// Limit of the share by which the uncertainty of a constant may move a time.
inline constexpr double kMostEffect = 0.05;

enum class ConstantState : uint8_t {
  kDetermined,
  kNotAsked,
  kTooFew,    // There are fewer observations than constants.
  kUnstable,  // The observations are too alike to tell it from others.
  kBeyond,    // The best value lies outside its range, at whose end it is held.
};

struct ConstantFit {
  ConstantState state = ConstantState::kNotAsked;
  double deviation = 0;  // Standard deviation, where it is determined.
};

struct MeasuredTime {
  double seconds = 0;
  double deviation = 0;  // Standard deviation, in seconds.
};

struct ConstantsFit {
  JobConstants values{};
  std::array<ConstantFit, kNumJobConstants> constants;
  std::vector<double> predicted;  // Seconds, by observation.
};

// Predicts the seconds of each observation.
using PredictTimes =
    std::function<absl::StatusOr<std::vector<double>>(const JobConstants&)>;

// Fits the constants of `asked`. The others, and those that are not determined,
// keep their value of `start`. Where the observations spread more about the
// predictions than their deviations say, the uncertainties grow by as much.
//
// Errors: those of `predict`.
absl::StatusOr<ConstantsFit> FitConstants(
    absl::Span<const MeasuredTime> observations, const JobConstants& start,
    absl::Span<const JobConstant> asked, const PredictTimes& predict);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_FIT_CONSTANTS_FIT_H_
