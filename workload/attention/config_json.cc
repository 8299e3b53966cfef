#include "workload/attention/config_json.h"

#include "astra-core/base/names.h"
#include "fmt/core.h"

namespace astra {

bool ConfigJson::Has(std::string_view key) {
  asked_.emplace(key);
  const YamlValue* value = fields_.Value(key);
  return value != nullptr && value->kind != YamlValue::Kind::kNull;
}

int64_t ConfigJson::Integer(std::string_view key) {
  asked_.emplace(key);
  return fields_.Integer(key);
}

int64_t ConfigJson::IntegerOr(std::string_view key, int64_t otherwise) {
  return Has(key) ? fields_.Integer(key) : otherwise;
}

bool ConfigJson::FlagOr(std::string_view key, bool otherwise) {
  return Has(key) ? fields_.Bool(key) : otherwise;
}

std::vector<std::string> ConfigJson::Texts(std::string_view key) {
  return Has(key) ? fields_.Texts(key) : std::vector<std::string>();
}

void ConfigJson::ExpectAbsentOr(std::string_view key, std::string_view text) {
  if (!Has(key) || fields_.Text(key) == text) return;
  fields_.Error(key, fmt::format("{} is {}: only {} can be described", key,
                                 Quoted(fields_.Text(key)), text));
}

std::string ConfigJson::At(std::string_view key, std::string_view message) {
  const YamlValue& value = *fields_.Value(key);
  return fmt::format("{}:{}:{}: {}", file_, value.line, value.column, message);
}

std::vector<std::string> ConfigJson::Others() const {
  std::vector<std::string> others;
  for (const std::string& key : fields_.keys()) {
    if (asked_.count(key) == 0) others.push_back(key);
  }
  return others;
}

}  // namespace astra
