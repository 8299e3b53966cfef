#include "astra-core/serving/fabric/serving_fabric.h"

#include <algorithm>
#include <string>
#include <utility>

#include "astra-core/base/check.h"
#include "fmt/core.h"
#include "workload/serving/request.h"

namespace astra {
namespace {

// Numbers of messages of serving have this bit; those of the job have not.
constexpr uint32_t kOfServing = uint32_t{1} << 31;

}  // namespace

void ServingFabric::Send(FabricChannel channel,
                         absl::Span<const FabricMessage> messages,
                         std::function<void()> on_arrival) {
  ASTRA_CHECK(!messages.empty(), "nothing to send");
  const uint32_t batch = batches_.Add({messages.size(), std::move(on_arrival)});
  for (const FabricMessage& message : messages) {
    network_.Send({.id = MessageId(kOfServing | batch_of_.Add(batch)),
                   .source = message.source,
                   .target = message.target,
                   .bytes = message.bytes,
                   .channel = static_cast<uint32_t>(channel)});
  }
}

void ServingFabric::SendOfJob(const Message& message) {
  ASTRA_CHECK(message.id.index() < kOfServing, "message {} of a job",
              message.id);
  network_.Send(message);
}

void ServingFabric::Arrive(MessageId id) {
  const uint32_t batch = batch_of_.Take(id.index() & ~kOfServing);
  if (--batches_[batch].missing > 0) return;
  const Batch done = batches_.Take(batch);
  done.on_arrival();
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
    if ((id.index() & kOfServing) != 0) {
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
    return absl::FailedPreconditionError(fmt::format(
        "messages of requests never arrive{}{}", why.empty() ? "" : ": ", why));
  }
  return status_;
}

}  // namespace astra
