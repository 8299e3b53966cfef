// What one training iteration computes and communicates, layer by layer.
//
// All ranks run the same layers. A layer has three phases; each computes, and
// then perhaps runs one collective over the rank's group of one dimension.

#ifndef WORKLOAD_WORKLOAD_H_
#define WORKLOAD_WORKLOAD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/parallel_dimension.h"
#include "astra-core/base/units.h"
#include "workload/parallel_plan.h"

namespace astra {

// In which order the phases of the layers run; the names are SimAI's.
enum class Policy : uint8_t {
  kHybridTransformer,            // Forward, then backward.
  kHybridTransformerFwdInBckwd,  // The same, and may recompute activations.
};

// The name used in files, such as "HYBRID_TRANSFORMER".
std::string_view Name(Policy policy);

enum class Phase : uint8_t { kForward, kInputGradient, kWeightGradient };

constexpr Phase kPhases[] = {Phase::kForward, Phase::kInputGradient,
                             Phase::kWeightGradient};
constexpr size_t kNumPhases = std::size(kPhases);

constexpr size_t IndexOf(Phase phase) { return static_cast<size_t>(phase); }

// The name used in results: "fwd", "ig", "wg".
std::string_view Name(Phase phase);

using LayerId = Id<struct LayerTag>;

// A collective over a rank's group of `dimension`.
struct Communication {
  CollectiveKind kind;
  ParallelDimension dimension;
  Bytes bytes;  // The buffer, as nccl-tests counts it; 0 does nothing.

  friend bool operator==(const Communication&, const Communication&) = default;
};

struct LayerPhase {
  TimePs compute;
  std::optional<Communication> communication;  // After the computation.

  friend bool operator==(const LayerPhase&, const LayerPhase&) = default;
};

struct Layer {
  std::string name;
  std::array<LayerPhase, kNumPhases> phases;  // By Phase.
  TimePs update;  // Delays the end of each of the layer's collectives.

  const LayerPhase& phase(Phase p) const { return phases[IndexOf(p)]; }

  friend bool operator==(const Layer&, const Layer&) = default;
};

// What a Workload is made of.
struct WorkloadParts {
  Policy policy = Policy::kHybridTransformerFwdInBckwd;
  ParallelSizes sizes;
  Bytes pipeline_message;  // Sent to the next stage for each micro-batch.
  // Before the backward pass of a layer in `recompute_starts`, the layers from
  // the nearest one in `checkpoints` at or before it, up to it, run forward
  // once more. Both are sorted.
  std::vector<LayerId> checkpoints;
  std::vector<LayerId> recompute_starts;
  std::vector<Layer> layers;

  friend bool operator==(const WorkloadParts&, const WorkloadParts&) = default;
};

// An immutable, valid workload.
class Workload {
 public:
  static constexpr int64_t kMaxLayers = int64_t{1} << 24;

  // Errors: InvalidArgument if there is no layer, a size is below 1, the sizes
  // do not divide the ranks, a time or byte count is negative, a checkpoint is
  // no layer, or nothing precedes a layer that starts a recomputation.
  static absl::StatusOr<Workload> Create(WorkloadParts parts);

  Policy policy() const { return parts_.policy; }
  const ParallelSizes& sizes() const { return parts_.sizes; }
  Bytes pipeline_message() const { return parts_.pipeline_message; }
  absl::Span<const LayerId> checkpoints() const { return parts_.checkpoints; }
  absl::Span<const LayerId> recompute_starts() const {
    return parts_.recompute_starts;
  }
  absl::Span<const Layer> layers() const { return parts_.layers; }
  const Layer& layer(LayerId id) const { return parts_.layers[id.index()]; }

  friend bool operator==(const Workload&, const Workload&) = default;

 private:
  explicit Workload(WorkloadParts parts) : parts_(std::move(parts)) {}

  WorkloadParts parts_;
};

// Whether a layer of this name stands for work done once per iteration, such as
// the gradient all-reduce or the optimizer, and not for every micro-batch: the
// pipeline bubble does not contain it.
//
// Source: the names that AICB writes before and after the layers of the model.
bool IsOncePerIteration(std::string_view layer_name);

}  // namespace astra

#endif  // WORKLOAD_WORKLOAD_H_
