// What a rank does: operations, one after another, produced as they are needed.

#ifndef ASTRA_CORE_ENGINE_RANK_PROGRAM_H_
#define ASTRA_CORE_ENGINE_RANK_PROGRAM_H_

#include <cstdint>
#include <functional>

#include "astra-core/base/ids.h"
#include "astra-core/base/parallel_dimension.h"
#include "astra-core/base/units.h"
#include "workload/phase.h"

namespace astra {

enum class OpKind : uint8_t {
  kCompute,     // Takes `compute`.
  kBlocking,    // Starts `communication` and waits for it.
  kLaunch,      // Starts `communication` and goes on.
  kWait,        // Waits until `outstanding` calls on its lane are left, or, if
                // `ended` is not 0, until so many of all have ended.
  kWaitAll,     // Waits for all that was started.
  kRepetition,  // Ends a repetition of a section; takes no time.
  kFinish,      // The last one, with nothing left to wait for.
};

// The communication streams of a rank. On each, calls run one after another:
// there is one for each dimension, and behind these, for each model chunk, one
// for each sort of message between stages.
using LaneId = Id<struct LaneTag>;
constexpr LaneId LaneOf(ParallelDimension dimension) {
  return LaneId(static_cast<uint32_t>(IndexOf(dimension)));
}

// What lies before and behind a chunk: what it sends on and what it receives.
enum class StageMessage : uint8_t {
  kSendActivation,
  kReceiveActivation,
  kSendGradient,
  kReceiveGradient,
};
constexpr uint32_t kNumStageMessages = 4;
constexpr LaneId LaneOf(StageMessage message, uint32_t chunk) {
  return LaneId(static_cast<uint32_t>(kNumParallelDimensions) +
                chunk * kNumStageMessages + static_cast<uint32_t>(message));
}

struct Op {
  OpKind kind = OpKind::kFinish;
  Phase phase = Phase::kForward;
  LayerId layer{};
  LaneId lane{};  // Of what communicates.
  TimePs compute{};
  Communication communication{};  // Of 0 bytes: none.
  TimePs update{};  // Passes before a rank has the collective's result.
  uint32_t outstanding = 0;  // Of kWait.
  uint32_t ended = 0;        // The same.
  int64_t repeats = 1;       // What happens here counts this many times.
  int32_t chunk = -1;        // Of the stage; -1: no micro-batch.
  int32_t micro_batch = -1;

  friend bool operator==(const Op&, const Op&) = default;
};

// Returns the next operation; kFinish for ever once all others were returned.
using OpStream = std::function<Op()>;

class RankProgram {
 public:
  virtual ~RankProgram() = default;

  // Ranks are dealt to them in order, as many to each.
  virtual uint32_t num_stages() const { return 1; }

  // How many lanes a rank has.
  virtual uint32_t num_lanes() const {
    return static_cast<uint32_t>(kNumParallelDimensions);
  }

  // The operations of `stage` from the first one on. The program must outlive
  // the stream.
  virtual OpStream Begin(uint32_t stage) const = 0;

  // How many of them compute or start a collective.
  virtual int64_t num_ops(uint32_t stage) const = 0;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_RANK_PROGRAM_H_
