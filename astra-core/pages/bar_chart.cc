#include "astra-core/pages/bar_chart.h"

#include <algorithm>
#include <cstddef>

#include "astra-core/base/json_writer.h"
#include "astra-core/pages/html.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Returns the indices of the parts that a bar has.
std::vector<size_t> PartsThatOccur(const BarChart& chart) {
  std::vector<size_t> parts;
  for (size_t i = 0; i < chart.parts.size(); ++i) {
    if (std::any_of(chart.bars.begin(), chart.bars.end(),
                    [i](const StackedBar& bar) { return bar.parts[i] > 0; })) {
      parts.push_back(i);
    }
  }
  return parts;
}

std::string NumbersOf(const BarChart& chart, const std::vector<size_t>& parts,
                      std::string_view label) {
  std::vector<HtmlColumn> columns = {{"bar", false}};
  for (const size_t part : parts) {
    columns.push_back(
        {fmt::format("{} {}", chart.parts[part].name, chart.unit), true});
  }
  columns.push_back({"whole", true});
  std::vector<std::vector<std::string>> rows;
  for (const StackedBar& bar : chart.bars) {
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(bar.name);
    for (const size_t part : parts) {
      row.push_back(fmt::format("{:.{}f}", bar.parts[part], chart.decimals));
    }
    row.push_back(bar.whole);
  }
  return HtmlTable(HtmlLabel(label), columns, rows);
}

}  // namespace

DrawnChart Draw(const BarChart& chart, std::string_view label) {
  const std::vector<size_t> parts = PartsThatOccur(chart);
  JsonWriter json(JsonCharacters::kAscii);
  json.BeginObject()
      .Field("kind", "bars")
      .Field("label", label)
      .Field("unit", chart.unit);
  json.Key("parts").BeginArray();
  for (const size_t part : parts) {
    json.BeginObject()
        .Field("name", chart.parts[part].name)
        .Field("colour", chart.parts[part].colour)
        .EndObject();
  }
  json.EndArray().Key("bars").BeginArray();
  for (const StackedBar& bar : chart.bars) {
    json.BeginObject().Field("name", bar.name).Field("whole", bar.whole);
    json.Key("parts").BeginArray();
    for (const size_t part : parts) {
      json.Number(bar.parts[part], kChartDigits);
    }
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject();
  return {json.text(), NumbersOf(chart, parts, label)};
}

}  // namespace astra
