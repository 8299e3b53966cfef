#include "workload/serving/kv_blocks.h"

#include <algorithm>

#include "astra-core/base/check.h"

namespace astra {

KvBlocks::KvBlocks(int64_t num_blocks, int64_t block_tokens,
                   bool index_prefixes, int64_t host_blocks,
                   const HeldBlocks& held)
    : num_blocks_(num_blocks),
      block_tokens_(block_tokens),
      held_(held),
      index_prefixes_(index_prefixes),
      free_(num_blocks),
      host_(host_blocks) {
  ASTRA_CHECK(num_blocks > 0 && block_tokens > 0, "{} blocks of {} tokens",
              num_blocks, block_tokens);
}

int64_t KvBlocks::SegmentBlocks(const Request& request, size_t i) const {
  const int64_t each = request.prefix.block_tokens;
  const int64_t begin = static_cast<int64_t>(i) * each;
  const int64_t end = std::min(begin + each, request.tokens());
  return end / block_tokens_ - begin / block_tokens_;
}

uint32_t KvBlocks::Find(uint64_t hash) const {
  const auto found = index_.find(hash);
  return found == index_.end() ? kNone : found->second;
}

PrefixMatch KvBlocks::Match(const Request& request, int64_t max_tokens) const {
  PrefixMatch match;
  if (!index_prefixes_) return match;
  const int64_t max_blocks = max_tokens / block_tokens_;
  const std::vector<uint64_t>& hashes = request.prefix.hashes;
  bool is_whole = true;  // The last segment that was found.
  while (match.segments < hashes.size() && match.blocks < max_blocks) {
    const uint32_t found = Find(hashes[match.segments]);
    if (found == kNone) break;
    const Segment& segment = segments_[found];
    const int64_t whole = SegmentBlocks(request, match.segments);
    is_whole = segment.blocks == whole;
    if (segment.blocks > whole) break;  // Another sequence goes on longer.
    ++match.segments;
    match.blocks += segment.blocks;
    if (segment.holders == 0) match.idle_blocks += segment.blocks;
    if (segment.blocks < whole) break;
  }
  if (is_whole && host_.num_blocks() > 0)
    MatchHost(request, max_blocks, &match);
  match.tokens = std::min(match.blocks, max_blocks) * block_tokens_;
  return match;
}

void KvBlocks::MatchHost(const Request& request, int64_t max_blocks,
                         PrefixMatch* match) const {
  const std::vector<uint64_t>& hashes = request.prefix.hashes;
  for (size_t i = match->segments; i < hashes.size(); ++i) {
    const int64_t blocks = host_.Find(hashes[i]);
    const int64_t whole = SegmentBlocks(request, i);
    const int64_t all = match->blocks + match->host_blocks + blocks;
    if (blocks == 0 || blocks != whole || all > max_blocks) return;
    ++match->host_segments;
    match->host_blocks += blocks;
  }
}

void KvBlocks::TouchHost(const PrefixMatch& match, const Request& request) {
  for (int64_t i = 0; i < match.host_segments; ++i) {
    host_.Touch(request.prefix.hashes[match.segments + static_cast<size_t>(i)]);
  }
}

void KvBlocks::Acquire(const PrefixMatch& match, const Request& request,
                       KvHolding* holding) {
  ASTRA_CHECK(holding->blocks() == 0, "{} blocks held", holding->blocks());
  for (size_t i = 0; i < match.segments; ++i) {
    const uint32_t found = Find(request.prefix.hashes[i]);
    Segment& segment = segments_[found];
    if (segment.holders++ == 0) {
      Unlink(found);
      idle_ -= segment.blocks;
    }
    holding->segments.push_back(found);
    holding->shared += segment.blocks;
  }
  holding->published = match.segments;
  // A segment that has lost its last blocks is completed by Publish().
  if (match.segments > 0 && segments_[holding->segments.back()].blocks <
                                SegmentBlocks(request, match.segments - 1)) {
    --holding->published;
  }
}

bool KvBlocks::Grow(int64_t tokens, KvHolding* holding) {
  const int64_t missing = BlocksOf(tokens) - holding->blocks();
  if (missing <= 0) return true;
  if (missing > available()) return false;
  if (missing > free_) Evict(missing - free_);
  free_ -= missing;
  holding->own += missing;
  return true;
}

void KvBlocks::Publish(const Request& request, int64_t tokens,
                       KvHolding* holding) {
  if (!index_prefixes_) return;
  const PrefixHashes& prefix = request.prefix;
  for (; holding->published < prefix.hashes.size(); ++holding->published) {
    const size_t i = holding->published;
    const int64_t end = static_cast<int64_t>(i + 1) * prefix.block_tokens;
    if (std::min(end, request.tokens()) > tokens) return;
    const int64_t whole = SegmentBlocks(request, i);
    const uint32_t found = Find(prefix.hashes[i]);
    if (found == kNone) {
      if (whole > 0) Add(prefix.hashes[i], whole, holding);
      continue;
    }
    // Completes a shortened segment, if the sequence is the only one to hold
    // it: others count the blocks that they found.
    Segment& segment = segments_[found];
    const bool is_held =
        i + 1 == holding->segments.size() && holding->segments[i] == found;
    if (!is_held || segment.holders > 1) continue;
    const int64_t missing = whole - segment.blocks;
    ASTRA_CHECK(missing >= 0 && missing <= holding->own, "{} of {} blocks",
                missing, holding->own);
    segment.blocks += missing;
    holding->own -= missing;
    holding->shared += missing;
  }
}

void KvBlocks::Add(uint64_t hash, int64_t blocks, KvHolding* holding) {
  ASTRA_CHECK(blocks <= holding->own, "{} of {} blocks", blocks, holding->own);
  uint32_t slot = static_cast<uint32_t>(segments_.size());
  if (unused_.empty()) {
    segments_.emplace_back();
  } else {
    slot = unused_.back();
    unused_.pop_back();
  }
  segments_[slot] = {.hash = hash, .blocks = blocks, .holders = 1};
  index_[hash] = slot;
  holding->segments.push_back(slot);
  holding->own -= blocks;
  holding->shared += blocks;
}

void KvBlocks::Release(KvHolding* holding) {
  for (size_t i = holding->segments.size(); i > 0; --i) {
    const uint32_t index = holding->segments[i - 1];
    Segment& segment = segments_[index];
    if (--segment.holders > 0) continue;
    LinkLast(index);
    idle_ += segment.blocks;
  }
  free_ += holding->own;
  holding->segments.clear();  // Keeps its memory for the next sequence.
  holding->shared = holding->own = 0;
  holding->published = 0;
}

void KvBlocks::Evict(int64_t blocks) {
  while (blocks > 0) {
    const uint32_t index = oldest_;
    Segment& segment = segments_[index];
    const bool to_host = host_.num_blocks() > 0;
    if (to_host) host_.Put(segment.hash, segment.blocks);
    const int64_t taken =
        to_host ? segment.blocks : std::min(blocks, segment.blocks);
    segment.blocks -= taken;
    blocks -= taken;
    idle_ -= taken;
    free_ += taken;
    if (segment.blocks > 0) return;
    Unlink(index);
    index_.erase(segment.hash);
    unused_.push_back(index);
  }
}

void KvBlocks::LinkLast(uint32_t index) {
  segments_[index].previous = newest_;
  segments_[index].next = kNone;
  (newest_ == kNone ? oldest_ : segments_[newest_].next) = index;
  newest_ = index;
}

void KvBlocks::Unlink(uint32_t index) {
  const Segment& segment = segments_[index];
  (segment.previous == kNone ? oldest_ : segments_[segment.previous].next) =
      segment.next;
  (segment.next == kNone ? newest_ : segments_[segment.next].previous) =
      segment.previous;
}

void KvBlocks::CheckConserved(int64_t owned) const {
  int64_t held = 0;
  int64_t idle = 0;
  for (const Segment& segment : segments_) {
    (segment.holders > 0 ? held : idle) += segment.blocks;
  }
  ASTRA_CHECK(idle == idle_, "{} idle blocks counted as {}", idle, idle_);
  ASTRA_CHECK(free_ + idle + held + owned == num_blocks_,
              "{} free, {} idle, {} held and {} owned blocks of {}", free_,
              idle, held, owned, num_blocks_);
}

}  // namespace astra
