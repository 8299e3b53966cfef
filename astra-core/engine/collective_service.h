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
#include "astra-core/base/run_progress.h"
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
  CommunicatorId communicator;  // Unused by delays.
  LaneId lane;                  // Lane of the member.
  uint32_t number = 0;          // Counts the calls of the communicator, from 0.
  LayerId layer;
  Phase phase = Phase::kForward;
  Communication communication{};
  TimePs update;  // Passes before a member has its result.
  TimePs issued;  // When the member's program came to it.
  int32_t chunk = -1;
  int32_t micro_batch = -1;
  absl::Span<const LaneProgress> after{};      // See Op::after.
  std::optional<TimePs> delay = std::nullopt;  // Length of a delay.
};

// A member has the result of the call it had joined on this communicator.
struct Ended {
  uint32_t member = 0;
  CommunicatorId communicator;
  size_t record = 0;  // Index into TakeRecords().
  TimePs network;     // From the last member's joining to this one's result.
  TimePs start;       // Instant at which the last member joined.
  uint32_t last_member = 0;  // Index of the member that joined last.
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

  // Handles every timer event of a kind that the engine does not handle
  // itself.
  virtual absl::Status OnTimer(const Event& event) = 0;

  // Goes on to the first instant at which something has happened after which a
  // member may have ended, but not beyond `limit`; returns whether there is
  // one. If there is none, now() is `limit`, or earlier if others that share
  // the network have to go on first. On real hosts it may be later.
  virtual absl::StatusOr<bool> AdvanceTo(TimePs limit) = 0;

  // Moves out the members that have had their results since the last call.
  virtual std::vector<Ended> TakeEnded() = 0;

  // Returns what the networks of the service have done so far. Closed forms are
  // events of the engine, so a service that has only these returns zeros.
  virtual WorkDone work() const { return {}; }

  // Returns true while messages or closed forms are under way.
  virtual bool has_any_under_way() = 0;

  // Lets what nobody waits for come to its end. The engine calls this once all
  // collectives have ended.
  virtual void Finish() {}

  // Has `watch` called many times a second while another call takes long. That
  // call ends with the error that `watch` returns.
  virtual void set_watch(const std::function<absl::Status()>& /*watch*/) {}

  // Returns what the running collective of `communicator` still lacks, as a
  // part of an error message.
  virtual std::string WhatIsMissing(CommunicatorId communicator) const = 0;

  // Explains why nothing happens any more. Returns "" if the service cannot
  // tell.
  virtual std::string WhyStuck() const { return {}; }

  // Returns when a sender last gave a message up; 0 if none has.
  virtual TimePs last_give_up() const { return {}; }

  // Moves out all collectives, ordered by the time at which their first member
  // joined.
  virtual std::vector<CollectiveRecord> TakeRecords() = 0;

  // Returns true once every member has its result. `record` is an index into
  // TakeRecords().
  virtual bool HasEnded(size_t record) const = 0;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_COLLECTIVE_SERVICE_H_
