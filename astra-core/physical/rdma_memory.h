// The memory of a rank into which others write, and from which it writes.
//
// clang-format off
//   slots     kSlots for each incoming connection: a frame and bytes, or bytes
//   headers   kSlots for each outgoing connection: the frame that goes to a slot
//   credit    where others write when they return a credit; nobody reads it
//   payload   random bytes that all messages consist of
// clang-format on
//
// A connection has as many slots as NCCL's have steps (NCCL_STEPS), and each
// slot is as large as a chunk of NCCL. With many connections slots are smaller,
// so that a rank has at most about kMostSlotBytes of them.

#ifndef ASTRA_CORE_PHYSICAL_RDMA_MEMORY_H_
#define ASTRA_CORE_PHYSICAL_RDMA_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/types/span.h"

namespace astra {

class RdmaMemory {
 public:
  static constexpr uint32_t kSlots = 8;
  static constexpr uint32_t kLargestSlot = uint32_t{1} << 17;
  static constexpr uint32_t kSmallestSlot = uint32_t{1} << 12;
  static constexpr size_t kMostSlotBytes = size_t{1} << 28;

  RdmaMemory(size_t num_incoming, size_t num_outgoing);

  absl::Span<char> all() { return {bytes_.get(), size_}; }
  uint32_t slot_bytes() const { return slot_bytes_; }

  // Return positions in all().
  size_t SlotAt(size_t incoming, uint32_t slot) const {
    return (incoming * kSlots + slot) * slot_bytes_;
  }
  size_t HeaderAt(size_t outgoing, uint32_t slot) const;
  size_t credit_at() const { return payload_at_ - kCreditBytes; }

  std::string_view At(size_t position, size_t num_bytes) const {
    return {bytes_.get() + position, num_bytes};
  }
  // Returns the bytes that a credit is written with.
  std::string_view credit() const { return At(credit_at(), kCreditBytes); }
  // Returns random bytes, kLargestSlot at most.
  std::string_view Payload(size_t num_bytes) const {
    return At(payload_at_, num_bytes);
  }

 private:
  static constexpr size_t kCreditBytes = 8;

  uint32_t slot_bytes_ = 0;
  size_t headers_at_ = 0;
  size_t payload_at_ = 0;
  size_t size_ = 0;
  std::unique_ptr<char[]> bytes_;
};

}  // namespace astra

#endif  // ASTRA_CORE_PHYSICAL_RDMA_MEMORY_H_
