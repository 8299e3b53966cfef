#include "workload/serving/kv_transfer.h"

#include <utility>

#include "astra-core/base/check.h"

namespace astra {

uint32_t KvTransfers::Add(Sequence* sequence) {
  if (unused_.empty()) {
    sequences_.push_back(sequence);
    return static_cast<uint32_t>(sequences_.size() - 1);
  }
  const uint32_t id = unused_.back();
  unused_.pop_back();
  sequences_[id] = sequence;
  return id;
}

Sequence* KvTransfers::Remove(uint32_t id) {
  ASTRA_CHECK(id < sequences_.size() && sequences_[id] != nullptr,
              "no transfer {} is under way", id);
  unused_.push_back(id);
  return std::exchange(sequences_[id], nullptr);
}

}  // namespace astra
