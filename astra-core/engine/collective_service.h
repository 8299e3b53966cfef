// What the engine asks of whatever runs collectives: messages or closed forms
// on a simulated network, or sockets between real hosts.
//
// Members join collectives, and have their results some time later. The service
// keeps the time: the engine advances it, and nothing calls the engine back.

#ifndef ASTRA_CORE_ENGINE_COLLECTIVE_SERVICE_H_
#define ASTRA_CORE_ENGINE_COLLECTIVE_SERVICE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/event_queue.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/rank_program.h"
#include "astra-core/engine/result.h"
#include "workload/phase.h"

namespace astra {

// What may be pending in the queue of a simulation. At one instant computations
// end first. A lane is what one member does on one communicator.
enum EventKind : uint32_t {
  kComputeDone,     // Index: a rank class.
  kTransferDone,    // Index: a communicator whose closed form has passed.
  kCollectiveDone,  // Index: a communicator whose members have their results.
  kResultThere,     // Index: a lane of the service.
  kKernelStarted,   // Index: a lane of the service.
  kSpeedChanged,    // Index: into SimulationOptions::speed_changes.
  kDelayDone,       // Index: a lane of the engine.
};

// A collective, or a delay, that a member has come to in its program.
struct Call {
  CommunicatorId communicator;  // Of a collective.
  LaneId lane;                  // Of the member.
  uint32_t number = 0;          // Of this communicator, from 0.
  LayerId layer;
  Phase phase = Phase::kForward;
  Communication communication{};
  TimePs update;  // Passes before a member has its result.
  TimePs issued;  // When the member's program came to it.
  int32_t chunk = -1;
  int32_t micro_batch = -1;
  absl::Span<const LaneProgress> after{};      // See Op::after.
  std::optional<TimePs> delay = std::nullopt;  // Of a delay.
};

// A member has the result of the call it had joined on this communicator.
struct Ended {
  uint32_t member = 0;
  CommunicatorId communicator;
  size_t record = 0;  // Of TakeRecords().
  TimePs network;     // From the last member's joining to this one's result.
  TimePs start;       // When the last member had joined.
  uint32_t last_member = 0;  // That one.
};

// Collectives of one communicator are numbered in the order of the program, and
// a member joins one only after it has the result of the one before.
class CollectiveService {
 public:
  virtual ~CollectiveService() = default;

  // Returns the instant up to which all is done, from the start of the run.
  virtual TimePs now() const = 0;

  // Errors, also below: those of the service, which end the run.
  virtual absl::Status Join(uint32_t member, const Call& call) = 0;

  // For events of the engine's queue whose kinds are not of the engine.
  virtual absl::Status OnTimer(const Event& event) = 0;

  // Goes on to the first instant at which something has happened after which a
  // member may have ended, but not beyond `limit`; returns whether there is
  // one. If there is none, now() is `limit`, or earlier if others that share
  // the network have to go on first. On real hosts it may be later.
  virtual absl::StatusOr<bool> AdvanceTo(TimePs limit) = 0;

  // Moves out who has ended since the last time.
  virtual std::vector<Ended> TakeEnded() = 0;

  // Whether something is under way that may end a collective.
  virtual bool has_any_under_way() = 0;

  // All collectives have ended: lets what is left come to its end.
  virtual void Finish() {}

  // Has `watch` called many times a second while a call takes long, which ends
  // with the error that it returns.
  virtual void set_watch(std::function<absl::Status()> /*watch*/) {}

  // What the running collective of `communicator` still lacks; for messages.
  virtual std::string WhatIsMissing(CommunicatorId communicator) const = 0;

  // Explains why nothing happens any more; "" if the service cannot tell.
  virtual std::string WhyStuck() const { return {}; }

  // Moves out the collectives that members of this service have joined, in
  // order of joining.
  virtual std::vector<CollectiveRecord> TakeRecords() = 0;

  // Whether the collective has ended, by position in TakeRecords().
  virtual bool HasEnded(size_t record) const = 0;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_COLLECTIVE_SERVICE_H_
