#include "astra-core/base/yaml_text.h"

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {

std::string YamlQuoted(std::string_view text) {
  constexpr unsigned char kDelete = 0x7f;
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == kDelete) {
      quoted += fmt::format("\\x{:02x}", byte);
      continue;
    }
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string YamlList(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  quoted.reserve(texts.size());
  for (const std::string& text : texts) quoted.push_back(YamlQuoted(text));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

}  // namespace astra
