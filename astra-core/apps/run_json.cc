#include "astra-core/apps/run_json.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "astra-core/apps/json_parts.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/units.h"
#include "astra-core/base/yaml_reader.h"
#include "astra-core/command_line/version.h"
#include "astra-core/engine/work_rates.h"
#include "astra-core/results/program_summary.h"
#include "fmt/core.h"
#include "network-frontends/config/network_file.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

Json ScalarJson(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  if (const auto integer = ParseInteger("", text); integer.ok()) {
    return *integer;
  }
  if (const auto number = ParseNumber("", text); number.ok()) return *number;
  return text;
}

Json ValueJson(const YamlValue& value) {
  if (value.kind == YamlValue::Kind::kScalar) return ScalarJson(value.text);
  const bool is_map = value.kind == YamlValue::Kind::kMap;
  Json json = is_map ? Json::object() : Json::array();
  for (const auto& [key, child] : value.children) {
    if (is_map) {
      json[key] = ValueJson(child);
    } else {
      json.push_back(ValueJson(child));
    }
  }
  return json;
}

// Returns the network in the form of its file.
Json PacketJson(const PacketOptions& options) {
  YamlDocument document("network", WriteNetworkFile(options));
  YamlFields fields = document.Root("a network");
  Json json;
  for (const std::string& key : fields.keys()) {
    if (key != "simai_network") json[key] = ValueJson(*fields.Value(key));
  }
  return json;
}

Json FlowJson(const FlowOptions& options) {
  return {{"payload_bytes", options.payload.count()},
          {"header_bytes", options.header.count()},
          {"switch_latency_ps", options.switch_latency.count()},
          {"nv_switch_latency_ps", options.nv_switch_latency.count()},
          {"message_latency_ps", options.message_latency.count()},
          {"seed", options.seed},
          {"efficiency", options.efficiency}};
}

// Returns the bandwidths of --busbw, as they were read.
Json BusBandwidthJson(const RunOptions& options,
                      const SimulationOptions& simulation) {
  Json json = {{"file", options.bus_bandwidth_file.value_or("")},
               {"GBps", Json::object()}};
  for (const auto& [key, gb_per_s] : simulation.bus_bandwidths.entries()) {
    json["GBps"][std::string(Name(key.first))][std::string(Name(key.second))] =
        gb_per_s;
  }
  return json;
}

// Returns "vllm 0.19", or "" for NCCL alone.
std::string EngineText(const NcclOptions& nccl) {
  if (!nccl.engine) return "";
  return fmt::format("{} {}", nccl.engine->name, nccl.engine->release);
}

Json CollectivesJson(const RunOptions& options,
                     const SimulationOptions& simulation) {
  const NcclVersion& version = options.nccl.version;
  const std::optional<NcclSystem>& nccl = simulation.nccl;
  Json json = {{"family", Name(simulation.collectives)},
               {"system", nccl ? nccl->system.name : ""},
               {"nccl_version",
                nccl ? fmt::format("{}.{}", version.major, version.minor) : ""},
               {"nccl", options.nccl_variables},
               {"launch", nccl ? Name(options.nccl.launch) : ""},
               {"engine", nccl ? EngineText(nccl->options) : ""},
               {"dispatcher", options.dispatcher.value_or("")},
               {"measured", options.measured_files},
               {"send_latency_ps", options.send_latency.count()},
               {"busbw", BusBandwidthJson(options, simulation)},
               {"overlap", Json::object()}};
  for (const ParallelDimension dimension : kParallelDimensions) {
    json["overlap"][std::string(Name(dimension))] =
        simulation.overlap[IndexOf(dimension)];
  }
  for (const AlgorithmOption& algorithm : options.algorithms) {
    json["algorithms"].push_back({{"file", algorithm.file},
                                  {"min_bytes", algorithm.min_bytes.count()},
                                  {"max_bytes", algorithm.max_bytes.count()}});
  }
  return json;
}

Json TimesByDimension(const std::array<TimePs, kNumParallelDimensions>& times) {
  Json json = Json::object();
  for (const ParallelDimension dimension : kParallelDimensions) {
    if (dimension == ParallelDimension::kPipeline) continue;
    json[std::string(Name(dimension))] = times[IndexOf(dimension)].count();
  }
  return json;
}

