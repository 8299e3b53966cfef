#include "astra-core/results/summary_lines.h"

#include <map>
#include <utility>

#include "astra-core/results/links_table.h"
#include "fmt/core.h"

namespace astra {
namespace {

// The collectives of one kind over one dimension that the reported rank ran.
struct Volume {
  int64_t count = 0;
  Bytes bytes;
  TimePs time;
  const CollectiveRecord* longest = nullptr;
};
using Volumes = std::map<std::pair<ParallelDimension, CollectiveKind>, Volume>;

Volumes SumByKind(const SimulationResult& result) {
  Volumes volumes;
  for (const CollectiveRecord& record : result.collectives) {
    if (!record.is_of_reported_rank) continue;
    const auto& [kind, dimension, bytes] = record.communication;
    Volume& volume = volumes[{dimension, kind}];
    volume.count += record.count;
    volume.bytes += record.count * bytes;
    volume.time += record.count * record.time;
    if (volume.longest == nullptr || record.time > volume.longest->time) {
      volume.longest = &record;
    }
  }
  return volumes;
}

std::string FormatBytes(Bytes bytes) {
  const auto volume = static_cast<double>(bytes.count());
  return volume < 1e6   ? fmt::format("{} B", bytes.count())
         : volume < 1e9 ? fmt::format("{:.3f} MB", volume * 1e-6)
                        : fmt::format("{:.3f} GB", volume * 1e-9);
}

std::string BoundLine(const CollectiveRecord& longest,
                      const Topology& topology) {
  if (longest.is_measured) return "the busbw file";
  if (longest.is_latency_bound) {
    return fmt::format("latency; busiest link: {}",
                       topology.LinkName(longest.bottleneck));
  }
  return topology.LinkName(longest.bottleneck);
}

// Returns text such as "ring", or "Ring LL128" for NCCL.
std::string AlgorithmName(const CollectiveRecord& record) {
  if (record.protocol == "-") return std::string(record.algorithm);
  return fmt::format("{} {}", record.algorithm, record.protocol);
}

std::string VolumeLine(CollectiveKind kind, const Volume& volume,
                       const Topology& topology) {
  const CollectiveRecord& longest = *volume.longest;
  const double algbw = GigabytesPerSecond(volume.bytes, volume.time);
  return fmt::format(
      "    {:<16}{} x {} over {} ranks, {}, {}, busbw {:.1f} GB/s\n"
      "    {:<16}bound by {}\n",
      Name(kind), volume.count, AlgorithmName(longest), longest.num_ranks,
      FormatBytes(volume.bytes), Milliseconds(volume.time),
      algbw * BusBandwidthFactor(kind, longest.num_ranks), "",
      BoundLine(longest, topology));
}

// Explains why the rank waited longer over one dimension than the collectives
// of the dimension took.
std::string WaitingLines(ParallelDimension dimension, TimePs on_network,
                         const SimulationResult& result) {
  const TimePs late = result.late[IndexOf(dimension)];
  const TimePs more = result.exposed[IndexOf(dimension)] - late - on_network;
  std::string text;
  if (late > TimePs(0)) {
    text += fmt::format("    {:<16}{} of it, for ranks that came later\n",
                        "waiting", Milliseconds(late));
  }
  if (more > TimePs(0)) {
    text += fmt::format("    {:<16}{} more, after collectives\n",
                        "update times", Milliseconds(more));
  }
  return text;
}

}  // namespace

std::string Milliseconds(TimePs time) {
  return fmt::format("{:.6f} ms", ToMicroseconds(time) * 1e-3);
}

double PercentOf(TimePs part, TimePs total) {
  return total == TimePs(0) ? 0
                            : 100 * static_cast<double>(part.count()) /
                                  static_cast<double>(total.count());
}

std::string TimeLine(std::string_view what, TimePs part, TimePs total) {
  return fmt::format("  {:<22}{:>18}  {:6.2f} %\n", what, Milliseconds(part),
                     PercentOf(part, total));
}

std::string CollectiveLines(const Topology& topology,
                            const SimulationResult& result) {
  const Volumes volumes = SumByKind(result);
  std::string text;
  for (const ParallelDimension dimension : kParallelDimensions) {
    if (dimension == ParallelDimension::kPipeline) continue;
    std::string lines;
    TimePs on_network;
    for (const auto& [key, volume] : volumes) {
      if (key.first != dimension) continue;
      lines += VolumeLine(key.second, volume, topology);
      on_network += volume.time;
    }
    if (lines.empty()) continue;
    text += TimeLine(fmt::format("exposed {}", Name(dimension)),
                     result.exposed[IndexOf(dimension)], result.total());
    text += lines + WaitingLines(dimension, on_network, result);
  }
  return text;
}

std::string MessageLines(const Topology& topology,
                         const SimulationResult& result) {
  const PipelineResult& pipeline = result.pipeline;
  return TimeLine("exposed PP", pipeline.exposed, result.total()) +
         fmt::format("    {:<16}{} messages of {}, bound by {}\n", "send-recv",
                     pipeline.num_messages, Milliseconds(pipeline.message.time),
                     BoundLine(pipeline.message, topology));
}

std::string LinkLines(const Topology& topology,
                      const SimulationResult& result) {
  const LinkId busiest = BusiestLink(topology, result);
  const double utilisation = UtilisationOf(busiest, topology, result);
  std::string text = fmt::format("  busiest link          {:.1f} % used: {}\n",
                                 100 * utilisation, topology.LinkName(busiest));
  if (utilisation > 1) {
    text +=
        "  above 100 %: more than the link can carry. Overlap ratios, a busbw "
        "file and\n  stages that share a link are not held to its rate\n";
  }
  return text;
}

}  // namespace astra
