#include "astra-core/base/files.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "astra-core/base/status_macros.h"
#include "fmt/format.h"

namespace astra {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FilePtr = std::unique_ptr<std::FILE, CloseFile>;

std::string LastSystemError() { return std::strerror(errno); }

absl::Status CannotWrite(std::string_view path, std::string_view reason) {
  return absl::PermissionDeniedError(
      fmt::format("{}: cannot be written: {}", path, reason));
}

// Writes and closes; the error is that of whatever failed first.
absl::Status WriteAndClose(FilePtr file, const std::string& path,
                           std::string_view contents) {
  const size_t written =
      std::fwrite(contents.data(), 1, contents.size(), file.get());
  if (written != contents.size() || std::fflush(file.get()) != 0) {
    return CannotWrite(path, LastSystemError());
  }
  if (std::fclose(file.release()) != 0) {
    return CannotWrite(path, LastSystemError());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const FilePtr file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    return absl::NotFoundError(
        fmt::format("{}: cannot be read: {}", path, LastSystemError()));
  }
  std::string contents;
  char buffer[1 << 16];
  while (const size_t count =
             std::fread(buffer, 1, sizeof buffer, file.get())) {
    contents.append(buffer, count);
    if (static_cast<int64_t>(contents.size()) > kMaxInputFileBytes) {
      return absl::InvalidArgumentError(fmt::format(
          "{}: larger than the limit of {} bytes", path, kMaxInputFileBytes));
    }
  }
  if (std::ferror(file.get()) != 0) {
    return absl::NotFoundError(
        fmt::format("{}: cannot be read: {}", path, LastSystemError()));
  }
  return contents;
}

absl::Status WriteFile(const std::string& path, std::string_view contents) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  FilePtr file(std::fopen(temporary.c_str(), "wb"));
  if (file == nullptr) return CannotWrite(path, LastSystemError());

  absl::Status status = WriteAndClose(std::move(file), path, contents);
  if (status.ok() && std::rename(temporary.c_str(), path.c_str()) != 0) {
    status = CannotWrite(path, LastSystemError());
  }
  if (!status.ok()) std::remove(temporary.c_str());
  return status;
}

absl::StatusOr<OutputFolder> OutputFolder::Create(std::string path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return CannotWrite(path, error.message());

  const std::string probe = fmt::format("{}/.{}.tmp", path, getpid());
  FilePtr file(std::fopen(probe.c_str(), "wb"));
  if (file == nullptr) return CannotWrite(path, LastSystemError());
  file.reset();
  std::remove(probe.c_str());
  return OutputFolder(std::move(path));
}

absl::Status OutputFolder::Write(std::string_view name,
                                 std::string_view contents) const {
  return WriteFile(fmt::format("{}/{}", path_, name), contents);
}

}  // namespace astra
