// The collectives that are under way, of all communicators.
//
// Members join; collectives take their time, as a closed form or as messages;
// members have their results. Collectives of one communicator are numbered in
// the order of the program, and a member joins one only after it has the result
// of the one before.

#ifndef ASTRA_CORE_ENGINE_RUNNING_COLLECTIVES_H_
#define ASTRA_CORE_ENGINE_RUNNING_COLLECTIVES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/event_queue.h"
#include "astra-core/engine/closed_form_runs.h"
#include "astra-core/engine/collective_lowering.h"
#include "astra-core/engine/collective_replays.h"
#include "astra-core/engine/collective_service.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/flow_carrier.h"
#include "astra-core/engine/flow_run.h"
#include "astra-core/engine/link_claims.h"
#include "astra-core/engine/link_sharing.h"
#include "astra-core/engine/lone_collectives.h"
#include "astra-core/engine/result.h"
#include "astra-core/engine/simulation_options.h"
#include "astra-core/engine/symmetric_times.h"
#include "network-frontends/network_backend.h"

namespace astra {

class RunningCollectives final : public CollectiveService {
 public:
  // All must outlive the object. `lowering` is read with flow graphs only.
  // With `symmetric`, which may be null, closed forms take its times. `sharing`
  // slows closed forms down that need the same links. With `lone`, which may be
  // null, flow graphs are counted again where that changes nothing.
  RunningCollectives(const SimulationOptions& options,
                     const CollectiveCosts& costs,
                     const Communicators& communicators,
                     CollectiveLowering& lowering, SymmetricTimes* symmetric,
                     LinkSharing& sharing, LoneCollectives* lone,
                     NetworkBackend& network, EventQueue& timers);

  TimePs now() const override { return network_.now(); }

  // Errors, also below: those of CollectiveLowering and CollectiveReplays;
  // ResourceExhausted for a collective that would take kMaxCollectiveTime.
  absl::Status Join(uint32_t member, const Call& call) override;

  absl::Status OnTimer(const Event& event) override;

  // Flows are taken by communicator and flow: what follows must not depend on
  // what came long before.
  absl::StatusOr<bool> AdvanceTo(TimePs limit) override;

  std::vector<Ended> TakeEnded() override;

  bool has_any_under_way() override {
    return carrier_.num_under_way() > 0 || !due_.empty() ||
           (replays_ != nullptr && replays_->has_ends());
  }

  WorkDone work() const override;
  void Finish() override;
  void set_watch(const std::function<absl::Status()>& watch) override;

  std::string WhatIsMissing(CommunicatorId communicator) const override;
  std::string WhyStuck() const override { return network_.WhyStuck(); }
  TimePs last_give_up() const override { return network_.last_give_up(); }

  std::vector<CollectiveRecord> TakeRecords() override {
    return std::move(records_);
  }
  bool HasEnded(size_t record) const override { return has_ended_[record]; }

 private:
  struct Run {
    Call call;
    std::vector<uint32_t> joined;  // Members.
    uint32_t num_ended = 0;
    size_t record = 0;
    TimePs hidden;  // Part of a closed form that SimAI's overlap ratio hides.
    // Of flow graphs.
    bool has_messages = false;
    CollectiveMessages messages;
    std::unique_ptr<FlowRun> flows;            // None for replays.
    const CollectiveRegion* region = nullptr;  // None without replays.
    // The rank that was first, until a second starts and flows can leave.
    std::optional<GroupRank> first_start;
    ClaimId claim = kNoClaim;
    bool is_live = false;          // Is simulated, not replayed.
    std::vector<bool> has_result;  // By rank, of replays.
    size_t num_replayed_ends = 0;
    bool is_told = false;  // The log knows of all its messages.
  };
  // What a member does on one of its lanes: the call that it has joined.
  struct Lane {
    uint32_t number = 0;
    TimePs joined;
  };

  const Communicator& communicator(CommunicatorId id) const {
    return communicators_.list[id.index()];
  }
  Run& RunOf(CommunicatorId communicator, uint32_t number);
  uint32_t LaneIndex(uint32_t member, CommunicatorId communicator) const;
  uint32_t MemberOf(uint32_t lane) const;
  Run& RunOfLane(uint32_t lane);
  GroupRank RankOf(uint32_t member, const Run& run) const;
  absl::Status Open(const Call& call, Run& run);
  CollectiveRecord NewRecord(const Call& call, const Run& run) const;
  absl::Status StartClosedForm(Run& run);
  absl::StatusOr<TimePs> TimeOf(const Call& call,
                                const TimedCollective& timed) const;
  void EndTransfer(Run& run);
  void EndAll(Run& run);
  absl::Status OpenMessages(Run& run);
  absl::Status StartKernel(uint32_t member, Run& run);
  absl::StatusOr<bool> StartReplay(GroupRank rank, Run& run);
  absl::Status GoLive(Run& run);
  absl::Status EndClaims();
  absl::Status EndClaim(ClaimId claim);
  CarriedFlow IdOf(const Run& run) const {
    return {run.call.communicator.index(), run.call.number, FlowId()};
  }
  absl::Status TakeDueEnds();
  absl::Status TakeEnd(const ReplayedEnd& end);
  void TakeBatch();
  void OnFlow(const CarriedFlow& done);
  TimePs ResultTime(uint32_t member, const Run& run) const;
  void Finish(GroupRank rank, Run& run);
  void End(uint32_t member, Run& run);
  void Record(uint32_t member, const Run& run, TimePs result);
  void Log(const FlowRecord& message, absl::Span<const LinkId> path);
  void LogReplay(const ReplayedEnd& end, Run& run);
  void SettleLog();
  std::string MissingFlows(CommunicatorId communicator, const Run& run) const;

  const SimulationOptions& options_;
  const CollectiveCosts& costs_;
  const Communicators& communicators_;
  CollectiveLowering& lowering_;
  SymmetricTimes* symmetric_;
  LinkSharing& sharing_;
  ClosedFormRuns closed_forms_;
  EventQueue& timers_;
  NetworkBackend& network_;
  FlowCarrier carrier_;
  std::unique_ptr<CollectiveReplays> replays_;  // None without replays.

  std::vector<std::deque<Run>> runs_;  // By communicator, by number.
  std::vector<uint32_t> first_run_;    // The number of the first of each.
  std::vector<Lane> lanes_;
  std::vector<Ended> ended_;
  std::vector<CollectiveRecord> records_;
  std::vector<bool> has_ended_;  // By record.
  // Ends of replays of this instant that ranks have not seen yet, in order, and
  // the batch (see RankEnd) of flows or ends that they saw last, and when.
  std::deque<ReplayedEnd> due_;
  uint32_t batch_ = 0;
  TimePs batch_time_ = TimePs(-1);
  std::vector<CarriedFlow> done_;    // Scratch.
  std::vector<FlowId> ready_;        // Scratch.
  std::vector<GroupRank> finished_;  // Scratch.
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_RUNNING_COLLECTIVES_H_
