#include "astra-core/engine/summary.h"

#include <cstddef>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "astra-core/base/check.h"
#include "astra-core/engine/report.h"
#include "fmt/format.h"
#include "workload/parallel_plan.h"

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

std::string Milliseconds(TimePs time) {
  return fmt::format("{:.6f} ms", ToMicroseconds(time) * 1e-3);
}

std::string TimeLine(std::string_view what, TimePs part, TimePs total) {
  const double percent = total == TimePs(0)
                             ? 0
                             : 100 * static_cast<double>(part.count()) /
                                   static_cast<double>(total.count());
  return fmt::format("  {:<22}{:>18}  {:6.2f} %\n", what, Milliseconds(part),
                     percent);
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

// "ring", or "Ring LL128" of NCCL.
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

// "1 server", "2 servers", "2 switches".
std::string Count(size_t count, std::string_view what) {
  const std::string_view plural =
      what.substr(what.size() - 2) == "ch" ? "es" : "s";
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : plural);
}

std::string CountSwitches(const Topology& topology) {
  return Count(topology.num_nodes() - topology.num_gpus(), "switch");
}

std::string DescribeLayout(const ParallelSizes& sizes) {
  const absl::StatusOr<ParallelPlan> plan = ParallelPlan::Create(sizes);
  ASTRA_CHECK(plan.ok(), "{}", plan.status().ToString());
  const std::string context =
      sizes.context == 1 ? "" : fmt::format(" (with CP {})", sizes.context);
  const std::string expert_tensor =
      sizes.expert_tensor.value_or(sizes.tensor) == sizes.tensor
          ? ""
          : fmt::format(", ETP {}", *sizes.expert_tensor);
  return fmt::format(
      "layout     TP {} x DP {}{} x PP {} = {} GPUs; EP {}{}, DP_EP {}; VPP {}"
      ", GA {}\n",
      sizes.tensor, plan->GroupSize(ParallelDimension::kData), context,
      sizes.pipeline, sizes.num_ranks, sizes.expert, expert_tensor,
      plan->GroupSize(ParallelDimension::kDataExpert), sizes.virtual_stages,
      sizes.micro_batches);
}

std::string DescribeCluster(const Topology& topology, int64_t num_ranks,
                            const SimulationResult& result) {
  return fmt::format("cluster    {} {} in {} of {}, {}, {}\n",
                     topology.num_gpus(), topology.gpu_type(),
                     Count(topology.num_servers(), "server"),
                     topology.gpus_per_server(), CountSwitches(topology),
                     Count(topology.links().size() / 2, "link")) +
         fmt::format(
             "simulated  {} of {} ranks, {}; {}; the times are those of "
             "rank {}, which finishes last\n",
             result.num_rank_classes, num_ranks,
             result.num_rank_classes < num_ranks
                 ? "each for all that do the same"
                 : "each by itself",
             Count(static_cast<size_t>(result.num_events), "event"),
             result.reported_rank);
}

}  // namespace

std::string DescribeRun(const Workload& workload, const Topology& topology,
                        const SimulationResult& result) {
  const ParallelSizes& sizes = workload.sizes();
  return fmt::format("workload   {}, {}\n", Name(workload.policy()),
                     Count(workload.layers().size(), "layer")) +
         DescribeLayout(sizes) +
         DescribeCluster(topology, sizes.num_ranks, result);
}

std::string DescribeRun(const Program& program, const Topology& topology,
                        const SimulationResult& result) {
  const ParallelSizes& sizes = program.sizes();
  const std::string kinds =
      sizes.pipeline == 1 ? ""
      : program.stages().size() == 1
          ? ", all alike"
          : fmt::format(" of {} kinds", program.stages().size());
  return fmt::format(
             "program    {}: {}, {}{}, {}\n",
             program.forward_only() ? "inference" : "training",
             Count(program.modules().size(), "module"),
             Count(static_cast<size_t>(sizes.pipeline), "stage"), kinds,
             Count(static_cast<size_t>(sizes.micro_batches), "micro-batch")) +
         DescribeLayout(sizes) +
         DescribeCluster(topology, sizes.num_ranks, result);
}

std::string DescribeTime(const Topology& topology,
                         const SimulationResult& result) {
  const TimePs total = result.total();
  const Volumes volumes = SumByKind(result);
  std::string text = TimeLine("iteration", total, total);
  text += TimeLine("compute", result.compute, total);
  for (const ParallelDimension dimension : kParallelDimensions) {
    if (dimension == ParallelDimension::kPipeline) continue;
    bool is_used = false;
    for (const auto& [key, _] : volumes) is_used |= key.first == dimension;
    if (!is_used) continue;
    text += TimeLine(fmt::format("exposed {}", Name(dimension)),
                     result.exposed[IndexOf(dimension)], total);
    TimePs on_network;
    for (const auto& [key, volume] : volumes) {
      if (key.first != dimension) continue;
      text += VolumeLine(key.second, volume, topology);
      on_network += volume.time;
    }
    const TimePs waiting = result.exposed[IndexOf(dimension)] - on_network;
    if (waiting > TimePs(0)) {
      text += fmt::format(
          "    {:<16}{} more, for ranks that came later and update times\n",
          "waiting", Milliseconds(waiting));
    }
  }
  const PipelineResult& pipeline = result.pipeline;
  text += TimeLine("pipeline bubble", pipeline.bubble, total);
  if (pipeline.num_messages > 0) {
    text += TimeLine("exposed PP", pipeline.exposed, total);
    text +=
        fmt::format("    {:<16}{} messages of {}, bound by {}\n", "send-recv",
                    pipeline.num_messages, Milliseconds(pipeline.message.time),
                    BoundLine(pipeline.message, topology));
  }
  const LinkId busiest = BusiestLink(topology, result);
  const double utilisation = UtilisationOf(busiest, topology, result);
  text += fmt::format("  busiest link          {:.1f} % used: {}\n",
                      100 * utilisation, topology.LinkName(busiest));
  if (utilisation > 1) {
    text +=
        "  above 100 %: collectives of different groups overlap on it, which "
        "slows\n  none of them here, so the iteration would take longer\n";
  }
  return text;
}

}  // namespace astra
