#include "astra-core/pages/line_chart.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "astra-core/base/append_format.h"
#include "astra-core/base/check.h"
#include "astra-core/pages/axis_ticks.h"
#include "astra-core/pages/html.h"
#include "astra-core/pages/plot_axes.h"

namespace astra {
namespace {

constexpr int kSteps = 6;

// Patterns of dashes of the first lines; others begin again.
constexpr std::string_view kDashes[] = {"", "7 4", "2 3", "10 3 2 3"};

std::string_view ColourOf(size_t line) {
  return kChartColours[line % std::size(kChartColours)];
}

std::string_view DashesOf(size_t line) {
  return kDashes[line % std::size(kDashes)];
}

// Returns ticks that hold `member` of all points, and `also`.
AxisTicks TicksOf(const LineChart& chart, double LinePoint::*member,
                  bool is_log, bool from_zero, std::optional<double> also) {
  double low = 0;
  double high = 0;
  bool is_first = true;
  for (const ChartLine& line : chart.lines) {
    for (const LinePoint& point : line.points) {
      low = is_first ? point.*member : std::min(low, point.*member);
      high = is_first ? point.*member : std::max(high, point.*member);
      is_first = false;
    }
  }
  ASTRA_CHECK(!is_first, "a chart of {} has no point", chart.y_name);
  if (also) low = std::min(low, *also);
  if (also) high = std::max(high, *also);
  if (is_log) return LogTicks(low, high);
  if (!from_zero) return RoundTicks(low, high, kSteps);
  // Only zeros: they lie on the axis, not between two ticks.
  return RoundTicks(std::min(0.0, low), high > 0 ? high : 1, kSteps);
}

void AppendLimit(const PlotAxes& axes, const ChartLimit& limit,
                 std::string* svg) {
  const double x = axes.XOf(limit.x);
  // Its name stands on the side that has more room.
  const bool is_right = x > (kPlotLeft + kPlotRight) / 2;
  AppendFormat(svg,
               "<line class=\"limit\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" "
               "y1=\"{1}\" y2=\"{2}\"/><text x=\"{3:.1f}\" y=\"{4}\" "
               "text-anchor=\"{5}\">{6}</text>\n",
               x, kPlotTop, kPlotBottom, x + (is_right ? -5 : 5), kPlotTop + 12,
               is_right ? "end" : "start", HtmlText(limit.name));
}

void AppendLine(const PlotAxes& axes, const ChartLine& line, size_t index,
                bool has_dots, std::string* svg) {
  *svg += "<path class=\"line\" ";
  AppendFormat(svg, "style=\"stroke:{}", ColourOf(index));
  if (!DashesOf(index).empty()) {
    AppendFormat(svg, ";stroke-dasharray:{}", DashesOf(index));
  }
  *svg += "\" d=\"";
  for (size_t i = 0; i < line.points.size(); ++i) {
    AppendFormat(svg, "{}{:.1f} {:.1f}", i == 0 ? "M" : "L",
                 axes.XOf(line.points[i].x), axes.YOf(line.points[i].y));
  }
  AppendFormat(svg, "\"><title>{}</title></path>\n", HtmlText(line.name));
  if (!has_dots) return;
  for (const LinePoint& point : line.points) {
    const double x = axes.XOf(point.x);
    const double y = axes.YOf(point.y);
    AppendFormat(svg,
                 "<circle style=\"fill:{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" "
                 "r=\"4\"><title>{}</title></circle>\n",
                 ColourOf(index), x, y, HtmlText(point.title));
    if (point.mark.empty()) continue;
    AppendFormat(svg, "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x + 7,
                 y - 6, HtmlText(point.mark));
  }
}

std::string LegendOf(const LineChart& chart) {
  std::string html = "<p class=\"legend note\">";
  for (size_t i = 0; i < chart.lines.size(); ++i) {
    AppendFormat(
        &html,
        "<span><svg class=\"key\" viewBox=\"0 0 28 8\" "
        "aria-hidden=\"true\"><path class=\"line\" "
        "style=\"stroke:{};stroke-dasharray:{}\" d=\"M0 4H28\"/></svg> "
        "{}</span>\n",
        ColourOf(i), DashesOf(i).empty() ? "none" : DashesOf(i),
        HtmlText(chart.lines[i].name));
  }
  return html + "</p>\n";
}

}  // namespace

std::string LineChartSvg(const LineChart& chart, std::string_view label) {
  std::optional<double> limit;
  if (chart.limit) limit = chart.limit->x;
  const PlotAxes axes = {
      TicksOf(chart, &LinePoint::x, chart.x_is_log, chart.x_from_zero, limit),
      TicksOf(chart, &LinePoint::y, chart.y_is_log,
              /*from_zero=*/true, std::nullopt)};
  std::string svg = chart.lines.size() > 1 ? LegendOf(chart) : "";
  svg += PlotBegin(label);
  AppendPlotAxes(axes, chart.x_name, chart.y_name, &svg);
  if (chart.limit) AppendLimit(axes, *chart.limit, &svg);
  for (size_t i = 0; i < chart.lines.size(); ++i) {
    AppendLine(axes, chart.lines[i], i, chart.has_dots, &svg);
  }
  return svg + "</svg>\n";
}

}  // namespace astra
