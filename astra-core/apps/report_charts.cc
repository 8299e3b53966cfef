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
#include "astra-core/engine/breakdown.h"
#include "astra-core/pages/html.h"
#include "astra-core/pages/line_chart.h"
#include "astra-core/pages/stacked_bars.h"
#include "astra-core/pages/timeline_chart.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr size_t kMostStages = 64;

double Milliseconds(TimePs time) { return ToMicroseconds(time) * 1e-3; }

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

std::string NameOf(const RankResult& rank) {
  return fmt::format("stage {}, rank {}", rank.stage, rank.rank);
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
    row.spans.push_back({Milliseconds(begin), Milliseconds(end), kind,
                         fmt::format("{}: waits {:.6f} ms {}", name,
                                     Milliseconds(end - begin), why)});
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

TimelineRow RowOf(const SimulationResult& result, size_t rank) {
  TimelineRow row{NameOf(result.ranks[rank]), {}};
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
      AddWait(span, call, result.collectives[call.record].communication, name,
              row);
      continue;
    }
    row.spans.push_back({Milliseconds(span.begin), Milliseconds(span.end),
                         TimePartOf(TimeCategory::kCompute),
                         fmt::format("{}: {:.6f} ms", name,
                                     Milliseconds(span.end - span.begin))});
  }
  return row;
}

}  // namespace

std::string BreakdownSection(const Program& program,
                             const SimulationResult& result) {
  if (!program.simulates_pipeline()) return "";
  std::vector<StackedBar> bars;
  for (const size_t rank : BusiestRanks(result)) {
    StackedBar& bar = bars.emplace_back();
    bar.name = NameOf(result.ranks[rank]);
    bar.parts.resize(std::size(kTimeParts));
    for (const TimePart& part : TimePartsOf(result.ranks[rank], result)) {
      bar.parts[TimePartOf(part.category, part.dimension)] +=
          Milliseconds(part.time);
    }
    bar.whole = fmt::format("{:.3f} ms", Milliseconds(result.total()));
  }
  return HtmlSection(
      "time", "Where the time goes",
      HtmlNote("Of each stage the rank that works longest. A wait counts for "
               "its group once all ranks of the group have joined, and as late "
               "until then.") +
          StackedBars(kTimeParts, bars, "ms"));
}

std::string TimelineSection(const Program& program,
                            const SimulationResult& result) {
  if (!program.simulates_pipeline() || result.timeline.empty()) return "";
  std::vector<TimelineRow> rows;
  for (const size_t rank : BusiestRanks(result)) {
    rows.push_back(RowOf(result, rank));
  }
  std::string html;
  if (result.timeline.skipped) {
    html += HtmlNote(fmt::format(
        "{} repetitions of the schedule went as those shown and are left out.",
        result.timeline.skipped->times));
  }
  html += TimelineChart(kTimeParts, rows, "ms",
                        "What a rank of each stage computes and waits for");
  return HtmlSection("timeline", "Timeline", html);
}

std::string MemorySection(const Program& program,
                          absl::Span<const StageMemory> memories) {
  if (memories.empty()) return "";
  constexpr double kGib = 0x1p30;
  LineChart chart;
  chart.x_name = "slot of the schedule";
  chart.y_name = "GiB allocated on a rank";
  for (const StageMemory& memory : memories) {
    if (chart.lines.size() == kMostStages) break;
    ChartLine& line = chart.lines.emplace_back();
    line.name = fmt::format("stage {}", memory.stage);
    for (const MemoryPoint& point : memory.points) {
      line.points.push_back(
          {.x = static_cast<double>(line.points.size()),
           .y = static_cast<double>(point.bytes.count()) / kGib});
    }
    if (memory.after > Bytes(0)) {
      line.points.push_back(
          {.x = static_cast<double>(line.points.size()),
           .y = static_cast<double>(memory.after.count()) / kGib});
    }
  }
  return HtmlSection(
      "memory", "Memory",
      LineChartSvg(chart, "Memory of each stage over its schedule") + "<pre>" +
          HtmlText(DescribeMemory(program, memories)) + "</pre>");
}

}  // namespace astra
