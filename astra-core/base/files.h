// Whole files in, whole files out: a reader of ours never sees half a file, and
// neither does whoever reads what we write.

#ifndef ASTRA_CORE_BASE_FILES_H_
#define ASTRA_CORE_BASE_FILES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace astra {

// The largest input file; more is a mistake rather than an input.
constexpr int64_t kMaxInputFileBytes = int64_t{4} << 30;

// The contents of the file `path`.
//
// Errors: NotFound, PermissionDenied or InvalidArgument "PATH: reason".
absl::StatusOr<std::string> ReadFile(const std::string& path);

// Writes `contents` to a temporary file beside `path`, then gives it that name:
// `path` holds either what it held before or all of `contents`.
//
// Errors: PermissionDenied "PATH: reason"; nothing is left behind.
absl::Status WriteFile(const std::string& path, std::string_view contents);

// A folder that results go to.
class OutputFolder {
 public:
  // Makes the folder, and those above it, where it does not exist, and makes
  // sure that files can be written to it.
  //
  // Errors: PermissionDenied "PATH: reason".
  static absl::StatusOr<OutputFolder> Create(std::string path);

  const std::string& path() const { return path_; }

  // WriteFile to the file `name` of the folder.
  absl::Status Write(std::string_view name, std::string_view contents) const;

 private:
  explicit OutputFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace astra

#endif  // ASTRA_CORE_BASE_FILES_H_
