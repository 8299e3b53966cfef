// Runs the closed forms of collectives that share links.
//
// Usage:
//   runs.Start(communicator, use, alone, now);  // Pushes kTransferDone.
//   runs.End(communicator);                     // When that event comes.
//
// A collective takes as long as it takes alone, unless others run beside it on
// one of its ranks and need the same links. It then goes on at the speed that
// LinkSharing finds for the slowest of its ranks, and its event is moved.

#ifndef ASTRA_CORE_ENGINE_CLOSED_FORM_RUNS_H_
#define ASTRA_CORE_ENGINE_CLOSED_FORM_RUNS_H_

#include <cstdint>
#include <vector>

#include "astra-core/base/event_queue.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/link_sharing.h"

namespace astra {

class ClosedFormRuns {
 public:
  // All must outlive the object. It pushes events of `kind` to `timers`, whose
  // index is that of the communicator.
  ClosedFormRuns(const Communicators& communicators, LinkSharing& sharing,
                 EventQueue& timers, uint32_t kind);

  // Starts the only collective of `communicator` that is under way; it takes
  // `alone` if no other slows it down.
  void Start(CommunicatorId communicator, const LinkUse& use, TimePs alone,
             TimePs now);

  // Ends the collective of `communicator`, whose event has been taken.
  void End(CommunicatorId communicator, TimePs now);

 private:
  struct Form {
    LinkUse use;
    TimePs left;   // At full speed, at `since`.
    TimePs since;  // When `left` was true.
    TimePs ends;   // Time of its event.
    double speed = 1;
  };
  // Keeps the collectives that run on the ranks of one class, and their speeds.
  struct Member {
    std::vector<CommunicatorId> running;
    std::vector<double>
        speeds;  // By `running`: what this member's links allow.
  };

  const std::vector<uint32_t>& MembersOf(CommunicatorId communicator) const {
    return communicators_.list[communicator.index()].members;
  }
  // Finds the speeds anew of all collectives that run beside `communicator`.
  void Share(CommunicatorId communicator, TimePs now);
  double SpeedOf(CommunicatorId communicator) const;
  void ChangeSpeed(CommunicatorId communicator, TimePs now);
  void SetTimer(CommunicatorId communicator, TimePs now);

  const Communicators& communicators_;
  LinkSharing& sharing_;
  EventQueue& timers_;
  const uint32_t kind_;
  std::vector<Form> forms_;              // By communicator.
  std::vector<Member> members_;          // By class of ranks.
  std::vector<LinkUse> uses_;            // Scratch of Share().
  std::vector<CommunicatorId> changed_;  // Scratch of Share().
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_CLOSED_FORM_RUNS_H_
