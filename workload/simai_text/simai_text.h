// Describes the content of a workload file in SimAI's text format, and turns it
// into the program that it means.
//
// All ranks run the same layers, each once in an iteration. A layer has three
// phases; each computes, and then may run one collective over the rank's group
// of one dimension. The collectives of the forward and input-gradient phases
// block the rank. Those of the weight-gradient phase run beside later work,
// until the end of the iteration.
//
// The text describes one pipeline stage. A formula adds the time of the other
// stages (schedule "simai"); see astra-core/engine/pipeline.h.
//
// Source: the state machines of HYBRID_TRANSFORMER and
// HYBRID_TRANSFORMER_FWD_IN_BCKWD in ASTRA-sim and SimAI.

#ifndef WORKLOAD_SIMAI_TEXT_SIMAI_TEXT_H_
#define WORKLOAD_SIMAI_TEXT_SIMAI_TEXT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/units.h"
#include "workload/parallel_plan.h"
#include "workload/phase.h"
#include "workload/program.h"

namespace astra {

// The most layers of a text, read or written.
constexpr int64_t kMaxSimaiLayers = Program::kMaxOccurrences;

// The order in which the phases of the layers run; the names are SimAI's.
enum class SimaiPolicy : uint8_t {
  kHybridTransformer,            // Forward, then backward.
  kHybridTransformerFwdInBckwd,  // Also may recompute activations.
};

// Returns the name that files use, such as "HYBRID_TRANSFORMER".
std::string_view Name(SimaiPolicy policy);

struct SimaiPhase {
  TimePs compute;
  std::optional<Communication> communication;  // Runs after the computation.

  friend bool operator==(const SimaiPhase&, const SimaiPhase&) = default;
};

struct SimaiLayer {
  std::string name;
  std::array<SimaiPhase, kNumPhases> phases;  // By Phase.
  TimePs update;  // Delays the end of each of the layer's collectives.

  const SimaiPhase& phase(Phase p) const { return phases[IndexOf(p)]; }

  friend bool operator==(const SimaiLayer&, const SimaiLayer&) = default;
};

struct SimaiText {
  SimaiPolicy policy = SimaiPolicy::kHybridTransformerFwdInBckwd;
  ParallelSizes sizes;
  Bytes pipeline_message;  // Sent to the next stage for each micro-batch.
  // Before the backward pass of a layer in `recompute_starts`, the layers from
  // the nearest one in `checkpoints` at or before that layer, up to the layer
  // before it, run forward once more. Both lists hold indices of layers,
  // sorted.
  std::vector<uint32_t> checkpoints;
  std::vector<uint32_t> recompute_starts;
  std::vector<SimaiLayer> layers;

  friend bool operator==(const SimaiText&, const SimaiText&) = default;
};

// Returns the program with one module for each layer, in order. Layers with the
// names that AICB writes before and after those of the model, such as
// "grad_gather" and "optimizer1", are done once per iteration.
//
// Errors: InvalidArgument if there is no layer, a checkpoint is no layer, or
// nothing precedes a layer that starts a recomputation; those of
// Program::Create.
absl::StatusOr<Program> ProgramOf(const SimaiText& text);

}  // namespace astra

#endif  // WORKLOAD_SIMAI_TEXT_SIMAI_TEXT_H_
