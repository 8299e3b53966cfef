// One end of a network in which processes write into one another's memory
// (remote direct memory access, RDMA). Each write carries a notice, a number
// that tells the receiving process that the bytes are there.
//
// Usage:
//   ASTRA_ASSIGN_OR_RETURN(auto endpoint, OpenFabricEndpoint(wish));
//   ASTRA_ASSIGN_OR_RETURN(const auto own, endpoint->Register(memory));
//   // Tell the other process endpoint->address() and `own`, and hear its own.
//   ASTRA_ASSIGN_OR_RETURN(const auto peer, endpoint->AddPeer(its_address));
//   endpoint->Write({.peer = peer, .first = part_of_memory, ...}, &ticket);
//   endpoint->Poll(&completions);  // Writes that have ended, and notices.
//
// The network is one of the providers of libfabric. Its provider verbs;ofi_rxm
// drives InfiniBand and RoCE through libibverbs, and efa drives the adapters of
// AWS. Its provider tcp;ofi_rxm does the same over TCP, for tests and for hosts
// without such a device.

#ifndef ASTRA_CORE_HOSTS_FABRIC_FABRIC_ENDPOINT_H_
#define ASTRA_CORE_HOSTS_FABRIC_FABRIC_ENDPOINT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace astra {

// Says which device of a host an endpoint is to use.
struct DeviceWish {
  // Provider of libfabric, such as "verbs" or "tcp"; "" for the first provider
  // of RDMA devices that has a device on this host.
  std::string provider;
  // Name of the device, such as "mlx5_0"; "" to choose one.
  std::string device;
  // Without `device`: the device that has this address is chosen, if there is
  // one.
  std::string address;
  // Otherwise process number i of a host gets device number i of the host,
  // counted around.
  uint32_t local_rank = 0;
};

// Provider and device of an endpoint, for people; both "" for plain sockets.
struct FabricName {
  std::string provider;
  std::string device;

  friend bool operator==(const FabricName&, const FabricName&) = default;
};

// Returns whether a provider of libfabric writes into remote memory by a
// device, and not by messages over the kernel's sockets.
bool IsRdmaProvider(std::string_view provider);

// Names the other end of writes.
enum class FabricPeer : uint64_t {};

// Memory into which other processes may write.
struct RemoteMemory {
  uint64_t address = 0;
  uint64_t key = 0;
};

// Belongs to one write, from Write() until its completion. The provider keeps
// its own state in it.
struct WriteTicket {
  void* of_provider[8] = {};
};

struct FabricWrite {
  FabricPeer peer{};
  // The bytes to write, one part after the other. They lie in registered
  // memory.
  std::string_view first;
  std::string_view second;
  RemoteMemory target;
  uint32_t notice = 0;
};

struct FabricCompletion {
  enum class Kind : uint8_t {
    kWritten,  // A write of this process has ended.
    kFailed,   // A write of this process has failed.
    kNotice,   // Another process has written into the memory of this process.
  };
  Kind kind = Kind::kNotice;
  WriteTicket* ticket = nullptr;  // Ticket of the write; null for kNotice.
  uint32_t notice = 0;            // Number that came with the bytes of kNotice.
};

class FabricEndpoint {
 public:
  virtual ~FabricEndpoint() = default;

  virtual FabricName name() const = 0;
  // Returns the bytes that AddPeer() of another process needs.
  virtual std::string address() const = 0;

  // Allows processes that get the result to write into `memory`, which holds
  // the bytes of this end's own writes as well. It must outlive the object, and
  // this is called once.
  //
  // Errors: ResourceExhausted if the host does not let the process pin so much
  // memory.
  virtual absl::StatusOr<RemoteMemory> Register(absl::Span<char> memory) = 0;

  // Errors: InvalidArgument for bytes that are no address of this provider.
  virtual absl::StatusOr<FabricPeer> AddPeer(std::string_view address) = 0;

  // Begins a write. Returns false, and has done nothing, if there is no room
  // for it or the connection is still being made: Poll() and try again.
  //
  // Errors: Unavailable if the peer cannot be reached.
  virtual absl::StatusOr<bool> Write(const FabricWrite& write,
                                     WriteTicket* ticket) = 0;

  // Appends what has happened since the last call.
  //
  // Errors: Unavailable if the endpoint has broken.
  virtual absl::Status Poll(std::vector<FabricCompletion>* completions) = 0;

  // Returns a descriptor that a poller finds readable once Poll() has work, or
  // -1 if Poll() has to be called again and again.
  virtual int descriptor() const = 0;
  // Returns whether the descriptor wakes whoever begins to wait now. If not,
  // Poll() has work already.
  virtual bool MayWait() = 0;
};

// Returns an error, if this program was built without libfabric.
absl::Status CheckFabricIsBuilt();

// Opens an endpoint on a device of this host.
//
// Errors: those of CheckFabricIsBuilt(); NotFound, with what was looked for and
// what is there, if the host has no such library, provider or device; Internal
// if the device fails.
absl::StatusOr<std::unique_ptr<FabricEndpoint>> OpenFabricEndpoint(
    const DeviceWish& wish);

}  // namespace astra

#endif  // ASTRA_CORE_HOSTS_FABRIC_FABRIC_ENDPOINT_H_
