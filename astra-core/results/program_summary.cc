#include "astra-core/results/program_summary.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/engine/work_rates.h"
#include "astra-core/results/path_summary.h"
#include "astra-core/results/summary_lines.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr size_t kMaxStages = 16;  // Lines of the table of stages.

TimePs WaitedForStages(const RankResult& rank) {
  return rank.exposed_in[IndexOf(ParallelDimension::kPipeline)];
}

// Returns the rank of each stage that works longest; the lowest of several.
std::vector<const RankResult*> BusiestOfStages(const SimulationResult& result) {
  std::map<uint32_t, const RankResult*> busiest;
  const auto work = [](const RankResult& rank) {
    return rank.finish - WaitedForStages(rank);
  };
  for (const RankResult& rank : result.ranks) {
    const auto [found, is_first] = busiest.try_emplace(rank.stage, &rank);
    if (!is_first && work(rank) > work(*found->second)) found->second = &rank;
  }
  std::vector<const RankResult*> ranks;
  ranks.reserve(busiest.size());
  for (const auto& [_, rank] : busiest) ranks.push_back(rank);
  return ranks;
}

std::string StageLine(const RankResult& rank, TimePs total) {
  constexpr size_t kPipeline = IndexOf(ParallelDimension::kPipeline);
  const TimePs bubble = rank.late_in[kPipeline];
  const TimePs transfer = rank.exposed_in[kPipeline] - bubble;
  const TimePs columns[] = {
      rank.compute, rank.slowed, rank.exposed - rank.exposed_in[kPipeline],
      transfer,     bubble,      total - rank.finish};
  std::string line =
      fmt::format("    stage {:<4}rank {:<7}", rank.stage, rank.rank.index());
  for (const TimePs column : columns) {
    line += fmt::format("{:>9.2f}", PercentOf(column, total));
  }
  return line + "\n";
}

// Returns a table of stages; of many stages, an evenly spread selection.
std::string StageLines(const SimulationResult& result) {
  const std::vector<const RankResult*> ranks = BusiestOfStages(result);
  if (ranks.size() == 1) return "";
  std::string text = fmt::format(
      "  stages, in % of the iteration\n    "
      "{:<22}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}"
      "\n",
      "", "compute", "slowed", "exposed", "message", "bubble", "idle");
  const size_t num_shown = std::min(kMaxStages, ranks.size());
  for (size_t i = 0; i < num_shown; ++i) {
    const size_t stage = i * (ranks.size() - 1) / (num_shown - 1);
    text += StageLine(*ranks[stage], result.total());
  }
  return text;
}

// The bubble that equal stages and free messages would leave, and the rest.
std::string BubbleLines(const Program& program,
                        const SimulationResult& result) {
  if (program.sizes().pipeline == 1) return "";
  const std::string_view schedule =
      program.forward_only() ? "forward only" : Name(program.schedule());
  const TimePs bubble = result.pipeline.bubble;
  const TimePs of_schedule =
      std::min(bubble, ShareOf(IdealBubbleShare(program), result.stage_time));
  std::string text =
      TimeLine("pipeline bubble", bubble, result.total()) +
      fmt::format("    {:<16}{}, as with equal stages and free messages\n",
                  schedule, Milliseconds(of_schedule));
  if (bubble == of_schedule) return text;
  return text + fmt::format("    {:<16}{}, for slower stages and messages\n",
                            "waiting", Milliseconds(bubble - of_schedule));
}

}  // namespace

double IdealBubbleShare(const Program& program) {
  const ParallelSizes& sizes = program.sizes();
  if (program.forward_only()) {
    return (static_cast<double>(sizes.pipeline) - 1) /
           static_cast<double>(sizes.micro_batches);
  }
  return IdealBubbleShare(program.schedule(),
                          {.stages = sizes.pipeline,
                           .chunks = sizes.virtual_stages,
                           .micro_batches = sizes.micro_batches});
}

double BubbleShare(const SimulationResult& result) {
  return PercentOf(result.pipeline.bubble, result.stage_time) / 100;
}

std::string DescribeTime(const Program& program, const Topology& topology,
                         const SimulationResult& result,
                         absl::Span<const PathPiece> path,
                         const Bounds& bounds) {
  const TimePs total = result.total();
  std::string text = TimeLine("iteration", total, total);
  text += TimeLine("compute", result.compute, total);
  if (result.slowed > TimePs(0)) {
    text += TimeLine(
        result.has_slow_gpus ? "slowed, in all" : "slowed by collectives",
        result.slowed, total);
  }
  text += CollectiveLines(topology, result);
  if (result.pipeline.num_messages > 0) text += MessageLines(topology, result);
  text += BubbleLines(program, result) + StageLines(result);
  text += PathLines(path, topology, result, /*has_stages=*/true);
  text += DescribeRates(RatesOf(program, total));
  text += DescribeBounds(bounds, total);
  return text + LinkLines(topology, result);
}

}  // namespace astra
