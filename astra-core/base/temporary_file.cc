#include "astra-core/base/temporary_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "astra-core/base/host_name.h"
#include "astra-core/base/stop_handler.h"
#include "fmt/core.h"

namespace astra {

std::string TemporaryName(std::string_view path) {
  // On a shared file system, another host may have a process of the same
  // number.
  return fmt::format("{}.{}.{}{}", path, HostName(), getpid(), kTemporaryEnd);
}

absl::Status CannotWrite(std::string_view path, std::string_view reason) {
  return absl::PermissionDeniedError(
      fmt::format("{}: cannot be written: {}", path, reason));
}

TemporaryFile::TemporaryFile(std::string path, std::string_view mark)
    : path_(std::move(path)),
      name_(TemporaryName(mark.empty() ? path_
                                       : fmt::format("{}.{}", path_, mark))) {
  RemoveOnSignal(name_);
}

TemporaryFile::~TemporaryFile() {
  if (name_.empty()) return;
  std::remove(name_.c_str());
  KeepOnSignal(name_);
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      name_(std::exchange(other.name_, {})),
      file_(std::move(other.file_)),
      error_(std::move(other.error_)) {}

absl::Status TemporaryFile::Open() {
  file_.reset(std::fopen(name_.c_str(), "wb"));
  if (file_ == nullptr) error_ = CannotWrite(path_, std::strerror(errno));
  return error_;
}

void TemporaryFile::Append(std::string_view text) {
  if (!error_.ok()) return;
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) {
    error_ = CannotWrite(path_, std::strerror(errno));
  }
}

absl::Status TemporaryFile::Close() {
  if (file_ == nullptr) return error_;
  if (std::fclose(file_.release()) != 0 && error_.ok()) {
    error_ = CannotWrite(path_, std::strerror(errno));
  }
  return error_;
}

absl::Status TemporaryFile::Rename() {
  if (std::rename(name_.c_str(), path_.c_str()) != 0) {
    return CannotWrite(path_, std::strerror(errno));
  }
  KeepOnSignal(name_);
  name_.clear();
  return absl::OkStatus();
}

}  // namespace astra
