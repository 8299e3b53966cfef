// Queue of the pending events of the packet network, in the order in which they
// happen.
//
// A wheel of buckets, each 2048 ps wide, holds the events of the next 16.8 us,
// and a heap those that are further away. A bitmap finds the next bucket that
// is not empty; it is sorted when it is opened, together with what the heap has
// for it. A push and a pop therefore take constant time for packets on links.
// Design: R. Brown, "Calendar queues", CACM 31(10), 1988. Entries of one
// instant come in the order of their keys, whatever the order of pushes.
//
// Within a bucket an entry is one word: the time since the bucket began, then
// the key. The entries of a bucket lie in chunks of one cache line each.
//
// Entries cannot be removed; the handler of an event ignores it if it is stale.

#ifndef NETWORK_FRONTENDS_PACKET_AGENDA_H_
#define NETWORK_FRONTENDS_PACKET_AGENDA_H_

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "astra-core/base/check.h"
#include "boost/heap/d_ary_heap.hpp"

namespace astra {

class Agenda {
 public:
  struct Entry {
    int64_t time_ps = 0;
    uint32_t key = 0;

    friend constexpr auto operator<=>(const Entry&, const Entry&) = default;
  };

  bool empty() const { return size() == 0; }
  size_t size() const {
    return open_end_ - open_next_ + num_linked_ + far_.size();
  }

  // Adds an entry. Requires that it is not before the entry that was popped
  // last.
  void Push(int64_t time_ps, uint32_t key) {
    const int64_t bucket = time_ps >> kBucketBits;
    // The wheel has the buckets last_ + 1 to last_ + kNumBuckets - 1.
    if (static_cast<uint64_t>(bucket - last_ - 1) >= kNumBuckets - 1) {
      return PushAside({time_ps, key});
    }
    const auto slot = static_cast<size_t>(bucket) % kNumBuckets;
    uint32_t id = tails_[slot];
    if (chunks_[id].count == kChunkEntries) id = AddChunk(slot);
    Chunk& chunk = chunks_[id];
    chunk.entries[chunk.count++] = Pack(time_ps, key);
    ++num_linked_;
  }

  // Returns whether next() may be at `limit_ps` or before; false if there is no
  // entry. If not, no bucket that lies later is opened.
  bool HasUntil(int64_t limit_ps) const {
    return open_next_ < open_end_ || (!empty() && NotBefore() <= limit_ps);
  }

  // Returns when next() is at the earliest, which is at most 2 ns before it. It
  // opens no bucket, so that entries may still be pushed before next() at no
  // cost. Requires !empty().
  int64_t NotBefore() const;

  // Returns the earliest entry. Requires !empty().
  Entry next() {
    if (open_next_ == open_end_) OpenNext();
    return Unpack(open_[open_next_]);
  }

  // Removes the entry that next() returns.
  void Pop() { ++open_next_; }

  // Returns the key of the entry that comes `ahead` after next(), if its bucket
  // is open. It is a hint for fetching data ahead; entries pushed later may
  // come in between.
  std::optional<uint32_t> PeekKey(size_t ahead) const {
    const size_t position = open_next_ + ahead;
    if (position >= open_end_) return std::nullopt;
    return static_cast<uint32_t>(open_[position]);
  }

  // Number of buckets opened so far.
  uint64_t num_opened() const { return num_opened_; }

  // Calls visit(key) for each entry of the bucket after the open one.
  template <class Visit>
  void ForEachKeyOfNextBucket(const Visit& visit) const {
    if (num_linked_ == 0) return;
    const uint32_t tail =
        tails_[static_cast<size_t>(NextBucket()) % kNumBuckets];
    uint32_t id = tail;
    do {
      id = chunks_[id].next;
      const Chunk& chunk = chunks_[id];
      for (uint32_t i = 0; i < chunk.count; ++i) {
        visit(static_cast<uint32_t>(chunk.entries[i]));
      }
    } while (id != tail);
  }

 private:
  static constexpr int kBucketBits = 11;
  static constexpr int64_t kBucketPs = int64_t{1} << kBucketBits;
  static constexpr int64_t kNumBuckets = 8192;
  static constexpr size_t kNumWords = kNumBuckets / 64;
  // A chunk that is always full and in no bucket: the last of an empty one.
  static constexpr uint32_t kNone = 0;
  static constexpr int kKeyBits = 32;
  static constexpr uint32_t kChunkEntries = 7;
  static constexpr size_t kFew = 16;  // Entries of a bucket.

  struct alignas(64) Chunk {
    std::array<uint64_t, kChunkEntries> entries{};
    uint32_t count = 0;
    uint32_t next = kNone;
  };
  static_assert(sizeof(Chunk) == 64, "a cache line");

  struct Later {
    bool operator()(const Entry& a, const Entry& b) const { return a > b; }
  };

  static uint64_t Pack(int64_t time_ps, uint32_t key) {
    return static_cast<uint64_t>(time_ps & (kBucketPs - 1)) << kKeyBits | key;
  }
  // Returns an entry of the open bucket.
  Entry Unpack(uint64_t packed) const {
    return {(open_bucket_ << kBucketBits) +
                static_cast<int64_t>(packed >> kKeyBits),
            static_cast<uint32_t>(packed)};
  }

  void PushAside(const Entry& entry);
  uint32_t AddChunk(size_t slot);
  void MakeRoom(size_t count) {
    if (open_end_ + count > open_.size()) open_.resize(2 * open_end_ + count);
  }
  void OpenNext();
  void OpenLinked(int64_t bucket);
  void SortOpen();
  void SortFew();
  void SortBins();
  int64_t NextBucket() const;

  // Buckets count from time 0. What is left of the open one is in open_,
  // sorted, from open_next_ to open_end_. Everything before it is over.
  int64_t open_bucket_ = -1;
  std::vector<uint64_t> open_;  // Has room for more.
  size_t open_next_ = 0;
  size_t open_end_ = 0;
  std::vector<uint64_t> unsorted_;  // Only while a bucket is being opened.
  uint64_t num_opened_ = 0;

  // The wheel has the buckets after `last_`, the last that was opened.
  int64_t last_ = -1;
  size_t num_linked_ = 0;
  // Last chunk of each bucket; the chunks of a bucket form a ring.
  std::vector<uint32_t> tails_ = std::vector<uint32_t>(kNumBuckets, kNone);
  std::array<uint64_t, kNumWords> bitmap_{};
  std::array<uint64_t, kNumWords / 64> summary_{};  // Bits of words not 0.
  std::vector<Chunk> chunks_ = {Chunk{.count = kChunkEntries}};
  uint32_t free_ = kNone;

  boost::heap::d_ary_heap<Entry, boost::heap::arity<4>,
                          boost::heap::compare<Later>>
      far_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_AGENDA_H_
