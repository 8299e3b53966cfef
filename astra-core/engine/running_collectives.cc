#include "astra-core/engine/running_collectives.h"

#include <algorithm>
#include <utility>

#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/collective_record.h"
#include "astra-core/engine/flow_sending.h"
#include "astra-core/engine/message_log.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr size_t kMaxNamed = 8;

TimePs RoundUp(TimePs time, TimePs step) {
  if (step == TimePs(0)) return time;
  return (time.count() + step.count() - 1) / step.count() * step;
}

std::string AndMore(size_t count) {
  return count > kMaxNamed ? fmt::format(" and {} more", count - kMaxNamed)
                           : "";
}

}  // namespace

RunningCollectives::RunningCollectives(
    const SimulationOptions& options, const CollectiveCosts& costs,
    const Communicators& communicators, CollectiveLowering& lowering,
    SymmetricTimes* symmetric, LinkSharing& sharing, LoneCollectives* lone,
    NetworkBackend& network, EventQueue& timers)
    : options_(options),
      costs_(costs),
      communicators_(communicators),
      lowering_(lowering),
      symmetric_(symmetric),
      sharing_(sharing),
      closed_forms_(communicators, sharing, timers, kTransferDone),
      timers_(timers),
      network_(network),
      carrier_(network),
      replays_(lone == nullptr
                   ? nullptr
                   : std::make_unique<CollectiveReplays>(*lone, network)),
      runs_(communicators.list.size()),
      first_run_(communicators.list.size()),
      lanes_(communicators.of_class.size() * communicators.num_lanes) {
  if (options_.message_log == nullptr) return;
  network_.LogArrivals(
      [this](const FlowRecord& message, absl::Span<const LinkId> path) {
        Log(message, path);
      });
}

uint32_t RunningCollectives::LaneIndex(uint32_t member,
                                       CommunicatorId id) const {
  const LaneId lane = communicator(id).LaneOfMember(member);
  return member * communicators_.num_lanes + lane.index();
}

uint32_t RunningCollectives::MemberOf(uint32_t lane) const {
  return lane / communicators_.num_lanes;
}

RunningCollectives::Run& RunningCollectives::RunOfLane(uint32_t lane) {
  const uint32_t member = MemberOf(lane);
  return RunOf(
      *communicators_.of_class[member][lane % communicators_.num_lanes],
      lanes_[lane].number);
}

RunningCollectives::Run& RunningCollectives::RunOf(CommunicatorId communicator,
                                                   uint32_t number) {
  std::deque<Run>& runs = runs_[communicator.index()];
  const uint32_t position = number - first_run_[communicator.index()];
  if (position == runs.size()) runs.emplace_back();
  ASTRA_CHECK(position < runs.size(), "collective {} before the one before it",
              number);
  return runs[position];
}

// Of messages, each rank is run, and is the member of its own number.
GroupRank RunningCollectives::RankOf(uint32_t member, const Run& run) const {
  const std::vector<RankId>& ranks = communicator(run.call.communicator).ranks;
  const auto place =
      run.call.communication.dimension == ParallelDimension::kPipeline
          ? std::find(ranks.begin(), ranks.end(), RankId(member))
          : std::lower_bound(ranks.begin(), ranks.end(), RankId(member));
  return GroupRank(static_cast<uint32_t>(place - ranks.begin()));
}

absl::Status RunningCollectives::Join(uint32_t member, const Call& call) {
  Run& run = RunOf(call.communicator, call.number);
  if (run.joined.empty()) ASTRA_RETURN_IF_ERROR(Open(call, run));
  run.joined.push_back(member);
  records_[run.record].start = network_.now();
  const uint32_t lane = LaneIndex(member, call.communicator);
  lanes_[lane] = {call.number, network_.now()};

  if (!run.has_messages) {
    const size_t num_members = communicator(call.communicator).members.size();
    return run.joined.size() == num_members ? StartClosedForm(run)
                                            : absl::OkStatus();
  }
  const TimePs start =
      RoundUp(network_.now() + run.messages.costs.start, options_.start_step);
  if (start == network_.now()) return StartKernel(member, run);
  timers_.Push({.time = start, .kind = kKernelStarted, .index = lane});
  return absl::OkStatus();
}

