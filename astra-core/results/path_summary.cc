#include "astra-core/results/path_summary.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/base/check.h"
#include "astra-core/results/summary_lines.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr size_t kMaxParts = 12;  // Lines of the critical path.
constexpr size_t kMaxStages = 8;  // Those that have most of the path.
constexpr size_t kMaxBounds = 3;  // Lines on what bounds the path.

std::string NameOf(const PathPart& part, const SimulationResult& result,
                   bool has_stages) {
  const std::string& layer = result.layer_names[part.layer.index()];
  const auto& [kind, dimension, bytes] = part.communication;
  switch (part.kind) {
    case PathKind::kCompute:
      return fmt::format("{} {}", layer, Name(part.phase));
    case PathKind::kCollective:
      return fmt::format("{} {}, {} over {}", layer, Name(part.phase),
                         Name(kind), Name(dimension));
    case PathKind::kMessage:
      if (!has_stages) return fmt::format("message {}", layer);
      return fmt::format("message {}", part.phase == Phase::kForward
                                           ? "of activations"
                                           : "of gradients");
    case PathKind::kHost:
      return fmt::format("CPU or copy {}", layer);
  }
  ASTRA_CHECK(false, "path kind {}", static_cast<int>(part.kind));
}

std::string_view NameOf(PathKind kind, ParallelDimension dimension) {
  switch (kind) {
    case PathKind::kCompute:
      return "compute";
    case PathKind::kCollective:
      return Name(dimension);
    case PathKind::kMessage:
      return "messages";
    case PathKind::kHost:
      return "CPU and copies";
  }
  ASTRA_CHECK(false, "path kind {}", static_cast<int>(kind));
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
    text += fmt::format("{}{} {:.2f} %", text.empty() ? "" : ", ",
                        NameOf(key.first, key.second), PercentOf(time, total));
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
  stages.resize(std::min(kMaxStages, stages.size()));
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

std::string PartLine(const PathPart& part, const SimulationResult& result,
                     bool has_stages) {
  const std::string stages =
      !has_stages ? ""
      : part.first_stage == part.last_stage
          ? fmt::format("stage {}", part.first_stage)
          : fmt::format("stages {}-{}", part.first_stage, part.last_stage);
  return fmt::format("    {:<46} {:<13} x {:<7}{:>15} {:6.2f} %\n",
                     NameOf(part, result, has_stages), stages, part.count,
                     Milliseconds(part.time),
                     PercentOf(part.time, result.total()));
}

}  // namespace

std::string PathLines(absl::Span<const PathPiece> path,
                      const Topology& topology, const SimulationResult& result,
                      bool has_stages) {
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
    text += PartLine(parts[i], result, has_stages);
    rest -= parts[i].time;
  }
  if (num_shown == parts.size()) return text;
  return text + RestLine(fmt::format("{} more", parts.size() - num_shown), rest,
                         total);
}

}  // namespace astra
