#include "astra-core/results/network_tables.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/parallel_dimension.h"

namespace astra {
namespace {

// Finds the collective to which a message belongs.
class CollectiveFinder {
 public:
  CollectiveFinder(const Topology& topology, const ParallelPlan& plan,
                   const SimulationResult& result)
      : topology_(topology), plan_(plan), result_(result) {
    for (const ParallelDimension dimension : kParallelDimensions) {
      of_group_[IndexOf(dimension)].resize(plan.NumGroups(dimension));
    }
    for (const CollectiveRecord& record : result.collectives) {
      const ParallelDimension dimension = record.communication.dimension;
      of_group_[IndexOf(dimension)][plan.GroupOf(dimension, record.lowest_rank)]
          .push_back(&record);
    }
    for (auto& groups : of_group_) {
      for (auto& records : groups) {
        std::stable_sort(records.begin(), records.end(),
                         [](const auto* a, const auto* b) {
                           return a->first_start < b->first_start;
                         });
      }
    }
  }

  // Returns the name of the collective; "" if there is none or several.
  std::string_view NameOf(const FlowRecord& flow) const {
    if (flow.channel == kBackgroundChannel) return "";
    const CollectiveRecord* found = nullptr;
    for (const ParallelDimension dimension : kParallelDimensions) {
      for (const CollectiveRecord* record : RecordsOf(flow, dimension)) {
        if (record->first_start > flow.start) break;
        if (record->start + record->time < flow.finish) continue;
        if (found != nullptr) return "";
        found = record;
      }
    }
    if (found == nullptr) return "";
    return result_.layer_names[found->layer.index()];
  }

 private:
  using Records = std::vector<const CollectiveRecord*>;

  // Returns the records of the group of the ends of `flow` that may contain
  // `flow`, and later ones. Only neighbouring records of a group overlap, so
  // they begin with the last but one that began before `flow`.
  absl::Span<const CollectiveRecord* const> RecordsOf(
      const FlowRecord& flow, ParallelDimension dimension) const {
    const bool from_gpu = IsGpu(flow.source);
    if (!from_gpu && !IsGpu(flow.target)) return {};
    const RankId rank(from_gpu ? flow.source.index() : flow.target.index());
    const uint32_t group = plan_.GroupOf(dimension, rank);
    if (from_gpu && IsGpu(flow.target) &&
        plan_.GroupOf(dimension, RankId(flow.target.index())) != group) {
      return {};
    }
    const Records& records = of_group_[IndexOf(dimension)][group];
    const auto later =
        std::upper_bound(records.begin(), records.end(), flow.start,
                         [](TimePs start, const CollectiveRecord* record) {
                           return start < record->first_start;
                         });
    const auto first =
        std::max<ptrdiff_t>(0, std::distance(records.begin(), later) - 2);
    return absl::MakeConstSpan(records).subspan(static_cast<size_t>(first));
  }

  bool IsGpu(NodeId node) const {
    return topology_.kind(node) == NodeKind::kGpu;
  }