absl::Status RunningCollectives::Open(const Call& call, Run& run) {
  run.call = call;
  run.has_messages = options_.lowering == Lowering::kFlowGraph;
  if (run.has_messages) ASTRA_RETURN_IF_ERROR(OpenMessages(run));
  run.record = records_.size();
  records_.push_back(NewRecord(call, run));
  has_ended_.push_back(false);
  if (options_.message_log != nullptr && run.has_messages) {
    options_.message_log->BeginCollective(static_cast<uint32_t>(run.record),
                                          records_.back());
  }
  return absl::OkStatus();
}

absl::Status RunningCollectives::OpenMessages(Run& run) {
  const Call& call = run.call;
  if (replays_ != nullptr) {
    ASTRA_ASSIGN_OR_RETURN(
        run.region,
        replays_->lone().RegionOf(call.communicator, call.communication));
    run.messages = run.region->messages;
    run.has_result.resize(run.messages.layout->num_ranks());
    return absl::OkStatus();
  }
  const auto& [kind, dimension, _] = call.communication;
  ASTRA_ASSIGN_OR_RETURN(
      run.messages,
      lowering_.Lower(call.communicator.index(),
                      communicator(call.communicator), call.communication,
                      costs_.at({dimension, kind})));
  run.flows = std::make_unique<FlowRun>(run.messages.graph);
  return absl::OkStatus();
}

CollectiveRecord RunningCollectives::NewRecord(const Call& call,
                                               const Run& run) const {
  const auto& [kind, dimension, _] = call.communication;
  CollectiveRecord record = RecordOf(
      call, communicator(call.communicator), costs_.at({dimension, kind}),
      run.has_messages ? &run.messages : nullptr);
  record.first_start = network_.now();
  return record;
}

absl::StatusOr<TimePs> RunningCollectives::TimeOf(
    const Call& call, const TimedCollective& timed) const {
  if (options_.ideal_network) return TimePs(0);
  return symmetric_ == nullptr
             ? timed.time
             : symmetric_->TimeOf(call.communicator, call.communication);
}

absl::Status RunningCollectives::StartClosedForm(Run& run) {
  const Call& call = run.call;
  const auto& [kind, dimension, bytes] = call.communication;
  const CostKey key = {dimension, kind};
  const TimedCollective timed =
      costs_.at(key).Time(communicator(call.communicator).group, bytes);
  ASTRA_ASSIGN_OR_RETURN(const TimePs time, TimeOf(call, timed));
  if (time == kMaxCollectiveTime) {
    return absl::ResourceExhaustedError(fmt::format(
        "the {} of {} over {} would take longer than the limit of 26 days",
        Name(kind), bytes, Name(dimension)));
  }
  run.hidden = ShareOf(options_.overlap[IndexOf(dimension)], time);
  closed_forms_.Start(call.communicator, sharing_.UseOf(key, timed),
                      time - run.hidden, network_.now());
  return absl::OkStatus();
}

// Other collectives on the same links may have slowed this one down.
void RunningCollectives::EndTransfer(Run& run) {
  CollectiveRecord& record = records_[run.record];
  record.time = network_.now() - record.start + run.hidden;
  closed_forms_.End(run.call.communicator, network_.now());
  if (run.call.update == TimePs(0)) {
    EndAll(run);
  } else {
    timers_.Push({.time = network_.now() + run.call.update,
                  .kind = kCollectiveDone,
                  .index = run.call.communicator.index()});
  }
}

void RunningCollectives::EndAll(Run& run) {
  const std::vector<uint32_t> members = run.joined;
  for (const uint32_t member : members) End(member, run);
}

