#include "astra-core/apps/run_files.h"

#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "astra-core/apps/chrome_trace.h"
#include "astra-core/apps/events_report.h"
#include "astra-core/apps/iteration_trace.h"
#include "astra-core/apps/memory_snapshot.h"
#include "astra-core/apps/network_summary.h"
#include "astra-core/apps/own_algorithms.h"
#include "astra-core/apps/packet_capture.h"
#include "astra-core/apps/run_report.h"
#include "astra-core/apps/simai_network_files.h"
#include "astra-core/results/changes_table.h"
#include "astra-core/results/collectives_table.h"
#include "astra-core/results/end_to_end.h"
#include "astra-core/results/explanation_tables.h"
#include "astra-core/results/iteration_table.h"
#include "astra-core/results/links_table.h"
#include "astra-core/results/memory_table.h"
#include "astra-core/results/network_tables.h"
#include "astra-core/results/program_summary.h"
#include "astra-core/results/stages_table.h"
#include "astra-core/results/summary.h"
#include "astra-core/results/trace_summary.h"
#include "astra-core/results/trace_tables.h"
#include "fmt/core.h"
#include "workload/memory_timeline.h"

namespace astra {
namespace {

// Adds memory_snapshot.pickle. Returns what it leaves out.
std::string AddSnapshot(const RunOptions& options, const Program& program,
                        const RunResult& run, std::vector<NamedFile>& files) {
  const std::vector<StageMemory>& memories = run.explanation->memory;
  const StageMemory& memory =
      options.snapshot_stage
          ? memories[static_cast<size_t>(*options.snapshot_stage)]
          : LargestOf(memories);
  MemorySnapshot snapshot =
      SnapshotOf(program, memory, run.result, kMostSnapshotEvents);
  std::string remark = DescribeLeftOut(snapshot);
  files.push_back({"memory_snapshot.pickle", std::move(snapshot.file)});
  return remark;
}

// Returns the line that tells which form flows.csv has; "" if it lists the few
// messages of a run, as it does unless someone asks for something else.
std::string DescribeFlows(const FlowsLog& flows) {
  const uint64_t number = flows.num_messages();
  if (!flows.has_each_message()) {
    return fmt::format(
        "messages   {}: flows.csv sums them up by collective and pair of "
        "nodes; \"record: {{flows: each}}\" in the file of -c lists each\n",
        number);
  }
  if (number <= FlowsLog::kMostMessages) return "";
  return fmt::format(
      "messages   {}: flows.csv lists each; \"record: {{flows: auto}}\" in the "
      "file of -c sums them up by collective and pair of nodes\n",
      number);
}

// Returns links.csv. Networks that record flows know more than bytes of links.
std::string LinksOf(const RunSubject& subject, const RunResult& run) {
  const BackendEntry* network = NetworkOf(subject.fidelity);
  return network != nullptr && network->records_flows
             ? LinksCsv(subject.topology, run.result, run.network,
                        run.network_time)
             : LinksCsv(subject.topology, run.result);
}

std::string DescribeNetwork(const RunSubject& subject, const RunResult& run) {
  const BackendEntry* backend = NetworkOf(subject.fidelity);
  const NetworkStatistics& network = run.network;
  // Symmetric collectives ran on networks of their own, which are gone.
  if (backend == nullptr || !backend->records_flows ||
      subject.simulation.symmetric || network.links.empty()) {
    return !run.status.ok() ? ""
                            : DescribeLinkUse(subject.topology, run.result);
  }
  return DescribeNetworkUse(subject.topology, network, run.network_time,
                            backend->records_packets
                                ? subject.network.packet.congestion.name
                                : std::string_view());
}

// Says how much was counted again, or, of a long run, why nothing was.
std::string DescribeReplays(const RunSubject& subject, const RunResult& run) {
  constexpr uint64_t kMany = 100'000'000;
  const NetworkStatistics& network = run.network;
  if (network.num_replayed_hops > 0) {
    const SimulationOptions& simulation = subject.simulation;
    const bool is_exact = simulation.acceleration == Acceleration::kExact;
    return fmt::format(
        "replays    {:.2f} % of what crossed links was counted and not "
        "simulated, since collectives go {}\n",
        100 * static_cast<double>(network.num_replayed_hops) /
            static_cast<double>(network.num_packet_hops),
        is_exact ? "alike"
                 : fmt::format("alike within {:g} % of their time",
                               100 * simulation.bound.share));
  }
  if (network.num_packet_hops < kMany || !subject.events.links.empty() ||
      !subject.network.packet.record.flows ||
      subject.simulation.acceleration == Acceleration::kOff) {
    return "";
  }
  return "replays    none, for the trace and SimAI's files tell of every "
         "message; without them collectives that go alike are counted again\n";
}

std::string DescribeTimeOf(const Program& program, const RunSubject& subject,
                           const RunResult& run) {
  if (!run.explanation) return DescribeTime(subject.topology, run.result);
  const Explanation& explanation = *run.explanation;
  std::string text = DescribeTime(program, subject.topology, run.result,
                                  explanation.path, explanation.bounds);
  if (!explanation.memory.empty()) {
    text += DescribeMemory(program, explanation.memory);
  }
  return text;
}

// Returns what was run and where its time goes, of a run that has finished.
std::string DescribeFinished(const RunSubject& subject, const RunResult& run) {
  if (subject.program == nullptr) {
    return DescribeTraceRun(subject.trace->num_nodes(), subject.topology,
                            run.result, run.explanation->path,
                            run.explanation->bounds);
  }
  return DescribeRun(*subject.program, subject.topology, run.result) +
         DescribeTimeOf(*subject.program, subject, run);
}

// Returns the tables of what was run that need no network.
std::vector<NamedFile> TablesOf(const RunOptions& options,
                                const RunSubject& subject,
                                const SimulationResult& result) {
  if (subject.program != nullptr) {
    return IterationFiles(options.name, subject.topology, result);
  }
  std::vector<NamedFile> files;
  files.push_back({"ranks.csv", RanksCsv(result)});
  files.push_back({"nodes.csv", NodesCsv(result)});
  files.push_back(
      {"collectives.csv", CollectivesCsv(subject.topology, result)});
  return files;
}

// Adds the tables of an explanation that need no program.
void AddPath(const Explanation& explanation, const SimulationResult& result,
             std::vector<NamedFile>& files) {
  files.push_back({"breakdown.csv", BreakdownCsv(result)});
  if (explanation.path.empty()) return;
  files.push_back(
      {"critical_path.csv", CriticalPathCsv(explanation.path, result)});
}

// Returns a line that names the files that were asked for and that only a
// finished run has; empty if there is none, or the run has finished.
std::string LeftOut(const RunOptions& options, const RunResult& run) {
  if (run.status.ok()) return "";
  std::string names;
  if (options.report) names += " report.html";
  if (options.memory_snapshot) names += " memory_snapshot.pickle";
  if (names.empty()) return "";
  return fmt::format("left out  {}: the run has not finished\n", names);
}

}  // namespace

std::unique_ptr<FlowsLog> MakeFlowsLog(const RunOptions& options,
                                       const NetworkOptions& network,
                                       std::vector<std::string> layers,
                                       const Topology& topology) {
  const BackendEntry* backend = NetworkOf(options.fidelity);
  const FlowsFile form = network.packet.record.flows_file;
  if (backend == nullptr || !backend->records_flows || options.symmetry ||
      form == FlowsFile::kNone) {
    return nullptr;
  }
  return std::make_unique<FlowsLog>(form,
                                    fmt::format("{}/flows.csv", options.output),
                                    std::move(layers), topology);
}

std::vector<NamedFile> IterationFiles(std::string_view name,
                                      const Topology& topology,
                                      const SimulationResult& result) {
  // Adds files one by one, because a list would copy their strings.
  std::vector<NamedFile> files;
  files.push_back({"EndToEnd.csv", EndToEndCsv(name, result)});
  files.push_back({"iteration.csv", IterationCsv(result)});
  files.push_back({"collectives.csv", CollectivesCsv(topology, result)});
  return files;
}

void AddExplanation(const Program& program, const Explanation& explanation,
                    const SimulationResult& result,
                    std::vector<NamedFile>& files) {
  AddPath(explanation, result, files);
  if (!explanation.memory.empty()) {
    files.push_back({"memory.csv", MemoryCsv(program, explanation.memory)});
  }
  files.push_back(
      {"stages.csv", StagesCsv(program, explanation.memory, result)});
}

void AddPacketTables(const RecordOptions& record, const Topology& topology,
                     const NetworkStatistics& network,
                     std::vector<NamedFile>& files) {
  if (record.pfc) files.push_back({"pfc.csv", PfcCsv(topology, network)});
  if (record.cnp) files.push_back({"cnp.csv", CnpCsv(network)});
  if (record.sample_interval) {
    files.push_back({"queues.csv", QueuesCsv(topology, network)});
    files.push_back({"rates.csv", RatesCsv(network)});
  }
}

void AddNetworkFiles(const RunOptions& options, const RecordOptions& record,
                     const Topology& topology, const NetworkStatistics& network,
                     std::vector<NamedFile>& files) {
  const BackendEntry* backend = NetworkOf(options.fidelity);
  if (backend == nullptr) return;
  if (options.simai_files) files.push_back({"fct.txt", SimaiFctText(network)});
  if (!backend->records_packets) return;
  if (options.simai_files) {
    files.push_back({"pfc.txt", SimaiPfcText(topology, network)});
  }
  AddPacketTables(record, topology, network, files);
  if (record.captured_link) {
    files.push_back({"capture.pcapng", PcapngFile(network.captured)});
  }
}

ResultFiles MakeResultFiles(const RunOptions& options,
                            const RunSubject& subject, const RunResult& run,
                            const FlowsLog* flows) {
  const SimulationResult& result = run.result;
  ResultFiles results;
  std::vector<NamedFile>& files = results.files;
  files = TablesOf(options, subject, result);
  files.push_back({"links.csv", LinksOf(subject, run)});
  if (run.explanation && subject.program != nullptr) {
    AddExplanation(*subject.program, *run.explanation, result, files);
  } else if (run.explanation) {
    AddPath(*run.explanation, result, files);
  }
  if (flows != nullptr) {
    files.push_back({"flows.csv", "", flows->file()});
    results.remarks = DescribeFlows(*flows);
  }
  if (run.healthy) {
    files.push_back(
        {"changes.csv", ChangesCsv(ChangesOf(*run.healthy, result))});
  }
  AddNetworkFiles(options, subject.network.packet.record, subject.topology,
                  run.network, files);
  if (options.trace) {
    files.push_back({"trace.json", ChromeTrace(subject, run)});
  }
  if (options.report && run.status.ok()) {
    files.push_back({"report.html",
                     RunReport(options.name, subject, run,
                               flows == nullptr ? nullptr : &flows->times())});
  }
  if (options.chart) {
    files.push_back(
        {"chart.html", TimeChart(options.name, result, options.language)});
  }
  if (options.memory_snapshot && run.explanation) {
    results.remarks += AddSnapshot(options, *subject.program, run, files);
  }
  results.remarks += LeftOut(options, run);
  return results;
}

std::string DescribeResults(const RunOptions& options,
                            const RunSubject& subject, const RunResult& run,
                            const ResultFiles& results) {
  std::string text;
  if (run.status.ok()) text = DescribeFinished(subject, run);
  text += DescribeOwnAlgorithms(subject.simulation.custom, run.result);
  text += DescribeNetwork(subject, run);
  text += DescribeReplays(subject, run);
  text += DescribeEvents(subject.events, run);
  if (options.trace) text += DescribeSkipped(run.result);
  text += results.remarks;
  for (const std::string& source : options.environment.sources) {
    text += fmt::format("from       {}\n", source);
  }
  text += fmt::format("results    {}:", options.output);
  for (const NamedFile& file : results.files) text += " " + file.name;
  if (!run.status.ok()) {
    return text + fmt::format("\nnot finished {}: {}\n", options.name,
                              std::string(run.status.message()));
  }
  return text + fmt::format("\nfinished   {}: {:.6f} ms\n", options.name,
                            ToMicroseconds(run.result.total()) * 1e-3);
}

}  // namespace astra
