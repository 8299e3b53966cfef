// Tells paths of files from the names of entries of a library, where an option
// takes both: `--system dgx-h100` and `--system mine/dgx-h100.yaml`.

#ifndef ASTRA_CORE_BASE_YAML_PATH_H_
#define ASTRA_CORE_BASE_YAML_PATH_H_

#include <string_view>

namespace astra {

// Returns whether `text` has a "/", or ends in .yaml or .yml.
constexpr bool IsYamlPath(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(".yaml") ||
         text.ends_with(".yml");
}

}  // namespace astra

#endif  // ASTRA_CORE_BASE_YAML_PATH_H_
