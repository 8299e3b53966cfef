#include "astra-core/pages/timeline_chart.h"

#include <algorithm>

#include "astra-core/base/append_format.h"
#include "astra-core/pages/html.h"

namespace astra {
namespace {

constexpr double kRowHeight = 22;
constexpr double kWidth = 1000;

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

std::string LegendOf(absl::Span<const BarPart> kinds,
                     absl::Span<const TimelineRow> rows) {
  std::vector<bool> occurs(kinds.size());
  for (const TimelineRow& row : rows) {
    for (const TimelineSpan& span : row.spans) occurs[span.kind] = true;
  }
  std::string html = "<p class=\"legend note\">";
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (!occurs[i]) continue;
    AppendFormat(&html,
                 "<span><span class=\"swatch\" style=\"background:{}\"></span> "
                 "{}</span>\n",
                 kinds[i].colour, HtmlText(kinds[i].name));
  }
  return html + "</p>\n";
}

// Returns the times that the left edge, the right edge and three places between
// stand for; the script keeps them as readers zoom.
std::string TicksOf(double end) {
  constexpr int kSteps = 4;
  std::string html = "<p class=\"ticks note\" aria-hidden=\"true\">";
  for (int i = 0; i <= kSteps; ++i) {
    AppendFormat(&html, "<span>{:.6g}</span>", end * i / kSteps);
  }
  return html + "</p>";
}

}  // namespace

std::string TimelineChart(absl::Span<const BarPart> kinds,
                          absl::Span<const TimelineRow> rows,
                          std::string_view unit, std::string_view label) {
  double end = 0;
  for (const TimelineRow& row : rows) {
    if (!row.spans.empty()) end = std::max(end, row.spans.back().end);
  }
  if (end == 0) return HtmlNote("Nothing takes any time.");
  const std::vector<TimelineRow> thinned = Thinned(rows, end);
  const double height = kRowHeight * static_cast<double>(rows.size());
  std::string html = LegendOf(kinds, thinned);
  AppendFormat(&html,
               "<div class=\"timeline\" data-end=\"{:.9g}\" data-unit=\"{}\">"
               "<div class=\"names\">",
               end, HtmlText(unit));
  for (const TimelineRow& row : rows) {
    AppendFormat(&html, "<span>{}</span>", HtmlText(row.name));
  }
  AppendFormat(&html,
               "</div><svg viewBox=\"0 0 {:g} {:g}\" style=\"height:{:g}px\" "
               "preserveAspectRatio=\"none\" tabindex=\"0\" role=\"img\" "
               "aria-label=\"{}\">\n",
               kWidth, height, height, HtmlText(label));
  for (size_t i = 0; i < thinned.size(); ++i) {
    for (const TimelineSpan& span : thinned[i].spans) {
      AppendFormat(&html,
                   "<rect x=\"{:.4f}\" y=\"{:g}\" width=\"{:.4f}\" "
                   "height=\"{:g}\" fill=\"{}\">",
                   span.begin / end * kWidth,
                   kRowHeight * static_cast<double>(i) + 1,
                   (span.end - span.begin) / end * kWidth, kRowHeight - 2,
                   kinds[span.kind].colour);
      if (!span.title.empty()) {
        AppendFormat(&html, "<title>{}</title>", HtmlText(span.title));
      }
      html += "</rect>\n";
    }
  }
  html += "</svg>" + TicksOf(end);
  AppendFormat(&html,
               "<p class=\"window note\" aria-live=\"polite\">0 to {:.6g} "
               "{}</p></div>\n",
               end, HtmlText(unit));
  return html + HtmlNote(
                    "Zoom with the wheel, or + and -; move with the mouse, or "
                    "the arrow keys; 0 shows all.");
}

}  // namespace astra
