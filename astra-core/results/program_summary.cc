#include "astra-core/results/program_summary.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/base/check.h"
#include "astra-core/engine/work_rates.h"
#include "astra-core/results/summary_lines.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr size_t kMaxParts = 12;   // Lines of the critical path.
constexpr size_t kMaxStages = 16;  // Lines of the table of stages.
constexpr size_t kMaxBounds = 3;   // Lines on what bounds the path.

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

std::string NameOf(const PathPart& part, const SimulationResult& result) {
  const std::string& layer = result.layer_names[part.layer.index()];
  const auto& [kind, dimension, bytes] = part.communication;
  switch (part.kind) {
    case PathKind::kCompute:
      return fmt::format("{} {}", layer, Name(part.phase));
    case PathKind::kCollective:
      return fmt::format("{} {}, {} over {}", layer, Name(part.phase),
                         Name(kind), Name(dimension));
    case PathKind::kMessage:
      return fmt::format("message {}", part.phase == Phase::kForward
                                           ? "of activations"
                                           : "of gradients");
  }
  ASTRA_CHECK(false, "path kind {}", static_cast<int>(part.kind));
}

// Returns text such as "compute 61.2 %, TP 20.1 %, messages 3.0 %".
std::string PathShares(absl::Span<const PathPart> parts, TimePs total) {
  std::map<std::pair<PathKind, ParallelDimension>, TimePs> sums;
  for (const PathPart& part : parts) {
    const bool is_collective = part.kind == PathKind::kCollective;
    sums[{part.kind, is_collective ? part.communication.dimension
                                   : ParallelDimension::kTensor}] += part.time;
  }
  std::string text;
  for (const auto& [key, time] : sums) {
    const std::string_view name = key.first == PathKind::kCompute ? "compute"
                                  : key.first == PathKind::kCollective
                                      ? Name(key.second)
                                      : "messages";
    text += fmt::format("{}{} {:.2f} %", text.empty() ? "" : ", ", name,
                        PercentOf(time, total));
  }
  return text;
}

// Returns text such as "0: 8.50 %, 1: 91.50 %" for the stages that have most of
// the path.
std::string StageShares(absl::Span<const PathPiece> path,
                        const SimulationResult& result) {
  std::map<uint32_t, TimePs> times;
  for (const PathPiece& piece : path) {
    times[result.ranks[piece.rank].stage] += piece.time();
  }
  std::vector<std::pair<uint32_t, TimePs>> stages(times.begin(), times.end());
  std::stable_sort(
      stages.begin(), stages.end(),
      [](const auto& a, const auto& b) { return a.second > b.second; });
  stages.resize(std::min(kMaxStages / 2, stages.size()));
  std::string text;
  for (const auto& [stage, time] : stages) {
    text += fmt::format("{}{}: {:.2f} %", text.empty() ? "" : ", ", stage,
                        PercentOf(time, result.total()));
  }
  return text;
}

std::string RestLine(std::string_view what, TimePs time, TimePs total) {
  return fmt::format("    {:<70}{:>15} {:6.2f} %\n", what, Milliseconds(time),
                     PercentOf(time, total));
}

// Lists the links, or the latency, that bound the collectives and messages of
// the critical path, the one that bounds most time first.
std::string BoundLines(absl::Span<const PathPiece> path,
                       const Topology& topology,
                       const SimulationResult& result) {
  std::map<std::string, TimePs> times;
  for (const PathPiece& piece : path) {
    if (piece.record == PathPiece::kNoRecord) continue;
    const CollectiveRecord& record = result.collectives[piece.record];
    times[record.is_measured        ? "the busbw file"
          : record.is_latency_bound ? "latency"
                                    : topology.LinkName(record.bottleneck)] +=
        piece.time();
  }
  std::vector<std::pair<std::string, TimePs>> bounds(times.begin(),
                                                     times.end());
  std::stable_sort(
      bounds.begin(), bounds.end(),
      [](const auto& a, const auto& b) { return a.second > b.second; });
  bounds.resize(std::min(kMaxBounds, bounds.size()));
  std::string text;
  for (const auto& [bound, time] : bounds) {
    text += RestLine("communication bound by " + bound, time, result.total());
  }
  return text;
}

std::string PartLine(const PathPart& part, const SimulationResult& result) {
  const std::string stages =
      part.first_stage == part.last_stage
          ? fmt::format("stage {}", part.first_stage)
          : fmt::format("stages {}-{}", part.first_stage, part.last_stage);
  return fmt::format("    {:<46} {:<13} x {:<7}{:>15} {:6.2f} %\n",
                     NameOf(part, result), stages, part.count,
                     Milliseconds(part.time),
                     PercentOf(part.time, result.total()));
}

std::string PathLines(absl::Span<const PathPiece> path,
                      const Topology& topology,
                      const SimulationResult& result) {
  if (path.empty()) {
    return "  critical path         not known: too much to keep; --trace keeps "
           "it\n";
  }
  const TimePs total = result.total();
  const std::vector<PathPart> parts = PartsOf(path, result);
  std::string text =
      fmt::format("  critical path         {}\n", PathShares(parts, total));
  if (result.ranks.back().stage > 0) {
    text += fmt::format("    by stage        {}\n", StageShares(path, result));
  }
  text += BoundLines(path, topology, result);
  TimePs rest = total;
  const size_t num_shown = std::min(kMaxParts, parts.size());
  for (size_t i = 0; i < num_shown; ++i) {
    text += PartLine(parts[i], result);
    rest -= parts[i].time;
  }
  if (num_shown == parts.size()) return text;
  return text + RestLine(fmt::format("{} more", parts.size() - num_shown), rest,
                         total);
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
  text += PathLines(path, topology, result);
  text += DescribeRates(RatesOf(program, total));
  text += DescribeBounds(bounds, total);
  return text + LinkLines(topology, result);
}

}  // namespace astra
