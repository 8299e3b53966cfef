// A text file that grows while a run goes on, so that a run that is watched or
// killed shows its results so far. The file is complete after each line.

#ifndef ASTRA_CORE_APPS_GROWING_FILE_H_
#define ASTRA_CORE_APPS_GROWING_FILE_H_

#include <cstdio>
#include <string>
#include <string_view>

namespace astra {

class GrowingFile {
 public:
  // The file begins, with `header`, when the first line is added.
  GrowingFile(std::string path, std::string header);
  ~GrowingFile();
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  // Adds `line`, which ends with a line feed. A line that cannot be written is
  // left out, since the whole file is written again at the end of the run.
  void Add(std::string_view line);

  // Removes the file if it was begun.
  void Remove();

 private:
  void Put(std::string_view text);

  std::string path_;
  std::string header_;
  std::FILE* file_ = nullptr;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_GROWING_FILE_H_
