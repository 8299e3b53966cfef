// Whole files in, whole files out: a reader of ours never sees half a file, and
// neither does whoever reads what we write.

#ifndef ASTRA_CORE_BASE_FILES_H_
#define ASTRA_CORE_BASE_FILES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace astra {

// The largest input file; more is a mistake rather than an input.
constexpr int64_t kMaxInputFileBytes = int64_t{4} << 30;

// The largest input from a pipe or terminal, which cannot say how much it will
// be and may have no end.
constexpr int64_t kMaxInputStreamBytes = int64_t{1} << 30;

// The contents of the file `path`, without a byte order mark at its beginning.
// It may be a pipe, such as bash's <(COMMAND) or /dev/stdin, that a program
// writes to or opens for that within five seconds.
//
// Errors: NotFound or InvalidArgument "PATH: reason", also for a device, which
// may have no end, and for what is larger than the limits.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// Writes `contents` to a temporary file beside `path`, then gives it that name:
// `path` holds either what it held before or all of `contents`. What a symbolic
// link leads to is written, not the link; a device or pipe is written into.
//
// Errors: PermissionDenied "PATH: reason"; nothing is left behind.
absl::Status WriteFile(const std::string& path, std::string_view contents);

// Removes the temporary files that writers which were killed left in `folder`:
// those of processes of this host that are no more, and those that nobody has
// written to for kLeftTemporarySeconds.
void RemoveLeftTemporaries(const std::string& folder);

constexpr int64_t kLeftTemporarySeconds = 3600;

struct NamedFile {
  std::string name;
  std::string contents;
};

// A folder that results go to. What a run that failed leaves behind is what was
// there before.
class OutputFolder {
 public:
  // Makes the folder, and those above it, where it does not exist, and makes
  // sure that files can be written to it.
  //
  // Errors: PermissionDenied "PATH: reason".
  static absl::StatusOr<OutputFolder> Create(std::string path);

  // Removes the folders that Create() made, if nothing was written to them.
  ~OutputFolder();
  OutputFolder(OutputFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})),
        made_(std::exchange(other.made_, {})) {}
  OutputFolder& operator=(OutputFolder&&) = delete;

  // Writes all files to the folder, or none: each goes to a temporary file, and
  // all get their names at the end. Then removes those of `stale` that are not
  // among them: an earlier run may have left them.
  //
  // Errors: PermissionDenied "PATH: reason".
  absl::Status Write(const std::vector<NamedFile>& files,
                     absl::Span<const std::string_view> stale = {}) const;

 private:
  explicit OutputFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::vector<std::string> made_;  // By Create(), the innermost last.
};

}  // namespace astra

#endif  // ASTRA_CORE_BASE_FILES_H_
