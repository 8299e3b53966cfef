#include "astra-core/apps/chakra_program.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/apps/chakra_files.h"
#include "astra-core/apps/events_report.h"
#include "astra-core/apps/flows_log.h"
#include "astra-core/apps/json_parts.h"
#include "astra-core/apps/network_summary.h"
#include "astra-core/apps/packet_capture.h"
#include "astra-core/apps/run_files.h"
#include "astra-core/apps/run_json.h"
#include "astra-core/apps/run_request.h"
#include "astra-core/apps/run_watch.h"
#include "astra-core/apps/simai_network_files.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/main_support.h"
#include "astra-core/command_line/version.h"
#include "astra-core/results/changes_table.h"
#include "astra-core/results/collectives_table.h"
#include "astra-core/results/links_table.h"
#include "astra-core/results/trace_tables.h"
#include "astra-core/run/trace_run.h"
#include "astra-core/traces/trace_communicators.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

absl::Status CheckGpus(const RunOptions& options, const ExecutionTrace& trace,
                       const Topology& topology) {
  if (options.num_gpus &&
      static_cast<size_t>(*options.num_gpus) != trace.ranks.size()) {
    return absl::InvalidArgumentError(
        fmt::format("--gpus is {}, but {} has {} ranks", *options.num_gpus,
                    options.workload_file, trace.ranks.size()));
  }
  if (trace.ranks.size() != topology.num_gpus()) {
    return absl::InvalidArgumentError(fmt::format(
        "{} is of {} ranks, but {} has {} GPUs", options.workload_file,
        trace.ranks.size(), options.cluster_name(), topology.num_gpus()));
  }
  if (!options.cluster && options.gpu_type && !topology.gpu_type().empty() &&
      *options.gpu_type != topology.gpu_type()) {
    return absl::InvalidArgumentError(fmt::format(
        "--gpu-type is {}, but {} has {}", Quoted(*options.gpu_type),
        options.cluster_name(), Quoted(topology.gpu_type())));
  }
  return absl::OkStatus();
}

absl::StatusOr<TraceRunRequest> ReadTraceRequest(const RunOptions& options,
                                                 Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(RunCluster cluster,
                         ReadCluster(options, options.num_gpus.value_or(1)));
  const std::string gpu(
      options.gpu_type.value_or(std::string(cluster.topology.gpu_type())));
  // A topology may name GPUs that nobody knows the rates of.
  const absl::StatusOr<PeakRates> peak = FindPeakRates(gpu);
  ASTRA_ASSIGN_OR_RETURN(
      ExecutionTrace trace,
      ReadChakraTrace(*options.chakra, options.groups_file,
                      peak.ok() ? std::optional(*peak) : std::nullopt,
                      warnings));
  ASTRA_RETURN_IF_ERROR(CheckGpus(options, trace, cluster.topology));
  ASTRA_ASSIGN_OR_RETURN(
      NetworkOptions network,
      ReadNetworkOptions(options, cluster.topology, warnings));
  ASTRA_ASSIGN_OR_RETURN(RunEvents events,
                         ReadEvents(options, cluster.topology));
  ASTRA_ASSIGN_OR_RETURN(
      SimulationOptions simulation,
      SimulationForTrace(options, cluster, UsedCollectives(trace), network,
                         warnings));
  return TraceRunRequest{.trace = std::move(trace),
                         .topology = std::move(cluster.topology),
                         .fidelity = options.fidelity,
                         .network = std::move(network),
                         .events = std::move(events),
                         .simulation = std::move(simulation)};
}

std::vector<NamedFile> FilesOf(const RunOptions& options,
                               const TraceRunRequest& request,
                               const RunResult& run, const FlowsLog* flows) {
  std::vector<NamedFile> files;
  files.push_back({"ranks.csv", RanksCsv(run.result)});
  files.push_back({"nodes.csv", NodesCsv(run.result)});
  files.push_back(
      {"collectives.csv", CollectivesCsv(request.topology, run.result)});
  const BackendEntry* network = NetworkOf(request.fidelity);
  if (network != nullptr) {
    files.push_back(
        {"links.csv", network->records_flows
                          ? LinksCsv(request.topology, run.result, run.network,
                                     run.network_time)
                          : LinksCsv(request.topology, run.result)});
  }
  if (flows != nullptr) files.push_back({"flows.csv", "", flows->file()});
  if (run.healthy) {
    files.push_back(
        {"changes.csv", ChangesCsv(ChangesOf(*run.healthy, run.result))});
  }
  if (network == nullptr) return files;
  if (options.simai_files) {
    files.push_back({"fct.txt", SimaiFctText(run.network)});
  }
  if (network->records_packets) {
    const RecordOptions& record = request.network.packet.record;
    AddPacketTables(record, request.topology, run.network, files);
    if (record.captured_link) {
      files.push_back({"capture.pcapng", PcapngFile(run.network.captured)});
    }
  }
  return files;
}

