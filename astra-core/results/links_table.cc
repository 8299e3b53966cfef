#include "astra-core/results/links_table.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "astra-core/base/check.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr std::string_view kFile = "links.csv";

// The cells that depend only on the rate and the bytes of a link. A large
// cluster has few different loads, so each is formatted once.
struct Load {
  std::string rate;
  std::string bytes;
  std::string utilisation;
};

struct Row {
  uint32_t number;
  const Link& link;
  const Load& load;
  const Topology& topology;
  const LinkRecord* record;  // Null if the network has no records of links.
  TimePs network_time;
};

void AppendKind(const Topology& topology, NodeId node, std::string* text) {
  switch (topology.kind(node)) {
    case NodeKind::kGpu:
      *text += "gpu";
      return;
    case NodeKind::kNvSwitch:
      *text += "nvswitch";
      return;
    case NodeKind::kSwitch:
      absl::StrAppend(text, "tier", topology.tier(node));
      return;
    case NodeKind::kStorage:
      *text += "storage";
      return;
  }
  ASTRA_CHECK(false, "node {}", node);
}

constexpr Column<Row> kColumns[] = {
    {"link", "",
     "2 i and 2 i + 1 are the two directions of the i-th link of the file",
     [](const Row& row, std::string* text) {
       absl::StrAppend(text, row.number);
     }},
    {"source", "", "node that sends",
     [](const Row& row, std::string* text) {
       absl::StrAppend(text, row.link.source.index());
     }},
    {"source_kind", "", "gpu, nvswitch, storage, or tierN of a switch",
     [](const Row& row, std::string* text) {
       AppendKind(row.topology, row.link.source, text);
     }},
    {"target", "", "node that receives",
     [](const Row& row, std::string* text) {
       absl::StrAppend(text, row.link.target.index());
     }},
    {"target_kind", "", "as source_kind",
     [](const Row& row, std::string* text) {
       AppendKind(row.topology, row.link.target, text);
     }},
    {"rate_Gbps", "Gbps (10^9 bit/s)", "rate of this direction",
     [](const Row& row, std::string* text) { *text += row.load.rate; }},
    {"bytes", "B", "carried in the iteration; equal-cost paths share evenly",
     [](const Row& row, std::string* text) { *text += row.load.bytes; }},
    {"utilisation", "",
     "bytes / (rate x total time); above 1 where groups overlap on a link",
     [](const Row& row, std::string* text) { *text += row.load.utilisation; }},
};

// Columns of the fidelities flow and packet.
constexpr Column<Row> kNetworkColumns[] = {
    {"wire_bytes", "B", "with headers and acknowledgements",
     [](const Row& row, std::string* text) {
       AppendNumber(row.record->bytes, 0, text);
     }},
    {"packets", "", "data, acknowledgements and all others",
     [](const Row& row, std::string* text) {
       absl::StrAppend(text, row.record->packets);
     }},
    {"busy", "", "share of the time in which the link sends",
     [](const Row& row, std::string* text) {
       const double share =
           row.network_time == TimePs(0)
               ? 0
               : static_cast<double>(row.record->busy.count()) /
                     static_cast<double>(row.network_time.count());
       AppendNumber(share, 6, text);
     }},
    {"max_queue_bytes", "B", "most that waited before the link",
     [](const Row& row, std::string* text) {
       absl::StrAppend(text, row.record->max_queue.count());
     }},
    {"marked", "", "packets that were marked with ECN",
     [](const Row& row, std::string* text) {
       absl::StrAppend(text, row.record->marked);
     }},
    {"dropped", "", "packets without room before the link",
     [](const Row& row, std::string* text) {
       absl::StrAppend(text, row.record->dropped);
     }},
    {"lost", "", "packets lost on the wire",
     [](const Row& row, std::string* text) {
       absl::StrAppend(text, row.record->lost);
     }},
    {"pauses", "", "PFC pauses that its source was told",
     [](const Row& row, std::string* text) {
       absl::StrAppend(text, row.record->pauses);
     }},
    {"paused_us", "us", "time for which its data was paused",
     [](const Row& row, std::string* text) {
       AppendUs(row.record->paused, text);
     }},
};

// Caches the formatted cells of loads.
class Loads {
 public:
  Loads(const Topology& topology, const SimulationResult& result)
      : topology_(topology), result_(result) {}

  const Load& Of(LinkId link) {
    constexpr size_t kMaxLoads = 4096;
    const Bandwidth rate = topology_.type(link).bandwidth;
    const double bytes = result_.link_bytes[link.index()];
    if (loads_.size() == kMaxLoads) loads_.clear();
    Load& load = loads_[{rate.count(), bytes}];
    if (load.rate.empty()) {
      load.rate = fmt::format("{}", ToGbps(rate));
      AppendNumber(bytes, 0, &load.bytes);
      AppendNumber(UtilisationOf(link, topology_, result_), 6,
                   &load.utilisation);
    }
    return load;
  }

 private:
  const Topology& topology_;
  const SimulationResult& result_;
  absl::flat_hash_map<std::pair<int64_t, double>, Load> loads_;
};

}  // namespace

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

std::string LinksCsv(const Topology& topology, const SimulationResult& result,
                     const NetworkStatistics& network, TimePs network_time) {
  const bool has_records = !network.links.empty();
  std::vector<Column<Row>> columns(std::begin(kColumns), std::end(kColumns));
  if (has_records) {
    columns.insert(columns.end(), std::begin(kNetworkColumns),
                   std::end(kNetworkColumns));
  }
  std::string text = HeaderOf<Row>(columns);
  constexpr size_t kUsualLine = 60;
  text.reserve(text.size() + kUsualLine * topology.links().size());
  Loads loads(topology, result);
  for (uint32_t i = 0; i < topology.links().size(); ++i) {
    const LinkId link(i);
    AppendRow<Row>(columns,
                   {i, topology.link(link), loads.Of(link), topology,
                    has_records ? &network.links[i] : nullptr, network_time},
                   &text);
  }
  return text;
}

void AppendLinksColumns(std::vector<ColumnText>* texts) {
  AppendTexts<Row>(kFile, kColumns, texts);
  AppendTexts<Row>(kFile, kNetworkColumns, texts);
}

}  // namespace astra
