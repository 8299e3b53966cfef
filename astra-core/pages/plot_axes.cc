#include "astra-core/pages/plot_axes.h"

#include "astra-core/base/append_format.h"
#include "astra-core/pages/html.h"

namespace astra {

double PlotAxes::XOf(double value) const {
  return kPlotLeft + (kPlotRight - kPlotLeft) * across.At(value);
}

double PlotAxes::YOf(double value) const {
  return kPlotBottom - (kPlotBottom - kPlotTop) * up.At(value);
}

std::string PlotBegin(std::string_view label) {
  return "<svg viewBox=\"0 0 780 440\" role=\"img\" aria-label=\"" +
         HtmlText(label) + "\">\n";
}

void AppendPlotAxes(const PlotAxes& axes, std::string_view x_name,
                    std::string_view y_name, std::string* svg) {
  for (const double tick : axes.across.values) {
    AppendFormat(svg,
                 "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" "
                 "y1=\"{1}\" y2=\"{2}\"/><text x=\"{0:.1f}\" y=\"{3}\" "
                 "text-anchor=\"middle\">{4}</text>\n",
                 axes.XOf(tick), kPlotTop, kPlotBottom, kPlotBottom + 18,
                 axes.across.Text(tick));
  }
  for (const double tick : axes.up.values) {
    const double y = axes.YOf(tick);
    AppendFormat(svg,
                 "<line class=\"grid\" x1=\"{1}\" x2=\"{2}\" y1=\"{0:.1f}\" "
                 "y2=\"{0:.1f}\"/><text x=\"{3}\" y=\"{4:.1f}\" "
                 "text-anchor=\"end\">{5}</text>\n",
                 y, kPlotLeft, kPlotRight, kPlotLeft - 8, y + 4,
                 axes.up.Text(tick));
  }
  const auto label = [svg](std::string_view name, double x, double y,
                           int turn) {
    AppendFormat(svg,
                 "<text transform=\"translate({} {}) rotate({})\" "
                 "text-anchor=\"middle\">{}</text>\n",
                 x, y, turn, HtmlText(name));
  };
  label(x_name, (kPlotLeft + kPlotRight) / 2, kPlotBottom + 42, 0);
  label(y_name, 16, (kPlotTop + kPlotBottom) / 2, -90);
}

}  // namespace astra
