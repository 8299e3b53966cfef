#include "astra-core/pages/line_chart.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "astra-core/base/json_writer.h"
#include "astra-core/pages/html.h"
#include "fmt/core.h"

namespace astra {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string_view NameOf(LineJoin join) {
  switch (join) {
    case LineJoin::kStraight:
      return "straight";
    case LineJoin::kSteps:
      return "steps";
    case LineJoin::kNone:
      return "none";
  }
  return "straight";
}

void WriteAxis(std::string_view key, const ChartAxis& axis, JsonWriter& json) {
  json.Key(key).BeginObject().Field("name", axis.name);
  if (axis.is_log) json.Flag("log", true);
  if (axis.from_zero) json.Flag("zero", true);
  json.EndObject();
}

void WriteLimit(std::string_view axis, const std::optional<ChartLimit>& limit,
                JsonWriter& json) {
  if (!limit) return;
  json.Key("limit")
      .BeginObject()
      .Field("axis", axis)
      .Field("name", limit->name);
  json.Key("at").Number(limit->at, kChartDigits).EndObject();
}

// Writes [x, y, mark, title] without what is empty at its end.
void WritePoint(const LinePoint& point, JsonWriter& json) {
  json.BeginArray().Number(point.x, kChartDigits).Number(point.y, kChartDigits);
  if (!point.mark.empty() || !point.title.empty()) json.Text(point.mark);
  if (!point.title.empty()) json.Text(point.title);
  json.EndArray();
}

std::string JsonOf(const LineChart& chart, std::string_view label) {
  JsonWriter json(JsonCharacters::kAscii);
  json.BeginObject().Field("kind", "lines").Field("label", label);
  WriteAxis("x", chart.x, json);
  WriteAxis("y", chart.y, json);
  WriteLimit("x", chart.x_limit, json);
  WriteLimit("y", chart.y_limit, json);
  json.Key("lines").BeginArray();
  for (const ChartLine& line : chart.lines) {
    json.BeginObject()
        .Field("name", line.name)
        .Field("join", NameOf(line.join));
    if (chart.has_dots) json.Flag("dots", true);
    json.Key("points").BeginArray();
    for (const LinePoint& point : line.points) WritePoint(point, json);
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject();
  return json.text();
}

std::string Number(double value) { return fmt::format("{:.6g}", value); }

// Returns whether all lines have the same values of `member`, in their order.
bool IsShared(const LineChart& chart, double LinePoint::*member) {
  const std::vector<LinePoint>& first = chart.lines.front().points;
  return std::all_of(
      chart.lines.begin(), chart.lines.end(), [&](const ChartLine& line) {
        return std::equal(line.points.begin(), line.points.end(), first.begin(),
                          first.end(),
                          [member](const LinePoint& a, const LinePoint& b) {
                            return a.*member == b.*member;
                          });
      });
}

// Returns a table with the shared quantity and a column for each line.
std::string TableByLine(const LineChart& chart, std::string_view label,
                        bool x_is_shared) {
  const auto shared = x_is_shared ? &LinePoint::x : &LinePoint::y;
  const auto other = x_is_shared ? &LinePoint::y : &LinePoint::x;
  const auto& [shared_axis, other_axis] =
      x_is_shared ? std::tie(chart.x, chart.y) : std::tie(chart.y, chart.x);
  std::vector<HtmlColumn> columns = {{shared_axis.name, true}};
  for (const ChartLine& line : chart.lines) {
    columns.push_back({fmt::format("{} {}", line.name, other_axis.name), true});
  }
  Rows rows;
  for (size_t i = 0; i < chart.lines.front().points.size(); ++i) {
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(Number(chart.lines.front().points[i].*shared));
    for (const ChartLine& line : chart.lines) {
      row.push_back(Number(line.points[i].*other));
    }
  }
  return HtmlTable(HtmlLabel(label), columns, rows);
}

std::string NumbersOf(const LineChart& chart, std::string_view label) {
  if (!chart.has_numbers || chart.lines.empty()) return "";
  if (IsShared(chart, &LinePoint::x)) return TableByLine(chart, label, true);
  if (IsShared(chart, &LinePoint::y)) return TableByLine(chart, label, false);
  Rows rows;
  for (const ChartLine& line : chart.lines) {
    for (const LinePoint& point : line.points) {
      rows.push_back({line.name, Number(point.x), Number(point.y)});
    }
  }
  return HtmlTable(
      HtmlLabel(label),
      std::vector<HtmlColumn>{
          {"line", false}, {chart.x.name, true}, {chart.y.name, true}},
      rows);
}

}  // namespace

DrawnChart Draw(const LineChart& chart, std::string_view label) {
  return {JsonOf(chart, label), NumbersOf(chart, label)};
}

}  // namespace astra
