#include "astra-core/engine/report.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/check.h"
#include "astra-core/base/csv.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr std::string_view kEndToEnd = "EndToEnd.csv";
constexpr std::string_view kCollectives = "collectives.csv";
constexpr std::string_view kLinks = "links.csv";
constexpr std::string_view kBreakdown = "breakdown.csv";
constexpr std::string_view kPath = "critical_path.csv";

constexpr ColumnSpec kColumns[] = {
    {kEndToEnd, "File name", "", "name of the run"},
    {kEndToEnd, "Expose DP comm", "us (share of the total)",
     "time the reported rank waits for DP collectives"},
    {kEndToEnd, "Expose DP_EP comm", "us (share of the total)",
     "the same for DP_EP"},
    {kEndToEnd, "Expose TP comm", "us (share of the total)", "the same for TP"},
    {kEndToEnd, "Expose_EP_comm", "us (share of the total)", "the same for EP"},
    {kEndToEnd, "Expose_PP_comm", "us (share of the total)",
     "pipeline messages, less the share that is hidden; of programs: waiting "
     "for those on their way"},
    {kEndToEnd, "bubble time", "us (share of the total)",
     "(PP - 1) / (GA x VPP) x time of the micro-batches; of programs: waiting "
     "for messages that were not sent yet"},
    {kEndToEnd, "total comp", "us (share of the total)",
     "computation of the reported rank"},
    {kEndToEnd, "total exposed comm", "us (share of the total)",
     "DP + DP_EP + TP + EP above, and CP and ETP of programs"},
    {kEndToEnd, "Total time", "us",
     "total comp + total exposed comm + bubble time + Expose_PP_comm"},
    {kEndToEnd, "layer_name", "",
     "layer of the workload, or module of the program, in file order"},
    {kEndToEnd, "Analytical_test", "", "always Analytical_test, as in SimAI"},
    {kEndToEnd, "fwd compute", "us", "forward computation, recomputed too"},
    {kEndToEnd, "wg compute", "us", "weight-gradient computation"},
    {kEndToEnd, "ig compute", "us", "input-gradient computation"},
    {kEndToEnd, "fwd exposed comm", "us",
     "time the reported rank waits for the forward collective"},
    {kEndToEnd, "wg exposed comm", "us", "the same, weight gradient"},
    {kEndToEnd, "ig exposed comm", "us", "the same, input gradient"},
    {kEndToEnd, "fwd total comm", "us",
     "time of the forward collective, waited for or not"},
    {kEndToEnd, "algbw", "GB/s", "bytes / time of the collective left of it"},
    {kEndToEnd, "busbw", "GB/s", "bus bandwidth, as nccl-tests defines it"},
    {kEndToEnd, "wg total comm", "us", "as fwd total comm, weight gradient"},
    {kEndToEnd, "ig total comm", "us", "as fwd total comm, input gradient"},
    {kCollectives, "layer", "",
     "layer or module, or \"(pipeline)\" for messages between stages"},
    {kCollectives, "phase", "", "fwd, ig or wg; fwd+ig for (pipeline)"},
    {kCollectives, "collective", "",
     "all-reduce, all-gather, reduce-scatter, all-to-all or send-recv"},
    {kCollectives, "group", "", "TP, DP, EP, DP_EP, PP, CP or ETP"},
    {kCollectives, "first_rank", "", "lowest rank of the group"},
    {kCollectives, "ranks", "", "ranks of the group"},
    {kCollectives, "groups", "",
     "groups that run the same collective at the same time"},
    {kCollectives, "count", "", "how many times it runs in an iteration"},
    {kCollectives, "algorithm", "",
     "ring or direct; with --system NCCL's choice, P2P for sends and receives"},
    {kCollectives, "protocol", "",
     "with --system: LL, LL128 or Simple; else -"},
    {kCollectives, "bytes", "B",
     "buffer size as nccl-tests counts it: all-gather: output; others: input"},
    {kCollectives, "start_us", "us",
     "when the last rank had joined, the first time; 0 for (pipeline)"},
    {kCollectives, "time_us", "us", "from then to the last rank's result"},
    {kCollectives, "algbw_GBps", "GB/s (10^9 B/s)", "bytes / time"},
    {kCollectives, "busbw_GBps", "GB/s (10^9 B/s)",
     "algbw x 2(n-1)/n for all-reduce, x 1 for send-recv, else x (n-1)/n"},
    {kCollectives, "bound_by", "",
     "bandwidth or latency, whichever is most of the time, or busbw file"},
    {kCollectives, "bottleneck_link", "",
     "the busiest link that the group uses; - with the busbw file"},
    {kLinks, "link", "",
     "2 i and 2 i + 1 are the two directions of the i-th link of the file"},
    {kLinks, "source", "", "node that sends"},
    {kLinks, "source_kind", "", "gpu, nvswitch, or tierN of a switch"},
    {kLinks, "target", "", "node that receives"},
    {kLinks, "target_kind", "", "as source_kind"},
    {kLinks, "rate_Gbps", "Gbps (10^9 bit/s)", "rate of this direction"},
    {kLinks, "bytes", "B",
     "carried in the iteration; equal-cost paths share evenly"},
    {kLinks, "utilisation", "",
     "bytes / (rate x total time); above 1 where groups overlap on a link"},
    {kBreakdown, "stage", "", "of the pipeline"},
    {kBreakdown, "rank", "", "lowest of the ranks that do the same"},
    {kBreakdown, "ranks", "", "how many they are"},
    {kBreakdown, "category", "",
     "compute; slowed by collectives; network, late: waiting for a collective, "
     "until its last rank had joined: late; transfer, bubble: the same of "
     "messages; idle at the end"},
    {kBreakdown, "group", "", "of what is waited for: TP, DP, ... PP"},
    {kBreakdown, "collective", "", "of what is waited for"},
    {kBreakdown, "name", "", "module, or pipeline for messages"},
    {kBreakdown, "phase", "", "fwd, ig or wg"},
    {kBreakdown, "time_us", "us",
     "all lines of one rank add up to the iteration"},
    {kBreakdown, "share", "", "of the iteration"},
    {kPath, "start_us", "us", "in the iteration, the first time"},
    {kPath, "time_us", "us",
     "once; all lines x repeats add up to the iteration"},
    {kPath, "repeats", "", "how often the line counts"},
    {kPath, "stage", "", "of the pipeline"},
    {kPath, "rank", "", "lowest of the ranks that do the same"},
    {kPath, "kind", "", "compute, collective or message"},
    {kPath, "name", "", "module, or pipeline for messages"},
    {kPath, "phase", "", "fwd, ig or wg"},
    {kPath, "chunk", "", "of the stage; empty outside of micro-batches"},
    {kPath, "micro_batch", "", "of those that were run, from 0"},
    {kPath, "group", "", "TP, DP, ... or PP; empty for computations"},
    {kPath, "collective", "", "empty for computations"},
    {kPath, "bytes", "B", "as in collectives.csv"},
};

