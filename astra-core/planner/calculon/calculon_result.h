// A prediction in the form of Calculon's statistics, and as text to read.

#ifndef ASTRA_CORE_PLANNER_CALCULON_CALCULON_RESULT_H_
#define ASTRA_CORE_PLANNER_CALCULON_CALCULON_RESULT_H_

#include <optional>
#include <string>
#include <vector>

#include "astra-core/planner/calculon/calculon_cost.h"
#include "astra-core/planner/calculon/calculon_inputs.h"

namespace astra {

// A number of Calculon's statistics; none where Calculon has null.
struct CalculonStatistic {
  std::string name;
  std::optional<double> value;
};

// Returns all numbers that Calculon writes without --layers, in its order and
// with its names: seconds, bytes, FLOPs, bytes/s, and sequences/s.
std::vector<CalculonStatistic> CalculonStatistics(const CalculonInputs& inputs,
                                                  const CalculonCost& cost);

// Returns the statistics as a JSON file with one object.
std::string CalculonJson(const CalculonInputs& inputs,
                         const CalculonCost& cost);

// Returns a summary of several lines: the layout, where the time of the
// iteration goes, and the memory.
std::string DescribeCalculon(const CalculonInputs& inputs,
                             const CalculonCost& cost);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_CALCULON_CALCULON_RESULT_H_
