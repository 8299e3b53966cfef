// Enumerates the points of a sweep: all combinations of the steps of its axes,
// without those that its rules leave out.

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
  uint32_t number = 0;  // Counted from 1, without the points left out.
  SweepVariables variables;
};

// A combination that a rule leaves out. A sweep may have millions of these.
struct SkippedPoint {
  uint32_t combination = 0;  // Counted from 0, for AxisVariablesOf().
  uint32_t rule = 0;  // Index in Sweep::rules of the first that leaves it out.
};

struct SweepPoints {
  // Variables of the axes in the order of the sweep file, without the
  // summaries.
  std::vector<std::string> axis_variables;
  // Names of the axes, then the other variables of axes with several variables,
  // then the definitions.
  std::vector<std::string> variables;
  // Ordered such that the last axis changes fastest.
  std::vector<SweepPoint> points;
  std::vector<SkippedPoint> skipped;
};

constexpr size_t kMaxCombinations = 10'000'000;
constexpr size_t kMaxPoints = 100'000;

// Returns the points of `sweep`.
//
// Errors: InvalidArgument for more than kMaxCombinations or kMaxPoints, for
// rules that leave no point, and for a rule or definition that cannot be
// evaluated; the last names its place and the values of the axes.
absl::StatusOr<SweepPoints> ExpandSweep(const Sweep& sweep);

// Returns the variables of the axes, without definitions, in combination number
// `combination`, counted from 0.
SweepVariables AxisVariablesOf(const Sweep& sweep, uint32_t combination);

// Returns the value that SweepPoints::axis_variables has for `sweep`.
std::vector<std::string> AxisVariableNames(const Sweep& sweep);

// Returns the variables `names` of a point as text, such as "tp=8 pp=4".
std::string DescribeVariables(const std::vector<std::string>& names,
                              const SweepVariables& variables);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_SWEEP_POINTS_H_
