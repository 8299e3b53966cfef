#include "collectives/measurements/svg_plot.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>

#include "fmt/core.h"

namespace astra {
namespace {

// Sizes of the layout, in pixels unless they count something.
constexpr size_t kPanelsInRow = 4;
constexpr double kPanelWidth = 340;
constexpr double kHeadHeight = 40;
constexpr double kLeft = 52;  // Begin and end of the axes in a panel.
constexpr double kRight = 326;
constexpr double kPlotHeight = 190;
constexpr double kLineHeight = 13;
constexpr double kXAxisHeight = 34;
constexpr double kMargin = 16;
// Largest length of a name in characters. The title of the page may have twice
// as many.
constexpr size_t kMaxTextLength = 50;

constexpr std::string_view kColours[] = {"#0072b2", "#d55e00", "#009e73",
                                         "#cc79a7", "#e69f00", "#56b4e9",
                                         "#000000"};

std::string_view ColourOf(size_t series) {
  return kColours[series % std::size(kColours)];
}

bool IsDrawn(const PlotPoint& point) {
  return std::isfinite(point.x) && std::isfinite(point.y) && point.x > 0 &&
         point.y > 0;
}

std::string Escaped(std::string_view text, size_t max_length = kMaxTextLength) {
  std::string escaped;
  for (const char c : text.substr(0, max_length)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      default:
        escaped += c >= ' ' && c <= '~' ? c : '?';
    }
  }
  if (text.size() > max_length) escaped += "...";
  return escaped;
}

// Whole decades and their positions on the page.
class Axis {
 public:
  Axis(double begin, double end) : begin_(begin), end_(end) {}

  void Include(double value) {
    low_ = std::min(low_, static_cast<int>(std::floor(std::log10(value))));
    high_ = std::max(high_, static_cast<int>(std::ceil(std::log10(value))));
  }
  // Makes the axis at least one decade, or 1 to 10 if nothing was included.
  void Finish() {
    if (low_ > high_) low_ = high_ = 0;
    if (low_ == high_) ++high_;
  }

  int low() const { return low_; }
  int high() const { return high_; }
  double At(double exponent) const {
    return begin_ + (end_ - begin_) * (exponent - low_) / (high_ - low_);
  }
  double Of(double value) const { return At(std::log10(value)); }

 private:
  double begin_;
  double end_;
  int low_ = std::numeric_limits<int>::max();
  int high_ = std::numeric_limits<int>::min();
};

double HeightOf(const PlotPanel& panel) {
  const auto num_lines =
      static_cast<double>(panel.title.size() + panel.series.size());
  return kLineHeight * num_lines + kPlotHeight + kXAxisHeight + kMargin;
}

// Draws a panel whose upper left corner is (left, top).
class PanelWriter {
 public:
  PanelWriter(const PlotPanel& panel, double left, double top)
      : panel_(panel),
        left_(left),
        top_(top),
        plot_top_(top + kLineHeight * static_cast<double>(panel.title.size()) +
                  6),
        x_(left + kLeft, left + kRight),
        y_(plot_top_ + kPlotHeight, plot_top_) {
    for (const PlotSeries& series : panel.series) {
      Include(series.dots);
      Include(series.line);
    }
    x_.Finish();
    y_.Finish();
  }

  std::string Write() {
    for (size_t i = 0; i < panel_.title.size(); ++i) {
      Text(left_ + kLeft, top_ + kLineHeight * static_cast<double>(i + 1),
           i == 0 ? "t" : "s", panel_.title[i]);
    }
    WriteAxes();
    for (size_t i = 0; i < panel_.series.size(); ++i) WriteSeries(i);
    return std::move(svg_);
  }

 private:
  void Include(const std::vector<PlotPoint>& points) {
    for (const PlotPoint& point : points) {
      if (!IsDrawn(point)) continue;
      x_.Include(point.x);
      y_.Include(point.y);
    }
  }

  void Text(double x, double y, std::string_view style, std::string_view text) {
    svg_ +=
        fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                    style, x, y, Escaped(text));
  }

