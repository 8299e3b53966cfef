// Text as it stands in a YAML file that we write.

#ifndef ASTRA_CORE_BASE_YAML_TEXT_H_
#define ASTRA_CORE_BASE_YAML_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

namespace astra {

// `text` in double quotes, as YAML reads it back.
std::string YamlQuoted(std::string_view text);

// "[\"a\", \"b\"]".
std::string YamlList(const std::vector<std::string>& texts);

}  // namespace astra

#endif  // ASTRA_CORE_BASE_YAML_TEXT_H_
