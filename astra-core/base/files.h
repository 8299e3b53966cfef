// Reads and writes whole files. Neither this program nor a reader of its files
// ever sees a partial file.

#ifndef ASTRA_CORE_BASE_FILES_H_
#define ASTRA_CORE_BASE_FILES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/temporary_file.h"

namespace astra {

// Largest input file in bytes. A larger file is taken for a mistake.
constexpr int64_t kMaxInputFileBytes = int64_t{4} << 30;

// Largest input in bytes from a pipe or terminal, which cannot tell its size
// and may have no end.
constexpr int64_t kMaxInputStreamBytes = int64_t{1} << 30;

// Returns the contents of the file `path`, without a byte order mark. The path
// may be a pipe, such as bash's <(COMMAND) or /dev/stdin, if a program writes
// to it or opens it for writing within five seconds.
//
// Errors: NotFound or InvalidArgument "PATH: reason", also for a device, which
// may have no end, for a pipe through which nothing comes, as when it is read a
// second time, and for contents beyond the limits.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// Returns the folder from which relative paths in the file `path` count: its
// own folder, or "" for the working folder. What a shell passes without a file,
// such as /dev/stdin or bash's <(COMMAND), counts from the working folder.
std::string FolderOf(const std::string& path);

// Return whether there is a folder, or anything, at `path`. What cannot be
// looked at, for example behind a folder that may not be entered, is not there.
bool IsFolder(const std::string& path);
bool Exists(const std::string& path);

// Returns whether both paths lead to one file, which need not exist. A pipe,
// such as bash's <(COMMAND), is no file, and the same as nothing.
bool IsSameFile(const std::string& a, const std::string& b);

// Writes `contents` to a temporary file beside `path` and then renames that
// file to `path`, which holds either its old contents or all of the new ones. A
// symbolic link is followed; a device or pipe is written directly.
//
// Errors: PermissionDenied "PATH: reason"; no temporary file is left behind.
absl::Status WriteFile(const std::string& path, std::string_view contents);

// Removes temporary files that killed writers left in `folder`: those of
// processes of this host that no longer exist, and those that nobody has
// written to for kLeftTemporarySeconds.
void RemoveLeftTemporaries(const std::string& folder);

constexpr int64_t kLeftTemporarySeconds = 3600;

struct NamedFile {
  std::string name;
  std::string contents;
  // The file, if it was written while its contents came up; `contents` is empty
  // then.
  std::shared_ptr<TemporaryFile> written = nullptr;
};

// A folder for results. It stays as it was until Write(); what a run that fails
// or that a signal stops leaves is for the program to say.
class OutputFolder {
 public:
  // Creates the folder and missing folders above it, and checks that files can
  // be written to it.
  //
  // Errors: PermissionDenied "PATH: reason".
  static absl::StatusOr<OutputFolder> Create(std::string path);

  // Removes the folders that Create() made, if they are still empty.
  ~OutputFolder();
  OutputFolder(OutputFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})),
        made_(std::exchange(other.made_, {})) {}
  OutputFolder& operator=(OutputFolder&&) = delete;

  // Begins a file of the folder that is too long to be held in memory. Write()
  // ends it; without Write() it is removed. Also removes what killed writers
  // of this file left behind.
  //
  // Errors: PermissionDenied "PATH: reason".
  absl::StatusOr<TemporaryFile> Begin(std::string_view name) const;

  // Writes all files to the folder, or none: each goes to a temporary file, and
  // all are renamed at the end, with those that were `begun` before. Then
  // removes the files of `stale` that were not written, which an earlier run
  // may have left.
  //
  // Errors: PermissionDenied "PATH: reason".
  absl::Status Write(const std::vector<NamedFile>& files,
                     absl::Span<const std::string_view> stale = {},
                     std::vector<TemporaryFile> begun = {}) const;

 private:
  explicit OutputFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
  // Folders that Create() made; the innermost last.
  std::vector<std::string> made_;
};

}  // namespace astra

#endif  // ASTRA_CORE_BASE_FILES_H_
