// Reads the fields of a config.json of Hugging Face. Remembers which keys were
// read, so that callers can warn of the others.

#ifndef WORKLOAD_ATTENTION_CONFIG_JSON_H_
#define WORKLOAD_ATTENTION_CONFIG_JSON_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/yaml_reader.h"

namespace astra {

// A null value counts as absent. The YAML reader also reads JSON, and knows the
// place of each value.
class ConfigJson {
 public:
  // Keys in `without_effect` count as read.
  ConfigJson(std::string_view file, std::string_view contents,
             absl::Span<const std::string_view> without_effect)
      : file_(file),
        document_(file, contents),
        fields_(document_.Root("the configuration")),
        asked_(without_effect.begin(), without_effect.end()) {}

  YamlFields& fields() { return fields_; }
  const absl::Status& status() const { return document_.status(); }

  bool Has(std::string_view key);
  int64_t Integer(std::string_view key);
  int64_t IntegerOr(std::string_view key, int64_t otherwise);
  bool FlagOr(std::string_view key, bool otherwise);
  std::vector<std::string> Texts(std::string_view key);

  // Refuses a value other than `text`, because no model can describe it.
  void ExpectAbsentOr(std::string_view key, std::string_view text);

  // Returns "FILE:LINE:COLUMN: MESSAGE" for a key that is there.
  std::string At(std::string_view key, std::string_view message);

  // Returns the keys that were not read, in the order of the file.
  std::vector<std::string> Others() const;

 private:
  std::string_view file_;
  YamlDocument document_;
  YamlFields fields_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace astra

#endif  // WORKLOAD_ATTENTION_CONFIG_JSON_H_
