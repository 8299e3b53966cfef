#include "astra-core/apps/run_json.h"

#include <string>
#include <variant>

#include "astra-core/apps/version.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

using Json = nlohmann::ordered_json;

Json WorkloadJson(const SimaiAnalyticalOptions& options,
                  const Workload& workload) {
  const ParallelSizes& sizes = workload.sizes();
  return {{"file", options.workload_file},
          {"form", "SimAI"},
          {"policy", Name(workload.policy())},
          {"layers", workload.layers().size()},
          {"gpus", sizes.num_ranks},
          {"tp", sizes.tensor},
          {"ep", sizes.expert},
          {"pp", sizes.pipeline},
          {"vpp", sizes.virtual_stages},
          {"ga", sizes.micro_batches},
          {"pp_comm_bytes", workload.pipeline_message().count()},
          {"checkpoints", workload.checkpoints().size()},
          {"checkpoint_initiates", workload.recompute_starts().size()}};
}

Json WorkloadJson(const SimaiAnalyticalOptions& options,
                  const Program& program) {
  const ParallelSizes& sizes = program.sizes();
  return {{"file", options.workload_file},
          {"form", "program"},
          {"phase", program.forward_only() ? "inference" : "training"},
          {"modules", program.modules().size()},
          {"gpus", sizes.num_ranks},
          {"tp", sizes.tensor},
          {"cp", sizes.context},
          {"pp", sizes.pipeline},
          {"ep", sizes.expert},
          {"etp", sizes.expert_tensor.value_or(sizes.tensor)},
          {"vpp", sizes.virtual_stages},
          {"micro_batches", sizes.micro_batches},
          {"pipeline_message", program.pipeline_message().count()},
          {"unroll", options.simulation.unroll}};
}

Json TopologyJson(const SimaiAnalyticalOptions& options,
                  const Topology& topology) {
  Json json = {{"file", options.topology_file.value_or("")},
               {"gpus", topology.num_gpus()},
               {"gpu_type", topology.gpu_type()},
               {"gpus_per_server", topology.gpus_per_server()},
               {"nodes", topology.num_nodes()},
               {"links", topology.links().size() / 2}};
  for (const LinkType& type : topology.link_types()) {
    json["link_makes"].push_back(type.text);
  }
  return json;
}

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
               {"overlap", Json::object()},
               {"busbw_file", options.bus_bandwidth_file.value_or("")},
               {"busbw_GBps", Json::object()}};
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

Json ResultJson(const SimulationResult& result) {
  Json json = {{"iteration_ps", result.total().count()},
               {"compute_ps", result.compute.count()}};
  for (const ParallelDimension dimension : kParallelDimensions) {
    const bool is_pipeline = dimension == ParallelDimension::kPipeline;
    json["exposed_ps"][std::string(Name(dimension))] =
        (is_pipeline ? result.pipeline.exposed
                     : result.exposed[IndexOf(dimension)])
            .count();
  }
  json["bubble_ps"] = result.pipeline.bubble.count();
  json["reported_rank"] = result.reported_rank.index();
  json["rank_programs"] = result.num_rank_classes;
  json["events"] = result.num_events;
  return json;
}

}  // namespace

std::string RunJson(const SimaiAnalyticalOptions& options,
                    const SimaiAnalyticalInputs& inputs,
                    const SimulationResult& result) {
  const Json workload =
      std::visit([&](const auto& form) { return WorkloadJson(options, form); },
                 inputs.workload);
  const Json json = {{"program", "simai_analytical"},
                     {"version", Version()},
                     {"name", options.name},
                     {"workload", workload},
                     {"topology", TopologyJson(options, inputs.topology)},
                     {"model", ModelJson(options, inputs.bus_bandwidths)},
                     {"warnings", inputs.warnings},
                     {"result", ResultJson(result)}};
  // A name in an input file need not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace astra