std::string JsonOf(const RunDefaults& defaults, const RunOptions& options,
                   const TraceRunRequest& request, const Warnings& warnings,
                   const RunResult& run) {
  Json json = {{"program", defaults.program},
               {"version", Version()},
               {"name", options.name},
               {"finished", run.status.ok()},
               {"reason", std::string(run.status.message())},
               {"trace",
                {{"chakra", *options.chakra},
                 {"ranks", request.trace.ranks.size()},
                 {"nodes", request.trace.num_nodes()}}},
               {"topology", TopologyJson(options.topology_file.value_or(""),
                                         request.topology)},
               {"model", ModelJson(options, request.simulation)},
               {"warnings", warnings},
               {"result", ResultJson(run.result)}};
  AddNetworkRun(options, request.events, request.network, run, json);
  return JsonText(json);
}

double Milliseconds(TimePs time) { return ToMicroseconds(time) * 1e-3; }

std::string DescribeTrace(const TraceRunRequest& request,
                          const SimulationResult& result) {
  const ExecutionTrace& trace = request.trace;
  std::string text = fmt::format(
      "trace      {} ranks, {} nodes; {} collectives and messages\n",
      trace.ranks.size(), trace.num_nodes(), result.collectives.size());
  if (result.ranks.empty()) return text;
  const RankResult& last = result.ranks[result.reported_rank.index()];
  const TimePs messages =
      last.exposed_in[IndexOf(ParallelDimension::kPipeline)];
  return text + fmt::format(
                    "time       rank {} finishes last: kernels {:.6f} ms, "
                    "slowed down by {:.6f} ms; waiting for collectives {:.6f} "
                    "ms, for messages {:.6f} ms, for the CPU and copies "
                    "{:.6f} ms\n",
                    last.rank, Milliseconds(last.compute),
                    Milliseconds(last.slowed),
                    Milliseconds(last.exposed - messages),
                    Milliseconds(messages), Milliseconds(last.held));
}

std::string Describe(const RunOptions& options, const TraceRunRequest& request,
                     const RunResult& run,
                     const std::vector<NamedFile>& files) {
  std::string text = DescribeTrace(request, run.result);
  const BackendEntry* network = NetworkOf(request.fidelity);
  if (network != nullptr && !run.network.links.empty()) {
    text += DescribeNetworkUse(request.topology, run.network, run.network_time,
                               network->records_packets
                                   ? request.network.packet.congestion.name
                                   : std::string_view());
  }
  text += DescribeEvents(request.events, run);
  text += fmt::format("results    {}:", options.output);
  for (const NamedFile& file : files) text += " " + file.name;
  if (!run.status.ok()) {
    return text + fmt::format("\nnot finished {}: {}\n", options.name,
                              std::string(run.status.message()));
  }
  return text + fmt::format("\nfinished   {}: {:.6f} ms\n", options.name,
                            Milliseconds(run.result.total()));
}

}  // namespace

absl::Status RunChakraProgram(const RunDefaults& defaults,
                              const RunOptions& options, Warnings warnings,
                              const Log& log) {
  using Clock = std::chrono::steady_clock;
  ASTRA_ASSIGN_OR_RETURN(TraceRunRequest request,
                         ReadTraceRequest(options, &warnings));
  if (options.environment.log_level != LogLevel::kError) log.Report(warnings);
  ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                         OutputFolder::Create(options.output));
  const std::unique_ptr<FlowsLog> flows = MakeFlowsLog(
      options, request.network, request.trace.names, request.topology);
  request.simulation.message_log = flows.get();
  RunWatch watch(options.environment.log_level == LogLevel::kInfo);
  if (flows != nullptr) {
    watch.CountMessages([&flows] { return flows->num_arrived(); });
  }
  request.simulation.on_collective = [&](const CollectiveRecord& record) {
    watch.End(record);
  };
  request.simulation.on_progress = [&](double share, TimePs simulated) {
    return watch.Update(share, simulated);
  };
  const Clock::time_point begin = Clock::now();
  ASTRA_ASSIGN_OR_RETURN(const RunResult run, RunTrace(request));
  const std::chrono::duration<double> wall = Clock::now() - begin;
  std::vector<NamedFile> files = FilesOf(options, request, run, flows.get());
  files.push_back(
      {"run.json", JsonOf(defaults, options, request, warnings, run)});
  files.push_back({"cost.json", CostJson(options, run, wall.count())});
  ASTRA_RETURN_IF_ERROR(folder.Write(files, kResultFiles));
  Print(Describe(options, request, run, files));
  ASTRA_RETURN_IF_ERROR(FlushStdout());
  return run.status;
}

}  // namespace astra
