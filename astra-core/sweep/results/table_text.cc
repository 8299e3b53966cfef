#include "astra-core/sweep/results/table_text.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "astra-core/base/csv.h"
#include "astra-core/base/json_writer.h"
#include "astra-core/sweep/sweep_value.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr std::string_view kTextColumns[] = {
    "point",           "state", "reason", "wall_s",  "cpu_s",
    "peak_memory_mib", "host",  "ended",  "attempts"};

// Returns the JSON value that `text` stands for in an expression.
std::string ValueJson(const std::string& text) {
  const SweepValue value = ValueOf(text);
  const bool is_text = std::holds_alternative<std::string>(value);
  return is_text ? JsonQuoted(text) : TextOf(value);
}

std::vector<std::string> JsonTexts(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  quoted.reserve(texts.size());
  for (const std::string& text : texts) quoted.push_back(JsonQuoted(text));
  return quoted;
}

std::string CostJson(const PointCost& cost) {
  return fmt::format(
      R"({{"wall_s":{},"cpu_s":{},"peak_memory_mib":{},"host":{},"ended":{},)"
      R"("attempts":{}}})",
      cost.wall_s, cost.cpu_s, cost.peak_memory_mib, JsonQuoted(cost.host),
      JsonQuoted(cost.ended), cost.attempts);
}

void AppendCost(const std::optional<PointCost>& cost, std::string& text) {
  if (!cost) {
    text += ",,,,,,";
    return;
  }
  text += fmt::format(",{},{},{},{},{},{}", cost->wall_s, cost->cpu_s,
                      cost->peak_memory_mib, CsvField(cost->host),
                      CsvField(cost->ended), cost->attempts);
}

std::string HeaderLine(const SweepTable& table, bool cost) {
  const ColumnNames names =
      DistinctColumns(kTextColumns, table.variables, table.metrics);
  std::string text = "point";
  for (const std::string& name : names.variables) text += ',' + CsvField(name);
  text += ",state,reason";
  for (const std::string& name : names.metrics) text += ',' + CsvField(name);
  if (cost) text += ",wall_s,cpu_s,peak_memory_mib,host,ended,attempts";
  return text + '\n';
}

}  // namespace

std::string TableCsv(const SweepTable& table, bool cost) {
  std::string text = HeaderLine(table, cost);
  for (const SweepRow& row : table.rows) {
    text += fmt::format("{}", row.number);
    for (const std::string& value : row.values) text += ',' + CsvField(value);
    text +=
        fmt::format(",{},{}", PointStateName(row.state), CsvField(row.reason));
    for (const std::optional<double>& metric : row.metrics) {
      text += ',';
      if (metric) text += fmt::format("{}", *metric);
    }
    if (cost) AppendCost(row.cost, text);
    text += '\n';
  }
  return text;
}

std::string TableJsonLines(const SweepTable& table) {
  const std::vector<std::string> variables = JsonTexts(table.variables);
  const std::vector<std::string> metrics = JsonTexts(table.metrics);
  std::string text;
  for (const SweepRow& row : table.rows) {
    text += fmt::format(
        R"({{"point":{},"state":"{}","reason":{},"variables":{{)", row.number,
        PointStateName(row.state), JsonQuoted(row.reason));
    std::string_view separator;
    for (size_t i = 0; i < variables.size(); ++i) {
      text += fmt::format("{}{}:{}", separator, variables[i],
                          ValueJson(row.values[i]));
      separator = ",";
    }
    text += R"(},"metrics":{)";
    separator = "";
    for (size_t i = 0; i < metrics.size(); ++i) {
      if (!row.metrics[i]) continue;
      text += fmt::format("{}{}:{}", separator, metrics[i], *row.metrics[i]);
      separator = ",";
    }
    text += fmt::format(R"(}},"key":{})", JsonQuoted(row.key));
    if (row.cost) text += fmt::format(R"(,"cost":{})", CostJson(*row.cost));
    text += "}\n";
  }
  return text;
}

}  // namespace astra
