#include "astra-core/results/network_tables.h"

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/append_format.h"

namespace astra {
namespace {

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
  absl::Span<const LinkId> path;
  std::string_view collective;
  const Topology& topology;
};

TimePs CompletionTime(const FlowRecord& flow) {
  return flow.finish - flow.start;
}

void AppendPath(const FlowRow& row, std::string* text) {
  AppendInteger(row.flow.source.index(), text);
  for (const LinkId link : row.path) {
    *text += '>';
    AppendInteger(row.topology.link(link).target.index(), text);
  }
}

constexpr Column<FlowRow> kFlows[] = {
    {"collective", "",
     "layer, module or pattern that the message is of; empty for background "
     "traffic",
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

std::string FlowsHeader() { return HeaderOf<FlowRow>(kFlows); }

void AppendFlow(const FlowRecord& flow, absl::Span<const LinkId> path,
                std::string_view collective, const Topology& topology,
                std::string* text) {
  AppendRow<FlowRow>(kFlows, {flow, path, collective, topology}, text);
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
