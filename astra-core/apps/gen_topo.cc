// gen_topo: writes the topology file of a GPU cluster.

#include <string>

#include "astra-core/apps/gen_topo_discovered.h"
#include "astra-core/apps/gen_topo_options.h"
#include "astra-core/apps/server_types.h"
#include "astra-core/apps/work_budget.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/command_line/main_support.h"
#include "fmt/core.h"
#include "topology/cluster.h"
#include "topology/describe.h"
#include "topology/fabrics/fabric_file.h"
#include "topology/storage.h"
#include "topology/topology_file.h"
#include "topology/topology_svg.h"

namespace astra {
namespace {

absl::Status WriteFiles(const GenTopoOptions& options,
                        const Topology& topology) {
  ASTRA_RETURN_IF_ERROR(WriteFile(options.output, FormatTopology(topology)));
  if (!options.drawing) return absl::OkStatus();
  return WriteFile(*options.drawing, TopologySvg(topology));
}

// Prints what SimAI's generator prints, and the description if it is asked for.
void PrintSummary(const GenTopoOptions& options, const Topology& topology) {
  Print(fmt::format("asw_switch_num: {}\npsw_switch_num: {}\n",
                    options.counts.num_asws, options.counts.num_psws));
  if (options.counts.num_cores > 0) {
    Print(fmt::format("core_switch_num: {}\n", options.counts.num_cores));
  }
  Print(fmt::format(
      "Creating Topology of totally {} segment(s), totally {} pod(s).\n",
      options.counts.num_segments, options.cluster.num_pods));
  if (options.describe) Print(DescribeTopology(topology));
  Print(options.output + "\n");
}

// Returns warnings about uplinks that are slower than the links below them.
// SimAI's designs keep the rate of uplinks whatever the rate of NICs is.
Warnings Oversubscribed(const GenTopoOptions& options,
                        const Topology& topology) {
  Warnings warnings = Oversubscriptions(topology);
  if (!warnings.empty() && options.keeps_uplinks) {
    warnings.front() += fmt::format(
        "; --bandwidth {} leaves the uplinks at {}, --ap-bandwidth sets them",
        options.cluster.bandwidth, options.cluster.asw_psw_bandwidth);
  }
  return warnings;
}

// Returns the work of making the cluster as a graph and as text. Nodes cost
// little beside their cables.
WorkBudget WorkOf(const ClusterCounts& counts) {
  constexpr double kSecondsPerCable = 0.5e-6;
  constexpr double kBytesPerCable = 100;
  const auto cables = static_cast<double>(counts.num_cables);
  return {.seconds = kSecondsPerCable * cables,
          .memory_bytes = kBytesPerCable * cables};
}

// Draws the fabric of --fabric.
absl::StatusOr<Topology> DrawDeclared(const std::string& file,
                                      Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(file));
  ASTRA_ASSIGN_OR_RETURN(
      const FabricSpec spec,
      ParseFabric(file, contents, ServerTypesFor(FolderOf(file), warnings),
                  warnings));
  absl::StatusOr<Topology> topology = DrawFabric(spec);
  if (!topology.ok()) return AtFabricField(file, contents, topology.status());
  return topology;
}

// Writes the fabric of --fabric or --ibnetdiscover. A fabric that loses rate
// from tier to tier was asked for, so only --describe tells of that.
absl::Status RunFabric(const GenTopoOptions& options, const Log& log) {
  Warnings warnings;
  ASTRA_ASSIGN_OR_RETURN(const Topology topology,
                         options.discovered
                             ? DrawDiscovered(*options.discovered, &warnings)
                             : DrawDeclared(*options.fabric_file, &warnings));
  log.Report(warnings);
  ASTRA_RETURN_IF_ERROR(WriteFiles(options, topology));
  if (options.describe) Print(DescribeTopology(topology));
  Print(options.output + "\n");
  return FlushStdout();
}

absl::StatusOr<Topology> DrawTemplate(const GenTopoOptions& options) {
  absl::StatusOr<Topology> topology = BuildCluster(options.cluster);
  if (!topology.ok() || !options.storage) return topology;
  absl::StatusOr<Topology> with = WithStorage(*topology, *options.storage);
  if (with.ok()) return with;
  return absl::InvalidArgumentError(
      fmt::format("--storage: {}", std::string(with.status().message())));
}

absl::Status Run(int argc, const char* const* argv, const Log& log) {
  ASTRA_ASSIGN_OR_RETURN(const CommandLine flags,
                         CommandLine::Parse(GenTopoOptionSpecs(), argc, argv));
  if (PrintedInstead(flags, "gen_topo", GenTopoHelp())) return FlushStdout();
  ASTRA_ASSIGN_OR_RETURN(const GenTopoOptions options,
                         ReadGenTopoOptions(flags));
  if (options.fabric_file || options.discovered) {
    return RunFabric(options, log);
  }
  log.Report(options.warnings);
  ASTRA_RETURN_IF_ERROR(AnnounceWork(WorkOf(options.counts), options.force));
  ASTRA_ASSIGN_OR_RETURN(const Topology topology, DrawTemplate(options));
  ASTRA_RETURN_IF_ERROR(WriteFiles(options, topology));
  PrintSummary(options, topology);
  if (!options.describe) log.Report(Oversubscribed(options, topology));
  return FlushStdout();
}

}  // namespace
}  // namespace astra

int main(int argc, char** argv) {
  const astra::Log log("gen_topo");
  return astra::RunMain(
      log, [&] { return astra::ExitCode(astra::Run(argc, argv, log), log); });
}
