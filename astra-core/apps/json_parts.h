// What the run.json of several programs have in common.

#ifndef ASTRA_CORE_APPS_JSON_PARTS_H_
#define ASTRA_CORE_APPS_JSON_PARTS_H_

#include <string>

#include "astra-core/apps/run_inputs.h"
#include "astra-core/engine/result.h"
#include "nlohmann/json_fwd.hpp"
#include "topology/topology.h"

namespace astra {

using Json = nlohmann::ordered_json;

// `unroll` is said of programs only.
Json WorkloadJson(const std::string& file, const Program& program, bool unroll);

Json TopologyJson(const std::string& file, const Topology& topology);

// The totals.
Json ResultJson(const SimulationResult& result);

// What a line of JSON lines holds, with its end; what is no UTF-8 is replaced.
std::string JsonLine(const Json& json);

// What a file of it holds.
std::string JsonText(const Json& json);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_JSON_PARTS_H_