// Never prints a value that is not a number, or below zero.
double Checked(double value, std::string_view what) {
  ASTRA_CHECK(std::isfinite(value) && value >= 0, "{} is {}", what, value);
  return value;
}

double CheckedUs(TimePs time, std::string_view what) {
  return Checked(ToMicroseconds(time), what);
}

// "12.5 (3.20%)".
std::string WithShare(TimePs part, TimePs total) {
  const double share = total == TimePs(0)
                           ? 0
                           : 100 * static_cast<double>(part.count()) /
                                 static_cast<double>(total.count());
  return fmt::format("{:.6f} ({:.2f}%)", CheckedUs(part, "a part"),
                     Checked(share, "a share"));
}

TimePs ExposedOfStage(const SimulationResult& result) {
  TimePs sum;
  for (const TimePs exposed : result.exposed) sum += exposed;
  return sum;
}

std::string SummaryRow(std::string_view name, const SimulationResult& result) {
  const auto exposed = [&](ParallelDimension dimension) {
    return result.exposed[IndexOf(dimension)];
  };
  const TimePs parts[] = {
      exposed(ParallelDimension::kData),
      exposed(ParallelDimension::kDataExpert),
      exposed(ParallelDimension::kTensor),
      exposed(ParallelDimension::kExpert),
      result.pipeline.exposed,
      result.pipeline.bubble,
      result.compute,
      ExposedOfStage(result),
  };
  std::string row = CsvField(name);
  for (const TimePs part : parts) {
    row += ", " + WithShare(part, result.total());
  }
  return row +
         fmt::format(", {:.6f}\n", CheckedUs(result.total(), "the total"));
}

