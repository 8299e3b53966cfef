// What several ranks did over time, one row for each.
//
//   charts.Add(Draw(TimelineChart{.kinds = kTimeParts, .rows = rows, .unit =
//   "ms"},
//                   "What ranks compute and wait for"));

#ifndef ASTRA_CORE_PAGES_TIMELINE_CHART_H_
#define ASTRA_CORE_PAGES_TIMELINE_CHART_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/pages/bar_chart.h"
#include "astra-core/pages/drawn_chart.h"

namespace astra {

struct TimelineSpan {
  double begin = 0;
  double end = 0;
  size_t kind = 0;    // Index into the kinds of the chart.
  std::string title;  // What it is, for readers who point at it.
};

struct TimelineRow {
  std::string name;
  std::vector<TimelineSpan> spans;  // In order, without overlaps.
};

struct TimelineChart {
  absl::Span<const BarPart> kinds;
  absl::Span<const TimelineRow> rows;
  std::string_view unit;
};

// Most spans of all rows; shorter ones are drawn as one with the next.
inline constexpr size_t kMostTimelineSpans = 6000;

// Returns the rows on one scale from 0 to the last end. `label` says in words
// what the chart shows, and names its table. Spans too short to be seen are
// joined with those next to them, and then have no title. Requires a span that
// takes time.
DrawnChart Draw(const TimelineChart& chart, std::string_view label);

}  // namespace astra

#endif  // ASTRA_CORE_PAGES_TIMELINE_CHART_H_
