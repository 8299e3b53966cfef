#include "astra-core/apps/pattern_program.h"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/apps/events_report.h"
#include "astra-core/apps/flows_log.h"
#include "astra-core/apps/job_folders.h"
#include "astra-core/apps/json_parts.h"
#include "astra-core/apps/network_summary.h"
#include "astra-core/apps/pattern_page.h"
#include "astra-core/apps/run_files.h"
#include "astra-core/apps/run_inputs.h"
#include "astra-core/apps/run_json.h"
#include "astra-core/apps/run_request.h"
#include "astra-core/apps/run_watch.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/main_support.h"
#include "astra-core/command_line/version.h"
#include "astra-core/results/completions_table.h"
#include "astra-core/results/links_table.h"
#include "astra-core/run/traffic_run.h"
#include "fmt/core.h"
#include "network-frontends/traffic/pattern_spec.h"
#include "network-frontends/traffic/traffic_draw.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

absl::Status CheckCluster(const RunOptions& options, const Topology& topology) {
  if (!options.topology_file) return absl::OkStatus();
  if (options.num_gpus && *options.num_gpus != topology.num_gpus()) {
    return absl::InvalidArgumentError(
        fmt::format("--gpus is {}, but {} has {}", *options.num_gpus,
                    options.cluster_name(), topology.num_gpus()));
  }
  if (options.gpu_type && *options.gpu_type != topology.gpu_type()) {
    return absl::InvalidArgumentError(fmt::format(
        "--gpu-type is {}, but {} has {}", Quoted(*options.gpu_type),
        options.cluster_name(), Quoted(topology.gpu_type())));
  }
  if (options.system) {
    return absl::InvalidArgumentError(
        "--system has no effect with --pattern beside -n");
  }
  return absl::OkStatus();
}

absl::StatusOr<Topology> ReadTopologyOf(const RunOptions& options) {
  if (!options.topology_file && !options.cluster && !options.num_gpus) {
    return absl::InvalidArgumentError(
        "--pattern does not say how many GPUs --system has: give --gpus");
  }
  ASTRA_ASSIGN_OR_RETURN(RunCluster cluster,
                         ReadCluster(options, options.num_gpus.value_or(0)));
  ASTRA_RETURN_IF_ERROR(CheckCluster(options, cluster.topology));
  return std::move(cluster.topology);
}

// Every message of a pattern matters, so flows.csv has each however many they
// are.
absl::StatusOr<NetworkOptions> ReadNetworkOf(const RunOptions& options,
                                             const Topology& topology,
                                             Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(NetworkOptions network,
                         ReadNetworkOptions(options, topology, warnings));
  FlowsFile& form = network.packet.record.flows_file;
  if (form == FlowsFile::kSummary) {
    return absl::InvalidArgumentError(
        fmt::format("{}: \"record: {{flows: summary}}\" has no effect with "
                    "--pattern: there are no collectives to sum up",
                    options.network_file.value_or("--network-set")));
  }
  if (form == FlowsFile::kAuto) form = FlowsFile::kEach;
  return network;
}

absl::StatusOr<RunEvents> ReadLinkEvents(const RunOptions& options,
                                         const Topology& topology,
                                         const NetworkOptions& network) {
  ASTRA_ASSIGN_OR_RETURN(RunEvents events,
                         ReadEvents(options, topology, network));
  if (events.speeds.empty()) return events;
  return absl::InvalidArgumentError(
      fmt::format("{}: events of GPUs have no effect with --pattern, in which "
                  "no GPU computes",
                  *options.events_file));
}

absl::Status OfPattern(const absl::Status& status) {
  return absl::Status(
      status.code(),
      fmt::format("--pattern: {}", std::string(status.message())));
}

absl::StatusOr<Traffic> DrawTrafficOf(absl::Span<const PatternSpec> patterns,
                                      const Topology& topology,
                                      const NetworkOptions& network) {
  absl::StatusOr<Traffic> traffic =
      DrawTraffic(patterns, topology.num_gpus(), network.packet.seed);
  if (!traffic.ok()) return OfPattern(traffic.status());
  return traffic;
}

