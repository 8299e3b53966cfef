// Runs a program on one rank of each class, as a simulation of events.

#ifndef ASTRA_CORE_ENGINE_ENGINE_H_
#define ASTRA_CORE_ENGINE_ENGINE_H_

#include <array>
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
#include "astra-core/base/wall_pace.h"
#include "astra-core/engine/collective_service.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/rank_program.h"
#include "astra-core/engine/result.h"
#include "astra-core/engine/simulation_options.h"
#include "astra-core/engine/time_slice.h"
#include "astra-core/engine/timeline.h"

namespace astra {

// How a rank went through one repetition of a section.
struct Repetition {
  TimePs duration;
  // Hash of all that happened to the rank, with times counted from the start of
  // the repetition, and of the calls still under way at its end.
  uint64_t hash = 0;
  // How late collectives are, which is compared where hashes need not be equal:
  // the longest time from a call to its end, of calls that ended here; and how
  // long, when the repetition ends, the oldest call of an earlier one has been
  // under way.
  TimePs longest_call;
  TimePs oldest_call;

  // Calls of repetitions before two equal ones may differ.
  friend bool operator==(const Repetition& a, const Repetition& b) {
    return a.duration == b.duration && a.hash == b.hash;
  }
};

// The repetitions that stand in for skipped ones, and so count more often than
// they were run.
struct StandIn {
  std::vector<size_t> last;  // By stage: index of the last one.
  size_t count = 1;          // Number of successive repetitions.
  int64_t times = 0;         // Extra times that each counts.
};

class Engine {
 public:
  // All arguments must outlive the engine. `collectives` is at time 0, puts its
  // own events into `timers`, and has the ranks of `communicators` as members.
  Engine(const RankProgram& program, absl::Span<const std::string> layer_names,
         const SimulationOptions& options, const Communicators& communicators,
         EventQueue& timers, CollectiveService& collectives);

  // Runs until all ranks are done, which returns true, or until the network
  // waits for others that share it. Then the call has to be repeated.
  //
  // Errors: those of Simulate().
  absl::StatusOr<bool> Run();

  // These require that Run() has returned true.
  size_t num_ranks() const { return actors_.size(); }  // Ranks that were run.
  uint32_t stage(size_t rank) const { return actors_[rank].stage; }
  absl::Span<const Repetition> repetitions(size_t rank) const {
    return actors_[rank].repetitions;
  }

  // Requires the same. Returns the result without layer names, pipeline and
  // bytes of links. A collective counts stand_in.times more often if its lowest
  // rank ended it in a repetition that stands in. What comes after those
  // repetitions is later by the time that was left out.
  //
  // Errors: Aborted or ResourceExhausted if the iteration takes too long.
  absl::StatusOr<SimulationResult> TakeResult(const StandIn& stand_in);

  // Returns whether the time to stop at was reached: the error of Run() or
  // TakeResult() says so.
  bool has_stopped() const { return has_stopped_; }

  // Requires a Run() that ended with an error. Returns what happened until
  // then; see Simulate().
  SimulationResult TakePartialResult();

 private:
  static constexpr uint64_t kHashBasis = 0xcbf29ce484222325;

  // The calls of a rank on one communicator that have not returned a result.
  // The rank has joined the first call; the others wait for their turn.
  struct Lane {
    uint32_t num_calls = 0;
    std::deque<Call> calls;
    TimePs joined;  // When the rank joined the first of `calls`.
    uint32_t cause = CallSpan::kNone;  // Of that; see CallSpan.
  };

  // The condition that ends a rank's wait.
  struct Awaited {
    std::optional<LaneId> lane;  // None: every lane, without calls left.
    size_t outstanding = 0;      // Calls of `lane` that may be left.
    size_t ended = 0;  // If not 0: calls of `lane` that must have ended.
  };

  // A computation that is under way.
  struct Computation {
    Op op;
    TimePs began;
    TimePs work;  // Duration at full speed.
    TimePs left;  // Part of `work` that was left at `since`.
    TimePs since;
    TimePs ends;
    double speed = 1;  // Of the present.
  };

  // Identifies an Exposure of a rank.
  using ExposureKey =
      std::tuple<LayerId, Phase, ParallelDimension, CollectiveKind>;

  // A rank that is run and stands for all ranks of its class.
  struct Actor {
    enum class State : uint8_t { kRunning, kWaiting, kDone };

