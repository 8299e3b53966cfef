#include "tests/testing/files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "astra-core/base/check.h"

namespace astra::testing {

TemporaryFolder::TemporaryFolder()
    : path_(std::filesystem::temp_directory_path() / "simai test XXXXXX") {
  ASTRA_CHECK(mkdtemp(path_.data()) != nullptr, "no folder {}", path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::PathOf(std::string_view name) const {
  return fmt::format("{}/{}", path_, name);
}

std::vector<std::string> TemporaryFolder::Names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string SourcePath(std::string_view path) {
  return fmt::format("{}/{}", ASTRA_SOURCE_DIR, path);
}

void WriteText(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  ASTRA_CHECK(file.good(), "cannot write {}", path);
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  ASTRA_CHECK(file.good(), "cannot read {}", path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace astra::testing
