// The program of a rank: operations, one after another, produced as they are
// needed.

#ifndef ASTRA_CORE_ENGINE_RANK_PROGRAM_H_
#define ASTRA_CORE_ENGINE_RANK_PROGRAM_H_

#include <cstdint>
#include <functional>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/parallel_dimension.h"
#include "astra-core/base/units.h"
#include "workload/phase.h"

namespace astra {

enum class OpKind : uint8_t {
  kCompute,     // Takes `compute`.
  kBlocking,    // Starts `communication` and waits for it.
  kLaunch,      // Starts `communication` and goes on.
  kWait,        // Waits until `outstanding` calls are left on its lane, or, if
                // `ended` is not 0, until `ended` calls have ended there.
  kWaitAll,     // Waits for all that was started.
  kRepetition,  // Ends a repetition of a section; takes no time.
  kFinish,      // The last operation, once nothing is left to wait for.
  kDelay,       // Starts a delay of `compute` on its lane and goes on.
};

// A communication stream of a rank, on which calls run one after another. Each
// dimension has a lane. Behind these, each model chunk has a lane for each kind
// of message between stages.
using LaneId = Id<struct LaneTag>;
constexpr LaneId LaneOf(ParallelDimension dimension) {
  return LaneId(static_cast<uint32_t>(IndexOf(dimension)));
}

// The kinds of messages that a chunk exchanges with the chunks before and
// behind it.
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

// A lane on which so many calls have ended since the beginning.
struct LaneProgress {
  LaneId lane{};
  uint32_t ended = 0;

  friend bool operator==(const LaneProgress&, const LaneProgress&) = default;
};

struct Op {
  OpKind kind = OpKind::kFinish;
  Phase phase = Phase::kForward;
  LayerId layer{};
  LaneId lane{};  // Lane of the communication.
  TimePs compute{};
  Communication communication{};  // 0 bytes if there is none.
  TimePs update{};  // Delay from the end of the collective to its result.
  uint32_t outstanding = 0;  // For kWait; see there.
  uint32_t ended = 0;        // For kWait; see there.
  // Of kLaunch and kDelay: what must have ended, beside the calls before it on
  // its lane, before it starts. Belongs to the program.
  absl::Span<const LaneProgress> after{};
  int64_t repeats = 1;  // Times that the operation counts.
  int32_t chunk = -1;   // Chunk of the stage; -1 outside of micro-batches.
  int32_t micro_batch = -1;

  friend bool operator==(const Op&, const Op&) = default;
};

// Returns the next operation, and kFinish forever after the last one.
using OpStream = std::function<Op()>;

class RankProgram {
 public:
  virtual ~RankProgram() = default;

  // Number of stages. They are consecutive blocks of ranks of equal size.
  virtual uint32_t num_stages() const { return 1; }

  // Number of lanes of a rank.
  virtual uint32_t num_lanes() const {
    return static_cast<uint32_t>(kNumParallelDimensions);
  }

  // Returns the operations of `stage` from the first one on. The program must
  // outlive the stream.
  virtual OpStream Begin(uint32_t stage) const = 0;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_RANK_PROGRAM_H_
