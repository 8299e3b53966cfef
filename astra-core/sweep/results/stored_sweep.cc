#include "astra-core/sweep/results/stored_sweep.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <variant>

#include "astra-core/base/json_writer.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/sweep/results/flat_json.h"
#include "fmt/core.h"

namespace astra {
namespace {

bool IsTrue(std::string_view text) { return text == "true"; }

// Returns `texts` as a JSON array.
std::string ArrayOf(absl::Span<const std::string> texts) {
  return JsonWriter().Texts(texts).text();
}

absl::Status PutValue(const Database& database, std::string_view name,
                      std::string_view value) {
  ASTRA_ASSIGN_OR_RETURN(
      Statement put,
      database.Prepare("INSERT OR REPLACE INTO sweep VALUES (?, ?)"));
  put.Bind(1, name);
  put.Bind(2, value);
  return put.Run();
}

absl::StatusOr<std::string> GetValue(const Database& database,
                                     std::string_view name) {
  ASTRA_ASSIGN_OR_RETURN(std::optional<std::string> value,
                         FindStoredValue(database, name));
  if (value) return *std::move(value);
  return absl::InvalidArgumentError(
      fmt::format("{}: holds no sweep yet: there is no \"{}\" in its table "
                  "\"sweep\"",
                  database.path(), name));
}

absl::StatusOr<FlatJson> GetFlatJson(const Database& database,
                                     std::string_view name) {
  ASTRA_ASSIGN_OR_RETURN(const std::string text, GetValue(database, name));
  FlatJson json;
  if (json.Read(text)) return json;
  return DamagedStore(database, fmt::format("\"{}\" of its sweep", name));
}

bool IsNumber(const SweepPoint& point, const std::string& variable) {
  const auto found = point.variables.find(variable);
  if (found == point.variables.end()) return false;
  const SweepValue value = ValueOf(found->second);
  return std::holds_alternative<int64_t>(value) ||
         std::holds_alternative<double>(value);
}

std::vector<std::string> NumberVariables(const SweepPoints& points) {
  std::vector<std::string> names;
  for (const std::string& name : points.variables) {
    const bool are_numbers =
        std::all_of(points.points.begin(), points.points.end(),
                    [&](const SweepPoint& p) { return IsNumber(p, name); });
    if (are_numbers) names.push_back(name);
  }
  return names;
}

// Returns the distinct names of the steps of each axis, in the order of the
// file.
std::string AxesJson(const Sweep& sweep) {
  JsonWriter json;
  json.BeginObject();
  for (const SweepAxis& axis : sweep.axes) {
    const auto own =
        std::find(axis.variables.begin(), axis.variables.end(), axis.name) -
        axis.variables.begin();
    json.Key(axis.name).BeginArray();
    std::set<std::string_view> seen;
    for (const std::vector<std::string>& step : axis.steps) {
      const std::string& value = step[static_cast<size_t>(own)];
      if (seen.insert(value).second) json.Text(value);
    }
    json.EndArray();
  }
  return json.EndObject().text();
}

absl::Status GetAxes(const Database& database, SweepTable& table) {
  ASTRA_ASSIGN_OR_RETURN(const std::string text, GetValue(database, "axes"));
  const bool is_right = ReadTextLists(text, &table.axis_values) &&
                        table.axis_values.size() <= table.variables.size();
  table.num_axes = table.axis_values.size();
  return is_right ? absl::OkStatus()
                  : DamagedStore(database, "\"axes\" of its sweep");
}

absl::StatusOr<std::vector<ComputedMetric>> GetComputed(
    const Database& database) {
  ASTRA_ASSIGN_OR_RETURN(const FlatJson json,
                         GetFlatJson(database, "computed_metrics"));
  std::vector<ComputedMetric> computed;
  computed.reserve(json.texts.size());
  for (const auto& [name, text] : json.texts) {
    absl::StatusOr<Expression> expression = Expression::Parse(text);
    if (!expression.ok()) {
      return DamagedStore(database, "\"computed_metrics\" of its sweep");
    }
    computed.emplace_back(name, *std::move(expression));
  }
  return computed;
}

// Reads the requirements. Stores of older versions have none.
absl::StatusOr<std::vector<Expression>> GetRequirements(
    const Database& database) {
  std::vector<Expression> requirements;
  ASTRA_ASSIGN_OR_RETURN(const std::optional<std::string> stored,
                         FindStoredValue(database, "requirements"));
  if (!stored) return requirements;
  ASTRA_ASSIGN_OR_RETURN(const std::vector<std::string> texts,
                         GetStoredTexts(database, "requirements"));
  requirements.reserve(texts.size());
  for (const std::string& text : texts) {
    absl::StatusOr<Expression> expression = Expression::Parse(text);
    if (!expression.ok()) {
      return DamagedStore(database, "\"requirements\" of its sweep");
    }
    requirements.push_back(*std::move(expression));
  }
  return requirements;
}

}  // namespace

absl::Status DamagedStore(const Database& database, std::string_view what) {
  return DamagedDatabase(database.path(), what);
}

absl::StatusOr<std::optional<std::string>> FindStoredValue(
    const Database& database, std::string_view name) {
  ASTRA_ASSIGN_OR_RETURN(
      Statement get,
      database.Prepare("SELECT value FROM sweep WHERE name = ?"));
  get.Bind(1, name);
  ASTRA_ASSIGN_OR_RETURN(const bool has_row, get.Step());
  return has_row ? std::optional<std::string>(get.Text(0)) : std::nullopt;
}

absl::StatusOr<std::vector<std::string>> GetStoredTexts(
    const Database& database, std::string_view name) {
  ASTRA_ASSIGN_OR_RETURN(const FlatJson json, GetFlatJson(database, name));
  return json.Texts();
}

absl::Status PutStoredTexts(const Database& database, std::string_view name,
                            absl::Span<const std::string> texts) {
  return PutValue(database, name, ArrayOf(texts));
}

absl::Status PutStoredSweep(const Database& database, const Sweep& sweep,
                            const SweepPoints& points) {
  JsonWriter computed;
  computed.BeginObject();
  for (const SweepMetric& metric : sweep.metrics) {
    computed.Field(metric.name, metric.expression.text());
  }
  JsonWriter requirements;
  requirements.BeginArray();
  for (const SweepRequirement& requirement : sweep.requirements) {
    requirements.Text(requirement.expression.text());
  }
  JsonWriter objectives;
  objectives.BeginObject();
  for (const SweepObjective& objective : sweep.objectives) {
    objectives.Field(objective.metric,
                     objective.maximize ? "maximize" : "minimize");
  }
  const std::pair<std::string_view, std::string> values[] = {
      {"name", sweep.name},
      {"program", std::string(sweep.run_program().name)},
      {"axes", AxesJson(sweep)},
      {"has_repeats", sweep.has_repeats ? "true" : "false"},
      {"variables", ArrayOf(points.variables)},
      {"number_variables", ArrayOf(NumberVariables(points))},
      {"computed_metrics", computed.EndObject().text()},
      {"requirements", requirements.EndArray().text()},
      {"allows_misfits", sweep.allows_misfits ? "true" : "false"},
      {"objectives", objectives.EndObject().text()},
  };
  for (const auto& [name, value] : values) {
    ASTRA_RETURN_IF_ERROR(PutValue(database, name, value));
  }
  return absl::OkStatus();
}

absl::StatusOr<StoredSweep> GetStoredSweep(const Database& database) {
  StoredSweep stored;
  SweepTable& table = stored.table;
  ASTRA_ASSIGN_OR_RETURN(table.name, GetValue(database, "name"));
  ASTRA_ASSIGN_OR_RETURN(table.program, GetValue(database, "program"));
  ASTRA_ASSIGN_OR_RETURN(table.variables,
                         GetStoredTexts(database, "variables"));
  ASTRA_RETURN_IF_ERROR(GetAxes(database, table));
  ASTRA_ASSIGN_OR_RETURN(const std::string has_repeats,
                         GetValue(database, "has_repeats"));
  table.has_repeats = IsTrue(has_repeats);
  ASTRA_ASSIGN_OR_RETURN(const FlatJson objectives,
                         GetFlatJson(database, "objectives"));
  for (const auto& [metric, direction] : objectives.texts) {
    table.objectives.push_back({metric, direction == "maximize"});
  }
  ASTRA_ASSIGN_OR_RETURN(stored.computed, GetComputed(database));
  ASTRA_ASSIGN_OR_RETURN(stored.requirements, GetRequirements(database));
  ASTRA_ASSIGN_OR_RETURN(const std::optional<std::string> allows_misfits,
                         FindStoredValue(database, "allows_misfits"));
  stored.allows_misfits = allows_misfits && IsTrue(*allows_misfits);
  const bool is_right =
      !table.objectives.empty() && (!table.has_repeats || table.num_axes > 0);
  if (!is_right) return DamagedStore(database, "its table \"sweep\"");
  return stored;
}

}  // namespace astra
