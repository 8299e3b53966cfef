#include "astra-core/base/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
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
#include "astra-core/base/stop_handler.h"
#include "astra-core/base/temporary_file.h"
#include "fmt/core.h"

namespace astra {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FilePtr = std::unique_ptr<std::FILE, CloseFile>;

std::string LastSystemError() { return std::strerror(errno); }

absl::Status CannotRead(std::string_view path, std::string_view reason) {
  return absl::NotFoundError(
      fmt::format("{}: cannot be read: {}", path, reason));
}

absl::Status TooLarge(std::string_view path, int64_t limit) {
  return absl::InvalidArgumentError(
      fmt::format("{}: larger than the limit of {} bytes", path, limit));
}

// Owns the descriptor of an open file and closes it.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }

 private:
  int number_;
};

// Waits until there is something to read or the other end has closed. Returns
// whether this happened within `timeout_ms`; a negative value waits for ever.
bool AwaitInput(int file, int timeout_ms) {
  struct pollfd wait = {.fd = file, .events = POLLIN, .revents = 0};
  return poll(&wait, 1, timeout_ms) > 0;
}

// Reads the whole file. A pipe that no program has open for writing reads as
// empty, so a program gets some seconds to open it.
absl::Status ReadAll(int file, const std::string& path, bool is_pipe,
                     int64_t limit, std::string& contents) {
  constexpr int kPatienceMs = 5'000;
  bool has_writer = !is_pipe || AwaitInput(file, kPatienceMs);
  char buffer[1 << 16];
  while (true) {
    const ssize_t count = read(file, buffer, sizeof buffer);
    if (count == 0) {
      return has_writer ? absl::OkStatus()
                        : CannotRead(path, "no program writes to this pipe");
    }
    has_writer = true;
    if (count > 0) {
      contents.append(buffer, static_cast<size_t>(count));
      if (static_cast<int64_t>(contents.size()) > limit) {
        return TooLarge(path, limit);
      }
    } else if (errno == EAGAIN) {
      AwaitInput(file, -1);
    } else if (errno != EINTR) {
      return CannotRead(path, LastSystemError());
    }
  }
}

// Returns whether `name` is a TemporaryName() of a process of this host that no
// longer exists.
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

absl::Status Fill(TemporaryFile& file, std::string_view contents) {
  ASTRA_RETURN_IF_ERROR(file.Open());
  file.Append(contents);
  return file.Close();
}

// Removes what killed writers of the file `name` left in `folder`.
void RemoveLeftOf(const std::string& folder, std::string_view name) {
  const std::string start = fmt::format("{}.", name);
  std::error_code error;
  std::vector<std::filesystem::path> left;
  for (std::filesystem::directory_iterator it(folder, error);
       !error && it != std::filesystem::directory_iterator();
       it.increment(error)) {
    const std::string other = it->path().filename().string();
    if (other.starts_with(start) && other.ends_with(kTemporaryEnd) &&
        IsOfDeadProcess(other)) {
      left.push_back(it->path());
    }
  }
  for (const auto& path : left) std::filesystem::remove(path, error);
}

absl::StatusOr<TemporaryFile> BeginIn(std::string_view folder,
                                      std::string_view name) {
  const std::string path = fmt::format("{}/{}", folder, name);
  // A file can replace a file, but not a folder.
  if (IsFolder(path)) {
    return CannotWrite(path, std::strerror(EISDIR));
  }
  TemporaryFile file(path);
  ASTRA_RETURN_IF_ERROR(file.Open());
  return file;
}

