// Blocks of the KV cache that lie in the host's memory: prefixes that the GPU's
// memory had no room for any longer.
//
//   HostBlocks host(10'000);
//   host.Put(hash, 4);         // The GPU evicts a segment of 4 blocks.
//   host.Get(hash);            // Its blocks, or 0; it is the newest then.
//
// Model. The memory holds whole segments, each known by its hash, and gives up
// the one that was put or found longest ago. Copies to the host take no time,
// as they run beside everything else.
//
// Sources: vLLM, vllm/v1/kv_offload (OffloadingConnector, LRU manager); SGLang,
// python/sglang/srt/mem_cache/hiradix_cache.py (HiCache, write-back).

#ifndef WORKLOAD_SERVING_HOST_BLOCKS_H_
#define WORKLOAD_SERVING_HOST_BLOCKS_H_

#include <cstdint>
#include <list>

#include "absl/container/flat_hash_map.h"

namespace astra {

class HostBlocks {
 public:
  explicit HostBlocks(int64_t num_blocks) : num_blocks_(num_blocks) {}

  int64_t num_blocks() const { return num_blocks_; }
  int64_t used() const { return used_; }

  // Keeps a segment, and gives up others for it. One that is larger than the
  // whole memory is not kept.
  void Put(uint64_t hash, int64_t blocks);

  // Returns the blocks of a segment, or 0 if it is not here.
  int64_t Find(uint64_t hash) const;

  // Makes a segment the last one to be given up. Requires that it is here.
  void Touch(uint64_t hash);

 private:
  struct Segment {
    uint64_t hash = 0;
    int64_t blocks = 0;
  };

  int64_t num_blocks_;
  int64_t used_ = 0;
  std::list<Segment> segments_;  // The oldest first.
  // Never iterated over.
  absl::flat_hash_map<uint64_t, std::list<Segment>::iterator> index_;
};

}  // namespace astra

#endif  // WORKLOAD_SERVING_HOST_BLOCKS_H_
