#include "astra-core/apps/simulator_tables.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "astra-core/base/append_format.h"
#include "astra-core/base/csv.h"
#include "fmt/core.h"

namespace astra {
namespace {

double ShareOfTime(TimePs part, TimePs whole) {
  if (whole == TimePs(0)) return 0;
  return static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

std::string RankRow(std::string_view which, const RankResult& rank) {
  return fmt::format("{},{},{:.6f},{:.6f},{:.6f}\n", which, rank.rank.index(),
                     ToMicroseconds(rank.compute), ToMicroseconds(rank.exposed),
                     ToMicroseconds(rank.finish));
}

// The lower median of all ranks: a class counts as many times as it has ranks.
// Requires `ranks` by finish, and one at least.
const RankResult& Median(absl::Span<const RankResult* const> ranks) {
  int64_t num_ranks = 0;
  for (const RankResult* rank : ranks) num_ranks += rank->count;
  int64_t before = 0;
  for (const RankResult* rank : ranks) {
    before += rank->count;
    if (2 * before >= num_ranks) return *rank;
  }
  return *ranks.back();
}

}  // namespace

std::string_view SimulatedCollectivesHeader() {
  return "name,op,group,ranks,bytes,algorithm,start_us,finish_us,time_us,"
         "rank0_time_us,busbw_GBps,algbw_GBps,phase,protocol,first_rank,groups,"
         "count,last_start_us\n";
}

std::string SimulatedCollectiveRow(const CollectiveRecord& record,
                                   std::string_view layer) {
  const auto& [kind, dimension, bytes] = record.communication;
  const double algbw = GigabytesPerSecond(bytes, record.time);
  return fmt::format(
      "{},{},{},{},{},{},{:.6f},{:.6f},{:.6f},{:.6f},{:.3f},{:.3f},{},{},{},{},"
      "{},{:.6f}\n",
      CsvField(layer), Name(kind), Name(dimension), record.num_ranks,
      bytes.count(), record.algorithm, ToMicroseconds(record.first_start),
      ToMicroseconds(record.start + record.time), ToMicroseconds(record.time),
      ToMicroseconds(record.lowest_rank_time),
      algbw * BusBandwidthFactor(kind, record.num_ranks), algbw,
      Name(record.phase), record.protocol, record.lowest_rank.index(),
      record.num_groups, record.count, ToMicroseconds(record.start));
}

std::string SimulatedCollectivesCsv(const SimulationResult& result) {
  std::string text(SimulatedCollectivesHeader());
  for (const CollectiveRecord& record : result.collectives) {
    text += SimulatedCollectiveRow(record,
                                   result.layer_names[record.layer.index()]);
  }
  return text;
}

std::string AllRanksCsv(std::string_view name, const SimulationResult& result) {
  std::string text =
      "# times in us; of all ranks, by total, which is without the pipeline\n"
      "which,rank,compute_us,exposed_us,total_us\n";
  std::vector<const RankResult*> ranks;
  for (const RankResult& rank : result.ranks) ranks.push_back(&rank);
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const RankResult* a, const RankResult* b) {
                     return a->finish < b->finish;
                   });
  if (!ranks.empty()) {
    // Of equals the first by rank.
    const TimePs last = ranks.back()->finish;
    const auto slowest = std::find_if(
        ranks.begin(), ranks.end(),
        [&](const RankResult* rank) { return rank->finish == last; });
    text += RankRow("slowest", **slowest) + RankRow("median", Median(ranks)) +
            RankRow("fastest", *ranks.front());
  }
  return text + EndToEndCsv(name, result);
}

std::string SimulatedLinksCsv(const Topology& topology,
                              const SimulationResult& result,
                              const NetworkStatistics& network,
                              TimePs network_time) {
  const std::string links = LinksCsv(topology, result);
  std::string text;
  size_t begin = 0;
  for (size_t line = 0; begin < links.size(); ++line) {
    const size_t end = links.find('\n', begin);
    text.append(links, begin, end - begin);
    begin = end + 1;
    if (line == 0) {
      text +=
          ",wire_bytes,packets,busy,max_queue_bytes,marked,dropped,lost,pauses,"
          "paused_us\n";
      continue;
    }
    const LinkRecord& record = network.links[line - 1];
    AppendFormat(&text, ",{:.0f},{},{:.6f},{},{},{},{},{},{:.6f}\n",
                 record.bytes, record.packets,
                 ShareOfTime(record.busy, network_time),
                 record.max_queue.count(), record.marked, record.dropped,
                 record.lost, record.pauses, ToMicroseconds(record.paused));
  }
  return text;
}

}  // namespace astra
