#include "workload/models/model_library.h"

#include <cctype>
#include <cstddef>

#include "absl/status/status.h"
#include "astra-core/base/bundled.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_path.h"
#include "workload/models/hugging_face_config.h"
#include "workload/models/model_file.h"

namespace astra {
namespace {

std::vector<ModelSpec> AllModels() {
  return ParseBundled<ModelSpec>(BundledModels(), ParseModel);
}

bool IsPath(std::string_view text) {
  return IsYamlPath(text) || text.ends_with(".json");
}

}  // namespace

std::vector<std::string> ModelNames() {
  std::vector<std::string> names;
  for (const ModelSpec& model : AllModels()) names.push_back(model.name);
  return names;
}

absl::StatusOr<ModelSpec> ReadModel(const std::string& path,
                                    Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
  const bool is_yaml = path.ends_with(".yaml") || path.ends_with(".yml");
  const size_t first = contents.find_first_not_of(" \t\r\n");
  if (!is_yaml && first != std::string::npos && contents[first] == '{') {
    return ParseHuggingFaceConfig(path, contents, warnings);
  }
  return ParseModel(path, contents);
}

absl::StatusOr<ModelSpec> FindModel(std::string_view name_or_path,
                                    Warnings* warnings) {
  if (IsPath(name_or_path)) {
    return ReadModel(std::string(name_or_path), warnings);
  }
  for (const ModelSpec& model : AllModels()) {
    if (IsNamed(name_or_path, model.name, model.aliases)) return model;
  }
  const std::vector<std::string> names = ModelNames();
  return absl::NotFoundError(
      UnknownName("model", name_or_path,
                  std::vector<std::string_view>(names.begin(), names.end())));
}

}  // namespace astra
