#include "astra-core/base/files.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "astra-core/base/host_name.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FilePtr = std::unique_ptr<std::FILE, CloseFile>;

constexpr std::string_view kTemporaryEnd = ".tmp";

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

std::string TemporaryName(std::string_view path) {
  // Another host, on a shared file system, may have a process of this number.
  return fmt::format("{}.{}.{}{}", path, HostName(), getpid(), kTemporaryEnd);
}

// Whether `name` is one of TemporaryName() of a process of this host that is no
// more.
bool IsOfDeadProcess(std::string_view name) {
  name.remove_suffix(kTemporaryEnd.size());
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view digits = name.substr(dot + 1);
  const std::string host = "." + HostName();
  name = name.substr(0, dot);
  pid_t process = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), process);
  const bool is_number =
      error == std::errc() && end == digits.data() + digits.size();
  return is_number && process > 0 && name.size() > host.size() &&
         name.substr(name.size() - host.size()) == host &&
         kill(process, 0) != 0 && errno == ESRCH;
}

// Errors name `path`, the file that is meant.
absl::Status WriteTemporary(const std::string& temporary,
                            const std::string& path,
                            std::string_view contents) {
  FilePtr file(std::fopen(temporary.c_str(), "wb"));
  if (file == nullptr) return CannotWrite(path, LastSystemError());
  return WriteAndClose(std::move(file), path, contents);
}

absl::Status Rename(const std::string& temporary, const std::string& path) {
  if (std::rename(temporary.c_str(), path.c_str()) == 0) {
    return absl::OkStatus();
  }
  return CannotWrite(path, LastSystemError());
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
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status target = fs::status(path, error);
  if (fs::is_directory(target)) return CannotWrite(path, std::strerror(EISDIR));
  if (fs::exists(target) && !fs::is_regular_file(target)) {
    return WriteTemporary(path, path, contents);
  }
  if (fs::is_symlink(fs::symlink_status(path, error)) && fs::exists(target)) {
    return WriteFile(fs::canonical(path, error).string(), contents);
  }
  const std::string temporary = TemporaryName(path);
  absl::Status status = WriteTemporary(temporary, path, contents);
  if (status.ok()) status = Rename(temporary, path);
  if (!status.ok()) std::remove(temporary.c_str());
  return status;
}

void RemoveLeftTemporaries(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<fs::path> left;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator it(folder, error);
       !error && it != fs::directory_iterator(); it.increment(error)) {
    if (it->path().extension() != kTemporaryEnd) continue;
    std::error_code gone;  // Its writer may give it its name just now.
    const auto written = it->last_write_time(gone);
    const bool is_old =
        !gone && now - written > std::chrono::seconds(kLeftTemporarySeconds);
    if (is_old || IsOfDeadProcess(it->path().filename().string())) {
      left.push_back(it->path());
    }
  }
  for (const fs::path& path : left) fs::remove(path, error);
}

absl::StatusOr<OutputFolder> OutputFolder::Create(std::string path) {
  namespace fs = std::filesystem;
  OutputFolder folder(std::move(path));
  std::vector<std::string> missing;  // The innermost first.
  std::error_code error;
  for (fs::path p = fs::path(folder.path_); !p.empty() && !fs::exists(p, error);
       p = p.parent_path()) {
    missing.push_back(p.string());
    if (p == p.parent_path()) break;
  }
  for (auto p = missing.rbegin(); p != missing.rend(); ++p) {
    const bool made = fs::create_directory(*p, error);
    if (error) return CannotWrite(folder.path_, error.message());
    if (made) folder.made_.push_back(*p);
  }
  const std::string probe = TemporaryName(folder.path_ + "/");
  ASTRA_RETURN_IF_ERROR(WriteTemporary(probe, folder.path_, ""));
  std::remove(probe.c_str());
  return folder;
}

// Removing a folder with something in it fails, as it should.
OutputFolder::~OutputFolder() {
  for (auto p = made_.rbegin(); p != made_.rend(); ++p) rmdir(p->c_str());
}

absl::Status OutputFolder::Write(
    const std::vector<NamedFile>& files,
    absl::Span<const std::string_view> stale) const {
  absl::Status status;
  for (const NamedFile& file : files) {
    const std::string path = fmt::format("{}/{}", path_, file.name);
    // A file can take the place of a file, not of a folder.
    status = std::filesystem::is_directory(path)
                 ? CannotWrite(path, std::strerror(EISDIR))
                 : WriteTemporary(TemporaryName(path), path, file.contents);
    if (!status.ok()) break;
  }
  for (const NamedFile& file : files) {
    const std::string path = fmt::format("{}/{}", path_, file.name);
    if (status.ok()) status = Rename(TemporaryName(path), path);
    if (!status.ok()) std::remove(TemporaryName(path).c_str());
  }
  if (!status.ok()) return status;
  for (const std::string_view name : stale) {
    const bool is_new =
        std::any_of(files.begin(), files.end(),
                    [&](const NamedFile& file) { return file.name == name; });
    if (!is_new) std::remove(fmt::format("{}/{}", path_, name).c_str());
  }
  return status;
}

}  // namespace astra
