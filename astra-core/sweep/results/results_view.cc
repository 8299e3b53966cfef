#include "astra-core/sweep/results/results_view.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/sweep/results/flat_json.h"
#include "astra-core/sweep/results/stored_sweep.h"
#include "astra-core/sweep/results/sweep_table.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr std::string_view kViewColumns[] = {
    "number",    "key",    "state",   "reason",
    "exit_code", "wall_s", "cpu_s",   "peak_memory_mib",
    "host",      "ended",  "attempts"};

// SQLite allows at most 2000 columns.
constexpr size_t kMaxColumns = 1900;

// Returns `text` as an SQL name (quote '"') or an SQL text (quote '\'').
std::string SqlQuoted(std::string_view text, char quote) {
  std::string quoted(1, quote);
  for (const char c : text) {
    if (c == quote) quoted += quote;
    quoted += c;
  }
  return quoted + quote;
}

// Returns SQL for the value of `name` in the JSON object `column`.
std::string ValueSql(std::string_view column, const std::string& name) {
  // SQLite's JSON paths cannot express names that JSON escapes.
  const bool has_path =
      IsPlain(name) && name.find_first_of("\"\\") == std::string::npos;
  if (has_path) {
    return fmt::format("json_extract({}, {})", column,
                       SqlQuoted(fmt::format("$.\"{}\"", name), '\''));
  }
  return fmt::format("(SELECT value FROM json_each({}) WHERE key = {})", column,
                     SqlQuoted(name, '\''));
}

// Returns the metrics of the plan's runs, in the order of the points.
absl::StatusOr<std::vector<std::string>> MetricNames(const Database& database,
                                                     size_t max_names) {
  ASTRA_ASSIGN_OR_RETURN(
      Statement runs,
      database.Prepare("SELECT runs.key, runs.metrics FROM points JOIN runs ON "
                       "runs.key = points.key AND runs.state <> 'pending' "
                       "ORDER BY points.number"));
  NameList list;
  FlatJson json;
  while (true) {
    ASTRA_ASSIGN_OR_RETURN(const bool has_row, runs.Step());
    if (!has_row) break;
    if (!json.Read(runs.Text(1))) {
      return DamagedStore(database, "the metrics of run " + runs.Text(0));
    }
    for (size_t i = 0; i < json.numbers.size(); ++i) {
      list.PositionOf(json.numbers[i].name, i);
    }
  }
  std::vector<std::string> names = list.names();
  // An SQL statement ends at a zero byte.
  names.erase(std::remove_if(names.begin(), names.end(),
                             [](const std::string& name) {
                               return name.find('\0') != std::string::npos;
                             }),
              names.end());
  names.resize(std::min(names.size(), max_names));
  return names;
}

std::string ViewSql(const std::vector<std::string>& variables,
                    const std::set<std::string>& number_variables,
                    const std::vector<std::string>& metrics) {
  const ColumnNames columns = DistinctColumns(kViewColumns, variables, metrics);
  std::string sql =
      "DROP VIEW IF EXISTS results; CREATE VIEW results AS SELECT "
      "points.number AS number, points.key AS key, coalesce(runs.state, "
      "'pending') AS state, coalesce(runs.reason, '') AS reason";
  for (size_t i = 0; i < variables.size(); ++i) {
    const std::string value = ValueSql("points.variables", variables[i]);
    const bool is_number = number_variables.count(variables[i]) != 0;
    sql += fmt::format(
        ", {} AS {}",
        is_number ? fmt::format("CAST({} AS NUMERIC)", value) : value,
        SqlQuoted(columns.variables[i], '"'));
  }
  for (size_t i = 0; i < metrics.size(); ++i) {
    sql += fmt::format(", {} AS {}", ValueSql("runs.metrics", metrics[i]),
                       SqlQuoted(columns.metrics[i], '"'));
  }
  return sql +
         ", exit_code, wall_s, cpu_s, peak_memory_mib, host, ended, attempts "
         "FROM points LEFT JOIN runs ON runs.key = points.key "
         "AND runs.state <> 'pending' "
         "ORDER BY points.number";
}

}  // namespace

absl::Status MakeResultsView(const Database& database) {
  ASTRA_ASSIGN_OR_RETURN(std::vector<std::string> variables,
                         GetStoredTexts(database, "variables"));
  ASTRA_ASSIGN_OR_RETURN(const std::vector<std::string> numbers,
                         GetStoredTexts(database, "number_variables"));
  constexpr size_t kMaxOthers = kMaxColumns - std::size(kViewColumns);
  variables.resize(std::min(variables.size(), kMaxOthers));
  ASTRA_ASSIGN_OR_RETURN(const std::vector<std::string> metrics,
                         MetricNames(database, kMaxOthers - variables.size()));
  ASTRA_RETURN_IF_ERROR(database.Run(
      ViewSql(variables, {numbers.begin(), numbers.end()}, metrics)));
  return PutStoredTexts(database, "metrics", metrics);
}

}  // namespace astra
