#include "astra-core/pages/timeline_chart.h"

#include <algorithm>
#include <cstdint>

#include "astra-core/base/json_writer.h"
#include "astra-core/pages/html.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Joins spans that are shorter than `least` with the one before, unless that is
// long. The longer of two gives its kind.
std::vector<TimelineSpan> Joined(const std::vector<TimelineSpan>& spans,
                                 double least) {
  std::vector<TimelineSpan> joined;
  double longest = 0;  // Of the spans that the last one is made of.
  for (const TimelineSpan& span : spans) {
    const double length = span.end - span.begin;
    const bool is_short = length < least;
    if (!joined.empty() && is_short &&
        joined.back().end - joined.back().begin < least) {
      TimelineSpan& last = joined.back();
      last.end = span.end;
      last.title.clear();
      if (length > longest) last.kind = span.kind;
      longest = std::max(longest, length);
      continue;
    }
    joined.push_back(span);
    longest = length;
  }
  return joined;
}

size_t CountOf(absl::Span<const TimelineRow> rows) {
  size_t count = 0;
  for (const TimelineRow& row : rows) count += row.spans.size();
  return count;
}

// Returns the rows with spans joined until they are few.
std::vector<TimelineRow> Thinned(absl::Span<const TimelineRow> rows,
                                 double end) {
  std::vector<TimelineRow> thinned(rows.begin(), rows.end());
  for (double least = end / 4000; CountOf(thinned) > kMostTimelineSpans;
       least *= 2) {
    for (TimelineRow& row : thinned) row.spans = Joined(row.spans, least);
  }
  return thinned;
}

void WriteKinds(absl::Span<const BarPart> kinds, JsonWriter& json) {
  json.Key("kinds").BeginArray();
  for (const BarPart& kind : kinds) {
    json.BeginObject()
        .Field("name", kind.name)
        .Field("colour", kind.colour)
        .EndObject();
  }
  json.EndArray();
}

std::string NumbersOf(const TimelineChart& chart,
                      absl::Span<const TimelineRow> rows,
                      std::string_view label) {
  std::vector<std::vector<std::string>> cells;
  for (const TimelineRow& row : rows) {
    for (const TimelineSpan& span : row.spans) {
      cells.push_back({row.name, fmt::format("{:.6f}", span.begin),
                       fmt::format("{:.6f}", span.end),
                       std::string(chart.kinds[span.kind].name), span.title});
    }
  }
  return HtmlTable(
      HtmlLabel(label),
      std::vector<HtmlColumn>{{"row", false},
                              {fmt::format("begin {}", chart.unit), true},
                              {fmt::format("end {}", chart.unit), true},
                              {"kind", false},
                              {"what", false}},
      cells);
}

}  // namespace

DrawnChart Draw(const TimelineChart& chart, std::string_view label) {
  double end = 0;
  for (const TimelineRow& row : chart.rows) {
    if (!row.spans.empty()) end = std::max(end, row.spans.back().end);
  }
  const std::vector<TimelineRow> rows = Thinned(chart.rows, end);
  JsonWriter json(JsonCharacters::kAscii);
  json.BeginObject()
      .Field("kind", "timeline")
      .Field("label", label)
      .Field("unit", chart.unit);
  WriteKinds(chart.kinds, json);
  json.Key("rows").BeginArray();
  for (const TimelineRow& row : rows) {
    json.BeginObject().Field("name", row.name).Key("spans").BeginArray();
    for (const TimelineSpan& span : row.spans) {
      json.BeginArray()
          .Number(span.begin, kChartDigits)
          .Number(span.end, kChartDigits)
          .Integer(static_cast<int64_t>(span.kind));
      if (!span.title.empty()) json.Text(span.title);
      json.EndArray();
    }
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject();
  return {json.text(), NumbersOf(chart, rows, label)};
}

}  // namespace astra
