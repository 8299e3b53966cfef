#include "astra-core/physical/host_collectives.h"

#include <algorithm>
#include <chrono>

#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr int64_t kPsPerNs = 1000;
constexpr uint32_t kMember = 0;  // The engine of a rank has one member.

}  // namespace

HostCollectives::HostCollectives(const RankPlan& plan,
                                 DataConnections& connections,
                                 EventQueue& timers, uint32_t iteration,
                                 Instant begin, Wait wait)
    : plan_(plan),
      connections_(connections),
      timers_(timers),
      iteration_(iteration),
      begin_(begin),
      wait_(std::move(wait)),
      runs_(plan.communicators().list.size()) {}

void HostCollectives::Tick() {
  const HostTime passed = HostClock::now() - begin_;
  now_ = std::max(now_, TimePs(passed.count() * kPsPerNs));
}

absl::Status HostCollectives::Join(uint32_t /*member*/, const Call& call) {
  std::optional<Run>& run = runs_[call.communicator.index()];
  ASTRA_CHECK(!run, "two collectives of one communicator at once");
  const PlannedCollective* planned =
      plan_.Find(call.communicator, call.communication);
  ASTRA_CHECK(planned != nullptr, "a collective that was not planned");
  run = Run{.call = call,
            .planned = planned,
            .flows = std::make_unique<FlowRun>(planned->messages.graph),
            .joined = now_,
            .is_finished = false};
  ++num_under_way_;
  ready_.clear();
  // Messages need not wait for other ranks to join, since a rank that has not
  // joined does not take their bytes.
  for (uint32_t i = 0; i < run->flows->graph().num_members(); ++i) {
    if (GroupRank(i) != planned->member)
      run->flows->Join(GroupRank(i), &ready_);
  }
  run->flows->Join(planned->member, &ready_);
  SendOwn(*run);
  const auto early = early_.find({call.communicator.index(), call.number});
  if (early != early_.end()) {
    for (const DataEvent& event : early->second) {
      ASTRA_RETURN_IF_ERROR(CheckFrame(event, *run));
      connections_.Admit(event.connection);
    }
    early_.erase(early);
  }
  if (run->flows->is_finished(planned->member)) Complete(*run);
  return absl::OkStatus();
}

// Sends the flows in `ready_` whose source is this rank.
void HostCollectives::SendOwn(const Run& run) {
  const CollectiveMessages& messages = run.planned->messages;
  for (const FlowId id : ready_) {
    const Flow flow = messages.graph->flow(id);
    if (flow.source != run.planned->member) continue;
    const ConnectionKey key =
        plan_.KeyOf(run.call.communicator, messages, flow);
    connections_.Send(
        plan_.connections().IndexOfOutgoing(key),
        {.iteration = iteration_,
         .communicator = run.call.communicator.index(),
         .number = run.call.number,
         .flow = id,
         .bytes = messages.costs.OnWire(flow, messages.layout.get())});
  }
}

absl::Status HostCollectives::OnTimer(const Event& event) {
  ASTRA_CHECK(event.kind == kResultThere, "event of kind {}", event.kind);
  End(*runs_[event.index]);
  return absl::OkStatus();
}

absl::StatusOr<bool> HostCollectives::AdvanceTo(TimePs limit) {
  while (true) {
    Tick();
    ASTRA_RETURN_IF_ERROR(TakeEvents());
    if (!ended_.empty()) return true;
    if (now_ >= limit) return false;
    ASTRA_RETURN_IF_ERROR(
        wait_(begin_ + HostTime((limit.count() + kPsPerNs - 1) / kPsPerNs)));
  }
}

// Handling an event may send messages that the network takes at once, which
// makes more events.
absl::Status HostCollectives::TakeEvents() {
  while (connections_.has_events()) {
    for (const DataEvent& event : connections_.TakeEvents()) {
      ASTRA_RETURN_IF_ERROR(Handle(event));
    }
  }
  return absl::OkStatus();
}

