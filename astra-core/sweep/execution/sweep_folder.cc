#include "astra-core/sweep/execution/sweep_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "astra-core/base/host_name.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::Status CannotWrite(const std::string& path, std::string_view reason) {
  return absl::PermissionDeniedError(fmt::format("{}: {}", path, reason));
}

absl::Status MakeFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  // create_directories() does not report a file of that name as an error.
  if (!error && !std::filesystem::is_directory(path, error) && !error) {
    error = std::make_error_code(std::errc::not_a_directory);
  }
  if (error) return CannotWrite(path, error.message());
  return absl::OkStatus();
}

// Returns "PID on HOST", which the holder of a lock writes into the lock file.
std::string Self() { return fmt::format("{} on {}", getpid(), HostName()); }

std::string ReadHolder(int file) {
  char text[300];
  const ssize_t size = pread(file, text, sizeof(text), 0);
  return std::string(text, size > 0 ? static_cast<size_t>(size) : 0);
}

}  // namespace

SweepFolder::SweepFolder(const std::string& path) {
  std::error_code error;
  path_ = std::filesystem::absolute(path, error).lexically_normal().string();
  if (error) path_ = path;
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
}

absl::Status SweepFolder::Create() const {
  ASTRA_RETURN_IF_ERROR(MakeFolder(path_ + "/inputs"));
  return MakeFolder(path_ + "/points");
}

std::string SweepFolder::InputFile(const PointStep& step) const {
  const bool is_topology = step.program->role == ProgramRole::kTopology;
  return fmt::format("{}/inputs/{}.{}", path_, step.key,
                     is_topology ? "topology" : "workload");
}

std::string SweepFolder::PointFolder(std::string_view key) const {
  return fmt::format("{}/points/{}", path_, key);
}

std::string SweepFolder::RecordFile(std::string_view key) const {
  return PointFolder(key) + "/record.json";
}

absl::StatusOr<std::optional<SweepLock>> SweepLock::Take(
    const SweepFolder& folder, std::string* holder) {
  const std::string path = folder.lock_file();
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return CannotWrite(path, std::strerror(errno));
  SweepLock lock(file);  // Will close the file.
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (fcntl(file, F_SETLK, &whole) != 0) {
    if (errno != EACCES && errno != EAGAIN) {
      return CannotWrite(path, std::strerror(errno));
    }
    *holder = ReadHolder(file);
    return std::optional<SweepLock>();
  }
  const std::string self = Self();
  if (ftruncate(file, 0) != 0 || pwrite(file, self.data(), self.size(), 0) !=
                                     static_cast<ssize_t>(self.size())) {
    return CannotWrite(path, std::strerror(errno));
  }
  return std::optional<SweepLock>(std::move(lock));
}

SweepLock::~SweepLock() {
  if (file_ >= 0) close(file_);
}

}  // namespace astra
