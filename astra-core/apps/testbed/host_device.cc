#include "astra-core/apps/testbed/host_device.h"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/apps/testbed/tcp_train.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr char kOwnNamespace[] = "/proc/thread-self/ns/net";
constexpr char kTun[] = "/dev/net/tun";

absl::Status SystemError(std::string_view what) {
  const std::string message = fmt::format("{}: {}", what, strerror(errno));
  return errno == EPERM || errno == EACCES
             ? absl::PermissionDeniedError(message)
             : absl::UnavailableError(message);
}

absl::StatusOr<FileDescriptor> Open(const char* path, int flags) {
  const int number = open(path, flags | O_CLOEXEC);
  if (number < 0) return SystemError(path);
  return FileDescriptor(number);
}

// Makes a TUN device in the namespace of the calling thread. It passes large
// packets of TCP whole and leaves checksums to nobody, since no bit is ever
// lost between two kernels of one machine.
absl::StatusOr<FileDescriptor> MakeDevice() {
  ASTRA_ASSIGN_OR_RETURN(FileDescriptor device,
                         Open(kTun, O_RDWR | O_NONBLOCK));
  ifreq request{};
  std::copy(std::begin(HostDevice::kName), std::end(HostDevice::kName),
            request.ifr_name);
  request.ifr_flags = static_cast<int16_t>(IFF_TUN | IFF_NO_PI | IFF_VNET_HDR);
  if (ioctl(device.number(), TUNSETIFF, &request) < 0) {
    return SystemError("TUNSETIFF");
  }
  int prefix = static_cast<int>(TcpTrain::kPrefix);
  if (ioctl(device.number(), TUNSETVNETHDRSZ, &prefix) < 0) {
    return SystemError("TUNSETVNETHDRSZ");
  }
  if (ioctl(device.number(), TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4) < 0) {
    return SystemError("TUNSETOFFLOAD");
  }
  return device;
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (number_ >= 0) close(number_);
}

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)) {}

absl::StatusOr<HostDevice> HostDevice::Create() {
  ASTRA_ASSIGN_OR_RETURN(const FileDescriptor before,
                         Open(kOwnNamespace, O_RDONLY));
  if (unshare(CLONE_NEWNET) < 0) return SystemError("a network namespace");
  absl::StatusOr<FileDescriptor> made = Open(kOwnNamespace, O_RDONLY);
  absl::StatusOr<FileDescriptor> device = MakeDevice();
  if (setns(before.number(), CLONE_NEWNET) < 0) return SystemError("setns");
  ASTRA_RETURN_IF_ERROR(made.status());
  ASTRA_RETURN_IF_ERROR(device.status());
  return HostDevice(*std::move(made), *std::move(device));
}

std::optional<size_t> HostDevice::Read(absl::Span<uint8_t> piece) const {
  const ssize_t size = read(device(), piece.data(), piece.size());
  if (size <= 0) return std::nullopt;
  return static_cast<size_t>(size);
}

bool HostDevice::Write(absl::Span<const uint8_t> headers,
                       absl::Span<const uint8_t> payload) const {
  const auto part = [](absl::Span<const uint8_t> bytes) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): iovec has no const
    return iovec{const_cast<uint8_t*>(bytes.data()), bytes.size()};
  };
  const std::array<iovec, 2> parts = {part(headers), part(payload)};
  const ssize_t size =
      writev(device(), parts.data(), static_cast<int>(parts.size()));
  return size == static_cast<ssize_t>(headers.size() + payload.size());
}

}  // namespace astra