void WarnOfNoEffect(const RunOptions& options, const Topology& topology,
                    Warnings* warnings) {
  if (options.send_latency > TimePs(0)) {
    warnings->push_back("AS_SEND_LAT has no effect with --pattern");
  }
  if (NetworkOf(options.fidelity)->records_packets) return;
  WarnOfErrorRates(options.cluster_name(), topology,
                   fmt::format("--fidelity {}", Name(options.fidelity)),
                   *warnings);
}

absl::StatusOr<TrafficRunRequest> ReadTrafficRequest(const RunOptions& options,
                                                     Warnings* warnings) {
  absl::StatusOr<std::vector<PatternSpec>> patterns =
      ParsePatterns(*options.pattern);
  if (!patterns.ok()) return OfPattern(patterns.status());
  ASTRA_RETURN_IF_ERROR(ReadSizes(absl::MakeSpan(*patterns)));
  ASTRA_ASSIGN_OR_RETURN(Topology topology, ReadTopologyOf(options));
  ASTRA_ASSIGN_OR_RETURN(NetworkOptions network,
                         ReadNetworkOf(options, topology, warnings));
  ASTRA_ASSIGN_OR_RETURN(RunEvents events,
                         ReadLinkEvents(options, topology, network));
  ASTRA_ASSIGN_OR_RETURN(Traffic traffic,
                         DrawTrafficOf(*patterns, topology, network));
  WarnOfNoEffect(options, topology, warnings);
  return TrafficRunRequest{.traffic = std::move(traffic),
                           .topology = std::move(topology),
                           .fidelity = options.fidelity,
                           .network = std::move(network),
                           .events = std::move(events),
                           .stop_at = options.stop_at,
                           .on_progress = nullptr};
}

std::vector<NamedFile> FilesOf(const RunOptions& options,
                               const TrafficRunRequest& request,
                               const RunResult& run,
                               absl::Span<const CompletionRow> rows,
                               const FlowsLog* flows) {
  const Topology& topology = request.topology;
  std::vector<NamedFile> files;
  files.push_back({"completions.csv", CompletionsCsv(rows)});
  files.push_back({"links.csv", NetworkOf(request.fidelity)->records_flows
                                    ? LinksCsv(topology, run.result,
                                               run.network, run.network_time)
                                    : LinksCsv(topology, run.result)});
  if (flows != nullptr) files.push_back({"flows.csv", "", flows->file()});
  AddNetworkFiles(options, request.network.packet.record, topology, run.network,
                  files);
  if (options.report && run.status.ok()) {
    files.push_back(
        {"report.html",
         PatternPage(options.name, request, run, rows,
                     flows == nullptr ? nullptr : &flows->times())});
  }
  return files;
}

// Returns the times of all messages and, of several patterns, those of each;
// null where no message has arrived.
Json ResultOf(const RunResult& run, absl::Span<const CompletionRow> rows) {
  const auto completions = [](const CompletionRow& row) -> Json {
    const auto or_null = [&row](auto value) {
      return row.has_times() ? Json(value) : Json();
    };
    return {{"mean_us", or_null(row.mean_us)},
            {"median_ps", or_null(row.median.count())},
            {"p99_ps", or_null(row.p99.count())},
            {"max_ps", or_null(row.longest.count())},
            {"goodput_GBps", or_null(row.gigabytes_per_s())}};
  };
  Json json = completions(rows.back());
  json["last_arrival_ps"] =
      rows.back().has_times() ? Json(run.result.stage_time.count()) : Json();
  for (const CompletionRow& row : rows.first(rows.size() - 1)) {
    json[row.pattern] = completions(row);
  }
  return json;
}

