// The KV cache of one replica: a pool of blocks, and an index of the prefixes
// that lie in it.
//
//   KvBlocks blocks(2588, 16, /*index_prefixes=*/true);
//   KvHolding holding;                              // Of one sequence.
//   blocks.Acquire(blocks.Match(request, 99), &holding, request);
//   if (!blocks.Grow(100, &holding)) ...            // No room.
//   blocks.Publish(request, 100, &holding);         // 100 are computed.
//   blocks.Release(&holding);
//
// Model. Blocks have no numbers, as all are alike: the pool counts them. A
// block is free, in the index, or owned by one sequence. The index has a
// segment for each hash of a request's prefix, which may be several blocks
// long. A segment that no sequence holds is idle: it stays until its blocks are
// needed, the longest idle segment first and its last block first. A sequence
// that ends gives its last segment back first, so that a prefix outlives what
// follows it. Sequences that compute the same prefix at the same time each own
// a copy; the first one to publish it puts it into the index.
//
// With host blocks, a segment whose blocks are needed leaves as a whole, to the
// host's memory. What a request finds there, behind what it finds here, can be
// loaded into blocks of its own, which Publish() then enters into the index.
//
// This is the block pool of vLLM (vllm/v1/core/block_pool.py), and with blocks
// of one token SGLang's radix cache, except that prefixes are equal or not at
// the granularity of the hashes only.
//
// Beside the blocks of its positions a sequence owns some for states and for
// layers with a window (HeldBlocks). They are never in the index.
//
// All operations take constant time per block or per hash that they touch.

#ifndef WORKLOAD_SERVING_KV_BLOCKS_H_
#define WORKLOAD_SERVING_KV_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "workload/serving/batching_options.h"
#include "workload/serving/host_blocks.h"
#include "workload/serving/request.h"

namespace astra {

// The blocks of one sequence. Only KvBlocks changes it.
struct KvHolding {
  std::vector<uint32_t> segments;  // Those of the index, in order.
  int64_t shared = 0;              // Blocks in `segments`.
  int64_t own = 0;                 // Blocks that are not in the index.
  size_t published = 0;            // Hashes that Publish() has dealt with.

  int64_t blocks() const { return shared + own; }
};

// The beginning of a request that the index holds.
struct PrefixMatch {
  size_t segments = 0;
  int64_t tokens = 0;         // Positions that need not be computed.
  int64_t blocks = 0;         // Blocks in these segments.
  int64_t idle_blocks = 0;    // Those of them that no sequence holds.
  int64_t host_segments = 0;  // Behind these, in the host's memory,
  int64_t host_blocks = 0;    // and their blocks.
};

class KvBlocks {
 public:
  // Requires num_blocks > 0 and block_tokens > 0. Without `index_prefixes`
  // nothing is ever found in the index. `host_blocks`: what the host's memory
  // holds of it. `held`: what a sequence holds beside its positions.
  KvBlocks(int64_t num_blocks, int64_t block_tokens, bool index_prefixes,
           int64_t host_blocks = 0, const HeldBlocks& held = {});

  int64_t num_blocks() const { return num_blocks_; }
  int64_t block_tokens() const { return block_tokens_; }
  int64_t cached() const { return idle_; }  // Blocks of idle segments.
  int64_t available() const { return free_ + idle_; }
  int64_t used() const { return num_blocks_ - available(); }
  const HostBlocks& host() const { return host_; }

  // Returns the blocks that a sequence of `tokens` positions holds.
  int64_t BlocksOf(int64_t tokens) const {
    return BlocksOfTokens(tokens, block_tokens_, held_);
  }

  // Returns the longest prefix of `request` in the index, and of it at most
  // `max_tokens` positions, in whole blocks. Requires that the blocks of the
  // request's hashes are whole blocks of this pool.
  PrefixMatch Match(const Request& request, int64_t max_tokens) const;

  // Holds what `match` found. Requires an empty holding, and that the pool did
  // not change since the match.
  void Acquire(const PrefixMatch& match, const Request& request,
               KvHolding* holding);

  // Marks what `match` found in the host's memory as used last.
  void TouchHost(const PrefixMatch& match, const Request& request);

  // Adds blocks until `tokens` positions fit, and takes idle blocks for this
  // where none is free. Returns false, and does nothing, if there are too few.
  bool Grow(int64_t tokens, KvHolding* holding);

  // Enters into the index what of the request's prefix lies within its first
  // `tokens` positions.
  void Publish(const Request& request, int64_t tokens, KvHolding* holding);

  // Gives everything back; segments stay in the index, idle.
  void Release(KvHolding* holding);

  // Fails a check if blocks of the pool were lost, given the sum of the `own`
  // of all holdings. Takes time for each segment.
  void CheckConserved(int64_t owned) const;

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};

  struct Segment {
    uint64_t hash = 0;
    int64_t blocks = 0;
    int64_t holders = 0;
    uint32_t previous = kNone;  // Neighbours among the idle segments.
    uint32_t next = kNone;
  };

  // Returns the whole blocks of a request within its hash `i`.
  int64_t SegmentBlocks(const Request& request, size_t i) const;
  uint32_t Find(uint64_t hash) const;
  // Adds to `match` what follows in the host's memory.
  void MatchHost(const Request& request, int64_t max_blocks,
                 PrefixMatch* match) const;
  void Add(uint64_t hash, int64_t blocks, KvHolding* holding);
  void Evict(int64_t blocks);
  void LinkLast(uint32_t index);
  void Unlink(uint32_t index);

  int64_t num_blocks_;
  int64_t block_tokens_;
  HeldBlocks held_;
  bool index_prefixes_;
  int64_t free_;
  int64_t idle_ = 0;
  std::vector<Segment> segments_;
  std::vector<uint32_t> unused_;  // Indices in segments_ to use again.
  uint32_t oldest_ = kNone;       // Ends of the list of idle segments.
  uint32_t newest_ = kNone;
  HostBlocks host_;
  absl::flat_hash_map<uint64_t, uint32_t> index_;  // Never iterated over.
};

}  // namespace astra

#endif  // WORKLOAD_SERVING_KV_BLOCKS_H_