// The messages of `member` may leave, and those to it.
absl::Status RunningCollectives::StartKernel(uint32_t member, Run& run) {
  const GroupRank rank = RankOf(member, run);
  if (replays_ != nullptr && !run.is_live) {
    ASTRA_ASSIGN_OR_RETURN(const bool has_started, StartReplay(rank, run));
    if (has_started) return absl::OkStatus();
  }
  ready_.clear();
  run.flows->Join(rank, &ready_);
  SendFlows(ready_, IdOf(run), run.messages, carrier_);
  if (run.flows->is_finished(rank)) {
    timers_.Push({.time = ResultTime(member, run),
                  .kind = kResultThere,
                  .index = LaneIndex(member, run.call.communicator)});
  }
  return absl::OkStatus();
}

absl::Status RunningCollectives::OnTimer(const Event& event) {
  switch (event.kind) {
    case kTransferDone:
      EndTransfer(runs_[event.index].front());
      return absl::OkStatus();
    case kCollectiveDone:
      EndAll(runs_[event.index].front());
      return absl::OkStatus();
    case kResultThere:
      End(MemberOf(event.index), RunOfLane(event.index));
      return absl::OkStatus();
    case kKernelStarted:
      return StartKernel(MemberOf(event.index), RunOfLane(event.index));
    default:
      ASTRA_CHECK(false, "event of kind {}", event.kind);
  }
}

absl::StatusOr<bool> RunningCollectives::AdvanceTo(TimePs limit) {
  done_.clear();
  if (replays_ == nullptr) {
    carrier_.AdvanceTo(limit, &done_);
    for (const CarriedFlow& done : done_) OnFlow(done);
    SettleLog();
    return !done_.empty();
  }
  bool has_any = false;
  do {
    const TimePs next = due_.empty() ? replays_->next_end() : network_.now();
    carrier_.AdvanceTo(std::min(limit, next), &done_);
    ASTRA_RETURN_IF_ERROR(TakeDueEnds());
    has_any = !done_.empty() || !due_.empty() || replays_->has_evicted();
    TakeBatch();
    ASTRA_RETURN_IF_ERROR(EndClaims());
  } while (!has_any && network_.now() < limit);
  SettleLog();
  return has_any;
}

// Of the network for replays only events count: its messages count as those of
// the network on which they are replayed.
WorkDone RunningCollectives::work() const {
  WorkDone work = network_.work();
  if (replays_ != nullptr) work.events += replays_->lone().num_events();
  return work;
}

void RunningCollectives::Finish() {
  if (replays_ != nullptr) replays_->Finish();
  network_.Drain();
}

// Only a replay takes long.
void RunningCollectives::set_watch(const std::function<absl::Status()>& watch) {
  if (replays_ != nullptr) replays_->lone().set_watch(watch);
}

// Flows of a replay that is simulated after all may be done after all ranks
// have had their results, and the run may end with the last result.
void RunningCollectives::OnFlow(const CarriedFlow& done) {
  if (done.number < first_run_[done.communicator]) return;
  Run& run = RunOf(CommunicatorId(done.communicator), done.number);
  ready_.clear();
  finished_.clear();
  run.flows->Arrive(done.flow, &ready_, &finished_);
  SendFlows(ready_, IdOf(run), run.messages, carrier_);
  if (run.region != nullptr) {
    finished_.erase(std::remove_if(finished_.begin(), finished_.end(),
                                   [&run](GroupRank rank) {
                                     return run.has_result[rank.index()];
                                   }),
                    finished_.end());
  }
  for (const GroupRank rank : finished_) Finish(rank, run);
}

// When `member`, which has sent and received all that is its, has its result.
TimePs RunningCollectives::ResultTime(uint32_t member, const Run& run) const {
  const TimePs joined = lanes_[LaneIndex(member, run.call.communicator)].joined;
  return std::max(network_.now(), joined + run.messages.costs.least) +
         run.call.update;
}

void RunningCollectives::Finish(GroupRank rank, Run& run) {
  if (run.region != nullptr) run.has_result[rank.index()] = true;
  const uint32_t member =
      communicator(run.call.communicator).ranks[rank.index()].index();
  const TimePs result = ResultTime(member, run);
  if (result == network_.now()) {
    End(member, run);
  } else {
    timers_.Push({.time = result,
                  .kind = kResultThere,
                  .index = LaneIndex(member, run.call.communicator)});
  }
}

