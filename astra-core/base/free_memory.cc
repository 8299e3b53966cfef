#include "astra-core/base/free_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

namespace astra {
namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

// Returns the number in a file; kUnlimited where the file holds none ("max") or
// does not exist.
int64_t NumberIn(const std::string& path) {
  int64_t number = 0;
  std::ifstream file(path);
  return file >> number ? number : kUnlimited;
}

int64_t Available() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::string unit;
  for (int64_t kib = 0; file >> name >> kib; std::getline(file, unit)) {
    if (name == "MemAvailable:") return kib * 1024;
  }
  return kUnlimited;
}

// Returns the folder of this process's control group: what follows `marker`,
// such as "0::" (v2), in its line of /proc/self/cgroup.
std::string ControlGroup(std::string_view marker) {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t at = line.find(marker);
    if (at != line.npos) return line.substr(at + marker.size());
  }
  return "";
}

// Returns how many bytes the limit in `folder` leaves beyond the use.
int64_t Left(const std::string& folder, std::string_view limit,
             std::string_view use) {
  const int64_t most = NumberIn(folder + std::string(limit));
  if (most == kUnlimited) return kUnlimited;
  const int64_t used = NumberIn(folder + std::string(use));
  return used == kUnlimited ? most : std::max<int64_t>(0, most - used);
}

// Returns how many bytes the address-space limit (ulimit -v) leaves this
// process.
int64_t LeftOfAddressSpace() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return kUnlimited;
  }
  const int64_t pages = NumberIn("/proc/self/statm");
  const int64_t used = pages == kUnlimited ? 0 : pages * sysconf(_SC_PAGESIZE);
  const auto most = static_cast<int64_t>(
      std::min(limit.rlim_cur, static_cast<rlim_t>(kUnlimited)));
  return std::max<int64_t>(0, most - used);
}

}  // namespace

int64_t FreeMemoryBytes() {
  const std::string root = "/sys/fs/cgroup";
  int64_t free = std::min(Available(), LeftOfAddressSpace());
  for (const std::string& folder : {root, root + ControlGroup("0::")}) {
    free = std::min(free, Left(folder, "/memory.max", "/memory.current"));
  }
  const std::string first = root + "/memory";
  for (const std::string& folder : {first, first + ControlGroup(":memory:")}) {
    free = std::min(
        free, Left(folder, "/memory.limit_in_bytes", "/memory.usage_in_bytes"));
  }
  return free / 10 * 9;
}

}  // namespace astra
