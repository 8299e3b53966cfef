// What is pending in the packet network, in the order in which it happens.
//
// A wheel of buckets, each 256 ps wide, holds what happens within the next
// 4.2 us; a bitmap finds the next bucket that has something, which is sorted as
// it is opened. What is further away lies in a heap. So a push and a pop take
// constant time for packets on links; design: R. Brown, "Calendar queues",
// CACM 31(10), 1988. Entries of one instant come by key, whoever pushed first.
//
// Entries are not taken back: whoever no longer wants one ignores it.

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

  // Requires that it is not before what was popped last.
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

  // Whether next() may be at `limit_ps` or before; if not, nothing is opened
  // that lies later. Requires !empty().
  bool HasUntil(int64_t limit_ps) const {
    if (open_next_ < open_.size() || far_next_.time_ps <= limit_ps) return true;
    return num_linked_ > 0 && NextBucket() << kBucketBits <= limit_ps;
  }

  // The earliest entry. Requires !empty().
  const Entry& next() {
    if (open_next_ == open_.size()) OpenNext();
    if (is_far_next()) return far_next_;
    return open_[open_next_];
  }

  // What is to come, for those who fetch data ahead; others may come between.
  // The entry that comes `ahead` after next(), if its bucket is open.
  const Entry* Peek(size_t ahead) const {
    const size_t position = open_next_ + ahead;
    return position < open_.size() ? &open_[position] : nullptr;
  }

  // Grows whenever a bucket is opened.
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

  // Removes next().
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
  int64_t cursor_ = -1;      // The bucket that is open, counted from time 0.
  std::vector<Entry> open_;  // Sorted; what comes before open_next_ is done.
  size_t open_next_ = 0;

  uint64_t num_opened_ = 0;

  size_t num_linked_ = 0;
  std::vector<uint32_t> heads_ = std::vector<uint32_t>(kNumBuckets, kNone);
  std::array<uint64_t, kNumWords> bitmap_{};
  std::array<uint64_t, kNumWords / 64> summary_{};  // Words that are not 0.
  std::vector<Node> nodes_;
  uint32_t free_ = kNone;

  static constexpr Entry kNever{std::numeric_limits<int64_t>::max(), kNone};
  Entry far_next_ = kNever;  // The first of far_.
  boost::heap::d_ary_heap<Entry, boost::heap::arity<4>,
                          boost::heap::compare<Later>>
      far_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_AGENDA_H_
