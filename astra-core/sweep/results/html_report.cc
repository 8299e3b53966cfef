#include "astra-core/sweep/results/html_report.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/json_writer.h"
#include "astra-core/pages/html.h"
#include "astra-core/pages/page.h"
#include "astra-core/sweep/results/ranking.h"
#include "fmt/core.h"

namespace astra {

// Contents of the files report.html and report_*.js.
std::string_view ReportPage();
std::string_view ReportSweepScript();
std::string_view ReportBestScript();
std::string_view ReportTableScript();
std::string_view ReportPlotsScript();

namespace {

constexpr size_t kMaxPlainRows = 20;

// Returns what a user typed as HTML; bytes that are not UTF-8 become U+FFFD.
std::string TypedText(std::string_view text) {
  return HtmlText(ValidUtf8(text));
}

void AddRow(const SweepRow& row, JsonWriter& json) {
  json.BeginObject()
      .Field("number", row.number)
      .Field("state", PointStateName(row.state))
      .Field("reason", row.reason);
  json.Key("values").Texts(row.values);
  json.Key("metrics").BeginArray();
  for (const std::optional<double>& metric : row.metrics) {
    metric ? json.Number(*metric) : json.Null();
  }
  json.EndArray();
  json.Key("commands").Texts(row.commands);
  json.EndObject();
}

JsonWriter TableJson(const SweepTable& table, bool repeats) {
  JsonWriter json(JsonCharacters::kAscii);
  json.BeginObject()
      .Field("program", table.program)
      .Field("version", table.version);
  json.Key("variables").Texts(table.variables);
  json.Field("num_axes", table.num_axes);
  json.Key("axis_values").BeginArray();
  for (const auto& values : table.axis_values) json.Texts(values);
  json.EndArray();
  json.Flag("repeats", repeats);
  json.Key("metrics").Texts(table.metrics);
  json.Key("objectives").BeginArray();
  for (const SweepObjective& objective : table.objectives) {
    json.BeginObject()
        .Field("metric", objective.metric)
        .Flag("maximize", objective.maximize)
        .EndObject();
  }
  json.EndArray();
  json.Key("warnings").Texts(table.warnings);
  json.Key("rows").BeginArray();
  for (const SweepRow& row : table.rows) AddRow(row, json);
  json.EndArray().EndObject();
  return json;
}

std::string TableLine(std::string_view tag,
                      absl::Span<const std::string> cells) {
  std::string line = "<tr>";
  for (const std::string& cell : cells) {
    line += fmt::format("<{0}>{1}</{0}>", tag, TypedText(cell));
  }
  return line + "</tr>\n";
}

std::vector<std::string> PlainHeader(const SweepTable& table) {
  std::vector<std::string> cells = {"point"};
  cells.insert(
      cells.end(), table.variables.begin(),
      table.variables.begin() + static_cast<ptrdiff_t>(table.num_axes));
  for (const SweepObjective& objective : table.objectives) {
    cells.push_back(objective.metric);
  }
  return cells;
}

std::vector<std::string> PlainCells(const SweepTable& table,
                                    const SweepRow& row) {
  std::vector<std::string> cells = {fmt::format("{}", row.number)};
  cells.insert(cells.end(), row.values.begin(),
               row.values.begin() + static_cast<ptrdiff_t>(table.num_axes));
  for (const SweepObjective& objective : table.objectives) {
    const std::optional<size_t> metric = FindMetric(table, objective.metric);
    const bool has_value = metric && row.metrics[*metric];
    cells.push_back(has_value ? fmt::format("{:.6g}", *row.metrics[*metric])
                              : "");
  }
  return cells;
}

// Returns the table for browsers that do not run scripts.
std::string PlainTable(const SweepTable& table) {
  const std::vector<size_t> ranked = RankedRows(table);
  const size_t shown = std::min(ranked.size(), kMaxPlainRows);
  std::string text = fmt::format(
      "<p>The best {} of {} points that have {}, of {}. The whole report needs "
      "JavaScript.</p>\n<table>\n",
      shown, ranked.size(), TypedText(table.objectives.front().metric),
      table.rows.size());
  text += TableLine("th", PlainHeader(table));
  for (size_t i = 0; i < shown; ++i) {
    text += TableLine("td", PlainCells(table, table.rows[ranked[i]]));
  }
  return text + "</table>";
}

}  // namespace

std::string HtmlReport(const SweepTable& table) {
  const SweepTable merged = MergeRepeats(table);
  const std::string name = TypedText(table.name);
  // The first script holds what all others share.
  const std::string script =
      fmt::format("{}\n{}\n{}\n{}", ReportSweepScript(), ReportBestScript(),
                  ReportTableScript(), ReportPlotsScript());
  return FillPage(
      ReportPage(),
      {{"@name@", name},
       {"@style@", PageStyle()},
       {"@name@", name},
       {"@best_rows@", PlainTable(merged)},
       {"@sweep@", ScriptJson(TableJson(merged, table.has_repeats).text())},
       {"@charts@", ChartScripts()},
       {"@script@", script}});
}

}  // namespace astra
