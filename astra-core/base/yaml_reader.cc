#include "astra-core/base/yaml_reader.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "absl/status/statusor.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/text_reader.h"
#include "fmt/core.h"
#include "yaml-cpp/yaml.h"

namespace astra {
namespace {

// Thrown and caught in this file only, as yaml-cpp itself does.
struct Refused {
  YAML::Mark mark;
  std::string message;
};

YamlValue Convert(const YAML::Node& node, size_t& num_nodes) {
  if (++num_nodes > YamlDocument::kMaxNodes) {
    throw Refused{node.Mark(),
                  fmt::format("more than {} values", YamlDocument::kMaxNodes)};
  }
  YamlValue value;
  // Marks are counted from 0; an empty file has none.
  value.line = static_cast<uint32_t>(std::max(node.Mark().line, 0)) + 1;
  value.column = static_cast<uint32_t>(std::max(node.Mark().column, 0)) + 1;
  switch (node.Type()) {
    case YAML::NodeType::Undefined:
    case YAML::NodeType::Null:
      break;
    case YAML::NodeType::Scalar:
      value.kind = YamlValue::Kind::kScalar;
      value.text = node.Scalar();
      break;
    case YAML::NodeType::Sequence:
      value.kind = YamlValue::Kind::kList;
      for (const YAML::Node& item : node) {
        value.children.push_back({std::string(), Convert(item, num_nodes)});
      }
      break;
    case YAML::NodeType::Map: {
      value.kind = YamlValue::Kind::kMap;
      std::set<std::string_view> seen;
      for (const auto& field : node) {
        if (!field.first.IsScalar()) {
          throw Refused{field.first.Mark(), "expected a name as the key"};
        }
        value.children.push_back(
            {field.first.Scalar(), Convert(field.second, num_nodes)});
      }
      size_t i = 0;
      for (const auto& field : node) {
        if (!seen.insert(value.children[i++].key).second) {
          throw Refused{
              field.first.Mark(),
              fmt::format("{} is there twice", Quoted(field.first.Scalar()))};
        }
      }
      break;
    }
  }
  return value;
}

// The line, from 1, at which a second document begins; 0: there is none. Only
// the first is loaded: YAML::LoadAll of yaml-cpp 0.7 does not end for some
// files that are not YAML.
uint32_t SecondDocumentLine(std::string_view contents) {
  TextReader reader("", contents);
  bool has_content = false;
  bool has_ended = false;
  while (reader.NextLine()) {
    const absl::Span<const Token> tokens = reader.tokens();
    if (tokens.empty() || tokens[0].text.front() == '#') continue;
    const bool is_at_start = tokens[0].column == 1;
    if (is_at_start && tokens[0].text == "...") {
      has_ended = has_content;
      continue;
    }
    const bool is_directive = tokens[0].text.front() == '%' && !has_content;
    if (is_at_start && is_directive) continue;
    const bool is_begin = is_at_start && tokens[0].text == "---";
    if (has_ended || (is_begin && has_content)) return tokens[0].line;
    has_content |= !is_begin || tokens.size() > 1;
  }
  return 0;
}

std::string_view KindName(YamlValue::Kind kind) {
  constexpr std::string_view kNames[] = {"nothing", "a value", "a list",
                                         "a mapping"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace

YamlDocument::YamlDocument(std::string_view file, std::string_view contents)
    : file_(file) {
  size_t num_nodes = 0;
  try {
    root_ = Convert(YAML::Load(std::string(contents)), num_nodes);
  } catch (const YAML::Exception& exception) {
    root_ = YamlValue();
    root_.line = static_cast<uint32_t>(std::max(exception.mark.line, 0)) + 1;
    root_.column =
        static_cast<uint32_t>(std::max(exception.mark.column, 0)) + 1;
    const std::string quoted = Quoted(exception.msg);
    Error(root_,
          fmt::format("not YAML: {}", quoted.substr(1, quoted.size() - 2)));
  } catch (const Refused& refused) {
    root_ = YamlValue();
    root_.line = static_cast<uint32_t>(std::max(refused.mark.line, 0)) + 1;
    root_.column = static_cast<uint32_t>(std::max(refused.mark.column, 0)) + 1;
    Error(root_, refused.message);
  }
  if (const uint32_t line = SecondDocumentLine(contents); line > 0) {
    YamlValue place;
    place.line = line;
    place.column = 1;
    Error(place, "a second document in the file");
  }
}

YamlFields YamlDocument::Root(std::string_view what) {
  return Fields(root_, what);
}

YamlFields YamlDocument::Fields(const YamlValue& value, std::string_view what) {
  if (value.kind == YamlValue::Kind::kMap) return {this, &value, &value, what};
  Error(value, fmt::format("{} is {}, expected a mapping", what,
                           KindName(value.kind)));
  return {this, nullptr, &value, what};
}

void YamlDocument::Error(const YamlValue& value, std::string_view message) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(
      fmt::format("{}:{}:{}: {}", file_, value.line, value.column, message));
}

const YamlValue* YamlFields::Find(std::string_view key) const {
  if (map_ == nullptr) return nullptr;
  for (const auto& [name, value] : map_->children) {
    if (name == key) return &value;
  }
  return nullptr;
}

const YamlValue* YamlFields::Value(std::string_view key) {
  asked_.emplace_back(key);
  return Find(key);
}

const YamlValue* YamlFields::Require(std::string_view key) {
  const YamlValue* value = Value(key);
  if (value == nullptr) Error(key, fmt::format("{} has no \"{}\"", what_, key));
  return value;
}

const YamlValue* YamlFields::Scalar(std::string_view key, bool required) {
  const YamlValue* value = required ? Require(key) : Value(key);
  if (value == nullptr || value->kind == YamlValue::Kind::kScalar) return value;
  Error(key, fmt::format("{} is {}, expected one value", key,
                         KindName(value->kind)));
  return nullptr;
}

std::string YamlFields::Text(std::string_view key) {
  const YamlValue* value = Scalar(key, /*required=*/true);
  return value == nullptr ? std::string() : value->text;
}

int64_t YamlFields::Integer(std::string_view key, int64_t min, int64_t max) {
  const YamlValue* value = Scalar(key, /*required=*/true);
  if (value == nullptr) return min;
  const absl::StatusOr<int64_t> number =
      ParseInteger(key, value->text, min, max);
  if (number.ok()) return *number;
  Error(key, std::string(number.status().message()));
  return min;
}

double YamlFields::Number(std::string_view key, double min, double max) {
  const YamlValue* value = Scalar(key, /*required=*/true);
  if (value == nullptr) return min;
  const absl::StatusOr<double> number = ParseNumber(key, value->text, min, max);
  if (number.ok()) return *number;
  Error(key, std::string(number.status().message()));
  return min;
}

bool YamlFields::Bool(std::string_view key) {
  const YamlValue* value = Scalar(key, /*required=*/true);
  if (value == nullptr) return false;
  if (value->text == "true" || value->text == "false") {
    return value->text == "true";
  }
  Error(key, fmt::format("{} is {}: expected true or false", key,
                         Quoted(value->text)));
  return false;
}

std::string YamlFields::TextOr(std::string_view key,
                               std::string_view otherwise) {
  return Value(key) != nullptr ? Text(key) : std::string(otherwise);
}

int64_t YamlFields::IntegerOr(std::string_view key, int64_t otherwise,
                              int64_t min, int64_t max) {
  return Value(key) != nullptr ? Integer(key, min, max) : otherwise;
}

double YamlFields::NumberOr(std::string_view key, double otherwise, double min,
                            double max) {
  return Value(key) != nullptr ? Number(key, min, max) : otherwise;
}

bool YamlFields::BoolOr(std::string_view key, bool otherwise) {
  return Value(key) != nullptr ? Bool(key) : otherwise;
}

size_t YamlFields::Choice(std::string_view key,
                          absl::Span<const std::string_view> names) {
  const YamlValue* value = Scalar(key, /*required=*/true);
  if (value == nullptr) return 0;
  const auto found = std::find(names.begin(), names.end(), value->text);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  Error(key, UnknownName(key, value->text, names));
  return 0;
}

size_t YamlFields::ChoiceOr(std::string_view key, size_t otherwise,
                            absl::Span<const std::string_view> names) {
  return Value(key) != nullptr ? Choice(key, names) : otherwise;
}

YamlFields YamlFields::Map(std::string_view key, std::string_view what) {
  const YamlValue* value = Value(key);
  if (value == nullptr) return {document_, nullptr, place_, what};
  return document_->Fields(*value, what);
}

std::vector<std::string> YamlFields::Texts(std::string_view key) {
  const YamlValue* value = Value(key);
  if (value == nullptr) return {};
  if (value->kind == YamlValue::Kind::kScalar) return {value->text};
  std::vector<std::string> texts;
  for (const auto& [_, item] : value->children) {
    if (value->kind != YamlValue::Kind::kList ||
        item.kind != YamlValue::Kind::kScalar) {
      document_->Error(item, fmt::format("{}: expected a list of values", key));
      return {};
    }
    texts.push_back(item.text);
  }
  return texts;
}

std::vector<YamlFields> YamlFields::Maps(std::string_view key,
                                         std::string_view what) {
  const YamlValue* value = Value(key);
  if (value == nullptr) return {};
  if (value->kind != YamlValue::Kind::kList) {
    Error(key,
          fmt::format("{} is {}, expected a list", key, KindName(value->kind)));
    return {};
  }
  std::vector<YamlFields> maps;
  for (const auto& [_, item] : value->children) {
    maps.push_back(document_->Fields(item, what));
  }
  return maps;
}

std::vector<std::string> YamlFields::keys() const {
  std::vector<std::string> names;
  if (map_ == nullptr) return names;
  for (const auto& [name, _] : map_->children) names.push_back(name);
  return names;
}

void YamlFields::Error(std::string_view key, std::string_view message) {
  const YamlValue* value = Find(key);
  document_->Error(value == nullptr ? *place_ : *value, message);
}

void YamlFields::Close() {
  if (map_ == nullptr) return;
  std::sort(asked_.begin(), asked_.end());
  asked_.erase(std::unique(asked_.begin(), asked_.end()), asked_.end());
  const std::vector<std::string_view> known(asked_.begin(), asked_.end());
  for (const auto& [name, value] : map_->children) {
    if (std::binary_search(asked_.begin(), asked_.end(), name)) continue;
    document_->Error(
        value, UnknownName(fmt::format("field of {}", what_), name, known));
    return;
  }
}

}  // namespace astra
