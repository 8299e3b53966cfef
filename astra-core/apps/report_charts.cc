#include "astra-core/apps/report_charts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/apps/time_parts.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/breakdown.h"
#include "astra-core/pages/bar_chart.h"
#include "astra-core/pages/html.h"
#include "astra-core/pages/line_chart.h"
#include "astra-core/pages/timeline_chart.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr size_t kMostStages = 64;  // Or ranks.

// By stage: the index of its rank that works longest, the lowest of several.
std::vector<size_t> BusiestRanks(const SimulationResult& result) {
  std::map<uint32_t, size_t> ranks;
  for (size_t i = 0; i < result.ranks.size(); ++i) {
    const auto [known, is_new] = ranks.try_emplace(result.ranks[i].stage, i);
    const RankResult& best = result.ranks[known->second];
    const RankResult& rank = result.ranks[i];
    if (!is_new && rank.compute + rank.slowed > best.compute + best.slowed) {
      known->second = i;
    }
  }
  std::vector<size_t> order;
  for (const auto& [stage, rank] : ranks) {
    if (order.size() < kMostStages) order.push_back(rank);
  }
  return order;
}

// Returns the indices of all ranks; of many, of some that are evenly spread.
std::vector<size_t> SpreadRanks(const SimulationResult& result) {
  const size_t num_ranks = result.ranks.size();
  const size_t num_shown = std::min(num_ranks, kMostStages);
  std::vector<size_t> shown;
  for (size_t i = 0; i < num_shown; ++i) {
    shown.push_back(i * num_ranks / num_shown);
  }
  return shown;
}

std::vector<size_t> RanksOf(bool has_stages, const SimulationResult& result) {
  return has_stages ? BusiestRanks(result) : SpreadRanks(result);
}

std::string NameOf(bool has_stages, const RankResult& rank) {
  return has_stages ? fmt::format("stage {}, rank {}", rank.stage, rank.rank)
                    : fmt::format("rank {}", rank.rank);
}

// Adds a wait: until the last member of the collective had joined, or the
// message was sent, and then until the result.
void AddWait(const Span& span, const CallSpan& call, const Communication& what,
             const std::string& name, TimelineRow& row) {
  const bool is_message = what.dimension == ParallelDimension::kPipeline;
  const TimePs ready = std::clamp(call.start, span.begin, span.end);
  const auto add = [&](TimePs begin, TimePs end, size_t kind,
                       std::string_view why) {
    if (begin == end) return;
    row.spans.push_back({ToMilliseconds(begin), ToMilliseconds(end), kind,
                         fmt::format("{}: waits {:.6f} ms {}", name,
                                     ToMilliseconds(end - begin), why)});
  };
  if (is_message) {
    add(span.begin, ready, TimePartOf(TimeCategory::kBubble),
        "until another stage sends");
    add(ready, span.end, TimePartOf(TimeCategory::kTransfer),
        "for the message of another stage");
    return;
  }
  const std::string collective =
      fmt::format("{} over {}", Name(what.kind), Name(what.dimension));
  add(span.begin, ready, TimePartOf(TimeCategory::kLate),
      "for the last rank of " + collective);
  add(ready, span.end, TimePartOf(what.dimension), "for " + collective);
}

// Adds a wait for the CPU or a copy.
void AddHostWait(const Span& span, const std::string& name, TimelineRow& row) {
  row.spans.push_back(
      {ToMilliseconds(span.begin), ToMilliseconds(span.end),
       TimePartOf(TimeCategory::kHost),
       fmt::format("{}: waits {:.6f} ms for the CPU or a copy", name,
                   ToMilliseconds(span.end - span.begin))});
}

