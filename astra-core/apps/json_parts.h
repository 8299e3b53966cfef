// Builds the parts that the run.json files of several programs share.

#ifndef ASTRA_CORE_APPS_JSON_PARTS_H_
#define ASTRA_CORE_APPS_JSON_PARTS_H_

#include <string>

#include "astra-core/apps/run_inputs.h"
#include "astra-core/engine/result.h"
#include "nlohmann/json_fwd.hpp"
#include "topology/topology.h"

namespace astra {

using Json = nlohmann::ordered_json;

// Describes a workload. `unroll` is stated only for program files.
Json WorkloadJson(const std::string& file, const Program& program, bool unroll);

Json TopologyJson(const std::string& file, const Topology& topology);

// Returns the totals of a run.
Json ResultJson(const SimulationResult& result);

// Returns a line of a JSON Lines file, with its line end. Text that is not
// UTF-8 is replaced.
std::string JsonLine(const Json& json);

// Returns a whole JSON file.
std::string JsonText(const Json& json);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_JSON_PARTS_H_
