#include "astra-core/jobs/storage_traffic.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {

StorageTraffic::StorageTraffic(const StorageUse& use, const ParallelPlan& plan,
                               const Topology& topology,
                               std::unique_ptr<NetworkBackend> network)
    : use_(use), network_(std::move(network)) {
  const auto set_up = [&](StorageKind kind, const StorageAmount& amount) {
    StreamOf(kind).messages = StorageMessagesOf(amount, plan, topology);
  };
  if (use_.checkpoint) {
    set_up(StorageKind::kCheckpoint, use_.checkpoint->amount);
    Stream& writes = StreamOf(StorageKind::kCheckpoint);
    writes.every = use_.checkpoint->every;
    if (use_.restore) writes.next = writes.every;
  }
  if (use_.restore) set_up(StorageKind::kRestore, use_.restore->amount);
  if (use_.data) {
    set_up(StorageKind::kData, use_.data->amount);
    StreamOf(StorageKind::kData).next = num_loaded_ = use_.data->ahead;
  }
  uint32_t first_id = 0;
  for (const StorageKind kind : kStorageKinds) {
    Stream& stream = StreamOf(kind);
    stream.kind = kind;
    stream.first_id = first_id;
    first_id += static_cast<uint32_t>(stream.messages.size());
  }
}

absl::Status StorageTraffic::CheckPaths(Routes& routes) const {
  for (const Stream& stream : streams_) {
    for (const StorageMessage& message : stream.messages) {
      ASTRA_RETURN_IF_ERROR(
          routes.FindNodes(message.rank, message.storage).status());
    }
  }
  return absl::OkStatus();
}

bool StorageTraffic::TryBegin(int64_t iteration) {
  if (!waits_since_) waits_since_ = network_->now();
  has_restored_ = has_restored_ || Restore();
  if (!has_restored_) return false;
  has_written_ = has_written_ || Write(iteration);
  if (!has_written_ || !IsFree() || !Read(iteration)) return false;
  has_written_ = false;
  waits_since_.reset();
  ++num_begun_;
  ReadAhead();
  return true;
}

std::optional<TimePs> StorageTraffic::NextTime() const {
  if (!use_.checkpoint || num_timed_ == use_.checkpoint->times.size()) {
    return std::nullopt;
  }
  return use_.checkpoint->times[num_timed_];
}

std::optional<TimePs> StorageTraffic::wanted() const {
  const bool is_busy = StreamOf(StorageKind::kCheckpoint).missing > 0;
  const std::optional<TimePs> next = NextTime();
  return next && !is_busy ? next : pause_ends_;
}

void StorageTraffic::StartDue() {
  const std::optional<TimePs> next = NextTime();
  Stream& writes = StreamOf(StorageKind::kCheckpoint);
  if (!next || *next > network_->now() || writes.missing > 0) return;
  ++num_timed_;
  writes.next = num_begun_;
  Start(writes);
}

bool StorageTraffic::has_any_left() const {
  return NextTime() ||
         std::any_of(streams_.begin(), streams_.end(),
                     [](const Stream& stream) { return stream.missing > 0; });
}

// Returns whether there is nothing to restore any more.
bool StorageTraffic::Restore() {
  if (!use_.restore) return true;
  Stream& restore = StreamOf(StorageKind::kRestore);
  if (restore.next == 0) Start(restore);
  if (restore.missing > 0) return false;
  AddWait(restore.last);
  return true;
}

// Returns whether the iteration need not wait for the checkpoint before it any
// more.
bool StorageTraffic::Write(int64_t iteration) {
  if (!use_.checkpoint || use_.checkpoint->is_timed() ||
      iteration % use_.checkpoint->every != 0) {
    return true;
  }
  Stream& writes = StreamOf(StorageKind::kCheckpoint);
  if (writes.next == iteration) {
    if (writes.missing > 0) return false;  // The checkpoint before.
    const TimePs now = network_->now();
    if (!pause_ends_) pause_ends_ = now + use_.checkpoint->pause;
    if (now < *pause_ends_) return false;
    pause_ends_.reset();
    Start(writes);
  }
  if (use_.checkpoint->blocks && writes.missing > 0) return false;
  AddWait(writes.last);
  return true;
}

// Returns whether no checkpoint with a time of its own holds the iterations.
bool StorageTraffic::IsFree() {
  if (!use_.checkpoint || !use_.checkpoint->is_timed()) return true;
  const Stream& writes = StreamOf(StorageKind::kCheckpoint);
  const bool was_held = is_held_;
  is_held_ = use_.checkpoint->blocks && writes.missing > 0;
  if (was_held && !is_held_) AddWait(writes.last);
  return !is_held_;
}

// Returns whether the data of the iteration is there.
bool StorageTraffic::Read(int64_t iteration) {
  if (!use_.data) return true;
  if (num_loaded_ <= iteration) {
    Stream& reads = StreamOf(StorageKind::kData);
    if (reads.missing == 0) Start(reads);
    return false;
  }
  if (network_->now() > *waits_since_) AddWait(last_read_);
  return true;
}

void StorageTraffic::ReadAhead() {
  Stream& reads = StreamOf(StorageKind::kData);
  if (!use_.data || reads.missing > 0) return;
  if (reads.next < num_begun_ + use_.data->ahead) Start(reads);
}

void StorageTraffic::Start(Stream& stream) {
  StorageTransfer& transfer = transfers_.emplace_back();
  transfer.kind = stream.kind;
  transfer.iteration = stream.next;
  transfer.begin = network_->now();
  stream.next += stream.every;
  stream.last = transfers_.size() - 1;
  stream.missing = stream.messages.size();
  const bool writes = stream.kind == StorageKind::kCheckpoint;
  for (uint32_t i = 0; i < stream.messages.size(); ++i) {
    const StorageMessage& message = stream.messages[i];
    transfer.bytes += message.bytes;
    network_->Send({.id = MessageId(stream.first_id + i),
                    .source = writes ? message.rank : message.storage,
                    .target = writes ? message.storage : message.rank,
                    .bytes = message.bytes});
  }
}

void StorageTraffic::TakeArrivals() {
  arrived_.clear();
  network_->AdvanceTo(network_->now(), &arrived_);
  for (const MessageId message : arrived_) {
    size_t kind = std::size(kStorageKinds) - 1;
    while (message.index() < streams_[kind].first_id) --kind;
    Arrive(streams_[kind]);
  }
}

void StorageTraffic::Arrive(Stream& stream) {
  if (--stream.missing > 0) return;
  StorageTransfer& transfer = transfers_[stream.last];
  transfer.end = network_->now();
  if (transfer.kind != StorageKind::kData) return;
  ++num_loaded_;
  last_read_ = stream.last;
  ReadAhead();
}

// What the iteration has waited until now was for this transfer.
void StorageTraffic::AddWait(size_t transfer) {
  const TimePs now = network_->now();
  transfers_[transfer].waited += now - *waits_since_;
  waits_since_ = now;
}

std::string StorageTraffic::UnderWay() const {
  constexpr std::string_view kPhrases[] = {"checkpoint before",
                                           "restore before", "data of"};
  for (const Stream& stream : streams_) {
    if (stream.missing == 0) continue;
    return fmt::format("{} of {} messages of the {} iteration {}",
                       stream.missing, stream.messages.size(),
                       kPhrases[static_cast<size_t>(stream.kind)],
                       transfers_[stream.last].iteration);
  }
  return "";
}

}  // namespace astra
