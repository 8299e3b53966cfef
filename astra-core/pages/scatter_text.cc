#include "astra-core/pages/scatter_text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include "astra-core/base/append_format.h"
#include "astra-core/pages/axis_ticks.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr int kGutter = 10;  // Columns left of the axis, with it.
constexpr int kRows = kScatterTextHeight - 3;
constexpr int kColumns = kScatterTextWidth - kGutter;

bool HasMark(const ScatterPoint& point) { return point.mark.size() == 1; }

char CharacterOf(const ScatterPoint& point) {
  if (HasMark(point)) return point.mark.front();
  return point.is_on_front ? '*' : '.';
}

// Returns the plane, row by row from the top.
std::vector<std::string> PlaneOf(const ScatterPlot& plot,
                                 const AxisTicks& across, const AxisTicks& up) {
  std::vector<std::string> plane(kRows, std::string(kColumns, ' '));
  const auto draw = [&](const auto& is_drawn) {
    for (const ScatterPoint& point : plot.points) {
      if (!is_drawn(point)) continue;
      const auto column =
          static_cast<size_t>(std::lround(across.At(point.x) * (kColumns - 1)));
      const auto row =
          static_cast<size_t>(std::lround((1 - up.At(point.y)) * (kRows - 1)));
      if (plane[row][column] == ' ') plane[row][column] = CharacterOf(point);
    }
  };
  draw(HasMark);
  draw([](const ScatterPoint& point) { return point.is_on_front; });
  draw([](const ScatterPoint&) { return true; });
  return plane;
}

// Returns about `steps` ticks that hold `member` of all points.
AxisTicks TicksOf(const ScatterPlot& plot, double ScatterPoint::*member,
                  int steps) {
  const auto [low, high] = std::minmax_element(
      plot.points.begin(), plot.points.end(),
      [member](const ScatterPoint& a, const ScatterPoint& b) {
        return a.*member < b.*member;
      });
  return RoundTicks((*low).*member, (*high).*member, steps);
}

std::string LineOfTicks(const AxisTicks& ticks, std::string_view name) {
  std::string line(kScatterTextWidth, ' ');
  const auto put = [&line](int at, std::string_view text) {
    line.replace(static_cast<size_t>(at), text.size(), text);
  };
  const int name_at = kScatterTextWidth - static_cast<int>(name.size());
  for (const double tick : ticks.values) {
    const std::string text = ticks.Text(tick);
    const int middle =
        kGutter +
        static_cast<int>(std::lround(ticks.At(tick) * (kColumns - 1)));
    const int at = middle - static_cast<int>(text.size()) / 2;
    if (at + static_cast<int>(text.size()) < name_at) put(at, text);
  }
  put(name_at, name);
  return line + "\n";
}

}  // namespace

std::string ScatterText(const ScatterPlot& plot) {
  constexpr int kStepsAcross = 5;
  constexpr int kStepsUp = 4;
  const AxisTicks across = TicksOf(plot, &ScatterPoint::x, kStepsAcross);
  const AxisTicks up = TicksOf(plot, &ScatterPoint::y, kStepsUp);
  const std::vector<std::string> plane = PlaneOf(plot, across, up);
  std::vector<std::string> names(kRows);
  for (const double tick : up.values) {
    names[static_cast<size_t>(std::lround((1 - up.At(tick)) * (kRows - 1)))] =
        up.Text(tick);
  }
  std::string text = plot.y_name + "\n";
  for (size_t row = 0; row < plane.size(); ++row) {
    std::string line = fmt::format("{:>{}} {}{}", names[row], kGutter - 2,
                                   names[row].empty() ? '|' : '+', plane[row]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  AppendFormat(&text, "{:>{}}{:->{}}\n", "+", kGutter, "", kColumns);
  return text + LineOfTicks(across, plot.x_name);
}

}  // namespace astra
