// A host of the bed: a network namespace and the TUN device in it.
//
// Both have no name outside of this process. They end with it, however it ends,
// so that a bed leaves nothing behind. Another process enters the namespace
// through /proc/PID/fd/N, as with `nsenter --net=/proc/PID/fd/N`.
//
// Source: Linux, Documentation/networking/tuntap.rst; namespaces(7).

#ifndef ASTRA_CORE_APPS_TESTBED_HOST_DEVICE_H_
#define ASTRA_CORE_APPS_TESTBED_HOST_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace astra {

// Owns a file descriptor.
class FileDescriptor {
 public:
  explicit FileDescriptor(int number) : number_(number) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&&) = delete;

  int number() const { return number_; }

 private:
  int number_;
};

class HostDevice {
 public:
  // Name of the device within the namespace.
  static constexpr char kName[] = "eth0";

  // Makes a namespace with a device that is down and has no address. The
  // calling thread is in its own namespace again when this returns.
  //
  // Errors: PermissionDenied without root; Unavailable without TUN.
  static absl::StatusOr<HostDevice> Create();

  // Reads the next piece that the host sends into `piece`, and returns its
  // size; none if there is none now.
  std::optional<size_t> Read(absl::Span<uint8_t> piece) const;

  // Hands the host a piece. Returns false if it did not take it.
  bool Write(absl::Span<const uint8_t> headers,
             absl::Span<const uint8_t> payload) const;

  int device() const { return device_.number(); }
  int network_namespace() const { return namespace_.number(); }

 private:
  HostDevice(FileDescriptor network_namespace, FileDescriptor device)
      : namespace_(std::move(network_namespace)), device_(std::move(device)) {}

  FileDescriptor namespace_;
  FileDescriptor device_;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_TESTBED_HOST_DEVICE_H_
