#include "astra-core/serving/fabric/serving_fabric.h"

#include <algorithm>
#include <string>
#include <utility>

#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/serving/request.h"

namespace astra {

void ServingFabric::Send(FabricChannel channel,
                         absl::Span<const FabricMessage> messages,
                         std::function<void()> on_arrival) {
  ASTRA_CHECK(!messages.empty(), "nothing to send");
  const uint32_t batch = batches_.Add({messages.size(), std::move(on_arrival)});
  ++batches_under_way_;
  for (const FabricMessage& message : messages) {
    network_.Send({.id = MessageId(batch_of_.Add(batch)),
                   .source = message.source,
                   .target = message.target,
                   .bytes = message.bytes,
                   .channel = static_cast<uint32_t>(channel)});
  }
}

void ServingFabric::Arrive(MessageId id) {
  const uint32_t batch = batch_of_.Take(id.index());
  if (--batches_[batch].missing > 0) return;
  const Batch done = batches_.Take(batch);
  --batches_under_way_;
  done.on_arrival();
}

absl::Status ServingFabric::HandleServing() {
  while (!served_at_ && process_->next() == network_.now()) {
    ASTRA_RETURN_IF_ERROR(process_->HandleNext());
    if (process_->is_done()) served_at_ = network_.now();
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> ServingFabric::GoOn() {
  // Without a request nothing ever happens.
  if (!served_at_ && process_->is_done()) served_at_ = network_.now();
  while (!served_at_ || batches_under_way_ > 0) {
    const TimePs until =
        served_at_ ? kMaxServingTime
                   : std::min(kMaxServingTime,
                              process_->next().value_or(kMaxServingTime));
    arrived_.clear();
    network_.AdvanceTo(until, &arrived_);
    for (const MessageId id : arrived_) Arrive(id);
    ASTRA_RETURN_IF_ERROR(HandleServing());
    if (!arrived_.empty()) continue;
    if (network_.now() < until) return false;  // Another job goes on first.
    if (until < kMaxServingTime) continue;
    const std::string why = network_.WhyStuck();
    return absl::FailedPreconditionError(fmt::format(
        "messages of requests never arrive{}{}", why.empty() ? "" : ": ", why));
  }
  return true;
}

}  // namespace astra
