#include "astra-core/apps/simai_simulator_output.h"

#include <string_view>
#include <utility>

#include "astra-core/apps/chrome_trace.h"
#include "astra-core/apps/iteration_trace.h"
#include "astra-core/apps/network_summary.h"
#include "astra-core/apps/network_tables.h"
#include "astra-core/apps/packet_capture.h"
#include "astra-core/apps/simai_network_files.h"
#include "astra-core/apps/simulator_json.h"
#include "astra-core/apps/simulator_tables.h"
#include "astra-core/engine/report.h"
#include "astra-core/engine/summary.h"
#include "fmt/core.h"

namespace astra {
namespace {

void AddNetworkFiles(const SimaiSimulatorOptions& options,
                     const SimaiSimulatorInputs& inputs,
                     const SimulatorRun& run, std::vector<NamedFile>& files) {
  const Topology& topology = inputs.topology;
  const RecordOptions& record = inputs.network.packet.record;
  if (options.backend->records_flows && record.keeps_flows() &&
      run.network.num_unasked_flows == 0) {
    files.push_back({"flows.csv",
                     FlowsCsv(topology, inputs.plan, run.result, run.network)});
  }
  if (options.simai_files) {
    files.push_back({"fct.txt", SimaiFctText(run.network)});
  }
  if (!options.backend->records_packets) return;
  if (options.simai_files) {
    files.push_back({"pfc.txt", SimaiPfcText(topology, run.network)});
  }
  if (record.pfc) files.push_back({"pfc.csv", PfcCsv(topology, run.network)});
  if (record.cnp) files.push_back({"cnp.csv", CnpCsv(run.network)});
  if (record.sample_interval) {
    files.push_back({"queues.csv", QueuesCsv(topology, run.network)});
    files.push_back({"rates.csv", RatesCsv(run.network)});
  }
  if (record.captured_link) {
    files.push_back({"capture.pcapng", PcapngFile(run.network.captured)});
  }
}

std::string DescribeNetwork(const SimaiSimulatorOptions& options,
                            const SimaiSimulatorInputs& inputs,
                            const SimulatorRun& run) {
  const NetworkStatistics& network = run.network;
  // Symmetric collectives had networks of their own, which are gone.
  if (!options.backend->records_flows || inputs.simulation.symmetric ||
      network.links.empty()) {
    return "";
  }
  std::string text = DescribeNetworkUse(
      inputs.topology, network, run.network_time,
      options.backend->records_packets ? inputs.network.packet.congestion.name
                                       : std::string_view());
  if (network.num_unasked_flows > 0) {
    text += fmt::format(
        "messages   {}, more than {}: flows.csv is left out; \"record: "
        "{{flows: "
        "true}}\" in the file of -c asks for it\n",
        network.num_unasked_flows, RecordOptions::kMostUnaskedFlows);
  }
  return text;
}

}  // namespace

std::vector<NamedFile> ResultFiles(const SimaiSimulatorOptions& options,
                                   const SimaiSimulatorInputs& inputs,
                                   const SimulatorRun& run) {
  std::vector<NamedFile> files = {
      {"EndToEnd.csv", AllRanksCsv(options.name, run.result)},
      {"collectives.csv", SimulatedCollectivesCsv(run.result)},
      {"links.csv", options.backend->records_flows
                        ? SimulatedLinksCsv(inputs.topology, run.result,
                                            run.network, run.network_time)
                        : LinksCsv(inputs.topology, run.result)},
      {"run.json", SimulatorRunJson(options, inputs, run)},
  };
  if (run.explanation) {
    for (NamedFile& file :
         ExplanationFiles(inputs.program, *run.explanation, run.result)) {
      files.push_back(std::move(file));
    }
  }
  AddNetworkFiles(options, inputs, run, files);
  if (options.trace) {
    files.push_back({"trace.json", ChromeTrace(inputs.topology, inputs.plan,
                                               run.result, run.network)});
  }
  return files;
}

std::string DescribeResults(const SimaiSimulatorOptions& options,
                            const SimaiSimulatorInputs& inputs,
                            const SimulatorRun& run,
                            const std::vector<NamedFile>& files) {
  std::string text;
  if (run.status.ok()) {
    text = DescribeRun(inputs.program, inputs.topology, run.result);
    text += DescribeTimeOf(inputs.program, inputs.topology, run.result,
                           run.explanation);
  }
  text += DescribeNetwork(options, inputs, run);
  if (options.trace) text += DescribeSkipped(run.result);
  for (const std::string& source : options.environment.sources) {
    text += fmt::format("from       {}\n", source);
  }
  text += fmt::format("results    {}:", options.output);
  for (const NamedFile& file : files) text += " " + file.name;
  if (!run.status.ok()) {
    return text + fmt::format("\nnot finished {}: {}\n", options.name,
                              std::string(run.status.message()));
  }
  return text + fmt::format("\nfinished   {}: {:.6f} ms\n", options.name,
                            ToMicroseconds(run.result.total()) * 1e-3);
}

}  // namespace astra
