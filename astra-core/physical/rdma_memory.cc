#include "astra-core/physical/rdma_memory.h"

#include <algorithm>
#include <string>

#include "astra-core/hosts/secret.h"
#include "astra-core/physical/data_frame.h"

namespace astra {
namespace {

// Returns the largest power of two that the limits allow.
uint32_t SlotBytes(size_t num_slots) {
  uint32_t bytes = RdmaMemory::kLargestSlot;
  while (bytes > RdmaMemory::kSmallestSlot &&
         num_slots * bytes > RdmaMemory::kMostSlotBytes) {
    bytes /= 2;
  }
  return bytes;
}

}  // namespace

RdmaMemory::RdmaMemory(size_t num_incoming, size_t num_outgoing)
    : slot_bytes_(SlotBytes(num_incoming * kSlots)),
      headers_at_(num_incoming * kSlots * slot_bytes_),
      payload_at_(headers_at_ + num_outgoing * kSlots * DataFrame::kBytes +
                  kCreditBytes),
      size_(payload_at_ + kLargestSlot),
      bytes_(std::make_unique<char[]>(size_)) {
  const std::string random = RandomBytes(kLargestSlot);
  std::copy(random.begin(), random.end(), bytes_.get() + payload_at_);
}

size_t RdmaMemory::HeaderAt(size_t outgoing, uint32_t slot) const {
  return headers_at_ + (outgoing * kSlots + slot) * DataFrame::kBytes;
}

}  // namespace astra