// Writes to a device or a pipe, which has no file beside it.
absl::Status WriteDirectly(const std::string& path, std::string_view contents) {
  FilePtr file(std::fopen(path.c_str(), "wb"));
  if (file == nullptr) return CannotWrite(path, LastSystemError());
  const size_t written =
      std::fwrite(contents.data(), 1, contents.size(), file.get());
  if (written != contents.size() || std::fclose(file.release()) != 0) {
    return CannotWrite(path, LastSystemError());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const Descriptor file(
      open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  struct stat about = {};
  if (file.number() < 0 || fstat(file.number(), &about) != 0) {
    return CannotRead(path, LastSystemError());
  }
  if (S_ISBLK(about.st_mode) ||
      (S_ISCHR(about.st_mode) && isatty(file.number()) == 0)) {
    return absl::InvalidArgumentError(
        fmt::format("{}: is a device: expected a file or a pipe", path));
  }
  const bool is_file = S_ISREG(about.st_mode);
  const int64_t limit = is_file ? kMaxInputFileBytes : kMaxInputStreamBytes;
  if (is_file && about.st_size > limit) return TooLarge(path, limit);
  std::string contents;
  if (is_file) contents.reserve(static_cast<size_t>(about.st_size));
  ASTRA_RETURN_IF_ERROR(
      ReadAll(file.number(), path, S_ISFIFO(about.st_mode), limit, contents));
  if (S_ISFIFO(about.st_mode) && contents.empty()) {
    return CannotRead(path,
                      "nothing comes through this pipe; it can be read only "
                      "once, so give a file if the program reads it again");
  }
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (contents.starts_with(kByteOrderMark)) {
    contents.erase(0, kByteOrderMark.size());
  }
  return contents;
}

std::string FolderOf(const std::string& path) {
  for (const std::string_view passed :
       {"/dev/fd/", "/dev/stdin", "/proc/self/fd/"}) {
    if (path.starts_with(passed)) return "";
  }
  return std::filesystem::path(path).parent_path().string();
}

// The functions of std::filesystem that take no std::error_code throw.
bool IsFolder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

bool Exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

bool IsSameFile(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::equivalent(a, b, error)) return true;
  const fs::path whole_a = fs::weakly_canonical(a, error);
  if (error) return false;
  const fs::path whole_b = fs::weakly_canonical(b, error);
  return !error && whole_a == whole_b;
}

absl::Status WriteFile(const std::string& path, std::string_view contents) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status target = fs::status(path, error);
  if (fs::is_directory(target)) return CannotWrite(path, std::strerror(EISDIR));
  if (fs::exists(target) && !fs::is_regular_file(target)) {
    return WriteDirectly(path, contents);
  }
  if (fs::is_symlink(fs::symlink_status(path, error)) && fs::exists(target)) {
    return WriteFile(fs::canonical(path, error).string(), contents);
  }
  TemporaryFile file(path);
  ASTRA_RETURN_IF_ERROR(Fill(file, contents));
  return file.Rename();
}

void RemoveLeftTemporaries(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<fs::path> left;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator it(folder, error);
       !error && it != fs::directory_iterator(); it.increment(error)) {
    if (it->path().extension() != kTemporaryEnd) continue;
    // Ignored: its writer may rename the file at any time.
    std::error_code gone;
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
  std::vector<std::string> missing;  // The innermost folder first.
  std::error_code error;
  for (fs::path p = fs::path(folder.path_); !p.empty() && !fs::exists(p, error);
       p = p.parent_path()) {
    missing.push_back(p.string());
    if (p == p.parent_path()) break;
  }
  for (auto p = missing.rbegin(); p != missing.rend(); ++p) {
    const bool made = fs::create_directory(*p, error);
    if (error) return CannotWrite(folder.path_, error.message());
    if (!made) continue;
    folder.made_.push_back(*p);
    RemoveOnSignal(*p);
  }
  TemporaryFile probe(folder.path_ + "/");
  if (!probe.Open().ok()) return CannotWrite(folder.path_, LastSystemError());
  return folder;
}

// Removes only empty folders: rmdir() fails for others, as it should.
OutputFolder::~OutputFolder() {
  for (auto p = made_.rbegin(); p != made_.rend(); ++p) {
    rmdir(p->c_str());
    KeepOnSignal(*p);
  }
}

absl::StatusOr<TemporaryFile> OutputFolder::Begin(std::string_view name) const {
  RemoveLeftOf(path_, name);
  return BeginIn(path_, name);
}

absl::Status OutputFolder::Write(const std::vector<NamedFile>& files,
                                 absl::Span<const std::string_view> stale,
                                 std::vector<TemporaryFile> begun) const {
  for (TemporaryFile& file : begun) ASTRA_RETURN_IF_ERROR(file.Close());
  for (const NamedFile& file : files) {
    if (file.written != nullptr) {
      ASTRA_RETURN_IF_ERROR(file.written->Close());
      begun.push_back(std::move(*file.written));
      continue;
    }
    ASTRA_ASSIGN_OR_RETURN(TemporaryFile next, BeginIn(path_, file.name));
    next.Append(file.contents);
    ASTRA_RETURN_IF_ERROR(next.Close());
    begun.push_back(std::move(next));
  }
  for (TemporaryFile& file : begun) ASTRA_RETURN_IF_ERROR(file.Rename());
  for (const std::string_view name : stale) {
    const std::string path = fmt::format("{}/{}", path_, name);
    const bool is_new = std::any_of(
        begun.begin(), begun.end(),
        [&](const TemporaryFile& file) { return file.path() == path; });
    if (!is_new) std::remove(path.c_str());
  }
  return absl::OkStatus();
}

}  // namespace astra
