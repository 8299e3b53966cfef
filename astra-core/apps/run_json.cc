#include "astra-core/apps/run_json.h"

#include <string>

#include "astra-core/apps/json_parts.h"
#include "astra-core/command_line/version.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

std::string VersionText(const SimaiAnalyticalOptions& options) {
  if (!options.system) return "";
  const NcclVersion& version = options.nccl.version;
  return fmt::format("{}.{}", version.major, version.minor);
}

Json ModelJson(const SimaiAnalyticalOptions& options,
               const BusBandwidths& bus_bandwidths) {
  const SimulationOptions& simulation = options.simulation;
  const bool messages = simulation.lowering == Lowering::kFlowGraph;
  Json json = {{"lowering", messages ? "flow-graph" : "closed-form"},
               {"system", options.system.value_or("")},
               {"nccl_version", VersionText(options)},
               {"nccl", options.nccl_variables},
               {"stop_at_ps", simulation.stop_at.count()},
               {"jitter", simulation.jitter},
               {"seed", simulation.seed},
               {"overlap", Json::object()},
               {"busbw_file", options.bus_bandwidth_file.value_or("")},
               {"busbw_GBps", Json::object()}};
  if (simulation.communication_slowdown) {
    json["contention"] = *simulation.communication_slowdown;
  }
  for (const ParallelDimension dimension : kParallelDimensions) {
    json["overlap"][std::string(Name(dimension))] =
        simulation.overlap[IndexOf(dimension)];
  }
  for (const auto& [key, gb_per_s] : bus_bandwidths.entries()) {
    json["busbw_GBps"][std::string(Name(key.first))]
        [std::string(Name(key.second))] = gb_per_s;
  }
  return json;
}

}  // namespace

std::string RunJson(const SimaiAnalyticalOptions& options,
                    const SimaiAnalyticalInputs& inputs,
                    const SimulationResult& result,
                    const std::optional<Explanation>& explanation) {
  Json json = {{"program", "simai_analytical"},
               {"version", Version()},
               {"name", options.name},
               {"workload", WorkloadJson(options.workload_file, inputs.program,
                                         options.simulation.unroll)},
               {"topology", TopologyJson(options.topology_file.value_or(""),
                                         inputs.topology)},
               {"model", ModelJson(options, inputs.bus_bandwidths)},
               {"warnings", inputs.warnings},
               {"result", ResultJson(result)}};
  if (explanation) {
    json["iteration"] = IterationJson(inputs.program, result, *explanation);
    if (!explanation->memory.empty()) json["memory"] = MemoryJson(*explanation);
  }
  return JsonText(json);
}

}  // namespace astra
