#include "astra-core/apps/network_charts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "astra-core/base/ids.h"
#include "astra-core/pages/html.h"
#include "astra-core/pages/line_chart.h"
#include "astra-core/results/links_table.h"
#include "fmt/core.h"
#include "topology/topology_svg.h"

namespace astra {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr size_t kMostLinks = 40;   // Of the table.
constexpr size_t kMostQueues = 20;  // Of the table.
constexpr size_t kMostLines = 6;    // Of the chart.
constexpr int64_t kMostPoints = 400;
constexpr double kMsPerUs = 1e-3;
constexpr double kKbPerByte = 1e-3;

double Kilobytes(Bytes bytes) {
  return kKbPerByte * static_cast<double>(bytes.count());
}

// Returns the links whose queues were longest, at most kMostQueues of them; of
// equal ones the lowest come first.
std::vector<LinkId> LongestQueues(const NetworkStatistics& network) {
  std::vector<LinkId> links;
  for (uint32_t i = 0; i < network.links.size(); ++i) {
    if (network.links[i].max_queue > Bytes(0)) links.emplace_back(i);
  }
  const auto longest = [&](LinkId link) {
    return network.links[link.index()].max_queue.count();
  };
  const size_t shown = std::min(kMostQueues, links.size());
  std::partial_sort(
      links.begin(), links.begin() + static_cast<ptrdiff_t>(shown), links.end(),
      [&](LinkId a, LinkId b) {
        return std::pair(-longest(a), a) < std::pair(-longest(b), b);
      });
  links.resize(shown);
  return links;
}

// Returns the chart of the queues before `links`. Samples are joined until they
// are few: the longest of them counts. Empty queues have no samples.
LineChart QueuesChart(const Topology& topology,
                      const NetworkStatistics& network, TimePs interval,
                      const std::vector<LinkId>& links) {
  const int64_t step = interval.count();
  const int64_t samples = network.queues.back().time.count() / step + 2;
  const int64_t width = step * ((samples + kMostPoints - 1) / kMostPoints);
  const auto num_bins = static_cast<size_t>(samples * step / width + 1);
  LineChart chart;
  chart.x = {.name = "time ms", .from_zero = true};
  chart.y = {.name = "queue kB", .from_zero = true};
  std::map<LinkId, size_t> line_of;
  for (const LinkId link : links) {
    if (line_of.size() == kMostLines) break;
    line_of.emplace(link, line_of.size());
    ChartLine& line = chart.lines.emplace_back();
    line.name = topology.LinkName(link);
    for (size_t bin = 0; bin < num_bins; ++bin) {
      const TimePs begin(static_cast<int64_t>(bin) * width);
      line.points.push_back({.x = kMsPerUs * ToMicroseconds(begin)});
    }
  }
  for (const QueueSample& sample : network.queues) {
    const auto line = line_of.find(sample.link);
    if (line == line_of.end()) continue;
    const auto bin = static_cast<size_t>(sample.time.count() / width);
    double& y = chart.lines[line->second].points[bin].y;
    y = std::max(y, Kilobytes(sample.queue));
  }
  return chart;
}

// Source, target and channel of a queue pair.
using QueuePair = std::tuple<NodeId, NodeId, uint32_t>;

QueuePair QueuePairOf(const RateSample& sample) {
  return {sample.source, sample.target, sample.channel};
}

// Returns the queue pairs that congestion control slowed most, at most
// kMostLines of them; of equal ones the lowest come first.
std::vector<QueuePair> SlowestPairs(const NetworkStatistics& network) {
  std::map<QueuePair, Bandwidth> lowest;
  for (const RateSample& sample : network.rates) {
    const auto [pair, is_new] =
        lowest.try_emplace(QueuePairOf(sample), sample.rate);
    if (!is_new) pair->second = std::min(pair->second, sample.rate);
  }
  std::vector<QueuePair> pairs;
  pairs.reserve(lowest.size());
  for (const auto& [pair, rate] : lowest) pairs.push_back(pair);
  std::stable_sort(pairs.begin(), pairs.end(),
                   [&](const QueuePair& a, const QueuePair& b) {
                     return lowest.at(a) < lowest.at(b);
                   });
  pairs.resize(std::min(pairs.size(), kMostLines));
  return pairs;
}

// Returns the chart of the rates of `pairs`. Of many samples only some are
// drawn, evenly spread.
LineChart RatesChart(const Topology& topology, const NetworkStatistics& network,
                     const std::vector<QueuePair>& pairs) {
  LineChart chart;
  chart.x = {.name = "time ms", .from_zero = true};
  chart.y = {.name = "allowed rate Gbps", .from_zero = true};
  for (const QueuePair& pair : pairs) {
    const auto& [source, target, channel] = pair;
    std::vector<const RateSample*> samples;
    for (const RateSample& sample : network.rates) {
      if (QueuePairOf(sample) == pair) samples.push_back(&sample);
    }
    ChartLine& line = chart.lines.emplace_back();
    line.name = fmt::format("{} -> {}", topology.NodeName(source),
                            topology.NodeName(target));
    const size_t step = samples.size() / size_t{kMostPoints} + 1;
    for (size_t i = 0; i < samples.size(); i += step) {
      line.points.push_back({.x = kMsPerUs * ToMicroseconds(samples[i]->time),
                             .y = ToGbps(samples[i]->rate)});
    }
  }
  return chart;
}

// Returns "2 to 4 MiB" for 21, or "below 2 B" for 0.
std::string SizeText(uint32_t exponent) {
  constexpr std::string_view kUnits[] = {"B",   "KiB", "MiB", "GiB",
                                         "TiB", "PiB", "EiB"};
  if (exponent == 0) return "below 2 B";
  const uint64_t low = uint64_t{1} << (exponent % 10);
  return fmt::format("{} to {} {}", low, 2 * low, kUnits[exponent / 10]);
}

std::vector<std::string> RowOf(std::string what,
                               const MessageDistributions& some) {
  std::vector<std::string> row = {std::move(what),
                                  fmt::format("{}", some.time_us.count())};
  for (const double percent : {50.0, 99.0, 100.0}) {
    row.push_back(fmt::format("{:.3f}", some.time_us.Percentile(percent)));
  }
  for (const double percent : {50.0, 99.0, 100.0}) {
    row.push_back(fmt::format("{:.3f}", some.slowdown.Percentile(percent)));
  }
  return row;
}

LineChart DistributionChart(const LogHistogram& values,
                            std::string_view x_name) {
  constexpr double kLogRatio = 50;  // Above it the axis is logarithmic.
  LineChart chart;
  chart.x = {.name = std::string(x_name),
             .is_log = values.largest() > kLogRatio * values.Percentile(0)};
  chart.y = {.name = "% at or below", .from_zero = true};
  ChartLine& line = chart.lines.emplace_back();
  line.name = "messages";
  for (int percent = 0; percent <= 100; ++percent) {
    line.points.push_back(
        {.x = values.Percentile(percent), .y = static_cast<double>(percent)});
  }
  return chart;
}

}  // namespace

