#include "network-frontends/packet/agenda.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace astra {

int64_t Agenda::NotBefore() const {
  if (open_next_ < open_end_) return Unpack(open_[open_next_]).time_ps;
  int64_t first = std::numeric_limits<int64_t>::max();
  if (!far_.empty()) first = far_.top().time_ps;
  if (num_linked_ == 0) return first;
  return std::min(first, NextBucket() << kBucketBits);
}

// Adds an entry that the wheel cannot hold: for the open bucket or an earlier
// one, or far away.
void Agenda::PushAside(const Entry& entry) {
  const int64_t bucket = entry.time_ps >> kBucketBits;
  if (bucket < open_bucket_) {
    // The open bucket was opened to look at and is closed again.
    for (; open_next_ < open_end_; ++open_next_) {
      far_.push(Unpack(open_[open_next_]));
    }
    open_bucket_ = bucket;
  }
  if (bucket > open_bucket_) {
    far_.push(entry);
    return;
  }
  const uint64_t packed = Pack(entry.time_ps, entry.key);
  MakeRoom(1);
  uint64_t* const end = open_.data() + open_end_++;
  uint64_t* const place =
      std::upper_bound(open_.data() + open_next_, end, packed);
  std::copy_backward(place, end, end + 1);
  *place = packed;
}

// Appends an empty chunk to those of a slot of the wheel.
uint32_t Agenda::AddChunk(size_t slot) {
  if (free_ == kNone) {
    free_ = static_cast<uint32_t>(chunks_.size());
    chunks_.emplace_back();
  }
  const uint32_t id = free_;
  Chunk& chunk = chunks_[id];
  free_ = chunk.next;
  chunk.count = 0;
  const uint32_t tail = std::exchange(tails_[slot], id);
  chunk.next = tail == kNone ? id : std::exchange(chunks_[tail].next, id);
  bitmap_[slot / 64] |= uint64_t{1} << (slot % 64);
  summary_[slot / 4096] |= uint64_t{1} << (slot / 64 % 64);
  return id;
}

// Returns the first bucket of the wheel that is not empty. Requires that there
// is one. The wheel turns, so the search goes once around.
int64_t Agenda::NextBucket() const {
  const auto start = static_cast<size_t>(last_ + 1) % kNumBuckets;
  const auto distance = [&](size_t slot) {
    return static_cast<int64_t>((slot - start) % kNumBuckets);
  };
  const size_t word = start / 64;
  const uint64_t rest = bitmap_[word] >> (start % 64);
  if (rest != 0) return last_ + 1 + std::countr_zero(rest);
  for (size_t i = 1; i <= kNumWords; ++i) {
    const size_t next = (word + i) % kNumWords;
    if (next % 64 == 0 && summary_[next / 64] == 0) {
      i += 63;
      continue;
    }
    if (bitmap_[next] == 0) continue;
    const auto bit = static_cast<size_t>(std::countr_zero(bitmap_[next]));
    return last_ + 1 + distance(next * 64 + bit);
  }
  ASTRA_CHECK(false, "{} entries and no bucket", num_linked_);
}

// Opens the next bucket that is not empty.
void Agenda::OpenNext() {
  open_next_ = 0;
  open_end_ = 0;
  ++num_opened_;
  const bool has_far = !far_.empty();
  open_bucket_ = has_far ? far_.top().time_ps >> kBucketBits : NextBucket();
  if (has_far && num_linked_ > 0) {
    open_bucket_ = std::min(open_bucket_, NextBucket());
  }
  if (open_bucket_ > last_) OpenLinked(open_bucket_);
  while (!far_.empty() && far_.top().time_ps >> kBucketBits == open_bucket_) {
    MakeRoom(1);
    open_[open_end_++] = Pack(far_.top().time_ps, far_.top().key);
    far_.pop();
  }
  SortOpen();
}

// Takes the entries of a bucket, before which nothing is left, off the wheel.
void Agenda::OpenLinked(int64_t bucket) {
  last_ = bucket;
  const auto slot = static_cast<size_t>(bucket) % kNumBuckets;
  const uint32_t tail = std::exchange(tails_[slot], kNone);
  if (tail == kNone) return;
  uint32_t id = tail;
  do {
    id = chunks_[id].next;
    const Chunk& chunk = chunks_[id];
    MakeRoom(kChunkEntries);
    // To copy all is faster than to copy a number of entries.
    std::copy_n(chunk.entries.data(), kChunkEntries, open_.data() + open_end_);
    open_end_ += chunk.count;
  } while (id != tail);
  num_linked_ -= open_end_;
  free_ = std::exchange(chunks_[tail].next, free_);
  bitmap_[slot / 64] &= ~(uint64_t{1} << (slot % 64));
  if (bitmap_[slot / 64] == 0) {
    summary_[slot / 4096] &= ~(uint64_t{1} << (slot / 64 % 64));
  }
}

// Sorts the open bucket. A large one is first spread over bins, each a 64th of
// it; then few entries are far from their place.
void Agenda::SortOpen() {
  if (open_end_ <= kFew) return SortFew();
  SortBins();
  uint64_t* const open = open_.data();
  for (size_t i = 1; i < open_end_; ++i) {
    const uint64_t packed = open[i];
    size_t place = i;
    for (; place > 0 && open[place - 1] > packed; --place) {
      open[place] = open[place - 1];
    }
    open[place] = packed;
  }
}

// Puts each entry where the number of those before it says. No branch depends
// on the entries: a processor would foretell every second one wrongly, which
// costs more than the comparisons.
void Agenda::SortFew() {
  std::array<uint64_t, kFew> entries;
  std::array<uint32_t, kFew> places;
  uint64_t* const open = open_.data();
  for (size_t i = 0; i < open_end_; ++i) {
    uint32_t place = 0;
    for (size_t j = 0; j < i; ++j) {
      const uint32_t is_later = entries[j] <= open[i] ? 1 : 0;
      place += is_later;
      places[j] += 1 - is_later;
    }
    entries[i] = open[i];
    places[i] = place;
  }
  for (size_t i = 0; i < open_end_; ++i) open[places[i]] = entries[i];
}

void Agenda::SortBins() {
  constexpr int kBinBits = 6;
  constexpr size_t kNumBins = size_t{1} << kBinBits;
  constexpr int kShift = kKeyBits + kBucketBits - kBinBits;
  constexpr uint32_t kMany = 16;
  unsorted_.swap(open_);
  MakeRoom(0);
  std::array<uint32_t, kNumBins + 1> ends{};
  for (size_t i = 0; i < open_end_; ++i) ++ends[(unsorted_[i] >> kShift) + 1];
  for (size_t i = 1; i <= kNumBins; ++i) ends[i] += ends[i - 1];
  for (size_t i = 0; i < open_end_; ++i) {
    open_[ends[unsorted_[i] >> kShift]++] = unsorted_[i];
  }
  uint32_t begin = 0;
  for (size_t i = 0; i < kNumBins; ++i) {
    if (ends[i] - begin > kMany) {
      std::sort(open_.data() + begin, open_.data() + ends[i]);
    }
    begin = ends[i];
  }
}

}  // namespace astra
