#include "astra-core/pages/pie_chart.h"

#include "absl/strings/str_join.h"
#include "astra-core/base/json_writer.h"
#include "astra-core/pages/html.h"
#include "fmt/core.h"

namespace astra {

DrawnChart Draw(const PieChart& chart, std::string_view label) {
  double whole = 0;
  for (const PieSlice& slice : chart.slices) whole += slice.size;
  std::vector<HtmlColumn> columns = {{"", false}};
  for (const std::string& name : chart.columns) columns.push_back({name, true});
  columns.push_back({"%", true});
  std::vector<std::vector<std::string>> rows;
  JsonWriter json(JsonCharacters::kAscii);
  json.BeginObject().Field("kind", "pie").Field("label", label);
  json.Key("slices").BeginArray();
  for (const PieSlice& slice : chart.slices) {
    const std::string share =
        fmt::format("{:.2f}", whole > 0 ? 100 * slice.size / whole : 0);
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(slice.name);
    row.insert(row.end(), slice.cells.begin(), slice.cells.end());
    row.push_back(share);
    json.BeginObject().Field("name", slice.name);
    json.Key("size").Number(slice.size, kChartDigits);
    json.Field("text", fmt::format("{}, {} %", absl::StrJoin(slice.cells, ", "),
                                   share));
    json.EndObject();
  }
  json.EndArray().EndObject();
  return {json.text(), HtmlTable(HtmlLabel(label), columns, rows), true};
}

}  // namespace astra