std::string LinksSection(const Topology& topology,
                         const SimulationResult& result) {
  std::vector<double> loads(topology.links().size());
  for (uint32_t i = 0; i < loads.size(); ++i) {
    loads[i] = UtilisationOf(LinkId(i), topology, result);
  }
  std::vector<uint32_t> order(loads.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  const size_t shown = std::min(kMostLinks, order.size());
  std::partial_sort(order.begin(),
                    order.begin() + static_cast<std::ptrdiff_t>(shown),
                    order.end(), [&](uint32_t a, uint32_t b) {
                      return std::pair(-loads[a], a) < std::pair(-loads[b], b);
                    });
  Rows rows;
  for (size_t i = 0; i < shown; ++i) {
    const uint32_t link = order[i];
    if (loads[link] == 0) break;
    rows.push_back({topology.LinkName(LinkId(link)), fmt::format("{}", link),
                    fmt::format("{:.3f}", result.link_bytes[link] * 1e-9),
                    fmt::format("{:.2f}", 100 * loads[link])});
  }
  return HtmlSection(
      "links", "Links",
      "<div class=\"map\">" + TopologySvg(topology, loads) + "</div>" +
          HtmlNote("Darker lines are used more, the busiest cable and "
                   "direction counts. NVLink is within the boxes of servers. "
                   "links.csv has each link.") +
          HtmlTable("class=\"sortable\" aria-label=\"The busiest links\"",
                    {{{"link", false},
                      {"number", true},
                      {"GB", true},
                      {"% used", true}}},
                    rows));
}

std::string QueuesSection(const Topology& topology,
                          const NetworkStatistics& network,
                          std::optional<TimePs> interval, Page& page) {
  const std::vector<LinkId> links = LongestQueues(network);
  if (links.empty()) return "";
  Rows rows;
  for (const LinkId link : links) {
    const LinkRecord& record = network.links[link.index()];
    rows.push_back(
        {topology.LinkName(link), fmt::format("{}", link.index()),
         fmt::format("{:.3f}", Kilobytes(record.max_queue)),
         fmt::format("{}", record.marked), fmt::format("{}", record.dropped),
         fmt::format("{}", record.pauses),
         fmt::format("{:.6f}", kMsPerUs * ToMicroseconds(record.paused))});
  }
  std::string html =
      HtmlNote(
          "The most that waited before a link, its packets marked with "
          "ECN and dropped, and how often and how long PFC paused it. "
          "links.csv has each link.") +
      HtmlTable("class=\"sortable\" aria-label=\"The longest queues\"",
                {{{"link", false},
                  {"number", true},
                  {"longest kB", true},
                  {"marked", true},
                  {"dropped", true},
                  {"pauses", true},
                  {"paused ms", true}}},
                rows);
  if (interval && !network.queues.empty()) {
    html += page.Add(Draw(QueuesChart(topology, network, *interval, links),
                          "Longest queues over time"));
  }
  if (const std::vector<QueuePair> pairs = SlowestPairs(network);
      !pairs.empty()) {
    html += "<h3>Sending rates</h3>\n" +
            HtmlNote(
                "What congestion control allows the senders that it slowed "
                "most. rates.csv has all.") +
            page.Add(Draw(RatesChart(topology, network, pairs),
                          "Lowest sending rates over time"));
  }
  return HtmlSection("queues", "Queues", html);
}

std::string MessagesSection(const MessageTimes& messages, Page& page) {
  if (messages.by_size().empty()) return "";
  const MessageDistributions all = messages.All();
  Rows rows;
  for (const auto& [exponent, some] : messages.by_size()) {
    rows.push_back(RowOf(SizeText(exponent), some));
  }
  if (rows.size() > 1) rows.push_back(RowOf("all", all));
  const std::string times =
      page.Add(Draw(DistributionChart(all.time_us, "us"),
                    "Share of the messages that take at most a time"));
  const std::string slowdowns =
      page.Add(Draw(DistributionChart(all.slowdown, "time over the time alone"),
                    "Share of the messages with at most a slowdown"));
  return HtmlSection(
      "messages", "Messages",
      HtmlNote("From the sending of a message to its arrival. The slowdown is "
               "this time over the time alone on its path. Percentiles are "
               "within 0.6 %; the longest are exact.") +
          HtmlTable("aria-label=\"Times of messages by size\"",
                    {{{"size", false},
                      {"messages", true},
                      {"p50 us", true},
                      {"p99 us", true},
                      {"longest us", true},
                      {"slowdown p50", true},
                      {"slowdown p99", true},
                      {"largest slowdown", true}}},
                    rows) +
          "<h3>Completion time</h3>\n" + times + "<h3>Slowdown</h3>\n" +
          slowdowns);
}

}  // namespace astra