    State state = State::kRunning;
    uint32_t stage = 0;
    int64_t num_ranks = 0;  // Of the class.
    OpStream program;
    std::vector<Lane> lanes;
    Awaited awaited;
    std::optional<Computation> computation;
    double speed = 1;  // Of its own, without what collectives take; 0: dead.
    uint64_t num_computations = 0;
    TimePs wait_began;
    TimePs finish;
    int64_t repeats = 1;  // How many times the present operation counts.
    TimePs repetition_began;
    uint64_t hash = kHashBasis;  // Hash of the present repetition.
    TimePs longest_call;         // Of the same; see Repetition.
    std::vector<Repetition> repetitions;
    std::vector<std::array<PhaseResult, kNumPhases>> layers;
    std::array<TimePs, kNumParallelDimensions> exposed{};
    std::array<TimePs, kNumParallelDimensions> late{};
    std::map<ExposureKey, Exposure> exposures;
    TimePs slowed;
    TimePs kept_waiting;          // See RankResult.
    TimePs held;                  // See RankResult.
    std::vector<LaneId> blocked;  // Lanes whose next call may not start yet.
    RankTimeline timeline;
  };

  absl::Status Begin();
  absl::Status Step();
  absl::Status Resume(uint32_t id);
  void Compute(uint32_t id, const Op& op);
  TimePs WorkOf(uint32_t id, const Op& op) const;
  void ChangeSpeed(uint32_t id);
  void SetTimer(uint32_t id);
  void EndComputation(uint32_t id);
  absl::Status CallCollective(uint32_t id, const Op& op);
  void StartDelay(uint32_t id, const Op& op);
  absl::Status TryNext(uint32_t id, LaneId lane);
  absl::Status JoinNext(uint32_t id, LaneId lane, uint32_t cause);
  absl::Status TryBlocked(uint32_t id, uint32_t cause);
  static bool IsBlocked(const Actor& actor, LaneId lane);
  absl::Status EndDelay(uint32_t index);
  absl::Status EndCall(const Ended& ended);
  CallSpan SpanOf(const Communicator& communicator, const Call& call,
                  const Lane& lane, const Ended& ended) const;
  uint32_t RecordCall(Actor& actor, const CallSpan& span) const;
  void RecordWait(Actor& actor, const CallSpan& span, uint32_t number) const;
  void Account(Actor& actor, const Call& call, const Ended& ended);
  static void Expose(Actor& actor, const Call& call, TimePs waited,
                     TimePs late);
  void Wait(Actor& actor, const Awaited& awaited);
  static bool WaitsFor(const Actor& actor, LaneId lane);
  static bool IsOver(const Actor& actor, const Awaited& awaited);
  void EndRepetition(Actor& actor);
  void MixTime(Actor& actor) const;
  // Returns the results of all ranks, with the layers of `reported`.
  SimulationResult ResultOf(Actor& reported);
  void TakeRecords(const StandIn& stand_in, TimePs skipped,
                   SimulationResult& result);
  void TakeTimeline(const StandIn& stand_in, SimulationResult& result);
  double SpeedOf(const Actor& actor) const;
  void TakeSpeedChange(uint32_t index);
  std::string DescribeDead() const;
  bool RecordsTimeline() const {
    return options_.record_timeline && num_ops_ <= options_.max_timeline_ops;
  }
  bool IsWork(uint32_t id, const Op& op) const;
  int64_t CountWork(const RankProgram& program, uint32_t id) const;
  double ShareDone() const;
  absl::Status ReportProgress();
  absl::Status Silence();
  std::string WhatIsAwaited(const Lane& lane) const;

  const absl::Span<const std::string> layer_names_;
  const SimulationOptions& options_;
  const Communicators& communicators_;
  const double slowdown_;
  int64_t num_ops_ = 0;   // Computations, calls and delays that are run.
  int64_t all_work_ = 0;  // The same of all ranks that they stand for.
  EventQueue& timers_;
  CollectiveService& collectives_;

  std::vector<Actor> actors_;  // By class of ranks.
  bool has_begun_ = false;
  // How far the network is to go on, while it waits for others.
  std::optional<TimePs> paused_until_;
  size_t num_done_ = 0;
  int64_t work_done_ = 0;  // The part of all_work_ that has ended.
  bool has_stopped_ = false;
  int64_t num_events_ = 0;
  // By record: index of the actor of the collective's lowest rank, and the
  // repetition of this actor in which the collective ended.
  struct EndedIn {
    uint32_t id = 0;
    size_t repetition = 0;
  };
  std::vector<EndedIn> ended_in_;
  TimePs last_event_;  // When the last event happened.

  // How far the network is simulated before progress is reported if no message
  // arrives earlier.
  TimeSlice slice_;
  WallPace pace_;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_ENGINE_H_
