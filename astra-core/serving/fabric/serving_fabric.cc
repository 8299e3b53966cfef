#include "astra-core/serving/fabric/serving_fabric.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "astra-core/base/check.h"
#include "fmt/core.h"
#include "workload/serving/request.h"

namespace astra {
namespace {

// Numbers of messages of KV caches have this bit; those of the job have not.
constexpr uint32_t kOfCaches = uint32_t{1} << 31;

}  // namespace

uint32_t ServingFabric::NewMessage(uint32_t transfer) {
  if (unused_.empty()) {
    transfer_of_.push_back(transfer);
    return static_cast<uint32_t>(transfer_of_.size() - 1);
  }
  const uint32_t message = unused_.back();
  unused_.pop_back();
  transfer_of_[message] = transfer;
  return message;
}

std::optional<TimePs> ServingFabric::Start(const KvTransfer& transfer) {
  const double whole = transfer.share * kv_.BytesOf(transfer.tokens);
  if (transfer.id >= missing_.size()) missing_.resize(transfer.id + 1);
  missing_[transfer.id] = static_cast<int64_t>(kv_.flows.size());
  for (const KvFlow& flow : kv_.flows) {
    const Bytes bytes(std::llround(flow.share * whole));
    bytes_sent_ += bytes.count();
    network_.Send(
        {.id = MessageId(kOfCaches | NewMessage(transfer.id)),
         .source = Topology::NodeOf(from_.GpuOf(transfer.source, flow.source)),
         .target = Topology::NodeOf(to_.GpuOf(transfer.target, flow.target)),
         .bytes = bytes});
  }
  return std::nullopt;
}

void ServingFabric::SendOfJob(const Message& message) {
  ASTRA_CHECK(message.id.index() < kOfCaches, "message {} of a job",
              message.id);
  network_.Send(message);
}

void ServingFabric::Arrive(MessageId id) {
  const uint32_t message = id.index() & ~kOfCaches;
  const uint32_t transfer = transfer_of_[message];
  unused_.push_back(message);
  if (--missing_[transfer] == 0) {
    process_->EndTransfer(network_.now(), transfer);
  }
}

void ServingFabric::HandleServing() {
  while (is_serving() && process_->next() == network_.now()) {
    status_ = process_->HandleNext();
    if (status_.ok() && process_->is_done()) served_at_ = network_.now();
  }
}

bool ServingFabric::Turn(TimePs limit, std::vector<MessageId>* of_job) {
  TimePs until = limit;
  if (is_serving()) until = std::min(until, process_->next().value_or(limit));
  arrived_.clear();
  network_.AdvanceTo(until, &arrived_);
  bool has_job = false;
  for (const MessageId id : arrived_) {
    if ((id.index() & kOfCaches) != 0) {
      Arrive(id);
    } else {
      of_job->push_back(id);
      has_job = true;
    }
  }
  HandleServing();
  return has_job;
}

void ServingFabric::AdvanceTo(TimePs limit, std::vector<MessageId>* of_job) {
  while (!Turn(limit, of_job) && network_.now() < limit) {
  }
}

absl::Status ServingFabric::ServeToTheEnd() {
  std::vector<MessageId> none;
  if (process_->is_done()) return absl::OkStatus();  // There was no request.
  while (is_serving()) {
    Turn(kMaxServingTime, &none);
    if (network_.now() < kMaxServingTime || !is_serving()) continue;
    const std::string why = network_.WhyStuck();
    return absl::FailedPreconditionError(
        fmt::format("the KV caches of requests never arrive{}{}",
                    why.empty() ? "" : ": ", why));
  }
  return status_;
}

}  // namespace astra
