// Runs one rank's part of the collectives of its program: sends and receives
// messages between hosts, on the clock of its own host.
//
// A flow leaves this rank once the rank has joined the collective, the incoming
// flows that it depends on have arrived, and the network has taken the outgoing
// ones. The rank at the other end takes its bytes once it has joined as well.

#ifndef ASTRA_CORE_PHYSICAL_HOST_COLLECTIVES_H_
#define ASTRA_CORE_PHYSICAL_HOST_COLLECTIVES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/event_queue.h"
#include "astra-core/engine/collective_service.h"
#include "astra-core/engine/flow_run.h"
#include "astra-core/hosts/poller.h"
#include "astra-core/physical/control_message.h"
#include "astra-core/physical/data_connections.h"
#include "astra-core/physical/rank_plan.h"

namespace astra {

class HostCollectives final : public CollectiveService {
 public:
  // Waits for an event of the connections, or until the instant. An error ends
  // the run.
  using Wait = std::function<absl::Status(Instant)>;

  // `begin` is the time 0 of iteration number `iteration`. All must outlive the
  // object.
  HostCollectives(const RankPlan& plan, DataConnections& connections,
                  EventQueue& timers, uint32_t iteration, Instant begin,
                  Wait wait);

  TimePs now() const override { return now_; }
  absl::Status Join(uint32_t member, const Call& call) override;
  absl::Status OnTimer(const Event& event) override;

  // Errors: those of Wait; Unavailable, which names the rank, if a connection
  // has ended; Internal if another rank sends what the program does not have.
  absl::StatusOr<bool> AdvanceTo(TimePs limit) override;
  std::vector<Ended> TakeEnded() override { return std::exchange(ended_, {}); }
  bool has_any_under_way() override { return num_under_way_ > 0; }
  std::string WhatIsMissing(CommunicatorId communicator) const override;

  // Records need the times of all ranks; see TakeTimes() and ResultOf().
  std::vector<CollectiveRecord> TakeRecords() override { return {}; }
  bool HasEnded(size_t) const override { return false; }

  // Moves out the collectives whose results the rank has.
  std::vector<MemberTimes> TakeTimes() { return std::move(times_); }

 private:
  // A collective that the rank has joined and whose result it does not have.
  struct Run {
    Call call;
    const PlannedCollective* planned = nullptr;
    std::unique_ptr<FlowRun> flows;  // Which flows have arrived or were sent.
    TimePs joined;                   // When the rank joined.
    bool is_finished = false;        // All flows of the rank have ended.
  };

  void Tick();
  absl::Status TakeEvents();
  absl::Status Handle(const DataEvent& event);
  absl::Status Announce(const DataEvent& event);
  absl::Status CheckFrame(const DataEvent& event, const Run& run) const;
  absl::Status OnFlow(const DataFrame& frame);
  void SendOwn(const Run& run);
  void Complete(Run& run);
  void End(Run& run);

  const RankPlan& plan_;
  DataConnections& connections_;
  EventQueue& timers_;
  const uint32_t iteration_;
  const Instant begin_;
  const Wait wait_;
  TimePs now_;

  std::vector<std::optional<Run>> runs_;  // Running collective by communicator.
  size_t num_under_way_ = 0;              // Number of running collectives.
  // Announced messages of collectives that the rank has not joined, by
  // communicator and number of the collective.
  std::map<std::pair<uint32_t, uint32_t>, std::vector<DataEvent>> early_;
  std::vector<Ended> ended_;
  std::vector<MemberTimes> times_;
  std::vector<FlowId> ready_;        // Scratch.
  std::vector<GroupRank> finished_;  // Scratch.
};

}  // namespace astra

#endif  // ASTRA_CORE_PHYSICAL_HOST_COLLECTIVES_H_
