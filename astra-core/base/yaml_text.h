// Formats text for YAML files that the programs write.

#ifndef ASTRA_CORE_BASE_YAML_TEXT_H_
#define ASTRA_CORE_BASE_YAML_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

namespace astra {

// Returns `text` in double quotes, such that YAML reads the same text.
std::string YamlQuoted(std::string_view text);

// Returns a YAML list such as "[\"a\", \"b\"]".
std::string YamlList(const std::vector<std::string>& texts);

}  // namespace astra

#endif  // ASTRA_CORE_BASE_YAML_TEXT_H_
