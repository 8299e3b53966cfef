#include "astra-core/pages/scatter_svg.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "astra-core/base/append_format.h"
#include "astra-core/pages/html.h"
#include "astra-core/pages/plot_axes.h"

namespace astra {
namespace {

constexpr int kSteps = 6;

void AppendLimit(const PlotAxes& axes, const ScatterLimit& limit,
                 std::string* svg) {
  const double y = axes.YOf(limit.y);
  AppendFormat(svg,
               "<line class=\"limit\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" "
               "y2=\"{:.1f}\"/><text x=\"{}\" y=\"{:.1f}\" "
               "text-anchor=\"end\">{}</text>\n",
               kPlotLeft, kPlotRight, y, y, kPlotRight - 4, y - 5,
               HtmlText(limit.name));
}

void AppendPoint(const ScatterPoint& point, const PlotAxes& axes,
                 std::string* svg) {
  const double x = axes.XOf(point.x);
  const double y = axes.YOf(point.y);
  AppendFormat(svg,
               "<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\">"
               "<title>{}</title></circle>\n",
               point.is_on_front ? "front" : "point", x, y,
               point.is_on_front ? "5" : "3.5", HtmlText(point.title));
}

// Appends the marks of the front, but for those that would lie on one another.
void AppendMarks(const std::vector<ScatterPoint>& front, const PlotAxes& axes,
                 std::string* svg) {
  constexpr double kLineHeight = 13;
  constexpr double kCharacterWidth = 7.5;
  double end = 0;  // Of the last mark.
  double line = 0;
  for (const ScatterPoint& point : front) {
    const double x = axes.XOf(point.x) + 7;
    const double y = axes.YOf(point.y) - 6;
    if (x < end && std::abs(y - line) < kLineHeight) continue;
    AppendFormat(svg, "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x, y,
                 HtmlText(point.mark));
    end = x + kCharacterWidth * static_cast<double>(point.mark.size());
    line = y;
  }
}

}  // namespace

std::string ScatterSvg(const ScatterPlot& plot, std::string_view label) {
  const PlotAxes axes = AxesOf(plot, kSteps, kSteps);
  std::string svg = PlotBegin(label);
  AppendPlotAxes(axes, plot.x_name, plot.y_name, &svg);
  if (plot.limit) AppendLimit(axes, *plot.limit, &svg);
  std::vector<ScatterPoint> front;
  for (const ScatterPoint& point : plot.points) {
    if (point.is_on_front) {
      front.push_back(point);
    } else {
      AppendPoint(point, axes, &svg);
    }
  }
  std::sort(front.begin(), front.end(),
            [](const ScatterPoint& a, const ScatterPoint& b) {
              return std::pair(a.x, a.y) < std::pair(b.x, b.y);
            });
  std::string path;
  for (const ScatterPoint& point : front) {
    const bool is_first = path.empty();
    AppendFormat(&path, "{}{:.1f}{}{:.1f}", is_first ? "M" : "H",
                 axes.XOf(point.x), is_first ? " " : "V", axes.YOf(point.y));
  }
  if (!front.empty())
    AppendFormat(&svg, "<path class=\"step\" d=\"{}\"/>\n", path);
  for (const ScatterPoint& point : front) AppendPoint(point, axes, &svg);
  AppendMarks(front, axes, &svg);
  return svg + "</svg>\n";
}

}  // namespace astra
