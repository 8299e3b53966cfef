#include "astra-core/base/yaml_reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "absl/status/statusor.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/text_reader.h"
#include "fmt/core.h"
#include "yaml-cpp/eventhandler.h"
#include "yaml-cpp/exceptions.h"
#include "yaml-cpp/parser.h"

namespace astra {
namespace {

// Thrown and caught only in this file, like the exceptions of yaml-cpp.
struct Refused {
  YAML::Mark mark;
  std::string message;
};

// Builds the values of a file from the events of the parser. All YAML and JSON
// passes through here, so this class enforces the limits of depth, values and
// text. They keep a small file from exhausting the stack or the memory, and
// count a value as often as an alias repeats it. A value cannot contain itself,
// since an alias can repeat only a finished value.
class TreeBuilder : public YAML::EventHandler {
 public:
  // An empty file is a null value at its beginning.
  TreeBuilder() { root_.line = root_.column = 1; }

  YamlValue TakeRoot() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Begin(mark, YamlValue::Kind::kNull, anchor);
    End();
  }
  void OnScalar(const YAML::Mark& mark, const std::string& /*tag*/,
                YAML::anchor_t anchor, const std::string& text) override {
    Begin(mark, YamlValue::Kind::kScalar, anchor);
    Count(mark, {.values = 0, .text_bytes = text.size()});
    open_.back().value.text = text;
    End();
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end()) {
      throw Refused{mark, "an alias to a value that it is a part of"};
    }
    const auto& [value, size, height] = found->second;
    CheckDepth(mark, height);
    Count(mark, size);
    Add(mark, value, height);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    Begin(mark, YamlValue::Kind::kList, anchor);
  }
  void OnSequenceEnd() override { End(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/,
                  YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    Begin(mark, YamlValue::Kind::kMap, anchor);
  }
  void OnMapEnd() override {
    const Open& map = open_.back();
    std::set<std::string_view> seen;
    for (size_t i = 0; i < map.value.children.size(); ++i) {
      const std::string_view key = map.value.children[i].key;
      if (seen.insert(key).second) continue;
      throw Refused{map.keys[i], fmt::format("{} is there twice", Quoted(key))};
    }
    End();
  }

 private:
  struct Size {
    size_t values = 0;
    size_t text_bytes = 0;
  };

  // A value that has not been read completely.
  struct Open {
    YamlValue value;
    YAML::Mark mark;
    YAML::anchor_t anchor = YAML::NullAnchor;
    Size before;        // Size of everything read before this value.
    size_t height = 1;  // Levels of nested values, including this one.
    // For a mapping: the key whose value is being read.
    std::optional<std::string> key;
    std::vector<YAML::Mark> keys;  // For a mapping: the places of its keys.
  };

  struct Anchored {
    YamlValue value;
    Size size;
    size_t height;
  };

  void Begin(const YAML::Mark& mark, YamlValue::Kind kind,
             YAML::anchor_t anchor) {
    CheckDepth(mark, 1);
    Open& open = open_.emplace_back();
    open.before = total_;
    open.mark = mark;
    open.anchor = anchor;
    open.value.kind = kind;
    // The marks of yaml-cpp count from 0.
    open.value.line = static_cast<uint32_t>(std::max(mark.line, 0)) + 1;
    open.value.column = static_cast<uint32_t>(std::max(mark.column, 0)) + 1;
    Count(mark, {.values = 1, .text_bytes = 0});
  }

  void End() {
    Open open = std::move(open_.back());
    open_.pop_back();
    if (open.anchor != YAML::NullAnchor) {
      const Size size = {total_.values - open.before.values,
                         total_.text_bytes - open.before.text_bytes};
      Count(open.mark, size);  // The copy that is kept takes memory, too.
      anchored_[open.anchor] = {open.value, size, open.height};
    }
    Add(open.mark, std::move(open.value), open.height);
  }

  // Adds a finished value to the innermost open value.
  void Add(const YAML::Mark& mark, YamlValue value, size_t height) {
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Open& parent = open_.back();
    parent.height = std::max(parent.height, height + 1);
    if (parent.value.kind == YamlValue::Kind::kMap && !parent.key) {
      if (value.kind != YamlValue::Kind::kScalar) {
        throw Refused{mark, "expected a name as the key"};
      }
      parent.keys.push_back(mark);
      parent.key = std::move(value.text);
      return;
    }
    parent.value.children.push_back(
        {parent.key.value_or(""), std::move(value)});
    parent.key.reset();
  }

  void CheckDepth(const YAML::Mark& mark, size_t height) const {
    if (open_.size() + height <= YamlDocument::kMaxDepth) return;
    throw Refused{mark, fmt::format("more than {} levels of lists and mappings",
                                    YamlDocument::kMaxDepth)};
  }

  void Count(const YAML::Mark& mark, const Size& size) {
    total_.values += size.values;
    total_.text_bytes += size.text_bytes;
    if (total_.values > YamlDocument::kMaxNodes) {
      throw Refused{
          mark, fmt::format("more than {} values", YamlDocument::kMaxNodes)};
    }
    if (total_.text_bytes > YamlDocument::kMaxTextBytes) {
      throw Refused{mark, fmt::format("more than {} bytes of text",
                                      YamlDocument::kMaxTextBytes)};
    }
  }

  std::vector<Open> open_;  // Open values from the root to the innermost.
  std::map<YAML::anchor_t, Anchored> anchored_;
  Size total_;
  YamlValue root_;
};

YamlValue ReadTree(std::string_view contents) {
  std::istringstream stream{std::string(contents)};
  YAML::Parser parser(stream);
  TreeBuilder builder;
  parser.HandleNextDocument(builder);
  return builder.TakeRoot();
}

// Returns the line, from 1, at which a second document begins; 0 if there is
// none. Only the first document is loaded, because YAML::LoadAll of yaml-cpp
// 0.7 does not terminate for some files that are not YAML.
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
  try {
    root_ = ReadTree(contents);
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

void YamlDocument::ErrorAt(std::string_view path, std::string_view message) {
  const YamlValue* place = &root_;
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(part.size() + 1, path.size()));
    const std::vector<YamlField>& children = place->children;
    auto next = children.end();
    if (place->kind == YamlValue::Kind::kMap) {
      next = std::find_if(
          children.begin(), children.end(),
          [&](const YamlField& field) { return field.key == part; });
    } else if (const auto i = ParseInteger("", part);
               i.ok() && *i < static_cast<int64_t>(children.size())) {
      next = children.begin() + *i;
    }
    if (next == children.end()) break;
    place = &next->value;
  }
  Error(*place, message);
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
  if (value == nullptr) {
    Missing({key}, fmt::format("{} has no \"{}\"", what_, key));
  }
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

void YamlFields::Missing(absl::Span<const std::string_view> keys,
                         std::string_view message) {
  if (document_->status_.ok()) {
    document_->lacking_ = map_;
    document_->lacked_.assign(keys.begin(), keys.end());
  }
  document_->Error(*place_, message);
}

void YamlFields::Close() {
  if (map_ == nullptr) return;
  std::sort(asked_.begin(), asked_.end());
  asked_.erase(std::unique(asked_.begin(), asked_.end()), asked_.end());
  const std::vector<std::string_view> known(asked_.begin(), asked_.end());
  std::vector<std::string_view> lacked;
  if (document_->lacking_ == map_) {
    lacked.assign(document_->lacked_.begin(), document_->lacked_.end());
  }
  for (const auto& [name, value] : map_->children) {
    if (std::binary_search(asked_.begin(), asked_.end(), name)) continue;
    const bool is_misspelt = !NearestName(name, lacked).empty();
    if (is_misspelt) document_->status_ = absl::OkStatus();
    document_->Error(
        value, UnknownName(fmt::format("field of {}", what_), name, known));
    if (is_misspelt) return;
  }
}

}  // namespace astra
