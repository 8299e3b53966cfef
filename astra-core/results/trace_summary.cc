#include "astra-core/results/trace_summary.h"

#include "astra-core/results/path_summary.h"
#include "astra-core/results/summary.h"
#include "astra-core/results/summary_lines.h"
#include "fmt/core.h"

namespace astra {

std::string DescribeTraceRun(size_t num_nodes, const Topology& topology,
                             const SimulationResult& result,
                             absl::Span<const PathPiece> path,
                             const Bounds& bounds) {
  const TimePs total = result.total();
  const PipelineResult& messages = result.pipeline;
  std::string text = fmt::format(
      "trace      {} ranks, {} nodes; {} collectives and messages\n",
      topology.num_gpus(), num_nodes, result.collectives.size());
  text += DescribeCluster(topology, topology.num_gpus(), result);
  text += TimeLine("iteration", total, total);
  text += TimeLine("compute", result.compute, total);
  if (result.slowed > TimePs(0)) {
    text += TimeLine(
        result.has_slow_gpus ? "slowed, in all" : "slowed by collectives",
        result.slowed, total);
  }
  text += CollectiveLines(topology, result);
  if (messages.num_messages > 0) {
    text += MessageLines(topology, result);
    text += TimeLine("messages not sent yet", messages.bubble, total);
  }
  if (result.held > TimePs(0)) {
    text += TimeLine("CPU and copies", result.held, total);
  }
  text += PathLines(path, topology, result, /*has_stages=*/false);
  return text + DescribeBounds(bounds, total) + LinkLines(topology, result);
}

}  // namespace astra