  void Grid(double x1, double y1, double x2, double y2) {
    svg_ +=
        fmt::format("<path class=\"g\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>\n",
                    x1, y1, x2, y2);
  }

  void WriteAxes() {
    const double bottom = plot_top_ + kPlotHeight;
    for (int i = x_.low(); i <= x_.high(); ++i) {
      Grid(x_.At(i), plot_top_, x_.At(i), bottom);
      Text(x_.At(i), bottom + 12, "m", fmt::format("1e{}", i));
    }
    for (int i = y_.low(); i <= y_.high(); ++i) {
      Grid(left_ + kLeft, y_.At(i), left_ + kRight, y_.At(i));
      Text(left_ + kLeft - 4, y_.At(i) + 3, "e", fmt::format("1e{}", i));
    }
    Text(left_ + (kLeft + kRight) / 2, bottom + 26, "m", panel_.x_label);
    const double x = left_ + 12;
    const double y = plot_top_ + kPlotHeight / 2;
    svg_ += fmt::format(
        "<text class=\"m\" transform=\"translate({:.1f} {:.1f}) "
        "rotate(-90)\">{}</text>\n",
        x, y, Escaped(panel_.y_label));
  }

  void WriteLine(const std::vector<PlotPoint>& points,
                 std::string_view colour) {
    std::string path;
    size_t num_points = 0;
    for (const PlotPoint& point : points) {
      if (!IsDrawn(point)) continue;
      ++num_points;
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L',
                          x_.Of(point.x), y_.Of(point.y));
    }
    if (num_points == 0) return;
    // A single point is drawn as a short dash.
    svg_ += fmt::format("<path class=\"l\" stroke=\"{}\" d=\"{}{}\"/>\n",
                        colour, path, num_points == 1 ? "m-5 0h10" : "");
  }

  void WriteSeries(size_t i) {
    const PlotSeries& series = panel_.series[i];
    WriteLine(series.line, ColourOf(i));
    for (const PlotPoint& point : series.dots) {
      if (!IsDrawn(point)) continue;
      svg_ += fmt::format(
          "<circle r=\"2.5\" stroke=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\"/>\n",
          ColourOf(i), x_.Of(point.x), y_.Of(point.y));
    }
    const double y = plot_top_ + kPlotHeight + kXAxisHeight +
                     kLineHeight * static_cast<double>(i);
    svg_ += fmt::format(
        "<text class=\"s\" fill=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
        ColourOf(i), left_ + kLeft, y + 6, Escaped(series.name));
  }

  const PlotPanel& panel_;
  double left_;
  double top_;
  double plot_top_;
  Axis x_;
  Axis y_;
  std::string svg_;
};

constexpr std::string_view kStyle =
    "<style>text{font-family:sans-serif;font-size:10px}"
    ".h{font-size:15px}.t{font-weight:bold}.m{text-anchor:middle}"
    ".e{text-anchor:end}.g{stroke:#ddd;fill:none}"
    ".l{fill:none;stroke-width:1.5}circle{fill:none}</style>\n";

}  // namespace

std::string FormatSvg(const std::string& title,
                      absl::Span<const PlotPanel> panels) {
  std::string body;
  double top = kHeadHeight;
  for (size_t begin = 0; begin < panels.size(); begin += kPanelsInRow) {
    double height = 0;
    const size_t end = std::min(begin + kPanelsInRow, panels.size());
    for (size_t i = begin; i < end; ++i) {
      const double left = kPanelWidth * static_cast<double>(i - begin);
      body += PanelWriter(panels[i], left, top).Write();
      height = std::max(height, HeightOf(panels[i]));
    }
    top += height;
  }
  const double width = kPanelWidth * kPanelsInRow;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\">\n{2}"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text class=\"h\" x=\"{3:.0f}\" y=\"24\">{4}</text>\n{5}</svg>\n",
      width, top, kStyle, kLeft, Escaped(title, 2 * kMaxTextLength), body);
}

}  // namespace astra