// Returns the critical path by its parts: "compute", a dimension, "messages",
// or "host" for the CPU and copies.
Json PathJson(const Explanation& explanation, const SimulationResult& result) {
  Json json = Json::object();
  for (const PathPart& part : PartsOf(explanation.path, result)) {
    const std::string_view name =
        part.kind == PathKind::kCollective ? Name(part.communication.dimension)
        : part.kind == PathKind::kMessage  ? "messages"
                                           : Name(part.kind);
    Json& sum = json[std::string(name)];
    sum = sum.is_null() ? part.time.count()
                        : sum.get<int64_t>() + part.time.count();
  }
  return json;
}

// `program` is null for a trace.
Json IterationJson(const Program* program, const SimulationResult& result,
                   const Explanation& explanation) {
  Json json = {{"total_ps", result.total().count()},
               {"compute_ps", result.compute.count()},
               {"slowed_ps", result.slowed.count()},
               {"exposed_ps", TimesByDimension(result.exposed)},
               {"late_ps", TimesByDimension(result.late)},
               {"transfer_ps", result.pipeline.exposed.count()},
               {"bubble_ps", result.pipeline.bubble.count()}};
  if (program != nullptr) {
    json["bubble_of_work"] = BubbleShare(result);
    json["ideal_bubble_of_work"] = IdealBubbleShare(*program);
  } else {
    json["held_ps"] = result.held.count();
  }
  json["critical_path_ps"] = PathJson(explanation, result);
  json["ideal_network_ps"] = explanation.bounds.ideal_network.count();
  json["ideal_compute_ps"] = explanation.bounds.ideal_compute.count();
  if (program == nullptr) return json;
  const WorkRates rates = RatesOf(*program, result.total());
  json["model_tflops_per_gpu"] = rates.tflops_per_gpu;
  json["mfu"] = rates.utilisation;
  json["tokens_per_s"] = rates.tokens_per_second;
  json["tokens_per_s_per_gpu"] = rates.tokens_per_second_per_gpu;
  return json;
}

Json MemoryJson(const Explanation& explanation) {
  const StageMemory& most = LargestOf(explanation.memory);
  Bytes reserved;
  for (const StageMemory& stage : explanation.memory) {
    reserved = std::max(reserved, ReservedMemory(stage));
  }
  Json json = {{"stage", most.stage},
               {"allocated_memory_gib", ToGib(most.peak())},
               {"reserved_memory_gib", ToGib(reserved)},
               {"weights_gib", ToGib(most.weights)},
               {"gradients_gib", ToGib(most.gradients)},
               {"optimizer_gib", ToGib(most.optimizer)},
               {"saved_gib", ToGib(most.saved)},
               {"workspace_gib", ToGib(most.workspace)},
               {"kv_cache_gib", ToGib(most.cache)}};
  if (explanation.gpu_memory != Bytes(0)) {
    json["gpu_memory_gib"] = ToGib(explanation.gpu_memory);
    json["fits"] = most.peak() <= explanation.gpu_memory;
  }
  return json;
}

// Adds the workload, or the trace in its place.
void AddInput(const RunOptions& options, const RunSubject& subject,
              Json& json) {
  if (subject.program != nullptr) {
    json["workload"] =
        WorkloadJson(options.workload_file, *subject.program, options.unroll);
    return;
  }
  json["trace"] = {{"chakra", *options.chakra},
                   {"ranks", subject.trace->ranks.size()},
                   {"nodes", subject.trace->num_nodes()}};
  if (options.groups_file) json["trace"]["groups"] = *options.groups_file;
}

}  // namespace

void AddStopAt(TimePs stop_at, Json& model) {
  if (stop_at < kMaxCollectiveTime) model["stop_at_ps"] = stop_at.count();
}

