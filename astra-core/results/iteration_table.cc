#include "astra-core/results/iteration_table.h"

#include <string_view>

namespace astra {
namespace {

constexpr std::string_view kFile = "iteration.csv";

template <ParallelDimension kDimension>
void AppendExposed(const RankResult& rank, std::string* text) {
  AppendUs(rank.exposed_in[IndexOf(kDimension)], text);
}

using enum ParallelDimension;

constexpr Column<RankResult> kColumns[] = {
    {"rank", "", "lowest of the ranks that do the same",
     [](const RankResult& rank, std::string* text) {
       AppendInteger(rank.rank.index(), text);
     }},
    {"ranks", "", "how many they are",
     [](const RankResult& rank, std::string* text) {
       AppendInteger(rank.count, text);
     }},
    {"stage", "", "of the pipeline",
     [](const RankResult& rank, std::string* text) {
       AppendInteger(rank.stage, text);
     }},
    {"compute_us", "us", "computation at full speed",
     [](const RankResult& rank, std::string* text) {
       AppendUs(rank.compute, text);
     }},
    {"slowed_us", "us", "what collectives beside it cost the computation",
     [](const RankResult& rank, std::string* text) {
       AppendUs(rank.slowed, text);
     }},
    {"exposed_us", "us", "waiting for collectives and messages",
     [](const RankResult& rank, std::string* text) {
       AppendUs(rank.exposed, text);
     }},
    {"exposed_TP_us", "us", "of it, for TP collectives",
     AppendExposed<kTensor>},
    {"exposed_CP_us", "us", "the same for CP", AppendExposed<kContext>},
    {"exposed_DP_us", "us", "the same for DP", AppendExposed<kData>},
    {"exposed_EP_us", "us", "the same for EP", AppendExposed<kExpert>},
    {"exposed_ETP_us", "us", "the same for ETP", AppendExposed<kExpertTensor>},
    {"exposed_DP_EP_us", "us", "the same for DP_EP",
     AppendExposed<kDataExpert>},
    {"exposed_PP_us", "us", "the same for messages of other stages",
     AppendExposed<kPipeline>},
    {"finish_us", "us",
     "compute + slowed + exposed; without a pipeline that is a formula",
     [](const RankResult& rank, std::string* text) {
       AppendUs(rank.finish, text);
     }},
};

}  // namespace

std::string IterationCsv(const SimulationResult& result) {
  std::string text = HeaderOf<RankResult>(kColumns);
  for (const RankResult& rank : result.ranks) {
    AppendRow<RankResult>(kColumns, rank, &text);
  }
  return text;
}

void AppendIterationColumns(std::vector<ColumnText>* texts) {
  AppendTexts<RankResult>(kFile, kColumns, texts);
}

}  // namespace astra
