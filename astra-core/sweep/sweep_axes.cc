#include "astra-core/sweep/sweep_axes.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/sweep/number_range.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr int64_t kMaxFirstSeed =
    std::numeric_limits<int64_t>::max() - static_cast<int64_t>(kMaxAxisSteps);

std::string_view KindName(YamlValue::Kind kind) {
  constexpr std::string_view kNames[] = {"nothing", "a value", "a list",
                                         "a mapping"};
  return kNames[static_cast<size_t>(kind)];
}

std::string DescribeAxis(std::string_view name) {
  return fmt::format("axis {}", Quoted(name));
}

// Reads an axis given as {from, to, step} or {from, to, factor}.
void ReadRange(YamlDocument& document, const YamlValue& value,
               SweepAxis& axis) {
  const std::string what = DescribeAxis(axis.name);
  YamlFields fields = document.Fields(value, what);
  const std::string from = fields.Text("from");
  const std::string to = fields.Text("to");
  const std::string step = fields.TextOr("step", "");
  const std::string factor = fields.TextOr("factor", "");
  fields.Close();
  if (!document.status().ok()) return;
  if (fields.has("step") == fields.has("factor")) {
    document.Error(value, fmt::format("{}: expected from, to, and either step "
                                      "or factor",
                                      what));
    return;
  }
  absl::StatusOr<std::vector<std::string>> numbers =
      fields.has("step") ? NumbersByStep(from, to, step, kMaxAxisSteps)
                         : NumbersByFactor(from, to, factor, kMaxAxisSteps);
  if (!numbers.ok()) {
    document.Error(value, fmt::format("{}: {}", what,
                                      std::string(numbers.status().message())));
    return;
  }
  axis.variables = {axis.name};
  axis.steps.reserve(numbers->size());
  for (std::string& number : *numbers) {
    axis.steps.push_back({std::move(number)});
  }
}

// Reads one step of variables that change together, in the order of the first
// step.
std::vector<std::string> ReadColumns(YamlDocument& document,
                                     const YamlValue& item,
                                     const SweepAxis& axis) {
  std::vector<std::string> step;
  YamlFields fields = document.Fields(
      item, fmt::format("a value of axis {}", Quoted(axis.name)));
  step.reserve(axis.variables.size());
  const size_t num_columns = axis.variables.size() - (axis.has_summary ? 1 : 0);
  for (size_t i = 0; i < num_columns; ++i) {
    const std::string& column = axis.variables[i];
    const YamlValue* value = fields.Value(column);
    if (value == nullptr) {
      document.Error(item,
                     fmt::format("{}: expected {} in each value, as in "
                                 "the first",
                                 DescribeAxis(axis.name), Quoted(column)));
      return step;
    }
    const std::string* text =
        ReadScalar(document, *value, Quoted(column), "expected one value");
    if (text == nullptr) return step;
    step.push_back(*text);
  }
  fields.Close();
  if (axis.has_summary) {
    std::string summary;
    for (size_t i = 0; i < num_columns; ++i) {
      summary +=
          fmt::format("{}{}={}", i == 0 ? "" : " ", axis.variables[i], step[i]);
    }
    step.push_back(std::move(summary));
  }
  return step;
}

void ReadList(YamlDocument& document, const YamlValue& list, SweepAxis& axis) {
  const std::string what = DescribeAxis(axis.name);
  if (list.children.empty() || list.children.size() > kMaxAxisSteps) {
    document.Error(list, fmt::format("{} has {} values: expected 1 to {}", what,
                                     list.children.size(), kMaxAxisSteps));
    return;
  }
  const YamlValue& first = list.children[0].value;
  const bool has_columns = first.kind == YamlValue::Kind::kMap;
  if (has_columns) {
    const size_t num_columns = first.children.size();
    if (num_columns == 0 || num_columns > kMaxVariables) {
      document.Error(first, fmt::format("{} has {} variables: expected 1 to {}",
                                        what, num_columns, kMaxVariables));
      return;
    }
    axis.variables.reserve(first.children.size() + 1);
    for (const auto& [column, _] : first.children) {
      axis.variables.push_back(column);
    }
    axis.has_summary = std::find(axis.variables.begin(), axis.variables.end(),
                                 axis.name) == axis.variables.end();
  }
  if (!has_columns || axis.has_summary) axis.variables.push_back(axis.name);
  axis.steps.reserve(list.children.size());
  std::set<std::vector<std::string>> seen;
  for (const auto& [_, item] : list.children) {
    std::vector<std::string> step;
    if (has_columns) {
      step = ReadColumns(document, item, axis);
    } else if (const std::string* text = ReadScalar(
                   document, item, fmt::format("a value of {}", what),
                   "expected one value")) {
      step = {*text};
    }
    if (!document.status().ok()) return;
    if (!seen.insert(step).second) {
      document.Error(item, fmt::format("{} has this value twice", what));
    }
    axis.steps.push_back(std::move(step));
  }
}

}  // namespace

const std::string* ReadScalar(YamlDocument& document, const YamlValue& value,
                              std::string_view what,
                              std::string_view expected) {
  if (value.kind != YamlValue::Kind::kScalar) {
    document.Error(value, fmt::format("{} is {}: {}", what,
                                      KindName(value.kind), expected));
    return nullptr;
  }
  if (!IsPlain(value.text)) {
    document.Error(value, fmt::format("{} is {}: control characters cannot "
                                      "stand in a command line",
                                      what, Quoted(value.text)));
    return nullptr;
  }
  if (value.text.size() > TextPattern::kMaxBytes) {
    document.Error(
        value, fmt::format("{} has {} characters: expected at most {}", what,
                           value.text.size(), TextPattern::kMaxBytes));
    return nullptr;
  }
  return &value.text;
}

SweepAxis ReadAxis(YamlDocument& document, std::string_view name,
                   const YamlValue& value) {
  SweepAxis axis;
  axis.name = name;
  if (value.kind == YamlValue::Kind::kList) {
    ReadList(document, value, axis);
  } else if (value.kind == YamlValue::Kind::kMap) {
    ReadRange(document, value, axis);
  } else {
    document.Error(
        value, fmt::format("{} is {}: expected a list, or {{from, to, step}}; "
                           "what does not vary goes under \"let\"",
                           DescribeAxis(name), KindName(value.kind)));
  }
  return axis;
}

SweepAxis ReadRepeats(YamlDocument& document, const YamlValue& value) {
  int64_t count = 1;
  int64_t first = 1;
  constexpr auto kMaxCount = static_cast<int64_t>(kMaxAxisSteps);
  if (value.kind == YamlValue::Kind::kMap) {
    YamlFields fields = document.Fields(value, "repeats");
    count = fields.Integer("count", 1, kMaxCount);
    first = fields.IntegerOr("first", 1, 0, kMaxFirstSeed);
    fields.Close();
  } else if (const std::string* text =
                 ReadScalar(document, value, "repeats",
                            "expected a count, or {count, first}")) {
    const absl::StatusOr<int64_t> number =
        ParseInteger("repeats", *text, 1, kMaxCount);
    if (number.ok()) {
      count = *number;
    } else {
      document.Error(value, std::string(number.status().message()));
    }
  }
  SweepAxis axis;
  axis.name = "seed";
  axis.variables = {axis.name};
  axis.steps.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    axis.steps.push_back({fmt::format("{}", first + i)});
  }
  return axis;
}

}  // namespace astra
