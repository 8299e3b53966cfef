// A file that nobody sees before it is complete: it grows under a temporary
// name beside its own, which it takes at the end.
//
//   TemporaryFile file(path);
//   ASTRA_RETURN_IF_ERROR(file.Open());
//   file.Append("id,arrival_us\n");
//   ASTRA_RETURN_IF_ERROR(file.Close());
//   ASTRA_RETURN_IF_ERROR(file.Rename());
//
// The destructor removes the file unless it was renamed, also after an
// exception, such as when memory runs out, and so does a signal that stops the
// program (stop_handler.h). A process that is killed leaves it behind;
// RemoveLeftTemporaries() removes it then.

#ifndef ASTRA_CORE_BASE_TEMPORARY_FILE_H_
#define ASTRA_CORE_BASE_TEMPORARY_FILE_H_

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace astra {

// The end of all temporary names.
inline constexpr std::string_view kTemporaryEnd = ".tmp";

// Returns the temporary name that this process uses for `path`.
std::string TemporaryName(std::string_view path);

// Returns PermissionDenied "PATH: cannot be written: REASON".
absl::Status CannotWrite(std::string_view path, std::string_view reason);

class TemporaryFile {
 public:
  // `mark` tells files apart that are written for one `path` at a time.
  explicit TemporaryFile(std::string path, std::string_view mark = "");
  ~TemporaryFile();
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;

  // The name that the file takes in the end, which errors name too.
  const std::string& path() const { return path_; }

  // Begins the file, empty. Errors: those of CannotWrite(); Close() returns
  // them again.
  absl::Status Open();

  // Adds `text` after Open(). Close() tells of what went wrong.
  void Append(std::string_view text);

  // Ends the file. Errors: those of CannotWrite(), of the first text that could
  // not be added.
  absl::Status Close();

  // Gives the file its own name, in place of what had it. Requires a closed
  // file. Errors: those of CannotWrite().
  absl::Status Rename();

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string path_;
  std::string name_;  // Empty once the file has been renamed.
  std::unique_ptr<std::FILE, CloseFile> file_;
  absl::Status error_;
};

}  // namespace astra

#endif  // ASTRA_CORE_BASE_TEMPORARY_FILE_H_