// ",time,algbw,busbw" of a phase; zeros where it has no collective.
std::string CommunicationFields(const PhaseResult& result) {
  constexpr double kPsPerByteAtOneGbPerS = 1e3;
  const double algbw = GigabytesPerSecond(result.bytes, result.network);
  const double busbw = result.network == TimePs(0)
                           ? 0
                           : kPsPerByteAtOneGbPerS * result.bus_bytes /
                                 static_cast<double>(result.network.count());
  return fmt::format(",{:.6f},{:.2f},{:.2f}",
                     CheckedUs(result.network, "a collective"),
                     Checked(algbw, "algbw"), Checked(busbw, "busbw"));
}

std::string NodeKindName(const Topology& topology, NodeId node) {
  switch (topology.kind(node)) {
    case NodeKind::kGpu:
      return "gpu";
    case NodeKind::kNvSwitch:
      return "nvswitch";
    case NodeKind::kSwitch:
      return absl::StrCat("tier", topology.tier(node));
  }
  ASTRA_CHECK(false, "node {}", node);
}

void AppendCollective(const CollectiveRecord& record, std::string_view layer,
                      std::string_view phase, const Topology& topology,
                      std::string& text) {
  const auto& [kind, dimension, bytes] = record.communication;
  const double algbw = GigabytesPerSecond(bytes, record.time);
  const double busbw = algbw * BusBandwidthFactor(kind, record.num_ranks);
  const std::string_view bound = record.is_measured        ? "busbw file"
                                 : record.is_latency_bound ? "latency"
                                                           : "bandwidth";
  AppendFormat(
      &text,
      "{},{},{},{},{},{},{},{},{},{},{},{:.6f},{:.6f},{:.3f},{:.3f},{},{}\n",
      CsvField(layer), phase, Name(kind), Name(dimension), record.lowest_rank,
      record.num_ranks, record.num_groups, record.count, record.algorithm,
      record.protocol, bytes.count(), CheckedUs(record.start, "start"),
      CheckedUs(record.time, "time"), Checked(algbw, "algbw"),
      Checked(busbw, "busbw"), bound,
      record.is_measured ? "-" : topology.LinkName(record.bottleneck));
}

}  // namespace

absl::Span<const ColumnSpec> ResultColumns() { return kColumns; }

std::string DescribeColumns() {
  std::string text;
  for (const ColumnSpec& column : kColumns) {
    AppendFormat(&text, "{:<18}{:<20}{:<24}{}\n", column.file, column.name,
                 column.unit, column.meaning);
  }
  return text;
}

double UtilisationOf(LinkId link, const Topology& topology,
                     const SimulationResult& result) {
  const double total_s = ToMicroseconds(result.total()) * 1e-6;
  if (total_s == 0) return 0;
  const auto rate = static_cast<double>(topology.type(link).bandwidth.count());
  return 8 * result.link_bytes[link.index()] / (rate * total_s);
}

LinkId BusiestLink(const Topology& topology, const SimulationResult& result) {
  LinkId busiest;
  double highest = 0;
  for (uint32_t i = 0; i < topology.links().size(); ++i) {
    const double utilisation = UtilisationOf(LinkId(i), topology, result);
    if (utilisation <= highest) continue;
    highest = utilisation;
    busiest = LinkId(i);
  }
  return busiest;
}