std::string JsonOf(const RunDefaults& defaults, const RunOptions& options,
                   const TrafficRunRequest& request, const Warnings& warnings,
                   const RunResult& run, absl::Span<const CompletionRow> rows) {
  Json json = {{"program", defaults.program},
               {"version", Version()},
               {"name", options.name},
               {"finished", run.status.ok()},
               {"reason", std::string(run.status.message())},
               {"traffic",
                {{"pattern", *options.pattern},
                 {"messages", request.traffic.messages.size()}}},
               {"topology", TopologyJson(options.topology_file.value_or(""),
                                         request.topology)},
               {"model",
                {{"fidelity", Name(options.fidelity)},
                 {"seed", request.network.packet.seed}}},
               {"warnings", warnings},
               {"result", ResultOf(run, rows)}};
  AddStopAt(request.stop_at, json["model"]);
  AddNetworkRun(options, request.events, request.network, run, json);
  return JsonText(json);
}

std::string DescribeRow(const CompletionRow& row) {
  constexpr double kGbPerByte = 1e-9;
  if (!row.has_times()) {
    return fmt::format("traffic    {}: none of {} message{} arrived\n",
                       row.pattern, row.messages, row.messages == 1 ? "" : "s");
  }
  return fmt::format(
      "traffic    {}: {} message{}, {:.6f} GB; completion in us: mean {:.3f}, "
      "median {:.3f}, p99 {:.3f}, longest {:.3f}\n",
      row.pattern, row.arrived, row.arrived == 1 ? "" : "s",
      kGbPerByte * static_cast<double>(row.bytes.count()), row.mean_us,
      ToMicroseconds(row.median), ToMicroseconds(row.p99),
      ToMicroseconds(row.longest));
}

std::string Describe(const RunOptions& options,
                     const TrafficRunRequest& request, const RunResult& run,
                     absl::Span<const CompletionRow> rows,
                     const std::vector<NamedFile>& files) {
  std::string text;
  for (const CompletionRow& row : rows) text += DescribeRow(row);
  const BackendEntry& network = *NetworkOf(request.fidelity);
  if (network.records_flows) {
    text += DescribeNetworkUse(request.topology, run.network, run.network_time,
                               network.records_packets
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
                            ToMicroseconds(run.result.stage_time) * 1e-3);
}

}  // namespace

absl::Status RunPatternProgram(const RunDefaults& defaults,
                               const RunOptions& options, Warnings warnings,
                               const Log& log) {
  using Clock = std::chrono::steady_clock;
  ASTRA_ASSIGN_OR_RETURN(TrafficRunRequest request,
                         ReadTrafficRequest(options, &warnings));
  if (options.environment.log_level != LogLevel::kError) log.Report(warnings);
  ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                         OutputFolder::Create(options.output));
  const std::unique_ptr<FlowsLog> flows = MakeFlowsLog(
      options, request.network, request.traffic.patterns, request.topology);
  if (flows != nullptr && options.report) flows->KeepTimes();
  request.message_log = flows.get();
  RunWatch watch(options.environment.log_level == LogLevel::kInfo);
  request.on_progress = [&](const RunProgress& progress) {
    return watch.Update(progress);
  };
  const Clock::time_point begin = Clock::now();
  ASTRA_ASSIGN_OR_RETURN(const TrafficRunResult result, RunTraffic(request));
  const std::chrono::duration<double> wall = Clock::now() - begin;
  const RunResult& run = result.run;
  const std::vector<CompletionRow> rows =
      CompletionsOf(request.traffic, result.finish);
  std::vector<NamedFile> files =
      FilesOf(options, request, run, rows, flows.get());
  files.push_back(
      {"run.json", JsonOf(defaults, options, request, warnings, run, rows)});
  files.push_back({"cost.json", CostJson(options, run, wall.count())});
  ASTRA_RETURN_IF_ERROR(EmptyJobFolders(options.output));
  ASTRA_RETURN_IF_ERROR(folder.Write(files, kResultFiles));
  Print(Describe(options, request, run, rows, files));
  ASTRA_RETURN_IF_ERROR(FlushStdout());
  return run.status;
}

}  // namespace astra