TimelineRow RowOf(bool has_stages, const SimulationResult& result,
                  size_t rank) {
  TimelineRow row{NameOf(has_stages, result.ranks[rank]), {}};
  const RankTimeline& timeline = result.timeline.ranks[rank];
  for (const Span& span : timeline.spans) {
    const std::string& layer = result.layer_names[span.layer.index()];
    const std::string batch =
        span.micro_batch < 0
            ? ""
            : fmt::format(", micro-batch {}", span.micro_batch);
    const std::string name =
        fmt::format("{} {}{}", layer, Name(span.phase), batch);
    if (span.is_wait()) {
      const CallSpan& call = timeline.calls[span.call];
      if (call.role == CallRole::kDelay) {
        AddHostWait(span, name, row);
      } else {
        AddWait(span, call, result.collectives[call.record].communication, name,
                row);
      }
      continue;
    }
    row.spans.push_back({ToMilliseconds(span.begin), ToMilliseconds(span.end),
                         TimePartOf(TimeCategory::kCompute),
                         fmt::format("{}: {:.6f} ms", name,
                                     ToMilliseconds(span.end - span.begin))});
  }
  return row;
}

}  // namespace

std::string BreakdownSection(bool has_stages, const SimulationResult& result,
                             Page& page) {
  std::vector<StackedBar> bars;
  for (const size_t rank : RanksOf(has_stages, result)) {
    StackedBar& bar = bars.emplace_back();
    bar.name = NameOf(has_stages, result.ranks[rank]);
    bar.parts.resize(std::size(kTimeParts));
    for (const TimePart& part : TimePartsOf(result.ranks[rank], result)) {
      bar.parts[TimePartOf(part.category, part.dimension)] +=
          ToMilliseconds(part.time);
    }
    bar.whole = fmt::format("{:.3f} ms", ToMilliseconds(result.total()));
  }
  return HtmlSection(
      "time", "Where the time goes",
      HtmlNote(fmt::format(
          "{}A wait counts for its group once all ranks of the group have "
          "joined, and as late until then.",
          has_stages ? "Of each stage the rank that works longest. " : "")) +
          page.Add(Draw(BarChart{kTimeParts, bars, "ms"},
                        "Where the time of an iteration goes")));
}

std::string TimelineSection(bool has_stages, const SimulationResult& result,
                            Page& page) {
  if (result.timeline.empty()) return "";
  std::vector<TimelineRow> rows;
  for (const size_t rank : RanksOf(has_stages, result)) {
    rows.push_back(RowOf(has_stages, result, rank));
  }
  std::string html;
  if (result.timeline.skipped) {
    html += HtmlNote(fmt::format(
        "{} repetitions of the schedule went as those shown and are left out.",
        result.timeline.skipped->times));
  }
  html += page.Add(Draw(TimelineChart{kTimeParts, rows, "ms"},
                        has_stages
                            ? "What a rank of each stage computes and waits for"
                            : "What ranks compute and wait for"));
  return HtmlSection("timeline", "Timeline", html);
}

std::string MemorySection(const Program& program,
                          absl::Span<const StageMemory> memories, Page& page) {
  if (memories.empty()) return "";
  LineChart chart;
  chart.x.name = "slot of the schedule";
  chart.y = {.name = "GiB allocated on a rank", .from_zero = true};
  for (const StageMemory& memory : memories) {
    if (chart.lines.size() == kMostStages) break;
    ChartLine& line = chart.lines.emplace_back();
    line.name = fmt::format("stage {}", memory.stage);
    for (const MemoryPoint& point : memory.points) {
      line.points.push_back({.x = static_cast<double>(line.points.size()),
                             .y = ToGib(point.bytes)});
    }
    if (memory.after > Bytes(0)) {
      line.points.push_back({.x = static_cast<double>(line.points.size()),
                             .y = ToGib(memory.after)});
    }
  }
  return HtmlSection(
      "memory", "Memory",
      page.Add(Draw(chart, "Memory of each stage over its schedule")) +
          "<pre>" + HtmlText(DescribeMemory(program, memories)) + "</pre>");
}

}  // namespace astra
