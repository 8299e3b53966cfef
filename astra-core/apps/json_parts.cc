#include "astra-core/apps/json_parts.h"

#include <algorithm>

#include "nlohmann/json.hpp"

namespace astra {
namespace {

Json SimaiJson(const std::string& file, const Program& program) {
  const ParallelSizes& sizes = program.sizes();
  const auto num_reruns = std::count_if(
      program.modules().begin(), program.modules().end(),
      [](const ProgramModule& module) { return module.rerun_from; });
  return {{"file", file},
          {"form", "SimAI"},
          {"layers", program.modules().size()},
          {"gpus", sizes.num_ranks},
          {"tp", sizes.tensor},
          {"ep", sizes.expert},
          {"pp", sizes.pipeline},
          {"vpp", sizes.virtual_stages},
          {"ga", sizes.micro_batches},
          {"pp_comm_bytes", program.pipeline_message().count()},
          {"checkpoint_initiates", num_reruns}};
}

Json ProgramJson(const std::string& file, const Program& program, bool unroll) {
  const ParallelSizes& sizes = program.sizes();
  Json json = {{"file", file},
               {"form", "program"},
               {"gpu", program.gpu().name},
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
               {"unroll", unroll}};
  if (sizes.order != RankOrder()) json["order"] = Name(sizes.order);
  return json;
}

}  // namespace

Json WorkloadJson(const std::string& file, const Program& program,
                  bool unroll) {
  return program.simulates_pipeline() ? ProgramJson(file, program, unroll)
                                      : SimaiJson(file, program);
}

Json TopologyJson(const std::string& file, const Topology& topology) {
  Json json = {{"file", file},
               {"gpus", topology.num_gpus()},
               {"gpu_type", topology.gpu_type()},
               {"gpus_per_server", topology.gpus_per_server()},
               {"nodes", topology.num_nodes()},
               {"links", topology.links().size() / 2}};
  if (topology.num_storage() > 0) {
    json["storage_servers"] = topology.num_storage();
  }
  for (const LinkType& type : topology.link_types()) {
    json["link_makes"].push_back(type.text);
  }
  return json;
}

Json ResultJson(const SimulationResult& result) {
  Json json = {{"iteration_ps", result.total().count()},
               {"compute_ps", result.compute.count()},
               {"slowed_ps", result.slowed.count()}};
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
  return json;
}

std::string JsonLine(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string JsonText(const Json& json) {
  // Replaces text that is not UTF-8, such as a name in an input file.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace astra
