#include "astra-core/results/end_to_end.h"

#include <array>
#include <cstddef>

namespace astra {
namespace {

constexpr std::string_view kFile = "EndToEnd.csv";
constexpr std::string_view kWithShare = "us (share of the total)";

// The totals, in the first line.
struct Totals {
  std::string_view name;
  const SimulationResult& result;
};

// Appends text such as "12.500000 (3.20%)".
void AppendWithShare(TimePs part, const Totals& totals, std::string* text) {
  const TimePs total = totals.result.total();
  const double share = total == TimePs(0)
                           ? 0
                           : 100 * static_cast<double>(part.count()) /
                                 static_cast<double>(total.count());
  AppendUs(part, text);
  *text += " (";
  AppendNumber(share, 2, text);
  *text += "%)";
}

template <ParallelDimension kDimension>
void AppendExposed(const Totals& totals, std::string* text) {
  AppendWithShare(totals.result.exposed[IndexOf(kDimension)], totals, text);
}

TimePs ExposedOfStage(const SimulationResult& result) {
  TimePs sum;
  for (const TimePs exposed : result.exposed) sum += exposed;
  return sum;
}

constexpr Column<Totals> kTotals[] = {
    {"File name", "", "name of the run",
     [](const Totals& row, std::string* text) { AppendField(row.name, text); }},
    {"Expose DP comm", kWithShare,
     "time the reported rank waits for DP collectives",
     AppendExposed<ParallelDimension::kData>},
    {"Expose DP_EP comm", kWithShare, "the same for DP_EP",
     AppendExposed<ParallelDimension::kDataExpert>},
    {"Expose TP comm", kWithShare, "the same for TP",
     AppendExposed<ParallelDimension::kTensor>},
    {"Expose_EP_comm", kWithShare, "the same for EP",
     AppendExposed<ParallelDimension::kExpert>},
    {"Expose_PP_comm", kWithShare,
     "pipeline messages, less the share that is hidden; of programs: waiting "
     "for those on their way",
     [](const Totals& row, std::string* text) {
       AppendWithShare(row.result.pipeline.exposed, row, text);
     }},
    {"bubble time", kWithShare,
     "(PP - 1) / (GA x VPP) x time of the micro-batches; of programs: waiting "
     "for messages that were not sent yet",
     [](const Totals& row, std::string* text) {
       AppendWithShare(row.result.pipeline.bubble, row, text);
     }},
    {"total comp", kWithShare, "computation of the reported rank, slowed",
     [](const Totals& row, std::string* text) {
       AppendWithShare(row.result.compute + row.result.slowed, row, text);
     }},
    {"total exposed comm", kWithShare,
     "DP + DP_EP + TP + EP above, and CP and ETP of programs",
     [](const Totals& row, std::string* text) {
       AppendWithShare(ExposedOfStage(row.result), row, text);
     }},
    {"Total time", "us",
     "total comp + total exposed comm + bubble time + Expose_PP_comm",
     [](const Totals& row, std::string* text) {
       AppendUs(row.result.total(), text);
     }},
};

// A layer or a module of a program, in each further line.
struct LayerRow {
  std::string_view name;
  const std::array<PhaseResult, kNumPhases>& phases;
};

template <Phase kPhase>
const PhaseResult& Of(const LayerRow& row) {
  return row.phases[IndexOf(kPhase)];
}

template <Phase kPhase>
void AppendCompute(const LayerRow& row, std::string* text) {
  AppendUs(Of<kPhase>(row).compute, text);
}

template <Phase kPhase>
void AppendExposed(const LayerRow& row, std::string* text) {
  AppendUs(Of<kPhase>(row).exposed, text);
}

template <Phase kPhase>
void AppendNetwork(const LayerRow& row, std::string* text) {
  AppendUs(Of<kPhase>(row).network, text);
}

template <Phase kPhase>
void AppendAlgbw(const LayerRow& row, std::string* text) {
  const PhaseResult& phase = Of<kPhase>(row);
  AppendNumber(GigabytesPerSecond(phase.bytes, phase.network), 2, text);
}

template <Phase kPhase>
void AppendBusbw(const LayerRow& row, std::string* text) {
  constexpr double kPsPerByteAtOneGbPerS = 1e3;
  const PhaseResult& phase = Of<kPhase>(row);
  const double busbw = phase.network == TimePs(0)
                           ? 0
                           : kPsPerByteAtOneGbPerS * phase.bus_bytes /
                                 static_cast<double>(phase.network.count());
  AppendNumber(busbw, 2, text);
}

using enum Phase;

constexpr Column<LayerRow> kLayers[] = {
    {"layer_name", "",
     "layer of the workload, or module of the program, in file order",
     [](const LayerRow& row, std::string* text) {
       AppendField(row.name, text);
     }},
    {"Analytical_test", "", "always Analytical_test, as in SimAI",
     [](const LayerRow&, std::string* text) { *text += "Analytical_test"; }},
    {"fwd compute", "us", "forward computation, recomputed too",
     AppendCompute<kForward>},
    {"wg compute", "us", "weight-gradient computation",
     AppendCompute<kWeightGradient>},
    {"ig compute", "us", "input-gradient computation",
     AppendCompute<kInputGradient>},
    {"fwd exposed comm", "us",
     "time the reported rank waits for the forward collective",
     AppendExposed<kForward>},
    {"wg exposed comm", "us", "the same, weight gradient",
     AppendExposed<kWeightGradient>},
    {"ig exposed comm", "us", "the same, input gradient",
     AppendExposed<kInputGradient>},
    {"fwd total comm", "us",
     "time of the forward collective, waited for or not",
     AppendNetwork<kForward>},
    {"algbw", "GB/s (SimAI: GiB/s)",
     "bytes / time of the collective left of it", AppendAlgbw<kForward>},
    {"busbw", "GB/s (SimAI: GiB/s)", "bus bandwidth, as nccl-tests defines it",
     AppendBusbw<kForward>},
    {"wg total comm", "us", "as fwd total comm, weight gradient",
     AppendNetwork<kWeightGradient>},
    {"algbw", "GB/s (SimAI: GiB/s)", "the same, weight gradient",
     AppendAlgbw<kWeightGradient>},
    {"busbw", "GB/s (SimAI: GiB/s)", "the same, weight gradient",
     AppendBusbw<kWeightGradient>},
    {"ig total comm", "us", "as fwd total comm, input gradient",
     AppendNetwork<kInputGradient>},
    {"algbw", "GB/s (SimAI: GiB/s)", "the same, input gradient",
     AppendAlgbw<kInputGradient>},
    {"busbw", "GB/s (SimAI: GiB/s)", "the same, input gradient",
     AppendBusbw<kInputGradient>},
};

}  // namespace

std::string EndToEndCsv(std::string_view name, const SimulationResult& result) {
  constexpr std::string_view kSeparator = ", ";
  std::string text = HeaderOf<Totals>(kTotals, kSeparator);
  AppendRow<Totals>(kTotals, {name, result}, &text, kSeparator);
  text += HeaderOf<LayerRow>(kLayers);
  for (size_t i = 0; i < result.layers.size(); ++i) {
    AppendRow<LayerRow>(kLayers, {result.layer_names[i], result.layers[i]},
                        &text);
  }
  return text;
}

void AppendEndToEndColumns(std::vector<ColumnText>* texts) {
  AppendTexts<Totals>(kFile, kTotals, texts);
  AppendTexts<LayerRow>(kFile, kLayers, texts);
}

}  // namespace astra
