// Runs the part of one rank in the collectives of its program, as messages to
// and from other ranks on the clock of the host.
//
// A flow leaves once the flows it waits for have arrived here, or have been
// handed to the kernel here, and the rank has joined. Its bytes are taken at
// the other end once the rank there has joined, too.

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
  // Waits until something has happened to the connections, or until the
  // instant. Errors end the run.
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

  // What other ranks have seen decides the records; see TakeTimes().
  std::vector<CollectiveRecord> TakeRecords() override { return {}; }
  bool HasEnded(size_t) const override { return false; }

  // Moves out the collectives of which the rank has its results.
  std::vector<MemberTimes> TakeTimes() { return std::move(times_); }

 private:
  struct Run {
    Call call;
    const PlannedCollective* planned = nullptr;
    std::unique_ptr<FlowRun> flows;
    TimePs joined;
    bool is_finished = false;
  };
  using DataEvent = DataConnections::Event;

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

  std::vector<std::optional<Run>> runs_;  // By communicator.
  size_t num_under_way_ = 0;
  // By communicator and number: messages of a collective that the rank has not
  // joined.
  std::map<std::pair<uint32_t, uint32_t>, std::vector<DataEvent>> early_;
  std::vector<Ended> ended_;
  std::vector<MemberTimes> times_;
  std::vector<FlowId> ready_;        // Scratch.
  std::vector<GroupRank> finished_;  // Scratch.
};

}  // namespace astra

#endif  // ASTRA_CORE_PHYSICAL_HOST_COLLECTIVES_H_