  const Topology& topology_;
  const ParallelPlan& plan_;
  const SimulationResult& result_;
  // Records by dimension and group.
  std::array<std::vector<Records>, kNumParallelDimensions> of_group_;
};

// Appends the channel; background traffic has none.
void AppendChannel(uint32_t channel, std::string* text) {
  if (channel == kBackgroundChannel) {
    *text += "background";
  } else {
    AppendInteger(channel, text);
  }
}

struct FlowRow {
  const FlowRecord& flow;
  std::string_view collective;
  const Topology& topology;
  const NetworkStatistics& network;
};

TimePs CompletionTime(const FlowRecord& flow) {
  return flow.finish - flow.start;
}

void AppendPath(const FlowRow& row, std::string* text) {
  AppendInteger(row.flow.source.index(), text);
  for (uint32_t i = 0; i < row.flow.num_links; ++i) {
    const LinkId link = row.network.paths[row.flow.path + i];
    *text += '>';
    AppendInteger(row.topology.link(link).target.index(), text);
  }
}

constexpr Column<FlowRow> kFlows[] = {
    {"collective", "",
     "layer or module that the message is of; empty if several run at once",
     [](const FlowRow& row, std::string* text) {
       AppendField(row.collective, text);
     }},
    {"source", "", "node that sends",
     [](const FlowRow& row, std::string* text) {
       AppendInteger(row.flow.source.index(), text);
     }},
    {"target", "", "node that receives",
     [](const FlowRow& row, std::string* text) {
       AppendInteger(row.flow.target.index(), text);
     }},
    {"channel", "",
     "of the collective, one queue pair or several; or background",
     [](const FlowRow& row, std::string* text) {
       AppendChannel(row.flow.channel, text);
     }},
    {"bytes", "B", "of the message",
     [](const FlowRow& row, std::string* text) {
       AppendInteger(row.flow.bytes.count(), text);
     }},
    {"start_us", "us", "when it was sent",
     [](const FlowRow& row, std::string* text) {
       AppendUs(row.flow.start, text);
     }},
    {"finish_us", "us", "when it had arrived",
     [](const FlowRow& row, std::string* text) {
       AppendUs(row.flow.finish, text);
     }},
    {"fct_us", "us", "finish - start",
     [](const FlowRow& row, std::string* text) {
       AppendUs(CompletionTime(row.flow), text);
     }},
    {"ideal_us", "us", "the same alone on its path",
     [](const FlowRow& row, std::string* text) {
       AppendUs(row.flow.ideal, text);
     }},
    {"slowdown", "", "fct / ideal",
     [](const FlowRow& row, std::string* text) {
       AppendNumber(static_cast<double>(CompletionTime(row.flow).count()) /
                        static_cast<double>(row.flow.ideal.count()),
                    4, text);
     }},
    {"retransmissions", "", "packets that were sent again",
     [](const FlowRow& row, std::string* text) {
       AppendInteger(row.flow.retransmissions, text);
     }},
    {"path", "", "nodes, source>...>target", AppendPath},
};

// A record of a link of the topology: a sample of its queue, or a pause.
template <class Record>
struct LinkRow {
  const Record& record;
  const Link& link;
};

constexpr Column<LinkRow<QueueSample>> kQueues[] = {
    {"time_us", "us", "of the sample",
     [](const LinkRow<QueueSample>& row, std::string* text) {
       AppendUs(row.record.time, text);
     }},
    {"link", "", "as in links.csv",
     [](const LinkRow<QueueSample>& row, std::string* text) {
       AppendInteger(row.record.link.index(), text);
     }},
    {"source", "", "node whose queue it is",
     [](const LinkRow<QueueSample>& row, std::string* text) {
       AppendInteger(row.link.source.index(), text);
     }},
    {"target", "", "node that the link leads to",
     [](const LinkRow<QueueSample>& row, std::string* text) {
       AppendInteger(row.link.target.index(), text);
     }},
    {"queue_bytes", "B", "that wait before the link; 0 is left out",
     [](const LinkRow<QueueSample>& row, std::string* text) {
       AppendInteger(row.record.queue.count(), text);
     }},
};

constexpr Column<RateSample> kRates[] = {
    {"time_us", "us", "of the sample",
     [](const RateSample& row, std::string* text) {
       AppendUs(row.time, text);
     }},
    {"source", "", "node that sends",
     [](const RateSample& row, std::string* text) {
       AppendInteger(row.source.index(), text);
     }},
    {"target", "", "node that receives",
     [](const RateSample& row, std::string* text) {
       AppendInteger(row.target.index(), text);
     }},
    {"channel", "", "of the queue pair",
     [](const RateSample& row, std::string* text) {
       AppendChannel(row.channel, text);
     }},
    {"rate_Gbps", "Gbps (10^9 bit/s)", "that the congestion control allows",
     [](const RateSample& row, std::string* text) {
       AppendFormat(text, "{}", ToGbps(row.rate));
     }},
    {"window_bytes", "B", "the same; 0: without limit",
     [](const RateSample& row, std::string* text) {
       AppendInteger(row.window.count(), text);
     }},
};

constexpr Column<LinkRow<PfcRecord>> kPfc[] = {
    {"time_us", "us", "when the frame reaches the node",
     [](const LinkRow<PfcRecord>& row, std::string* text) {
       AppendUs(row.record.time, text);
     }},
    {"node", "", "that is told",
     [](const LinkRow<PfcRecord>& row, std::string* text) {
       AppendInteger(row.link.source.index(), text);
     }},
    {"sender", "", "node that tells it",
     [](const LinkRow<PfcRecord>& row, std::string* text) {
       AppendInteger(row.link.target.index(), text);
     }},
    {"link", "", "from node to sender, as in links.csv",
     [](const LinkRow<PfcRecord>& row, std::string* text) {
       AppendInteger(row.record.link.index(), text);
     }},
    {"event", "", "pause or resume",
     [](const LinkRow<PfcRecord>& row, std::string* text) {
       *text += row.record.is_pause ? "pause" : "resume";
     }},
};

constexpr Column<CnpRecord> kCnp[] = {
    {"time_us", "us", "when the sender is told of congestion",
     [](const CnpRecord& row, std::string* text) { AppendUs(row.time, text); }},
    {"source", "", "node that sends",
     [](const CnpRecord& row, std::string* text) {
       AppendInteger(row.source.index(), text);
     }},
    {"target", "", "node that receives",
     [](const CnpRecord& row, std::string* text) {
       AppendInteger(row.target.index(), text);
     }},
    {"channel", "", "of the queue pair",
     [](const CnpRecord& row, std::string* text) {
       AppendChannel(row.channel, text);
     }},
};

// Returns the table of `records`, each of which has the row that `row_of`
// makes.
template <class Row, class Records, class RowOf>
std::string Table(absl::Span<const Column<Row>> columns, const Records& records,
                  const RowOf& row_of) {
  std::string text = HeaderOf<Row>(columns);
  for (const auto& record : records) {
    AppendRow<Row>(columns, row_of(record), &text);
  }
  return text;
}

// Returns the table of records of links.
template <class Record>
std::string LinkTable(absl::Span<const Column<LinkRow<Record>>> columns,
                      const Topology& topology,
                      const std::vector<Record>& records) {
  return Table<LinkRow<Record>>(
      columns, records, [&topology](const Record& record) {
        return LinkRow<Record>{record, topology.link(record.link)};
      });
}

}  // namespace

std::string FlowsCsv(const Topology& topology, const ParallelPlan& plan,
                     const SimulationResult& result,
                     const NetworkStatistics& network) {
  const CollectiveFinder finder(topology, plan, result);
  return Table<FlowRow>(kFlows, network.flows, [&](const FlowRecord& flow) {
    return FlowRow{flow, finder.NameOf(flow), topology, network};
  });
}

std::string QueuesCsv(const Topology& topology,
                      const NetworkStatistics& network) {
  return LinkTable<QueueSample>(kQueues, topology, network.queues);
}

std::string RatesCsv(const NetworkStatistics& network) {
  return Table<RateSample>(kRates, network.rates, std::identity());
}

std::string PfcCsv(const Topology& topology, const NetworkStatistics& network) {
  return LinkTable<PfcRecord>(kPfc, topology, network.pfc);
}

std::string CnpCsv(const NetworkStatistics& network) {
  return Table<CnpRecord>(kCnp, network.cnps, std::identity());
}

void AppendNetworkColumns(std::vector<ColumnText>* texts) {
  AppendTexts<FlowRow>("flows.csv", kFlows, texts);
  AppendTexts<LinkRow<QueueSample>>("queues.csv", kQueues, texts);
  AppendTexts<RateSample>("rates.csv", kRates, texts);
  AppendTexts<LinkRow<PfcRecord>>("pfc.csv", kPfc, texts);
  AppendTexts<CnpRecord>("cnp.csv", kCnp, texts);
}

}  // namespace astra
