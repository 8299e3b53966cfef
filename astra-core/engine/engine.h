// Runs one program on all ranks.

#ifndef ASTRA_CORE_ENGINE_ENGINE_H_
#define ASTRA_CORE_ENGINE_ENGINE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/event_queue.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/rank_program.h"
#include "astra-core/engine/result.h"
#include "astra-core/engine/running_collectives.h"
#include "astra-core/engine/simulation.h"
#include "network-frontends/network_backend.h"

namespace astra {

// How a rank went through one repetition of a section.
struct Repetition {
  TimePs duration;
  // Of all that happened to the rank and when, counted from the start of the
  // repetition, and of what it had not waited for at the end.
  uint64_t hash = 0;

  friend bool operator==(const Repetition&, const Repetition&) = default;
};

class Engine {
 public:
  // All must outlive the engine. `network` stands at time 0.
  Engine(const RankProgram& program, absl::Span<const std::string> layer_names,
         const SimulationOptions& options, const CollectiveCosts& costs,
         const Communicators& communicators, CollectiveLowering& lowering,
         NetworkBackend& network);

  // Errors: those of Simulate().
  absl::Status Run();

  // After Run().
  size_t num_ranks() const { return actors_.size(); }  // That were run.
  absl::Span<const Repetition> repetitions(size_t rank) const {
    return actors_[rank].repetitions;
  }

  // After Run(): all but the names, the pipeline and the bytes of links.
  // Collectives that ended in repetition `stand_in` of the lowest of their
  // ranks count `num_skipped` times more, and what comes later comes so many
  // durations of that repetition later.
  //
  // Errors: Aborted or ResourceExhausted if that takes too long.
  absl::StatusOr<SimulationResult> TakeResult(size_t stand_in,
                                              int64_t num_skipped);

  // After a Run() that ended with an error: what there is, as Simulate() says.
  SimulationResult TakePartialResult();

 private:
  // What a rank has called on one communicator and has no result of yet: the
  // first call is joined, the others wait for their turn.
  struct Lane {
    uint32_t num_calls = 0;
    std::deque<Call> calls;
    TimePs joined;  // The first of `calls`.
  };

  // What a rank waits for.
  struct Awaited {
    std::optional<size_t> dimension;  // None: all.
    size_t outstanding = 0;           // Calls that may be left.
  };

  // A rank, which stands for those of its class.
  struct Actor {
    enum class State : uint8_t { kRunning, kWaiting, kDone };

    State state = State::kRunning;
    OpStream program;
    std::array<Lane, kNumParallelDimensions> lanes;
    Awaited awaited;
    TimePs wait_began;
    TimePs finish;
    int64_t repeats = 1;  // How many times what happens now counts.
    TimePs repetition_began;
    uint64_t hash = 0;  // Of the present repetition.
    std::vector<Repetition> repetitions;
    std::vector<std::array<PhaseResult, kNumPhases>> layers;
    std::array<TimePs, kNumParallelDimensions> exposed{};
  };

  absl::Status Step();
  absl::Status Resume(uint32_t id);
  absl::Status CallCollective(uint32_t id, const Op& op);
  absl::Status JoinNext(uint32_t id, Lane& lane);
  absl::Status EndCall(const Ended& ended);
  void Account(Actor& actor, const Call& call, const Ended& ended);
  void Wait(Actor& actor, const Awaited& awaited);
  static bool IsOver(const Actor& actor, const Awaited& awaited);
  void EndRepetition(Actor& actor);
  void MixTime(Actor& actor) const;
  // The results of `reported`, and those of all ranks.
  SimulationResult ResultOf(Actor& reported);
  void TakeRecords(size_t stand_in, int64_t num_skipped, TimePs skipped,
                   SimulationResult& result);
  double ShareDone() const;
  absl::Status Silence() const;
  std::string WhoWaits(uint32_t id, const Lane& lane) const;

  const absl::Span<const std::string> layer_names_;
  const SimulationOptions& options_;
  const Communicators& communicators_;
  NetworkBackend& network_;
  const int64_t num_ops_;  // Of all ranks.
  EventQueue timers_;
  RunningCollectives collectives_;

  std::vector<Actor> actors_;  // By class of ranks.
  size_t num_done_ = 0;
  int64_t num_ops_begun_ = 0;
  int64_t num_events_ = 0;
  // By record: in which repetition of the lowest of its ranks it ended.
  std::vector<size_t> ended_in_;
  TimePs last_event_;  // When something happened.
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_ENGINE_H_
