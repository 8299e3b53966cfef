// What a rank does: operations, one after another, produced as they are needed.

#ifndef ASTRA_CORE_ENGINE_RANK_PROGRAM_H_
#define ASTRA_CORE_ENGINE_RANK_PROGRAM_H_

#include <cstdint>
#include <functional>

#include "astra-core/base/units.h"
#include "workload/workload.h"

namespace astra {

enum class OpKind : uint8_t {
  kCompute,     // Takes `compute`.
  kBlocking,    // Starts `communication` and waits for it.
  kLaunch,      // Starts `communication` and goes on.
  kWait,        // Waits until `outstanding` calls over a dimension are left.
  kWaitAll,     // Waits for all that was started.
  kRepetition,  // Ends a repetition of a section; takes no time.
  kFinish,      // The last one, with nothing left to wait for.
};

struct Op {
  OpKind kind = OpKind::kFinish;
  Phase phase = Phase::kForward;
  LayerId layer{};
  TimePs compute{};
  Communication communication{};  // Of 0 bytes: none.
  TimePs update{};  // Passes before a rank has the collective's result.
  uint32_t outstanding = 0;  // Of kWait.
  int64_t repeats = 1;       // What happens here counts this many times.

  friend bool operator==(const Op&, const Op&) = default;
};

// Returns the next operation; kFinish for ever once all others were returned.
using OpStream = std::function<Op()>;

class RankProgram {
 public:
  virtual ~RankProgram() = default;

  // The operations from the first one on. The program must outlive the stream.
  virtual OpStream Begin() const = 0;

  // How many of them compute or start a collective.
  virtual int64_t num_ops() const = 0;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_RANK_PROGRAM_H_
