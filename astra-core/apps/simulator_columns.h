// What the columns of simai_simulator's result files mean.

#ifndef ASTRA_CORE_APPS_SIMULATOR_COLUMNS_H_
#define ASTRA_CORE_APPS_SIMULATOR_COLUMNS_H_

#include <string>

namespace astra {

// The dictionary as text, a line for each column: file, name, unit, meaning.
std::string DescribeSimulatorColumns();

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SIMULATOR_COLUMNS_H_