absl::Status HostCollectives::Handle(const DataEvent& event) {
  switch (event.kind) {
    case DataEvent::Kind::kAnnounced:
      return Announce(event);
    case DataEvent::Kind::kArrived:
    case DataEvent::Kind::kSent:
      return OnFlow(event.frame);
    case DataEvent::Kind::kLost:
      return absl::UnavailableError(
          fmt::format("the connection with rank {} has ended", event.peer));
    case DataEvent::Kind::kWrong:
      break;
  }
  return absl::InternalError(fmt::format(
      "rank {} sends what is no message of this program", event.peer));
}

absl::Status HostCollectives::Announce(const DataEvent& event) {
  const DataFrame& frame = event.frame;
  if (frame.iteration != iteration_ || frame.communicator >= runs_.size()) {
    return absl::InternalError(fmt::format(
        "rank {} sends a message of iteration {} and communicator {}, which "
        "iteration {} does not have",
        event.peer, frame.iteration, frame.communicator, iteration_));
  }
  const std::optional<Run>& run = runs_[frame.communicator];
  if (!run || run->call.number != frame.number) {
    early_[{frame.communicator, frame.number}].push_back(event);
    return absl::OkStatus();
  }
  ASTRA_RETURN_IF_ERROR(CheckFrame(event, *run));
  connections_.Admit(event.connection);
  return absl::OkStatus();
}

absl::Status HostCollectives::CheckFrame(const DataEvent& event,
                                         const Run& run) const {
  const DataFrame& frame = event.frame;
  const CollectiveMessages& messages = run.planned->messages;
  if (frame.flow.index() < messages.graph->num_flows()) {
    const Flow flow = messages.graph->flow(frame.flow);
    const std::vector<RankId>& ranks =
        plan_.communicators().list[frame.communicator].ranks;
    if (flow.target == run.planned->member &&
        ranks[flow.source.index()] == event.peer &&
        frame.bytes == messages.costs.OnWire(flow, messages.layout.get())) {
      return absl::OkStatus();
    }
  }
  return absl::InternalError(fmt::format(
      "rank {} sends {} as flow {} of the {} of {} over {}, which has no such "
      "flow: its workload, cluster or options differ",
      event.peer, frame.bytes, frame.flow.index(),
      Name(run.call.communication.kind), run.call.communication.bytes,
      Name(run.call.communication.dimension)));
}

absl::Status HostCollectives::OnFlow(const DataFrame& frame) {
  if (!runs_[frame.communicator]) {
    return absl::InternalError(fmt::format(
        "a message of collective {} of communicator {} arrives twice",
        frame.number, frame.communicator));
  }
  Run& run = *runs_[frame.communicator];
  ready_.clear();
  finished_.clear();
  run.flows->Arrive(frame.flow, &ready_, &finished_);
  SendOwn(run);
  if (run.flows->is_finished(run.planned->member)) Complete(run);
  return absl::OkStatus();
}

// Handles the end of the last flow of this rank.
void HostCollectives::Complete(Run& run) {
  if (std::exchange(run.is_finished, true)) return;
  Tick();
  if (run.call.update == TimePs(0)) {
    End(run);
    return;
  }
  timers_.Push({.time = now_ + run.call.update,
                .kind = kResultThere,
                .index = run.call.communicator.index()});
}

void HostCollectives::End(Run& run) {
  const Call& call = run.call;
  ended_.push_back({.member = kMember,
                    .communicator = call.communicator,
                    .record = times_.size(),
                    .network = now_ - run.joined,
                    .start = run.joined,
                    .last_member = kMember});
  times_.push_back({.communicator = call.communicator.index(),
                    .number = call.number,
                    .layer = call.layer,
                    .phase = call.phase,
                    .communication = call.communication,
                    .joined = run.joined,
                    .result = now_});
  --num_under_way_;
  runs_[call.communicator.index()].reset();
}

std::string HostCollectives::WhatIsMissing(CommunicatorId communicator) const {
  const std::optional<Run>& run = runs_[communicator.index()];
  return run ? fmt::format("{} of {} messages of all ranks",
                           run->flows->num_missing(),
                           run->flows->graph().num_flows())
             : "its begin";
}

}  // namespace astra
