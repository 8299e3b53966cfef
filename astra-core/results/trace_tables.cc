#include "astra-core/results/trace_tables.h"

#include <string_view>

namespace astra {
namespace {

constexpr std::string_view kRanksFile = "ranks.csv";
constexpr std::string_view kNodesFile = "nodes.csv";

TimePs MessagesOf(const RankResult& rank) {
  return rank.exposed_in[IndexOf(ParallelDimension::kPipeline)];
}

template <ParallelDimension kDimension>
void AppendExposed(const RankResult& rank, std::string* text) {
  AppendUs(rank.exposed_in[IndexOf(kDimension)], text);
}

using enum ParallelDimension;

constexpr Column<RankResult> kRankColumns[] = {
    {"rank", "", "of the trace",
     [](const RankResult& rank, std::string* text) {
       AppendInteger(rank.rank.index(), text);
     }},
    {"compute_us", "us", "kernels at full speed",
     [](const RankResult& rank, std::string* text) {
       AppendUs(rank.compute, text);
     }},
    {"slowed_us", "us", "what collectives beside them cost the kernels",
     [](const RankResult& rank, std::string* text) {
       AppendUs(rank.slowed, text);
     }},
    {"collectives_us", "us", "kernels waiting for collectives",
     [](const RankResult& rank, std::string* text) {
       AppendUs(rank.exposed - MessagesOf(rank), text);
     }},
    {"exposed_TP_us", "us", "of it, for TP collectives",
     AppendExposed<kTensor>},
    {"exposed_CP_us", "us", "the same for CP", AppendExposed<kContext>},
    {"exposed_DP_us", "us", "the same for DP", AppendExposed<kData>},
    {"exposed_EP_us", "us", "the same for EP", AppendExposed<kExpert>},
    {"exposed_ETP_us", "us", "the same for ETP", AppendExposed<kExpertTensor>},
    {"exposed_DP_EP_us", "us", "the same for DP_EP",
     AppendExposed<kDataExpert>},
    {"messages_us", "us", "kernels waiting for messages of other ranks",
     [](const RankResult& rank, std::string* text) {
       AppendUs(MessagesOf(rank), text);
     }},
    {"host_us", "us", "kernels waiting for the CPU or for copies",
     [](const RankResult& rank, std::string* text) {
       AppendUs(rank.held, text);
     }},
    {"kept_waiting_us", "us",
     "what others waited for this rank, in all: until it joined",
     [](const RankResult& rank, std::string* text) {
       AppendUs(rank.kept_waiting, text);
     }},
    {"finish_us", "us", "compute + slowed + the three kinds of waiting",
     [](const RankResult& rank, std::string* text) {
       AppendUs(rank.finish, text);
     }},
};

// The nodes of one name in one phase.
struct NodeRow {
  std::string_view name;
  Phase phase = Phase::kForward;
  const PhaseResult& times;
};

constexpr Column<NodeRow> kNodeColumns[] = {
    {"node", "", "name in the trace",
     [](const NodeRow& row, std::string* text) {
       AppendField(row.name, text);
     }},
    {"phase", "", "fwd, ig or wg; fwd if the trace does not say",
     [](const NodeRow& row, std::string* text) { *text += Name(row.phase); }},
    {"compute_us", "us", "kernels of this name on the rank that finishes last",
     [](const NodeRow& row, std::string* text) {
       AppendUs(row.times.compute, text);
     }},
    {"exposed_us", "us", "kernels waiting for communication of this name",
     [](const NodeRow& row, std::string* text) {
       AppendUs(row.times.exposed, text);
     }},
    {"late_us", "us", "of it, until the last rank had joined",
     [](const NodeRow& row, std::string* text) {
       AppendUs(row.times.late, text);
     }},
    {"network_us", "us", "communication of this name, exposed or not",
     [](const NodeRow& row, std::string* text) {
       AppendUs(row.times.network, text);
     }},
    {"bytes", "B", "sum of the buffers of this communication",
     [](const NodeRow& row, std::string* text) {
       AppendInteger(row.times.bytes.count(), text);
     }},
};

bool IsEmpty(const PhaseResult& times) {
  return times.compute == TimePs(0) && times.exposed == TimePs(0) &&
         times.network == TimePs(0);
}

}  // namespace

std::string RanksCsv(const SimulationResult& result) {
  std::string text = HeaderOf<RankResult>(kRankColumns);
  for (const RankResult& rank : result.ranks) {
    AppendRow<RankResult>(kRankColumns, rank, &text);
  }
  return text;
}

std::string NodesCsv(const SimulationResult& result) {
  std::string text = HeaderOf<NodeRow>(kNodeColumns);
  for (size_t i = 0; i < result.layers.size(); ++i) {
    for (const Phase phase : kPhases) {
      const PhaseResult& times = result.layers[i][IndexOf(phase)];
      if (IsEmpty(times)) continue;
      AppendRow<NodeRow>(kNodeColumns, {result.layer_names[i], phase, times},
                         &text);
    }
  }
  return text;
}

void AppendTraceColumns(std::vector<ColumnText>* texts) {
  AppendTexts<RankResult>(kRanksFile, kRankColumns, texts);
  AppendTexts<NodeRow>(kNodesFile, kNodeColumns, texts);
}

}  // namespace astra
