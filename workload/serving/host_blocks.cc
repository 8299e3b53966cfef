#include "workload/serving/host_blocks.h"

#include <iterator>

#include "astra-core/base/check.h"

namespace astra {

void HostBlocks::Put(uint64_t hash, int64_t blocks) {
  if (const auto found = index_.find(hash); found != index_.end()) {
    used_ -= found->second->blocks;
    segments_.erase(found->second);
    index_.erase(found);
  }
  if (blocks > num_blocks_) return;
  while (used_ + blocks > num_blocks_) {
    used_ -= segments_.front().blocks;
    index_.erase(segments_.front().hash);
    segments_.pop_front();
  }
  segments_.push_back({hash, blocks});
  index_[hash] = std::prev(segments_.end());
  used_ += blocks;
}

int64_t HostBlocks::Find(uint64_t hash) const {
  const auto found = index_.find(hash);
  return found == index_.end() ? 0 : found->second->blocks;
}

void HostBlocks::Touch(uint64_t hash) {
  const auto found = index_.find(hash);
  ASTRA_CHECK(found != index_.end(), "no segment {}", hash);
  segments_.splice(segments_.end(), segments_, found->second);
}

}  // namespace astra
