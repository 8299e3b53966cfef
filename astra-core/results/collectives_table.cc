#include "astra-core/results/collectives_table.h"

namespace astra {
namespace {

constexpr std::string_view kFile = "collectives.csv";

struct Row {
  const CollectiveRecord& record;
  std::string_view layer;
  std::string_view phase;
  const Topology& topology;
};

double AlgorithmBandwidth(const CollectiveRecord& record) {
  return GigabytesPerSecond(record.communication.bytes, record.time);
}

std::string_view BoundOf(const CollectiveRecord& record) {
  if (record.is_measured) return "busbw file";
  return record.is_latency_bound ? "latency" : "bandwidth";
}

std::string_view SourceOf(const CollectiveRecord& record) {
  return record.is_measured ? "busbw file" : Name(record.source);
}

constexpr Column<Row> kColumns[] = {
    {"layer", "",
     "layer or module, or \"(pipeline)\" for messages between stages by "
     "formula",
     [](const Row& row, std::string* text) { AppendField(row.layer, text); }},
    {"phase", "", "fwd, ig or wg; fwd+ig for (pipeline)",
     [](const Row& row, std::string* text) { *text += row.phase; }},
    {"collective", "",
     "all-reduce, all-gather, reduce-scatter, all-to-all, dispatch, combine or "
     "send-recv",
     [](const Row& row, std::string* text) {
       *text += Name(row.record.communication.kind);
     }},
    {"group", "", "TP, DP, EP, DP_EP, PP, CP or ETP",
     [](const Row& row, std::string* text) {
       *text += Name(row.record.communication.dimension);
     }},
    {"first_rank", "", "lowest rank of the group",
     [](const Row& row, std::string* text) {
       AppendInteger(row.record.lowest_rank.index(), text);
     }},
    {"ranks", "", "ranks of the group",
     [](const Row& row, std::string* text) {
       AppendInteger(row.record.num_ranks, text);
     }},
    {"groups", "", "groups that run the same collective at the same time",
     [](const Row& row, std::string* text) {
       AppendInteger(row.record.num_groups, text);
     }},
    {"count", "", "how many times it runs in an iteration, alike",
     [](const Row& row, std::string* text) {
       AppendInteger(row.record.count, text);
     }},
    {"algorithm", "",
     "NCCL's choice, P2P for sends and receives; or ring, direct, simai_...",
     [](const Row& row, std::string* text) { *text += row.record.algorithm; }},
    {"protocol", "", "LL, LL128 or Simple of NCCL; else -",
     [](const Row& row, std::string* text) { *text += row.record.protocol; }},
    {"bytes", "B",
     "buffer size as nccl-tests counts it: all-gather: output; others: input",
     [](const Row& row, std::string* text) {
       AppendInteger(row.record.communication.bytes.count(), text);
     }},
    {"start_us", "us",
     "when the first rank joined, the first time; 0 for (pipeline)",
     [](const Row& row, std::string* text) {
       AppendUs(row.record.first_start, text);
     }},
    {"last_start_us", "us", "when the last rank had joined",
     [](const Row& row, std::string* text) {
       AppendUs(row.record.start, text);
     }},
    {"finish_us", "us", "when the last rank had its result",
     [](const Row& row, std::string* text) {
       AppendUs(row.record.start + row.record.time, text);
     }},
    {"time_us", "us", "from last_start_us to finish_us",
     [](const Row& row, std::string* text) {
       AppendUs(row.record.time, text);
     }},
    {"first_rank_time_us", "us",
     "from the joining of the lowest rank to its result",
     [](const Row& row, std::string* text) {
       AppendUs(row.record.lowest_rank_time, text);
     }},
    {"algbw_GBps", "GB/s (10^9 B/s)", "bytes / time",
     [](const Row& row, std::string* text) {
       AppendNumber(AlgorithmBandwidth(row.record), 3, text);
     }},
    {"busbw_GBps", "GB/s (10^9 B/s)",
     "algbw x 2(n-1)/n for all-reduce, x 1 for send-recv, else x (n-1)/n",
     [](const Row& row, std::string* text) {
       AppendNumber(AlgorithmBandwidth(row.record) *
                        BusBandwidthFactor(row.record.communication.kind,
                                           row.record.num_ranks),
                    3, text);
     }},
    {"bound_by", "",
     "bandwidth or latency, whichever is most of the time in closed form, or "
     "busbw file",
     [](const Row& row, std::string* text) { *text += BoundOf(row.record); }},
    {"bottleneck_link", "",
     "the busiest link that the group uses; - with the busbw file",
     [](const Row& row, std::string* text) {
       *text += row.record.is_measured
                    ? "-"
                    : row.topology.LinkName(row.record.bottleneck);
     }},
    {"source", "",
     "where the time comes from: model, busbw file; or of --measured: "
     "measured, "
     "interpolated between two sizes, scaled beyond them",
     [](const Row& row, std::string* text) { *text += SourceOf(row.record); }},
};

}  // namespace

std::string CollectivesHeader() { return HeaderOf<Row>(kColumns); }

void AppendCollective(const CollectiveRecord& record, std::string_view layer,
                      const Topology& topology, std::string* text) {
  AppendRow<Row>(kColumns, {record, layer, Name(record.phase), topology}, text);
}

std::string CollectivesCsv(const Topology& topology,
                           const SimulationResult& result) {
  std::string text = CollectivesHeader();
  for (const CollectiveRecord& record : result.collectives) {
    AppendCollective(record, result.layer_names[record.layer.index()], topology,
                     &text);
  }
  // Messages between simulated stages are among the collectives.
  const PipelineResult& pipeline = result.pipeline;
  if (pipeline.num_messages > 0 && !pipeline.is_simulated) {
    AppendRow<Row>(kColumns,
                   {pipeline.message, "(pipeline)", "fwd+ig", topology}, &text);
  }
  return text;
}

void AppendCollectivesColumns(std::vector<ColumnText>* texts) {
  AppendTexts<Row>(kFile, kColumns, texts);
}

}  // namespace astra
