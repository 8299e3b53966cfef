#include "astra-core/xml/xml_reader.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {
namespace {

constexpr std::string_view kUnknown = "is not known and has no effect";

}  // namespace

pugi::xml_node XmlReader::Root(const char* name) {
  if (contents_.size() > kMaxFileBytes) {
    Fail({}, fmt::format("more than {} bytes", kMaxFileBytes));
    return {};
  }
  // Some programs would take the text to end at a zero byte.
  if (const size_t zero = contents_.find('\0');
      zero != std::string_view::npos) {
    Fail(PlaceAt(static_cast<ptrdiff_t>(zero)), "not XML: a zero byte");
    return {};
  }
  const pugi::xml_parse_result result =
      document_.load_buffer(contents_.data(), contents_.size(),
                            pugi::parse_default, pugi::encoding_utf8);
  if (!result) {
    Fail(PlaceAt(result.offset),
         fmt::format("not XML: {}", result.description()));
    return {};
  }
  const std::vector<pugi::xml_node> roots = Children(document_, name);
  if (roots.empty()) {
    Fail({}, fmt::format("there is no <{}>", name));
    return {};
  }
  if (roots.size() > 1) {
    Fail(PlaceOf(roots[1]), fmt::format("a second <{}>", name));
  }
  return roots.front();
}

std::vector<pugi::xml_node> XmlReader::Children(
    pugi::xml_node parent, absl::Span<const std::string_view> names) {
  std::vector<pugi::xml_node> children;
  for (const pugi::xml_node child : parent.children()) {
    if (child.type() != pugi::node_element) continue;
    if (std::find(names.begin(), names.end(), child.name()) != names.end()) {
      children.push_back(child);
    } else {
      Warn(child, fmt::format("element {}", Quoted(child.name())), kUnknown);
    }
  }
  return children;
}

std::string XmlReader::Text(pugi::xml_node node, const char* key,
                            std::string_view expected) {
  const pugi::xml_attribute attribute = node.attribute(key);
  if (!attribute) {
    Fail(PlaceOf(node), fmt::format("<{}> has no \"{}\": expected {}",
                                    node.name(), key, expected));
  }
  return attribute.value();
}

int64_t XmlReader::Integer(pugi::xml_node node, const char* key, int64_t min,
                           int64_t max) {
  const std::string text =
      Text(node, key, fmt::format("a whole number from {} to {}", min, max));
  if (!status_.ok()) return min;
  const absl::StatusOr<int64_t> number = ParseInteger(key, text, min, max);
  if (number.ok()) return *number;
  Fail(PlaceOf(node), fmt::format("<{}>: {}", node.name(),
                                  std::string(number.status().message())));
  return min;
}

uint32_t XmlReader::Count(pugi::xml_node node, const char* key, uint32_t min,
                          uint32_t max) {
  return static_cast<uint32_t>(Integer(node, key, min, max));
}

std::optional<uint32_t> XmlReader::Optional(pugi::xml_node node,
                                            const char* key, uint32_t max) {
  const int64_t number = Integer(node, key, -1, max);
  if (number < 0) return std::nullopt;
  return static_cast<uint32_t>(number);
}

size_t XmlReader::Choice(pugi::xml_node node, const char* key,
                         absl::Span<const std::string_view> names) {
  const std::string text =
      Text(node, key, fmt::format("one of {}", fmt::join(names, ", ")));
  if (!status_.ok()) return 0;
  const auto* const found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  Fail(PlaceOf(node),
       fmt::format("<{}>: {}", node.name(), UnknownName(key, text, names)));
  return 0;
}

void XmlReader::CheckAttributes(pugi::xml_node node,
                                absl::Span<const std::string_view> known) {
  std::set<std::string_view> seen;
  for (const pugi::xml_attribute attribute : node.attributes()) {
    const std::string_view name = attribute.name();
    if (!seen.insert(name).second) {
      Fail(PlaceOf(node),
           fmt::format("<{}> has {} twice", node.name(), Quoted(name)));
    }
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      Warn(node, fmt::format("attribute {} of <{}>", Quoted(name), node.name()),
           kUnknown);
    }
  }
}

void XmlReader::Fail(XmlPlace place, std::string_view message) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(
      fmt::format("{}:{}:{}: {}", file_, place.line, place.column, message));
}

void XmlReader::WarnOfNoEffect(pugi::xml_node node, const std::string& what) {
  Warn(node, what, "has no effect");
}

void XmlReader::Warn(pugi::xml_node node, const std::string& what,
                     std::string_view why) {
  if (warned_.size() >= kMaxWarnings || !warned_.insert(what).second) return;
  const XmlPlace place = PlaceOf(node);
  warnings_->push_back(fmt::format("{}:{}:{}: {} {}", file_, place.line,
                                   place.column, what, why));
}

// Returns the place of `offset`. Files are read from front to back, so that
// each line is counted once.
XmlPlace XmlReader::PlaceAt(ptrdiff_t offset) {
  const size_t end = std::min(
      static_cast<size_t>(std::max<ptrdiff_t>(offset, 0)), contents_.size());
  if (end < counted_) {
    counted_ = line_begin_ = 0;
    line_ = 1;
  }
  for (; counted_ < end; ++counted_) {
    if (contents_[counted_] != '\n') continue;
    ++line_;
    line_begin_ = counted_ + 1;
  }
  return {line_, static_cast<uint32_t>(end - line_begin_) + 1};
}

}  // namespace astra
