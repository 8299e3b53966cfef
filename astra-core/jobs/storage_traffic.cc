#include "astra-core/jobs/storage_traffic.h"

#include <utility>

#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {

StorageTraffic::StorageTraffic(const StorageUse& use, const ParallelPlan& plan,
                               const Topology& topology,
                               std::unique_ptr<NetworkBackend> network)
    : use_(use), network_(std::move(network)) {
  if (use_.checkpoint) {
    writes_.messages =
        StorageMessagesOf(use_.checkpoint->amount, plan, topology);
    writes_.every = use_.checkpoint->every;
  }
  if (use_.data) {
    reads_.messages = StorageMessagesOf(use_.data->amount, plan, topology);
    reads_.first_id = static_cast<uint32_t>(writes_.messages.size());
    reads_.next = num_loaded_ = use_.data->ahead;
  }
}

absl::Status StorageTraffic::CheckPaths(Routes& routes) const {
  for (const Stream* stream : {&writes_, &reads_}) {
    for (const StorageMessage& message : stream->messages) {
      ASTRA_RETURN_IF_ERROR(
          routes.FindNodes(message.rank, message.storage).status());
    }
  }
  return absl::OkStatus();
}

bool StorageTraffic::TryBegin(int64_t iteration) {
  if (!waits_since_) waits_since_ = network_->now();
  has_written_ = has_written_ || Write(iteration);
  if (!has_written_ || !Read(iteration)) return false;
  has_written_ = false;
  waits_since_.reset();
  ++num_begun_;
  ReadAhead();
  return true;
}

// Returns whether the iteration need not wait for its checkpoint any more.
bool StorageTraffic::Write(int64_t iteration) {
  if (!use_.checkpoint || iteration % use_.checkpoint->every != 0) return true;
  if (writes_.next == iteration) {
    if (writes_.missing > 0) return false;  // The checkpoint before.
    const TimePs now = network_->now();
    if (!pause_ends_) pause_ends_ = now + use_.checkpoint->pause;
    if (now < *pause_ends_) return false;
    pause_ends_.reset();
    Start(StorageKind::kCheckpoint, writes_);
  }
  if (use_.checkpoint->blocks && writes_.missing > 0) return false;
  AddWait(writes_.last);
  return true;
}

// Returns whether the data of the iteration is there.
bool StorageTraffic::Read(int64_t iteration) {
  if (!use_.data) return true;
  if (num_loaded_ <= iteration) {
    if (reads_.missing == 0) Start(StorageKind::kData, reads_);
    return false;
  }
  if (network_->now() > *waits_since_) AddWait(last_read_);
  return true;
}

void StorageTraffic::ReadAhead() {
  if (!use_.data || reads_.missing > 0) return;
  if (reads_.next < num_begun_ + use_.data->ahead) {
    Start(StorageKind::kData, reads_);
  }
}

void StorageTraffic::Start(StorageKind kind, Stream& stream) {
  StorageTransfer& transfer = transfers_.emplace_back();
  transfer.kind = kind;
  transfer.iteration = stream.next;
  transfer.begin = network_->now();
  stream.next += stream.every;
  stream.last = transfers_.size() - 1;
  stream.missing = stream.messages.size();
  const bool writes = kind == StorageKind::kCheckpoint;
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
    const bool is_read = message.index() >= writes_.messages.size();
    Arrive(is_read ? reads_ : writes_);
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
  for (const Stream* stream : {&writes_, &reads_}) {
    if (stream->missing == 0) continue;
    const StorageTransfer& transfer = transfers_[stream->last];
    return fmt::format(
        "{} of {} messages of the {} iteration {}", stream->missing,
        stream->messages.size(),
        transfer.kind == StorageKind::kData ? "data of" : "checkpoint before",
        transfer.iteration);
  }
  return "";
}

}  // namespace astra
