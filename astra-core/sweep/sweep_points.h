// The points of a sweep: every step of every axis with every step of the
// others, less what its rules leave out.

#ifndef ASTRA_CORE_SWEEP_SWEEP_POINTS_H_
#define ASTRA_CORE_SWEEP_SWEEP_POINTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/sweep/sweep.h"

namespace astra {

struct SweepPoint {
  uint32_t number = 0;  // From 1, without those left out.
  SweepVariables variables;
};

// A combination that a rule leaves out. There may be millions.
struct SkippedPoint {
  uint32_t combination = 0;  // From 0, for AxisVariablesOf().
  uint32_t rule = 0;         // Of Sweep::rules, the first that does.
};

struct SweepPoints {
  // Those of the axes in the order of the file, each axis' summary left out.
  std::vector<std::string> axis_variables;
  // The names of the axes, then the other variables of those whose variables
  // move together, then the definitions.
  std::vector<std::string> variables;
  std::vector<SweepPoint> points;  // The last axis moves fastest.
  std::vector<SkippedPoint> skipped;
};

constexpr size_t kMaxCombinations = 10'000'000;
constexpr size_t kMaxPoints = 100'000;

// Errors: InvalidArgument for more combinations or points than that, for none
// that the rules leave, and where a rule or definition cannot be evaluated:
// with its place and the values of the axes.
absl::StatusOr<SweepPoints> ExpandSweep(const Sweep& sweep);

// The variables of the axes, and no definitions, in the combination number
// `combination`, from 0.
SweepVariables AxisVariablesOf(const Sweep& sweep, uint32_t combination);

// SweepPoints::axis_variables of `sweep`.
std::vector<std::string> AxisVariableNames(const Sweep& sweep);

// "tp=8 pp=4", the variables `names` of a point.
std::string DescribeVariables(const std::vector<std::string>& names,
                              const SweepVariables& variables);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_SWEEP_POINTS_H_
