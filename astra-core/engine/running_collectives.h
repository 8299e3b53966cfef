// The collectives that are under way, of all communicators.
//
// Members join; collectives take their time, as a closed form or as messages;
// members have their results. Collectives of one communicator are numbered in
// the order of the program, and a member joins one only after it has the result
// of the one before.

#ifndef ASTRA_CORE_ENGINE_RUNNING_COLLECTIVES_H_
#define ASTRA_CORE_ENGINE_RUNNING_COLLECTIVES_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/event_queue.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/flow_run.h"
#include "astra-core/engine/result.h"
#include "network-frontends/network_backend.h"
#include "workload/workload.h"

namespace astra {

// How collectives turn into time.
enum class Lowering : uint8_t {
  kClosedForm,  // A collective is one delay; one rank of each class is run.
  kFlowGraph,   // A collective is messages on the network; every rank is run.
};

// What may be pending in the queue of a simulation. At one instant computations
// end first.
enum EventKind : uint32_t {
  kComputeDone,     // Index: a rank class.
  kCollectiveDone,  // Index: a communicator.
  kUpdateDone,      // Index: a slot of RunningCollectives.
};

// A collective that a member has come to in its program.
struct Call {
  CommunicatorId communicator;
  uint32_t number = 0;  // Of this communicator, from 0.
  LayerId layer;
  Phase phase = Phase::kForward;
  Communication communication{};
  TimePs update;  // Passes before a member has its result.
};

// A member has the result of the call it had joined on this communicator.
struct Ended {
  uint32_t member = 0;
  CommunicatorId communicator;
  size_t record = 0;  // Of TakeRecords().
  TimePs network;     // From the last member's joining to this one's result.
};

class RunningCollectives {
 public:
  // `overlap`, by dimension, is the share of a closed form that costs its
  // members nothing. All but `lowering` and `overlap` must outlive the object.
  RunningCollectives(const CollectiveCosts& costs,
                     const Communicators& communicators, Lowering lowering,
                     const std::array<double, kNumParallelDimensions>& overlap,
                     NetworkBackend& network, EventQueue& timers);

  // Errors: those of the algorithm, such as ResourceExhausted, which is also
  // that of a collective that would take kMaxCollectiveTime.
  absl::Status Join(uint32_t member, const Call& call);

  // For events of the kinds kCollectiveDone and kUpdateDone.
  void OnTimer(const Event& event);

  // For the messages that arrive at one instant. They are taken by communicator
  // and flow: ids are used again and again, and what follows must not depend on
  // what came long before.
  void OnArrivals(absl::Span<const MessageId> messages);

  // Moves out who has ended since the last time.
  std::vector<Ended> TakeEnded();

  size_t num_messages_in_flight() const {
    return in_flight_.size() - free_messages_.size();
  }

  // What the running collective of `communicator` still lacks; for messages.
  std::string WhatIsMissing(CommunicatorId communicator) const;

  // In order of joining.
  std::vector<CollectiveRecord> TakeRecords() { return std::move(records_); }

 private:
  struct Run {
    Call call;
    std::vector<uint32_t> joined;  // Members.
    uint32_t num_ended = 0;
    size_t record = 0;
    std::unique_ptr<FlowRun> flows;  // None for closed forms.
  };
  struct InFlight {
    CommunicatorId communicator;
    uint32_t number = 0;
    FlowId flow;

    friend auto operator<=>(const InFlight&, const InFlight&) = default;
  };

  const Communicator& communicator(CommunicatorId id) const {
    return communicators_.list[id.index()];
  }
  Run& RunOf(CommunicatorId communicator, uint32_t number);
  absl::Status Open(const Call& call, Run& run);
  CollectiveRecord NewRecord(const Call& call) const;
  absl::StatusOr<std::shared_ptr<const FlowGraph>> GraphFor(const Call& call);
  absl::Status StartClosedForm(Run& run);
  void OnArrival(MessageId message);
  void SendReady(const Run& run);
  void Finish(GroupRank rank, Run& run);
  void EndByTimer(GroupRank rank, const Run& run);
  void End(uint32_t member, Run& run);

  const CollectiveCosts& costs_;
  const Communicators& communicators_;
  Lowering lowering_;
  std::array<double, kNumParallelDimensions> overlap_;
  NetworkBackend& network_;
  EventQueue& timers_;

  std::vector<std::deque<Run>> runs_;  // By communicator, by number.
  std::vector<uint32_t> first_run_;    // The number of the first of each.
  std::vector<InFlight> in_flight_;    // By message.
  std::vector<uint32_t> free_messages_;
  std::vector<Call> updates_;  // By slot; of member update_members_.
  std::vector<uint32_t> update_members_;
  // Shared by groups of one layout, and kept only while one of them runs.
  std::map<std::tuple<CollectiveKind, Bytes, const GroupLayout*>,
           std::weak_ptr<const FlowGraph>>
      graphs_;
  std::vector<Ended> ended_;
  std::vector<CollectiveRecord> records_;
  std::vector<MessageId> arrived_;   // Scratch.
  std::vector<FlowId> ready_;        // Scratch.
  std::vector<GroupRank> finished_;  // Scratch.
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_RUNNING_COLLECTIVES_H_
