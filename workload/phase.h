// The phases of a training step, and the collectives that run in them.

#ifndef WORKLOAD_PHASE_H_
#define WORKLOAD_PHASE_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "astra-core/base/collective_kind.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/parallel_dimension.h"
#include "astra-core/base/units.h"

namespace astra {

enum class Phase : uint8_t { kForward, kInputGradient, kWeightGradient };

constexpr Phase kPhases[] = {Phase::kForward, Phase::kInputGradient,
                             Phase::kWeightGradient};
constexpr size_t kNumPhases = std::size(kPhases);

constexpr size_t IndexOf(Phase phase) { return static_cast<size_t>(phase); }

// Returns the name that results use: "fwd", "ig" or "wg".
std::string_view Name(Phase phase);

// The index of a module of a program, where results list modules as layers.
using LayerId = Id<struct LayerTag>;

// A collective over a rank's group of `dimension`.
struct Communication {
  CollectiveKind kind;
  ParallelDimension dimension;
  Bytes bytes;  // Size of the buffer, as nccl-tests counts it; 0 does nothing.

  friend bool operator==(const Communication&, const Communication&) = default;
};

// Returns whether `communication` carries tokens to experts or back.
constexpr bool CarriesTokens(const Communication& communication) {
  return communication.dimension == ParallelDimension::kExpert &&
         (communication.kind == CollectiveKind::kAllToAll ||
          communication.kind == CollectiveKind::kDispatch ||
          communication.kind == CollectiveKind::kCombine);
}

}  // namespace astra

#endif  // WORKLOAD_PHASE_H_
