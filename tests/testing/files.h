// Folders and files for tests.

#ifndef TESTS_TESTING_FILES_H_
#define TESTS_TESTING_FILES_H_

#include <string>
#include <string_view>
#include <vector>

namespace astra::testing {

// An empty folder that is deleted, with what is in it, at the end of its life.
// Its name holds a space, so that programs are tested with one.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string PathOf(std::string_view name) const;

  // The names of what is in the folder, sorted.
  std::vector<std::string> Names() const;

 private:
  std::string path_;
};

void WriteText(const std::string& path, std::string_view text);

// The path of a file that lies at `path` in the source folder, such as
// "inputs/networks/roce.yaml".
std::string SourcePath(std::string_view path);

// The contents of a file that must exist.
std::string ReadText(const std::string& path);

}  // namespace astra::testing

#endif  // TESTS_TESTING_FILES_H_