Json ModelJson(const RunOptions& options, const SimulationOptions& simulation) {
  Json json = {{"fidelity", Name(options.fidelity)},
               {"collectives", CollectivesJson(options, simulation)},
               {"jitter", simulation.jitter},
               {"seed", simulation.seed},
               {"symmetry", simulation.symmetric}};
  AddStopAt(simulation.stop_at, json);
  if (!options.environment.sources.empty()) {
    json["environment"] = options.environment.sources;
  }
  // The other modes have the same results.
  if (simulation.acceleration == Acceleration::kBounded) {
    json["error_bound"] = simulation.bound.share;
    json["exact_events"] = simulation.bound.exact_events;
  }
  if (simulation.start_step > TimePs(0)) {
    json["start_step_ps"] = simulation.start_step.count();
  }
  if (simulation.communication_slowdown) {
    json["contention"] = *simulation.communication_slowdown;
  }
  return json;
}

Json NetworkJson(const RunOptions& options, const NetworkOptions& network) {
  const BackendEntry& backend = *NetworkOf(options.fidelity);
  Json json = {{"file", options.network_file.value_or("")}};
  if (backend.records_packets) {
    json["packet"] = PacketJson(network.packet);
  } else if (backend.has_options) {
    json["flow"] = FlowJson(network.flow);
  }
  return json;
}

Json SimulatedJson(const NetworkStatistics& network, TimePs end) {
  return {{"network_ps", end.count()},
          {"flows", network.num_flows},
          {"data_packets", network.num_data_packets},
          {"packet_hops", network.num_packet_hops},
          {"drops", network.num_drops},
          {"losses", network.num_losses},
          {"retransmissions", network.num_retransmissions},
          {"records_left_out", network.num_lost_records}};
}

void AddNetworkRun(const RunOptions& options, const RunEvents& events,
                   const NetworkOptions& network, const RunResult& run,
                   Json& json) {
  if (options.events_file) {
    json["events"] = {{"file", *options.events_file},
                      {"happened", events.texts}};
    if (run.healthy) {
      json["events"]["healthy_ps"] = run.healthy->total().count();
    }
  }
  if (options.fidelity != Fidelity::kClosedForm) {
    json["network"] = NetworkJson(options, network);
    json["simulated"] = SimulatedJson(run.network, run.network_time);
  }
}

std::string RunJson(std::string_view program, const RunOptions& options,
                    const RunSubject& subject, const Warnings& warnings,
                    const RunResult& run) {
  Json json = {{"program", program},
               {"version", Version()},
               {"name", options.name},
               {"finished", run.status.ok()},
               {"reason", std::string(run.status.message())}};
  AddInput(options, subject, json);
  json["topology"] =
      TopologyJson(options.topology_file.value_or(""), subject.topology);
  json["model"] = ModelJson(options, subject.simulation);
  json["warnings"] = warnings;
  json["result"] = ResultJson(run.result);
  if (subject.trace != nullptr) {
    json["result"]["held_ps"] = run.result.held.count();
  }
  AddNetworkRun(options, subject.events, subject.network, run, json);
  if (run.explanation) {
    json["iteration"] =
        IterationJson(subject.program, run.result, *run.explanation);
    if (!run.explanation->memory.empty()) {
      json["memory"] = MemoryJson(*run.explanation);
    }
  }
  return JsonText(json);
}

std::string CostJson(const RunOptions& options, const RunResult& run,
                     double wall_s) {
  constexpr double kMicro = 1e-6;
  constexpr double kKibPerMib = 1024;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [&](const timeval& time) {
    return static_cast<double>(time.tv_sec) +
           kMicro * static_cast<double>(time.tv_usec);
  };
  const auto hops = static_cast<double>(run.network.num_packet_hops);
  const double events = static_cast<double>(run.result.num_events) +
                        static_cast<double>(run.network.num_events);
  return JsonText(
      {{"wall_s", wall_s},
       {"cpu_s", seconds(usage.ru_utime) + seconds(usage.ru_stime)},
       {"peak_memory_MiB", static_cast<double>(usage.ru_maxrss) / kKibPerMib},
       {"packet_hops_per_s", wall_s > 0 ? hops / wall_s : 0},
       {"replayed_packet_hops", run.network.num_replayed_hops},
       {"events", run.result.num_events},
       {"network_events", run.network.num_events},
       {"events_per_s", wall_s > 0 ? events / wall_s : 0},
       {"threads", options.num_threads}});
}

}  // namespace astra
