#include "astra-core/apps/simulator_json.h"

#include <sys/resource.h>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "astra-core/apps/json_parts.h"
#include "astra-core/base/check.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/yaml_reader.h"
#include "astra-core/command_line/version.h"
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

// The network as its file would have it.
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
          {"message_latency_ps", options.message_latency.count()},
          {"seed", options.seed},
          {"efficiency", options.efficiency}};
}

std::string_view NameOf(CollectiveFamily family) {
  switch (family) {
    case CollectiveFamily::kDefault:
      return "plain";
    case CollectiveFamily::kNccl:
      return "nccl";
    case CollectiveFamily::kSimai:
      return "simai";
  }
  ASTRA_CHECK(false, "family {}", static_cast<int>(family));
}

Json ModelJson(const SimaiSimulatorOptions& options,
               const SimulationOptions& simulation) {
  const NcclVersion& version = options.nccl.version;
  const std::optional<NcclSystem>& nccl = simulation.nccl;
  Json json = {{"backend", options.backend->name},
               {"collectives", NameOf(simulation.collectives)},
               {"system", nccl ? nccl->system.name : ""},
               {"nccl_version",
                nccl ? fmt::format("{}.{}", version.major, version.minor) : ""},
               {"nccl", options.nccl_variables},
               {"send_latency_ps", options.send_latency.count()},
               {"jitter", simulation.jitter},
               {"stop_at_ps", options.stop_at.count()}};
  if (!options.environment.sources.empty()) {
    json["environment"] = options.environment.sources;
  }
  if (simulation.communication_slowdown) {
    json["contention"] = *simulation.communication_slowdown;
  }
  return json;
}

Json NetworkJson(const SimaiSimulatorOptions& options,
                 const SimaiSimulatorInputs& inputs) {
  Json json = {{"file", options.network_file.value_or("")}};
  if (options.backend->records_packets) {
    json["packet"] = PacketJson(inputs.network.packet);
  } else if (options.backend->has_options) {
    json["flow"] = FlowJson(inputs.network.flow);
  }
  return json;
}

Json SimulatedJson(const SimulatorRun& run) {
  const NetworkStatistics& network = run.network;
  return {{"network_ps", run.network_time.count()},
          {"events", network.num_events},
          {"flows", network.flows.size() + network.num_unasked_flows},
          {"data_packets", network.num_data_packets},
          {"packet_hops", network.num_packet_hops},
          {"drops", network.num_drops},
          {"losses", network.num_losses},
          {"retransmissions", network.num_retransmissions},
          {"records_left_out", network.num_lost_records}};
}

}  // namespace

std::string SimulatorRunJson(const SimaiSimulatorOptions& options,
                             const SimaiSimulatorInputs& inputs,
                             const SimulatorRun& run) {
  Json json = {
      {"program", "simai_simulator"},
      {"version", Version()},
      {"name", options.name},
      {"finished", run.status.ok()},
      {"reason", std::string(run.status.message())},
      {"workload",
       WorkloadJson(options.workload_file, inputs.program, options.unroll)},
      {"topology", TopologyJson(options.topology_file, inputs.topology)},
      {"model", ModelJson(options, inputs.simulation)},
      {"network", NetworkJson(options, inputs)},
      {"warnings", inputs.warnings},
      {"result", ResultJson(run.result)},
      {"simulated", SimulatedJson(run)}};
  if (run.explanation) {
    json["iteration"] =
        IterationJson(inputs.program, run.result, *run.explanation);
    if (!run.explanation->memory.empty()) {
      json["memory"] = MemoryJson(*run.explanation);
    }
  }
  return JsonText(json);
}

std::string CostJson(const SimaiSimulatorOptions& options,
                     const SimulatorRun& run, double wall_s) {
  constexpr double kMicro = 1e-6;
  constexpr double kKibPerMib = 1024;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [&](const timeval& time) {
    return static_cast<double>(time.tv_sec) +
           kMicro * static_cast<double>(time.tv_usec);
  };
  const auto hops = static_cast<double>(run.network.num_packet_hops);
  return JsonText(
      {{"wall_s", wall_s},
       {"cpu_s", seconds(usage.ru_utime) + seconds(usage.ru_stime)},
       {"peak_memory_MiB", static_cast<double>(usage.ru_maxrss) / kKibPerMib},
       {"packet_hops_per_s", wall_s > 0 ? hops / wall_s : 0},
       {"threads", options.num_threads}});
}

}  // namespace astra
