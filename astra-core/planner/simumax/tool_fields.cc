#include "astra-core/planner/simumax/tool_fields.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Returns the text for up to two values; 0 stands for none.
std::string Nearest(int64_t below, int64_t above) {
  if (below > 0 && above > 0 && below != above) {
    return fmt::format("; the nearest are {} and {}", below, above);
  }
  return fmt::format("; the nearest is {}", std::max(below, above));
}

}  // namespace

bool ToolFields::Has(std::string_view key) {
  if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) {
    asked_.emplace_back(key);
  }
  const YamlValue* value = fields_.Value(key);
  return value != nullptr && value->kind != YamlValue::Kind::kNull;
}

int64_t ToolFields::Integer(std::string_view key, IntegerRange range,
                            std::optional<int64_t> otherwise) {
  if (!Has(key) && otherwise) return *otherwise;
  return fields_.Integer(key, range.min, range.max);
}

double ToolFields::Number(std::string_view key, NumberRange range,
                          std::optional<double> otherwise) {
  if (!Has(key) && otherwise) return *otherwise;
  return fields_.Number(key, range.min, range.max);
}

bool ToolFields::Flag(std::string_view key, std::optional<bool> otherwise) {
  if (!Has(key) && otherwise) return *otherwise;
  return fields_.Bool(key);
}

std::string ToolFields::Text(std::string_view key,
                             std::optional<std::string> otherwise) {
  if (!Has(key) && otherwise) return *otherwise;
  std::string text = fields_.Text(key);
  if (!IsPlain(text)) {
    Error(key, fmt::format("{} is {}: expected text without control characters",
                           key, Quoted(text)));
  }
  return text;
}

std::vector<std::string> ToolFields::Texts(std::string_view key) {
  if (!Has(key)) return {};
  return fields_.Texts(key);
}

ToolFields ToolFields::Object(std::string_view key, std::string_view what) {
  const bool is_there = Has(key);
  return {file_, fields_.Map(is_there ? key : std::string_view(), what),
          warnings_};
}

std::map<std::string, double> ToolFields::Numbers(std::string_view key,
                                                  NumberRange range) {
  std::map<std::string, double> numbers;
  if (!Has(key)) return numbers;
  const YamlValue& object = *fields_.Value(key);
  if (object.kind != YamlValue::Kind::kMap) {
    Error(key, fmt::format("{}: expected an object of numbers", key));
    return numbers;
  }
  for (const auto& [name, value] : object.children) {
    const absl::StatusOr<double> number =
        ParseNumber(Printable(name), value.text, range.min, range.max);
    if (!number.ok()) {
      Error(key,
            fmt::format("{}: {}", key, std::string(number.status().message())));
      break;
    }
    numbers[name] = *number;
  }
  return numbers;
}

std::map<int64_t, double> ToolFields::ByRanks(std::string_view key,
                                              NumberRange range) {
  std::map<int64_t, double> by_ranks;
  for (const auto& [name, number] : Numbers(key, range)) {
    const absl::StatusOr<int64_t> ranks =
        ParseInteger("the number of ranks", name, 1);
    if (!ranks.ok()) {
      Error(key,
            fmt::format("{}: {}", key, std::string(ranks.status().message())));
      break;
    }
    by_ranks[*ranks] = number;
  }
  return by_ranks;
}

std::string ToolFields::Place(std::string_view key) {
  const YamlValue* value = fields_.Value(key);
  return fmt::format("{}:{}:{}", file_, value->line, value->column);
}

void ToolFields::Warn(std::string_view key, std::string_view message) {
  warnings_->push_back(fmt::format("{}: {}", Place(key), message));
}

void ToolFields::WarnOfOthers() {
  constexpr size_t kMostWarnings = 20;
  const std::vector<std::string_view> known(asked_.begin(), asked_.end());
  std::vector<std::string> others = keys();
  std::erase_if(others, [&known](const std::string& key) {
    return std::find(known.begin(), known.end(), key) != known.end();
  });
  for (size_t i = 0; i < std::min(others.size(), kMostWarnings); ++i) {
    Warn(others[i],
         fmt::format("unknown key {} has no effect{}", Quoted(others[i]),
                     DidYouMean(others[i], known)));
  }
  if (others.size() <= kMostWarnings) return;
  warnings_->push_back(fmt::format("{}: {} more unknown keys have no effect",
                                   file_, others.size() - kMostWarnings));
}

std::string NearestMultiples(int64_t value, int64_t factor) {
  const int64_t below = value / factor * factor;
  return Nearest(below, below == value ? value : below + factor);
}

std::string NearestDivisors(int64_t value, int64_t number) {
  int64_t below = std::min(value, number);
  while (below > 1 && number % below != 0) --below;
  int64_t above = value;
  while (above < number && number % above != 0) ++above;
  return Nearest(below, above <= number ? above : 0);
}

}  // namespace astra
