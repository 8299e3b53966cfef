#include "astra-core/engine/running_collectives.h"

#include <algorithm>
#include <utility>

#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "collectives/registry.h"
#include "fmt/format.h"

namespace astra {

RunningCollectives::RunningCollectives(
    const CollectiveCosts& costs, const Communicators& communicators,
    Lowering lowering,
    const std::array<double, kNumParallelDimensions>& overlap,
    NetworkBackend& network, EventQueue& timers)
    : costs_(costs),
      communicators_(communicators),
      lowering_(lowering),
      overlap_(overlap),
      network_(network),
      timers_(timers),
      runs_(communicators.list.size()),
      first_run_(communicators.list.size()) {}

RunningCollectives::Run& RunningCollectives::RunOf(CommunicatorId communicator,
                                                   uint32_t number) {
  std::deque<Run>& runs = runs_[communicator.index()];
  const uint32_t position = number - first_run_[communicator.index()];
  if (position == runs.size()) runs.emplace_back();
  ASTRA_CHECK(position < runs.size(), "collective {} before the one before it",
              number);
  return runs[position];
}

absl::Status RunningCollectives::Join(uint32_t member, const Call& call) {
  Run& run = RunOf(call.communicator, call.number);
  if (run.joined.empty()) ASTRA_RETURN_IF_ERROR(Open(call, run));
  run.joined.push_back(member);
  records_[run.record].start = network_.now();

  const Communicator& group = communicator(call.communicator);
  if (lowering_ == Lowering::kClosedForm) {
    return run.joined.size() == group.members.size() ? StartClosedForm(run)
                                                     : absl::OkStatus();
  }
  const auto place =
      std::lower_bound(group.ranks.begin(), group.ranks.end(), RankId(member));
  const GroupRank rank(static_cast<uint32_t>(place - group.ranks.begin()));
  ready_.clear();
  run.flows->Join(rank, &ready_);
  SendReady(run);
  if (run.flows->is_finished(rank)) EndByTimer(rank, run);
  return absl::OkStatus();
}

absl::Status RunningCollectives::Open(const Call& call, Run& run) {
  run.call = call;
  run.record = records_.size();
  records_.push_back(NewRecord(call));
  if (lowering_ == Lowering::kFlowGraph) {
    ASTRA_ASSIGN_OR_RETURN(std::shared_ptr<const FlowGraph> graph,
                           GraphFor(call));
    run.flows = std::make_unique<FlowRun>(std::move(graph));
  }
  return absl::OkStatus();
}

CollectiveRecord RunningCollectives::NewRecord(const Call& call) const {
  const Communicator& group = communicator(call.communicator);
  const auto& [kind, dimension, bytes] = call.communication;
  const CollectiveCost& cost = costs_.at({dimension, kind});
  const TimedCollective timed = cost.Time(group.group, kind, bytes);
  CollectiveRecord record;
  record.layer = call.layer;
  record.phase = call.phase;
  record.communication = call.communication;
  record.algorithm = timed.algorithm;
  record.protocol = timed.protocol;
  record.communicator = call.communicator.index();
  record.lowest_rank = group.ranks.front();
  record.num_ranks = static_cast<uint32_t>(group.ranks.size());
  record.num_groups = group.num_groups;
  record.is_measured = cost.is_measured;
  record.is_latency_bound = timed.is_latency_bound;
  record.bottleneck = timed.bottleneck;
  return record;
}

absl::StatusOr<std::shared_ptr<const FlowGraph>> RunningCollectives::GraphFor(
    const Call& call) {
  const auto& [kind, _, bytes] = call.communication;
  const auto& layout = communicator(call.communicator).layout;
  std::weak_ptr<const FlowGraph>& kept = graphs_[{kind, bytes, layout.get()}];
  if (std::shared_ptr<const FlowGraph> graph = kept.lock()) return graph;

  ASTRA_ASSIGN_OR_RETURN(const CollectiveRequest request,
                         CollectiveRequest::Create(kind, bytes, layout));
  ASTRA_ASSIGN_OR_RETURN(std::shared_ptr<const FlowGraph> graph,
                         DefaultCollectiveAlgorithm(kind).lower(request));
  kept = graph;
  return graph;
}

absl::Status RunningCollectives::StartClosedForm(Run& run) {
  const Call& call = run.call;
  const auto& [kind, dimension, bytes] = call.communication;
  const uint32_t group = communicator(call.communicator).group;
  const TimePs time =
      costs_.at({dimension, kind}).Time(group, kind, bytes).time;
  if (time == kMaxCollectiveTime) {
    return absl::ResourceExhaustedError(fmt::format(
        "the {} of {} over {} would take longer than the limit of 26 days",
        Name(kind), bytes, Name(dimension)));
  }
  records_[run.record].time = time;
  const TimePs hidden = ShareOf(overlap_[IndexOf(dimension)], time);
  timers_.Push({.time = network_.now() + (time - hidden) + call.update,
                .kind = kCollectiveDone,
                .index = call.communicator.index()});
  return absl::OkStatus();
}

void RunningCollectives::OnTimer(const Event& event) {
  if (event.kind == kUpdateDone) {
    const Call& call = updates_[event.index];
    End(update_members_[event.index], RunOf(call.communicator, call.number));
    return;
  }
  const CommunicatorId id(event.index);
  Run& run = runs_[id.index()].front();
  const std::vector<uint32_t> members = run.joined;
  for (const uint32_t member : members) End(member, run);
}

void RunningCollectives::OnArrivals(absl::Span<const MessageId> messages) {
  arrived_.assign(messages.begin(), messages.end());
  std::sort(arrived_.begin(), arrived_.end(), [this](MessageId a, MessageId b) {
    return in_flight_[a.index()] < in_flight_[b.index()];
  });
  for (const MessageId message : arrived_) OnArrival(message);
}

void RunningCollectives::OnArrival(MessageId message) {
  const InFlight arrived = in_flight_[message.index()];
  free_messages_.push_back(message.index());
  Run& run = RunOf(arrived.communicator, arrived.number);
  ready_.clear();
  finished_.clear();
  run.flows->Arrive(arrived.flow, &ready_, &finished_);
  SendReady(run);
  if (run.flows->is_done()) {
    CollectiveRecord& record = records_[run.record];
    record.time = network_.now() - record.start;
  }
  for (const GroupRank rank : finished_) Finish(rank, run);
}

// `rank` has sent and received all that is its.
void RunningCollectives::Finish(GroupRank rank, Run& run) {
  if (run.call.update == TimePs(0)) {
    End(communicator(run.call.communicator).ranks[rank.index()].index(), run);
  } else {
    EndByTimer(rank, run);
  }
}

void RunningCollectives::EndByTimer(GroupRank rank, const Run& run) {
  timers_.Push({.time = network_.now() + run.call.update,
                .kind = kUpdateDone,
                .index = static_cast<uint32_t>(updates_.size())});
  updates_.push_back(run.call);
  update_members_.push_back(
      communicator(run.call.communicator).ranks[rank.index()].index());
}

void RunningCollectives::SendReady(const Run& run) {
  const Communicator& group = communicator(run.call.communicator);
  for (const FlowId id : ready_) {
    if (free_messages_.empty()) {
      free_messages_.push_back(static_cast<uint32_t>(in_flight_.size()));
      in_flight_.emplace_back();
    }
    const MessageId message(free_messages_.back());
    free_messages_.pop_back();
    in_flight_[message.index()] = {run.call.communicator, run.call.number, id};
    const Flow flow = run.flows->graph().flow(id);
    network_.Send({.id = message,
                   .source = group.nodes[flow.source.index()],
                   .target = group.nodes[flow.target.index()],
                   .bytes = flow.bytes});
  }
}

// The last member to end takes the run away with it.
void RunningCollectives::End(uint32_t member, Run& run) {
  const CommunicatorId id = run.call.communicator;
  // Of messages, the record's time is that of the last member to end.
  const CollectiveRecord& record = records_[run.record];
  const TimePs network = run.flows == nullptr
                             ? record.time
                             : network_.now() - record.start - run.call.update;
  ended_.push_back({member, id, run.record, network});
  if (++run.num_ended < communicator(id).members.size()) return;
  std::deque<Run>& runs = runs_[id.index()];
  while (!runs.empty() &&
         runs.front().num_ended == communicator(id).members.size()) {
    runs.pop_front();
    ++first_run_[id.index()];
  }
}

std::vector<Ended> RunningCollectives::TakeEnded() {
  return std::exchange(ended_, {});
}

std::string RunningCollectives::WhatIsMissing(
    CommunicatorId communicator_id) const {
  constexpr size_t kMaxNamed = 8;
  const Communicator& group = communicator(communicator_id);
  const Run& run = runs_[communicator_id.index()].front();
  std::string missing;
  size_t num_absent = 0;
  for (const uint32_t member : group.members) {
    if (std::find(run.joined.begin(), run.joined.end(), member) !=
        run.joined.end()) {
      continue;
    }
    if (++num_absent > kMaxNamed) continue;
    missing += fmt::format("{}rank {}", missing.empty() ? "" : ", ",
                           communicators_.classes.lowest_rank[member]);
  }
  if (num_absent > kMaxNamed) {
    missing += fmt::format(" and {} more", num_absent - kMaxNamed);
  }
  if (num_absent > 0) return missing + " to join";
  if (run.flows == nullptr) return "its end";
  return fmt::format("{} of {} messages", run.flows->num_missing(),
                     run.flows->graph().num_flows());
}

}  // namespace astra
