// Runs a program on all ranks.

#ifndef ASTRA_CORE_ENGINE_ENGINE_H_
#define ASTRA_CORE_ENGINE_ENGINE_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/event_queue.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/rank_program.h"
#include "astra-core/engine/result.h"
#include "astra-core/engine/running_collectives.h"
#include "astra-core/engine/simulation_options.h"
#include "astra-core/engine/timeline.h"
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

// Repetitions that count more often than they were run.
struct StandIn {
  std::vector<size_t> last;  // By stage: the last of them.
  size_t count = 1;          // How many there are.
  int64_t times = 0;         // How much more often each counts.
};

class Engine {
 public:
  // All must outlive the engine. `network` stands at time 0. `symmetric` may be
  // null; see RunningCollectives.
  Engine(const RankProgram& program, absl::Span<const std::string> layer_names,
         const SimulationOptions& options, const CollectiveCosts& costs,
         const Communicators& communicators, CollectiveLowering& lowering,
         SymmetricTimes* symmetric, LinkSharing& sharing,
         NetworkBackend& network);

  // Errors: those of Simulate().
  absl::Status Run();

  // After Run().
  size_t num_ranks() const { return actors_.size(); }  // That were run.
  uint32_t stage(size_t rank) const { return actors_[rank].stage; }
  absl::Span<const Repetition> repetitions(size_t rank) const {
    return actors_[rank].repetitions;
  }

  // After Run(): all but the names, the pipeline and the bytes of links.
  // Collectives that ended in the repetitions that stand in, as their lowest
  // rank has them, count so much more often, and what comes later comes later
  // by all that was left out.
  //
  // Errors: Aborted or ResourceExhausted if that takes too long.
  absl::StatusOr<SimulationResult> TakeResult(const StandIn& stand_in);

  // After a Run() that ended with an error: what there is, as Simulate() says.
  SimulationResult TakePartialResult();

 private:
  static constexpr uint64_t kHashBasis = 0xcbf29ce484222325;

  // What a rank has called on one communicator and has no result of yet: the
  // first call is joined, the others wait for their turn.
  struct Lane {
    uint32_t num_calls = 0;
    std::deque<Call> calls;
    TimePs joined;                    // The first of `calls`.
    uint32_t last = CallSpan::kNone;  // The call that ended last.
  };

  // What a rank waits for.
  struct Awaited {
    std::optional<LaneId> lane;  // None: all.
    size_t outstanding = 0;      // Calls that may be left.
    size_t ended = 0;  // If not 0, calls that must have ended instead.
  };

  // A computation that is under way.
  struct Computation {
    Op op;
    TimePs began;
    TimePs work;  // At full speed.
    TimePs left;  // Of it, at `since`.
    TimePs since;
    TimePs ends;
    bool is_slowed = false;
  };

  // What `Exposure`s are told apart by.
  using ExposureKey =
      std::tuple<LayerId, Phase, ParallelDimension, CollectiveKind>;

  // A rank, which stands for those of its class.
  struct Actor {
    enum class State : uint8_t { kRunning, kWaiting, kDone };

    State state = State::kRunning;
    bool is_in_op = false;  // Whether it waits for the end of an operation.
    uint32_t stage = 0;
    OpStream program;
    std::vector<Lane> lanes;
    Awaited awaited;
    std::optional<Computation> computation;
    uint64_t num_computations = 0;
    TimePs wait_began;
    TimePs finish;
    int64_t repeats = 1;  // How many times what happens now counts.
    TimePs repetition_began;
    uint64_t hash = kHashBasis;  // Of the present repetition.
    std::vector<Repetition> repetitions;
    std::vector<std::array<PhaseResult, kNumPhases>> layers;
    std::array<TimePs, kNumParallelDimensions> exposed{};
    std::array<TimePs, kNumParallelDimensions> late{};
    std::map<ExposureKey, Exposure> exposures;
    TimePs slowed;
    RankTimeline timeline;
  };

  absl::Status Step();
  absl::Status Resume(uint32_t id);
  void Compute(uint32_t id, const Op& op);
  TimePs WorkOf(uint32_t id, const Op& op) const;
  void ChangeSpeed(uint32_t id);
  void SetTimer(uint32_t id);
  void EndComputation(uint32_t id);
  absl::Status CallCollective(uint32_t id, const Op& op);
  absl::Status JoinNext(uint32_t id, Lane& lane);
  absl::Status EndCall(const Ended& ended);
  void RecordCall(Actor& actor, const Call& call, TimePs joined,
                  const Ended& ended) const;
  void Account(Actor& actor, const Call& call, const Ended& ended);
  static void Expose(Actor& actor, const Call& call, TimePs waited,
                     TimePs late);
  void Wait(Actor& actor, const Awaited& awaited);
  static bool IsOver(const Actor& actor, const Awaited& awaited);
  void EndRepetition(Actor& actor);
  void MixTime(Actor& actor) const;
  // The results of `reported`, and those of all ranks.
  SimulationResult ResultOf(Actor& reported);
  void TakeRecords(const StandIn& stand_in, TimePs skipped,
                   SimulationResult& result);
  void TakeTimeline(const StandIn& stand_in, SimulationResult& result);
  bool IsSlowed(const Actor& actor) const;
  bool RecordsTimeline() const {
    return options_.record_timeline && num_ops_ <= options_.max_timeline_ops;
  }
  double ShareDone() const;
  absl::Status ReportProgress();
  void AdaptSlice();
  absl::Status Silence() const;
  std::string WhatIsAwaited(const Lane& lane) const;

  const absl::Span<const std::string> layer_names_;
  const SimulationOptions& options_;
  const Communicators& communicators_;
  NetworkBackend& network_;
  const double slowdown_;
  int64_t num_ops_ = 0;  // Of all ranks.
  EventQueue timers_;
  RunningCollectives collectives_;

  std::vector<Actor> actors_;  // By class of ranks.
  size_t num_done_ = 0;
  int64_t num_ops_ended_ = 0;  // A launch ends as soon as it has begun.
  int64_t num_events_ = 0;
  // By record: the lowest of its ranks, and in which of its repetitions it
  // ended.
  struct EndedIn {
    uint32_t id = 0;
    size_t repetition = 0;
  };
  std::vector<EndedIn> ended_in_;
  TimePs last_event_;  // When something happened.

  // How far the network is simulated before progress is reported, should no
  // message arrive before. It follows the wall clock, and changes no result.
  TimePs slice_ = Microseconds(10);
  std::chrono::steady_clock::time_point slice_ended_;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_ENGINE_H_
