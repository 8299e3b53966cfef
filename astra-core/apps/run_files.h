// Makes what a run leaves behind: its result files, and the text at its end.

#ifndef ASTRA_CORE_APPS_RUN_FILES_H_
#define ASTRA_CORE_APPS_RUN_FILES_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "astra-core/apps/flows_log.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/apps/run_subject.h"
#include "astra-core/base/files.h"
#include "astra-core/run/run.h"

namespace astra {

struct ResultFiles {
  std::vector<NamedFile> files;
  std::string remarks;  // Lines of the text: what the files leave out.
};

// Returns what writes flows.csv during the run; null if there is no such file.
// `layers` are the names of layers, modules or nodes. `topology` must outlive
// the log.
std::unique_ptr<FlowsLog> MakeFlowsLog(const RunOptions& options,
                                       const NetworkOptions& network,
                                       std::vector<std::string> layers,
                                       const Topology& topology);

// Returns the tables of one iteration that need no network: EndToEnd.csv,
// iteration.csv and collectives.csv. `topology` has the links that limit the
// collectives.
std::vector<NamedFile> IterationFiles(std::string_view name,
                                      const Topology& topology,
                                      const SimulationResult& result);

// Adds the tables of the explanation of `result`.
void AddExplanation(const Program& program, const Explanation& explanation,
                    const SimulationResult& result,
                    std::vector<NamedFile>& files);

// Adds the tables of what was recorded of packets.
void AddPacketTables(const RecordOptions& record, const Topology& topology,
                     const NetworkStatistics& network,
                     std::vector<NamedFile>& files);

// Adds the files that `options` ask for of what a simulated network recorded:
// those of AddPacketTables(), captured packets, and SimAI's.
void AddNetworkFiles(const RunOptions& options, const RecordOptions& record,
                     const Topology& topology, const NetworkStatistics& network,
                     std::vector<NamedFile>& files);

// Returns the tables, the trace, the chart and the snapshot. They are the same
// for equal inputs. `flows` was told of the messages of the run; null: there is
// no flows.csv.
ResultFiles MakeResultFiles(const RunOptions& options,
                            const RunSubject& subject, const RunResult& run,
                            const FlowsLog* flows);

// Returns the text that is printed at the end. The last line says whether the
// run has finished, and if not, why.
std::string DescribeResults(const RunOptions& options,
                            const RunSubject& subject, const RunResult& run,
                            const ResultFiles& results);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_RUN_FILES_H_
