// Builds compute_result.json of SimuMax; see result_json.h.

#ifndef ASTRA_CORE_PLANNER_SIMUMAX_COMPUTE_JSON_H_
#define ASTRA_CORE_PLANNER_SIMUMAX_COMPUTE_JSON_H_

#include "astra-core/planner/simumax/simulate.h"
#include "nlohmann/json_fwd.hpp"

namespace astra {

nlohmann::ordered_json SimumaxComputeJson(const SimumaxResult& result);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_SIMUMAX_COMPUTE_JSON_H_
