// Queue of the pending events of the packet network, in the order in which they
// happen.
//
// A wheel of buckets, each 1024 ps wide, holds the events of the next 16.8 us.
// A bitmap finds the next bucket that is not empty, and the bucket is sorted
// when it is opened. A heap holds the events that are further away. A push and
// a pop therefore take constant time for packets on links. Design: R. Brown,
// "Calendar queues", CACM 31(10), 1988. Entries of one instant come in the
// order of their keys, whatever the order of pushes.
//
// Entries cannot be removed; the handler of an event ignores it if it is stale.

#ifndef NETWORK_FRONTENDS_PACKET_AGENDA_H_
#define NETWORK_FRONTENDS_PACKET_AGENDA_H_

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
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

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }

  // Adds an entry. Requires that it is not before the entry that was popped
  // last.
  void Push(int64_t time_ps, uint32_t key) {
    ++size_;
    const int64_t bucket = time_ps >> kBucketBits;
    if (bucket <= cursor_) {
      InsertOpen({time_ps, key});
    } else if (bucket - cursor_ < kNumBuckets) {
      Link(bucket, {time_ps, key});
    } else {
      far_.push({time_ps, key});
      far_next_ = far_.top();
    }
  }

  // Returns whether next() may be at `limit_ps` or before. If not, no bucket
  // that lies later is opened. Requires !empty().
  bool HasUntil(int64_t limit_ps) const {
    if (open_next_ < open_.size() || far_next_.time_ps <= limit_ps) return true;
    return num_linked_ > 0 && NextBucket() << kBucketBits <= limit_ps;
  }

  // Returns the earliest entry. Requires !empty().
  const Entry& next() {
    if (open_next_ == open_.size()) OpenNext();
    if (is_far_next()) return far_next_;
    return open_[open_next_];
  }

  // Returns the entry that comes `ahead` after next(), if its bucket is open,
  // and nullptr otherwise. It is a hint for fetching data ahead; entries pushed
  // later may come in between.
  const Entry* Peek(size_t ahead) const {
    const size_t position = open_next_ + ahead;
    return position < open_.size() ? &open_[position] : nullptr;
  }

  // Number of buckets opened so far.
  uint64_t num_opened() const { return num_opened_; }

  // Calls visit(entry) for each entry of the bucket after the open one.
  template <class Visit>
  void ForEachOfNextBucket(const Visit& visit) const {
    if (num_linked_ == 0) return;
    const auto slot = static_cast<size_t>(NextBucket()) % kNumBuckets;
    for (uint32_t id = heads_[slot]; id != kNone; id = nodes_[id].next) {
      visit(nodes_[id].entry);
    }
  }

  // Removes the entry that next() returns.
  void Pop() {
    --size_;
    if (is_far_next()) {
      PassTo(far_next_.time_ps >> kBucketBits);
      far_.pop();
      far_next_ = far_.empty() ? kNever : far_.top();
    } else {
      ++open_next_;
    }
  }

 private:
  static constexpr int kBucketBits = 10;
  static constexpr int64_t kNumBuckets = 16384;
  static constexpr size_t kNumWords = kNumBuckets / 64;
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Node {
    Entry entry;
    uint32_t next = kNone;
  };
  struct Later {
    bool operator()(const Entry& a, const Entry& b) const { return a > b; }
  };

  bool is_far_next() const {
    return open_next_ == open_.size() || far_next_ < open_[open_next_];
  }

  void InsertOpen(const Entry& entry);
  void Link(int64_t bucket, const Entry& entry);
  void OpenNext();
  void PassTo(int64_t bucket);
  int64_t NextBucket() const;

  size_t size_ = 0;
  int64_t cursor_ = -1;      // Number of the open bucket, from time 0.
  std::vector<Entry> open_;  // Sorted; entries before open_next_ are done.
  size_t open_next_ = 0;

  uint64_t num_opened_ = 0;

  size_t num_linked_ = 0;
  std::vector<uint32_t> heads_ = std::vector<uint32_t>(kNumBuckets, kNone);
  std::array<uint64_t, kNumWords> bitmap_{};
  std::array<uint64_t, kNumWords / 64> summary_{};  // Bits of words not 0.
  std::vector<Node> nodes_;
  uint32_t free_ = kNone;

  static constexpr Entry kNever{std::numeric_limits<int64_t>::max(), kNone};
  Entry far_next_ = kNever;  // The first entry of far_.
  boost::heap::d_ary_heap<Entry, boost::heap::arity<4>,
                          boost::heap::compare<Later>>
      far_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_AGENDA_H_