// The last member to end takes the run away with it.
void RunningCollectives::End(uint32_t member, Run& run) {
  const CommunicatorId id = run.call.communicator;
  const TimePs result = network_.now() - run.call.update;
  const CollectiveRecord& record = records_[run.record];
  const TimePs network = run.has_messages ? result - record.start : record.time;
  ended_.push_back(
      {member, id, run.record, network, record.start, run.joined.back()});
  ++run.num_ended;
  Record(member, run, result);
  std::deque<Run>& runs = runs_[id.index()];
  while (!runs.empty() &&
         runs.front().num_ended == communicator(id).members.size()) {
    const Run& ended = runs.front();
    if (ended.is_live) replays_->RemoveLive(IdOf(ended), *ended.region);
    runs.pop_front();
    ++first_run_[id.index()];
  }
}

// A record is complete with the last member, which may have joined last.
void RunningCollectives::Record(uint32_t member, const Run& run,
                                TimePs result) {
  const CommunicatorId id = run.call.communicator;
  const Communicator& group = communicator(id);
  CollectiveRecord& record = records_[run.record];
  const uint32_t lowest =
      communicators_.classes.class_of_rank[group.ranks.front().index()];
  if (member == lowest) {
    record.lowest_rank_time = result - lanes_[LaneIndex(member, id)].joined;
  }
  if (run.num_ended < group.members.size()) return;
  if (run.has_messages) record.time = result - record.start;
  if (options_.message_log != nullptr && run.has_messages) {
    options_.message_log->EndCollective(static_cast<uint32_t>(run.record));
  }
  has_ended_[run.record] = true;
  if (options_.on_collective) options_.on_collective(record);
}

// Tells the log of a message that has arrived, with its collective. A replay
// that is simulated after all may have had results before.
void RunningCollectives::Log(const FlowRecord& message,
                             absl::Span<const LinkId> path) {
  uint32_t collective = MessageLog::kNone;
  if (message.channel != kBackgroundChannel) {
    const CarriedFlow& flow = carrier_.FlowOf(message.message);
    if (flow.number < first_run_[flow.communicator]) return;
    const Run& run = RunOf(CommunicatorId(flow.communicator), flow.number);
    if (run.is_told) return;
    collective = static_cast<uint32_t>(run.record);
  }
  options_.message_log->Arrive(message, path, collective);
}

void RunningCollectives::SettleLog() {
  if (options_.message_log == nullptr) return;
  options_.message_log->Settle(replays_ == nullptr ? network_.now()
                                                   : replays_->FirstBegin());
}

std::vector<Ended> RunningCollectives::TakeEnded() {
  return std::exchange(ended_, {});
}

std::string RunningCollectives::WhatIsMissing(
    CommunicatorId communicator_id) const {
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
  if (num_absent > 0) return missing + AndMore(num_absent) + " to join";
  if (run.flows == nullptr) return "its end";
  return MissingFlows(communicator_id, run);
}

// "4 of 12 messages: rank 0 to rank 1, rank 3 to node 8 have not arrived".
std::string RunningCollectives::MissingFlows(CommunicatorId communicator_id,
                                             const Run& run) const {
  const std::vector<RankId>& ranks = communicator(communicator_id).ranks;
  const auto name = [&](GroupRank member) {
    return member.index() < ranks.size()
               ? fmt::format("rank {}", ranks[member.index()])
               : fmt::format("switch {}",
                             (*run.messages.nodes)[member.index()]);
  };
  const std::vector<CarriedFlow> under_way =
      carrier_.UnderWay(communicator_id.index(), run.call.number);
  std::string flows;
  for (size_t i = 0; i < std::min(kMaxNamed, under_way.size()); ++i) {
    const Flow flow = run.messages.graph->flow(under_way[i].flow);
    flows += fmt::format("{}{} to {}", i == 0 ? ": " : ", ", name(flow.source),
                         name(flow.target));
  }
  return fmt::format("{} of {} messages{}{}{}", run.flows->num_missing(),
                     run.flows->graph().num_flows(), flows,
                     AndMore(under_way.size()),
                     under_way.empty() ? "" : " are under way");
}

}  // namespace astra
