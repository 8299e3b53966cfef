#include "network-frontends/packet/agenda.h"

#include <algorithm>

namespace astra {

void Agenda::InsertOpen(const Entry& entry) {
  const auto first = open_.begin() + static_cast<std::ptrdiff_t>(open_next_);
  open_.insert(std::upper_bound(first, open_.end(), entry), entry);
}

void Agenda::Link(int64_t bucket, const Entry& entry) {
  if (free_ == kNone) {
    free_ = static_cast<uint32_t>(nodes_.size());
    nodes_.emplace_back();
  }
  const auto slot = static_cast<size_t>(bucket) % kNumBuckets;
  Node& node = nodes_[free_];
  const uint32_t id = free_;
  free_ = node.next;
  node = {entry, heads_[slot]};
  heads_[slot] = id;
  bitmap_[slot / 64] |= uint64_t{1} << (slot % 64);
  summary_[slot / 4096] |= uint64_t{1} << (slot / 64 % 64);
  ++num_linked_;
}

// Returns the first bucket after the open one that is not empty. Requires that
// there is one. The wheel turns, so the search goes once around.
int64_t Agenda::NextBucket() const {
  const auto start = static_cast<size_t>(cursor_ + 1) % kNumBuckets;
  const auto distance = [&](size_t slot) {
    return static_cast<int64_t>((slot - start) % kNumBuckets);
  };
  const size_t word = start / 64;
  const uint64_t rest = bitmap_[word] >> (start % 64);
  if (rest != 0) return cursor_ + 1 + std::countr_zero(rest);
  for (size_t i = 1; i <= kNumWords; ++i) {
    const size_t next = (word + i) % kNumWords;
    if (next % 64 == 0 && summary_[next / 64] == 0) {
      i += 63;
      continue;
    }
    if (bitmap_[next] == 0) continue;
    const auto bit = static_cast<size_t>(std::countr_zero(bitmap_[next]));
    return cursor_ + 1 + distance(next * 64 + bit);
  }
  ASTRA_CHECK(false, "{} entries and no bucket", num_linked_);
}

// Moves on to `bucket`, before which nothing is left. Later pushes are at this
// bucket or after it.
void Agenda::PassTo(int64_t bucket) {
  if (open_next_ < open_.size() || bucket <= cursor_) return;
  if (num_linked_ == 0 || NextBucket() > bucket) cursor_ = bucket;
}

// Opens the next bucket unless the first entry of far_ comes before it.
void Agenda::OpenNext() {
  open_.clear();
  open_next_ = 0;
  if (num_linked_ == 0) return;
  const int64_t bucket = NextBucket();
  if (far_next_.time_ps >> kBucketBits < bucket) return;
  cursor_ = bucket;
  ++num_opened_;
  const auto slot = static_cast<size_t>(bucket) % kNumBuckets;
  for (uint32_t id = heads_[slot]; id != kNone;) {
    Node& node = nodes_[id];
    open_.push_back(node.entry);
    const uint32_t next = node.next;
    node.next = free_;
    free_ = id;
    id = next;
    --num_linked_;
  }
  heads_[slot] = kNone;
  bitmap_[slot / 64] &= ~(uint64_t{1} << (slot % 64));
  if (bitmap_[slot / 64] == 0) {
    summary_[slot / 4096] &= ~(uint64_t{1} << (slot / 64 % 64));
  }
  // A list starts with the entry pushed last, which is often the latest.
  std::reverse(open_.begin(), open_.end());
  if (!std::is_sorted(open_.begin(), open_.end())) {
    std::sort(open_.begin(), open_.end());
  }
}

}  // namespace astra
