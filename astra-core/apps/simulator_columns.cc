#include "astra-core/apps/simulator_columns.h"

#include <iterator>
#include <string_view>

#include "astra-core/base/append_format.h"
#include "astra-core/engine/report.h"

namespace astra {
namespace {

constexpr std::string_view kEndToEnd = "EndToEnd.csv";
constexpr std::string_view kCollectives = "collectives.csv";
constexpr std::string_view kLinks = "links.csv";
constexpr std::string_view kFlows = "flows.csv";
constexpr std::string_view kQueues = "queues.csv";
constexpr std::string_view kRates = "rates.csv";
constexpr std::string_view kPfc = "pfc.csv";
constexpr std::string_view kCnp = "cnp.csv";
constexpr std::string_view kBreakdown = "breakdown.csv";
constexpr std::string_view kPath = "critical_path.csv";

constexpr ColumnSpec kRanks[] = {
    {kEndToEnd, "which", "", "slowest, median or fastest of all ranks"},
    {kEndToEnd, "rank", "", "which rank that is, the lowest of equals"},
    {kEndToEnd, "compute_us", "us", "its computation"},
    {kEndToEnd, "exposed_us", "us", "its waiting for collectives"},
    {kEndToEnd, "total_us", "us", "until it has finished; no pipeline"},
};

constexpr ColumnSpec kOfCollectives[] = {
    {kCollectives, "name", "", "layer of the workload, or module"},
    {kCollectives, "op", "",
     "all-reduce, all-gather, reduce-scatter, all-to-all or send-recv"},
    {kCollectives, "group", "", "TP, DP, EP, DP_EP, PP, CP or ETP"},
    {kCollectives, "ranks", "", "ranks of the group"},
    {kCollectives, "bytes", "B",
     "buffer size as nccl-tests counts it: all-gather: output; others: input"},
    {kCollectives, "algorithm", "", "as it was run"},
    {kCollectives, "start_us", "us", "when the first rank joined"},
    {kCollectives, "finish_us", "us", "when the last rank had its result"},
    {kCollectives, "time_us", "us",
     "from the joining of the last rank to the last result"},
    {kCollectives, "rank0_time_us", "us",
     "from the joining of the lowest rank to its result"},
    {kCollectives, "busbw_GBps", "GB/s (10^9 B/s)",
     "algbw x 2(n-1)/n for all-reduce, x 1 for send-recv, else x (n-1)/n"},
    {kCollectives, "algbw_GBps", "GB/s (10^9 B/s)", "bytes / time"},
    {kCollectives, "phase", "", "fwd, ig or wg"},
    {kCollectives, "protocol", "",
     "with --system: LL, LL128 or Simple; else -"},
    {kCollectives, "first_rank", "", "lowest rank of the group"},
    {kCollectives, "groups", "", "groups that the line stands for"},
    {kCollectives, "count", "", "how many times it runs, alike"},
    {kCollectives, "last_start_us", "us", "when the last rank joined"},
};

constexpr ColumnSpec kOfNetwork[] = {
    {kLinks, "wire_bytes", "B", "with headers and acknowledgements"},
    {kLinks, "packets", "", "data, acknowledgements and all others"},
    {kLinks, "busy", "", "share of the time in which the link sends"},
    {kLinks, "max_queue_bytes", "B", "most that waited before the link"},
    {kLinks, "marked", "", "packets that were marked with ECN"},
    {kLinks, "dropped", "", "packets without room before the link"},
    {kLinks, "lost", "", "packets lost on the wire"},
    {kLinks, "pauses", "", "PFC pauses that its source was told"},
    {kLinks, "paused_us", "us", "for which its data was paused"},
    {kFlows, "collective", "",
     "layer or module that the message is of; empty if several run at once"},
    {kFlows, "source", "", "node that sends"},
    {kFlows, "target", "", "node that receives"},
    {kFlows, "channel", "",
     "of the collective, one queue pair or several; or background"},
    {kFlows, "bytes", "B", "of the message"},
    {kFlows, "start_us", "us", "when it was sent"},
    {kFlows, "finish_us", "us", "when it had arrived"},
    {kFlows, "fct_us", "us", "finish - start"},
    {kFlows, "ideal_us", "us", "the same alone on its path"},
    {kFlows, "slowdown", "", "fct / ideal"},
    {kFlows, "retransmissions", "", "packets that were sent again"},
    {kFlows, "path", "", "nodes, source>...>target"},
    {kQueues, "time_us", "us", "of the sample"},
    {kQueues, "link", "", "as in links.csv"},
    {kQueues, "source", "", "node whose queue it is"},
    {kQueues, "target", "", "node that the link leads to"},
    {kQueues, "queue_bytes", "B", "that wait before the link; 0 is left out"},
    {kRates, "time_us", "us", "of the sample"},
    {kRates, "source", "", "node that sends"},
    {kRates, "target", "", "node that receives"},
    {kRates, "channel", "", "of the queue pair"},
    {kRates, "rate_Gbps", "Gbps (10^9 bit/s)",
     "that the congestion control allows"},
    {kRates, "window_bytes", "B", "the same; 0: without limit"},
    {kPfc, "time_us", "us", "when the frame reaches the node"},
    {kPfc, "node", "", "that is told"},
    {kPfc, "sender", "", "node that tells it"},
    {kPfc, "link", "", "from node to sender, as in links.csv"},
    {kPfc, "event", "", "pause or resume"},
    {kCnp, "time_us", "us", "when the sender is told of congestion"},
    {kCnp, "source", "", "node that sends"},
    {kCnp, "target", "", "node that receives"},
    {kCnp, "channel", "", "of the queue pair"},
};

void Append(const ColumnSpec& column, std::string& text) {
  AppendFormat(&text, "{:<18}{:<20}{:<24}{}\n", column.file, column.name,
               column.unit, column.meaning);
}

void AppendEngine(std::string_view file, std::string& text) {
  for (const ColumnSpec& column : ResultColumns()) {
    if (column.file == file) Append(column, text);
  }
}

}  // namespace

std::string DescribeSimulatorColumns() {
  std::string text;
  for (const ColumnSpec& column : kRanks) Append(column, text);
  AppendEngine(kEndToEnd, text);
  for (const ColumnSpec& column : kOfCollectives) Append(column, text);
  AppendEngine(kLinks, text);
  for (const ColumnSpec& column : kOfNetwork) Append(column, text);
  AppendEngine(kBreakdown, text);
  AppendEngine(kPath, text);
  return text;
}

}  // namespace astra
