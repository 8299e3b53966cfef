#include "astra-core/pages/scatter_svg.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "astra-core/base/append_format.h"
#include "astra-core/pages/axis_ticks.h"
#include "astra-core/pages/html.h"

namespace astra {
namespace {

constexpr double kLeft = 80;
constexpr double kRight = 745;
constexpr double kTop = 15;
constexpr double kBottom = 385;
constexpr int kSteps = 6;

double XOf(const ScatterAxes& axes, const ScatterPoint& point) {
  return kLeft + (kRight - kLeft) * axes.across.At(point.x);
}

double YAt(const ScatterAxes& axes, double value) {
  return kBottom - (kBottom - kTop) * axes.up.At(value);
}

void AppendAxes(const ScatterPlot& plot, const ScatterAxes& axes,
                std::string* svg) {
  for (const double tick : axes.across.values) {
    const double x = kLeft + (kRight - kLeft) * axes.across.At(tick);
    AppendFormat(svg,
                 "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" "
                 "y1=\"{1}\" y2=\"{2}\"/><text x=\"{0:.1f}\" y=\"{3}\" "
                 "text-anchor=\"middle\">{4}</text>\n",
                 x, kTop, kBottom, kBottom + 18, axes.across.Text(tick));
  }
  for (const double tick : axes.up.values) {
    const double y = YAt(axes, tick);
    AppendFormat(svg,
                 "<line class=\"grid\" x1=\"{1}\" x2=\"{2}\" y1=\"{0:.1f}\" "
                 "y2=\"{0:.1f}\"/><text x=\"{3}\" y=\"{4:.1f}\" "
                 "text-anchor=\"end\">{5}</text>\n",
                 y, kLeft, kRight, kLeft - 8, y + 4, axes.up.Text(tick));
  }
  const auto label = [svg](std::string_view name, double x, double y,
                           int turn) {
    AppendFormat(svg,
                 "<text transform=\"translate({} {}) rotate({})\" "
                 "text-anchor=\"middle\">{}</text>\n",
                 x, y, turn, HtmlText(name));
  };
  label(plot.x_name, (kLeft + kRight) / 2, kBottom + 42, 0);
  label(plot.y_name, 16, (kTop + kBottom) / 2, -90);
  if (!plot.limit) return;
  const double y = YAt(axes, plot.limit->y);
  AppendFormat(svg,
               "<line class=\"limit\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" "
               "y2=\"{:.1f}\"/><text x=\"{}\" y=\"{:.1f}\" "
               "text-anchor=\"end\">{}</text>\n",
               kLeft, kRight, y, y, kRight - 4, y - 5,
               HtmlText(plot.limit->name));
}

void AppendPoint(const ScatterPoint& point, const ScatterAxes& axes,
                 std::string* svg) {
  const double x = XOf(axes, point);
  const double y = YAt(axes, point.y);
  AppendFormat(svg,
               "<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\">"
               "<title>{}</title></circle>\n",
               point.is_on_front ? "front" : "point", x, y,
               point.is_on_front ? "5" : "3.5", HtmlText(point.title));
}

// Appends the marks of the front, but for those that would lie on one another.
void AppendMarks(const std::vector<ScatterPoint>& front,
                 const ScatterAxes& axes, std::string* svg) {
  constexpr double kLineHeight = 13;
  constexpr double kCharacterWidth = 7.5;
  double end = 0;  // Of the last mark.
  double line = 0;
  for (const ScatterPoint& point : front) {
    const double x = XOf(axes, point) + 7;
    const double y = YAt(axes, point.y) - 6;
    if (x < end && std::abs(y - line) < kLineHeight) continue;
    AppendFormat(svg, "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x, y,
                 HtmlText(point.mark));
    end = x + kCharacterWidth * static_cast<double>(point.mark.size());
    line = y;
  }
}

}  // namespace

std::string ScatterSvg(const ScatterPlot& plot, std::string_view label) {
  const ScatterAxes axes = AxesOf(plot, kSteps, kSteps);
  std::string svg = "<svg viewBox=\"0 0 780 440\" role=\"img\" aria-label=\"" +
                    HtmlText(label) + "\">\n";
  AppendAxes(plot, axes, &svg);
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
                 XOf(axes, point), is_first ? " " : "V", YAt(axes, point.y));
  }
  if (!front.empty())
    AppendFormat(&svg, "<path class=\"step\" d=\"{}\"/>\n", path);
  for (const ScatterPoint& point : front) AppendPoint(point, axes, &svg);
  AppendMarks(front, axes, &svg);
  return svg + "</svg>\n";
}

}  // namespace astra
