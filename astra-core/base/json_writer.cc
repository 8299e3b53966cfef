#include "astra-core/base/json_writer.h"

#include <cmath>

#include "astra-core/base/append_format.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

using Json = nlohmann::json;

}  // namespace

JsonWriter& JsonWriter::Begin(char bracket) {
  Separate();
  text_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::End(char bracket) {
  text_ += bracket;
  return *this;
}

void JsonWriter::Separate() {
  if (text_.empty()) return;
  const char last = text_.back();
  if (last != '{' && last != '[' && last != ':') text_ += ',';
}

JsonWriter& JsonWriter::Key(std::string_view name) {
  Text(name);
  text_ += ':';
  return *this;
}

JsonWriter& JsonWriter::Text(std::string_view value) {
  Separate();
  text_ += JsonQuoted(value, characters_);
  return *this;
}

JsonWriter& JsonWriter::Integer(int64_t value) {
  Separate();
  text_ += std::to_string(value);
  return *this;
}

JsonWriter& JsonWriter::Number(double value) {
  Separate();
  text_ += Json(value).dump();
  return *this;
}

JsonWriter& JsonWriter::Number(double value, int digits) {
  if (!std::isfinite(value)) return Null();
  Separate();
  AppendFormat(&text_, "{:.{}g}", value, digits);
  return *this;
}

JsonWriter& JsonWriter::Null() {
  Separate();
  text_ += "null";
  return *this;
}

JsonWriter& JsonWriter::Texts(absl::Span<const std::string> values) {
  BeginArray();
  for (const std::string& value : values) Text(value);
  return EndArray();
}

JsonWriter& JsonWriter::Flag(std::string_view name, bool value) {
  Key(name);
  text_ += value ? "true" : "false";
  return *this;
}

std::string JsonQuoted(std::string_view text, JsonCharacters characters) {
  return Json(text).dump(-1, ' ', characters == JsonCharacters::kAscii,
                         Json::error_handler_t::replace);
}

std::string ValidUtf8(std::string_view text) {
  return Json::parse(JsonQuoted(text)).get<std::string>();
}

}  // namespace astra
