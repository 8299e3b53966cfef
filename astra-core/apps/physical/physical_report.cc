#include "astra-core/apps/physical/physical_report.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "astra-core/apps/json_parts.h"
#include "astra-core/apps/run_json.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/version.h"
#include "astra-core/physical/physical_result.h"
#include "astra-core/results/collectives_table.h"
#include "astra-core/results/trace_tables.h"
#include "fmt/core.h"
#include "fmt/ranges.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

TimePs EndOf(const std::vector<RankReport>& iteration) {
  TimePs end;
  for (const RankReport& report : iteration) {
    end = std::max(end, report.finish);
  }
  return end;
}

// Returns what the messages were sent over, and no RDMA where there was none.
std::string DescribeNetwork(const std::vector<FabricName>& networks) {
  const std::string& provider = networks.front().provider;
  if (provider.empty()) return "TCP";
  std::set<std::string> devices;
  for (const FabricName& network : networks) devices.insert(network.device);
  return fmt::format(
      "{}, device(s) {}",
      IsRdmaProvider(provider)
          ? fmt::format("RDMA (libfabric's {})", provider)
          : fmt::format("libfabric's {}, which is no RDMA", provider),
      fmt::join(devices, " "));
}

// Adds what the messages were sent over.
void AddNetwork(const std::vector<FabricName>& networks, Json& physical) {
  const std::string& provider = networks.front().provider;
  physical["transport"] = provider.empty() ? "tcp" : "rdma";
  if (provider.empty()) return;
  physical["provider"] = provider;
  physical["is_rdma"] = IsRdmaProvider(provider);
  physical["devices"] = Json::array();
  for (const FabricName& network : networks) {
    physical["devices"].push_back(network.device);
  }
}

Json RunJsonOf(const SimaiPhysicalOptions& options, const RunRequest& request,
               const Warnings& warnings, const PhysicalOutcome& outcome) {
  Json json = {
      {"program", "simai_physical"},
      {"version", Version()},
      {"name", options.run.name},
      {"finished", true},
      {"reason", ""},
      {"workload", WorkloadJson(options.run.workload_file, request.program,
                                /*unroll=*/true)},
      {"topology",
       TopologyJson(options.run.topology_file.value_or(""), request.topology)},
      {"model", ModelJson(options.run, request.simulation)},
      {"physical",
       {{"hosts", outcome.num_hosts},
        {"warm_up_iterations", options.num_warm_ups},
        {"clock_error_ns", outcome.clock_error.count()},
        {"iterations_ps", Json::array()}}},
      {"warnings", warnings},
      {"result", ResultJson(outcome.result)}};
  json["model"]["fidelity"] = "physical";
  AddNetwork(outcome.networks, json["physical"]);
  for (const TimePs time : outcome.iterations) {
    json["physical"]["iterations_ps"].push_back(time.count());
  }
  return json;
}

}  // namespace

absl::StatusOr<PhysicalOutcome> OutcomeOf(const SimaiPhysicalOptions& options,
                                          const SimulationSetting& setting,
                                          const PhysicalReports& reports) {
  PhysicalOutcome outcome;
  outcome.clock_error = reports.clock_error;
  outcome.networks = reports.networks;
  outcome.num_hosts = static_cast<uint32_t>(
      std::set<std::string>(reports.hosts.begin(), reports.hosts.end()).size());
  std::vector<std::pair<TimePs, size_t>> order;
  for (size_t i = options.num_warm_ups; i < reports.iterations.size(); ++i) {
    const TimePs time = EndOf(reports.iterations[i]);
    outcome.iterations.push_back(time);
    order.emplace_back(time, i);
  }
  std::sort(order.begin(), order.end());
  const size_t median = order[(order.size() - 1) / 2].second;
  ASTRA_ASSIGN_OR_RETURN(outcome.result,
                         ResultOf(setting, reports.iterations[median]));
  return outcome;
}

std::vector<NamedFile> PhysicalFiles(const SimaiPhysicalOptions& options,
                                     const RunRequest& request,
                                     const Warnings& warnings,
                                     const PhysicalOutcome& outcome) {
  return {
      {"collectives.csv", CollectivesCsv(request.topology, outcome.result)},
      {"ranks.csv", RanksCsv(outcome.result)},
      {"run.json", JsonText(RunJsonOf(options, request, warnings, outcome))}};
}

std::string DescribePhysical(const SimaiPhysicalOptions& options,
                             const PhysicalOutcome& outcome,
                             const std::optional<Beside>& beside,
                             const std::vector<NamedFile>& files) {
  const SimulationResult& result = outcome.result;
  const RankResult& last = result.ranks[result.reported_rank.index()];
  const TimePs messages =
      last.exposed_in[IndexOf(ParallelDimension::kPipeline)];
  const auto [least, most] =
      std::minmax_element(outcome.iterations.begin(), outcome.iterations.end());
  std::string text = fmt::format(
      "physical   {} ranks on {} host(s) over {}; {} collectives and "
      "messages\n",
      result.ranks.size(), outcome.num_hosts, DescribeNetwork(outcome.networks),
      result.collectives.size());
  if (outcome.iterations.size() > 1) {
    text += fmt::format(
        "iterations {} measured: {:.3f} to {:.3f} ms; the median follows\n",
        outcome.iterations.size(), ToMilliseconds(*least),
        ToMilliseconds(*most));
  }
  text += fmt::format(
      "time       rank {} finishes last: computing {:.3f} ms, {:.3f} ms of it "
      "late; waiting for collectives {:.3f} ms, for messages {:.3f} ms\n",
      last.rank, ToMilliseconds(last.compute + last.slowed),
      ToMilliseconds(last.slowed), ToMilliseconds(last.exposed - messages),
      ToMilliseconds(messages));
  if (outcome.clock_error > HostTime(0)) {
    text += fmt::format(
        "clocks     times of ranks on different hosts compare to {:.1f} us\n",
        static_cast<double>(outcome.clock_error.count()) * 1e-3);
  }
  if (beside) text += DescribeBeside(*beside);
  text += fmt::format("results    {}:", options.run.output);
  for (const NamedFile& file : files) text += " " + file.name;
  return text + fmt::format("\nfinished   {}: {:.6f} ms\n", options.run.name,
                            ToMilliseconds(result.total()));
}

}  // namespace astra
