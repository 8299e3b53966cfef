// What the two ends of a connection over RDMA tell each other at its beginning,
// over the TCP connection between them. It is sent once in each direction:
// a length as 32 bits, and then the encoded greeting.

#ifndef ASTRA_CORE_PHYSICAL_RDMA_GREETING_H_
#define ASTRA_CORE_PHYSICAL_RDMA_GREETING_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "astra-core/hosts/fabric/fabric_endpoint.h"

namespace astra {

struct RdmaGreeting {
  static constexpr size_t kLengthBytes = 4;
  // Largest length of an encoded greeting.
  static constexpr size_t kMostBytes = 1024;

  std::string provider;  // Provider of libfabric that this end uses.
  std::string address;   // Address of this end's endpoint.
  // Where the other end writes: the slots of a receiver, or the place for
  // credits of a sender.
  RemoteMemory memory;
  uint32_t slot_bytes = 0;    // Size of a slot; 0 from a sender.
  uint32_t first_notice = 0;  // Notice of slot 0, or of its credit.
};

// Returns the greeting with its length in front.
std::string Encode(const RdmaGreeting& greeting);

// Returns the length that the first kLengthBytes bytes say.
//
// Errors: InvalidArgument for a length of more than kMostBytes.
absl::StatusOr<size_t> ParseGreetingLength(std::string_view bytes);

// Reads a greeting without its length.
//
// Errors: InvalidArgument for bytes that are no greeting.
absl::StatusOr<RdmaGreeting> ParseRdmaGreeting(std::string_view bytes);

}  // namespace astra

#endif  // ASTRA_CORE_PHYSICAL_RDMA_GREETING_H_