std::string EndToEndCsv(std::string_view name, const SimulationResult& result) {
  std::string text = fmt::format(
      "# times in us; algbw and busbw in GB/s (1 GB = 10^9 B; SimAI: GiB/s); "
      "one iteration, as rank {} saw it\n"
      "File name, Expose DP comm, Expose DP_EP comm, Expose TP comm, "
      "Expose_EP_comm, Expose_PP_comm, bubble time, total comp, total exposed "
      "comm, Total time\n",
      result.reported_rank);
  text += SummaryRow(name, result);
  text +=
      "layer_name,Analytical_test,fwd compute,wg compute,ig compute,"
      "fwd exposed comm,wg exposed comm,ig exposed comm,"
      "fwd total comm,algbw,busbw,wg total comm,algbw,busbw,"
      "ig total comm,algbw,busbw\n";
  constexpr Phase kOrder[] = {Phase::kForward, Phase::kWeightGradient,
                              Phase::kInputGradient};
  for (size_t i = 0; i < result.layers.size(); ++i) {
    const std::string& layer = result.layer_names[i];
    text += CsvField(layer) + ",Analytical_test";
    for (const Phase phase : kOrder) {
      text += fmt::format(
          ",{:.6f}",
          CheckedUs(result.layers[i][IndexOf(phase)].compute, layer));
    }
    for (const Phase phase : kOrder) {
      text += fmt::format(
          ",{:.6f}",
          CheckedUs(result.layers[i][IndexOf(phase)].exposed, layer));
    }
    for (const Phase phase : kOrder) {
      text += CommunicationFields(result.layers[i][IndexOf(phase)]);
    }
    text += '\n';
  }
  return text;
}

std::string CollectivesCsv(const Topology& topology,
                           const SimulationResult& result) {
  std::string text =
      "layer,phase,collective,group,first_rank,ranks,groups,count,algorithm,"
      "protocol,bytes,start_us,time_us,algbw_GBps,busbw_GBps,bound_by,"
      "bottleneck_link\n";
  for (const CollectiveRecord& record : result.collectives) {
    AppendCollective(record, result.layer_names[record.layer.index()],
                     Name(record.phase), topology, text);
  }
  // Of a program, each message was listed.
  const bool is_formula =
      result.pipeline.num_messages > 0 && !result.pipeline.is_simulated;
  if (is_formula) {
    AppendCollective(result.pipeline.message, "(pipeline)", "fwd+ig", topology,
                     text);
  }
  return text;
}

std::string LinksCsv(const Topology& topology, const SimulationResult& result) {
  std::string text =
      "link,source,source_kind,target,target_kind,rate_Gbps,bytes,"
      "utilisation\n";
  constexpr size_t kUsualLine = 60;
  text.reserve(text.size() + kUsualLine * topology.links().size());
  // Few different loads make up a large cluster: each is formatted once.
  constexpr size_t kMaxLoads = 4096;
  absl::flat_hash_map<std::pair<int64_t, double>, std::string> loads;
  for (uint32_t i = 0; i < topology.links().size(); ++i) {
    const LinkId id(i);
    const Link& link = topology.link(id);
    const Bandwidth rate = topology.type(id).bandwidth;
    const double bytes = Checked(result.link_bytes[i], "link bytes");
    if (loads.size() == kMaxLoads) loads.clear();
    std::string& load = loads[{rate.count(), bytes}];
    if (load.empty()) {
      load = fmt::format(
          "{},{:.0f},{:.6f}\n", ToGbps(rate), bytes,
          Checked(UtilisationOf(id, topology, result), "utilisation"));
    }
    absl::StrAppend(&text, i, ",", link.source.index(), ",",
                    NodeKindName(topology, link.source), ",",
                    link.target.index(), ",",
                    NodeKindName(topology, link.target), ",", load);
  }
  return text;
}

}  // namespace astra
