// Draws what several ranks did over time, one row for each, within a page of
// HtmlPage(). Readers zoom and move with the wheel, the mouse or the keyboard.

#ifndef ASTRA_CORE_PAGES_TIMELINE_CHART_H_
#define ASTRA_CORE_PAGES_TIMELINE_CHART_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/pages/stacked_bars.h"

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

// Most spans of all rows; shorter ones are drawn as one with the next.
inline constexpr size_t kMostTimelineSpans = 6000;

// Returns the rows on one scale from 0 to the last end, in `unit`, with a
// legend of the kinds that occur. `label` says in words what it shows. Spans
// too short to be seen are joined with those next to them, and then have no
// title.
std::string TimelineChart(absl::Span<const BarPart> kinds,
                          absl::Span<const TimelineRow> rows,
                          std::string_view unit, std::string_view label);

}  // namespace astra

#endif  // ASTRA_CORE_PAGES_TIMELINE_CHART_H_
