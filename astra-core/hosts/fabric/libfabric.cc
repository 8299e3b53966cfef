#include "astra-core/hosts/fabric/libfabric.h"

#include <dlfcn.h>

#include <csignal>
#include <vector>

#include "absl/status/status.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Keeps what signals do while libraries are loaded that would change it.
class SignalKeeper {
 public:
  SignalKeeper() {
    for (int number = 1; number < NSIG; ++number) {
      struct sigaction action {};
      if (sigaction(number, nullptr, &action) == 0) {
        kept_.emplace_back(number, action);
      }
    }
  }
  SignalKeeper(const SignalKeeper&) = delete;
  SignalKeeper& operator=(const SignalKeeper&) = delete;
  ~SignalKeeper() {
    for (const auto& [number, action] : kept_) {
      sigaction(number, &action, nullptr);
    }
  }

 private:
  std::vector<std::pair<int, struct sigaction>> kept_;
};

absl::Status CannotLoad() {
  const char* why = dlerror();
  return absl::NotFoundError(fmt::format(
      "libfabric, which sends over RDMA, cannot be loaded: {}: install "
      "libfabric1, or use --transport tcp",
      why == nullptr ? "unknown reason" : why));
}

template <class Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

}  // namespace

std::string Libfabric::ErrorText(int64_t code) const {
  return strerror(static_cast<int>(code < 0 ? -code : code));
}

absl::StatusOr<Libfabric> LoadLibfabric() {
  const SignalKeeper keeper;
  void* library = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return CannotLoad();
  Libfabric functions;
  const bool has_all = Find(library, "fi_getinfo", &functions.getinfo) &&
                       Find(library, "fi_freeinfo", &functions.freeinfo) &&
                       Find(library, "fi_dupinfo", &functions.dupinfo) &&
                       Find(library, "fi_fabric", &functions.fabric) &&
                       Find(library, "fi_strerror", &functions.strerror);
  if (!has_all) return CannotLoad();
  return functions;
}

}  // namespace astra
