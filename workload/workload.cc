#include "workload/workload.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "astra-core/base/field_error.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::Status CheckLayer(const Layer& layer) {
  for (const LayerPhase& phase : layer.phases) {
    const bool negative =
        phase.compute < TimePs(0) ||
        (phase.communication && phase.communication->bytes < Bytes(0));
    if (negative || layer.update < TimePs(0)) {
      return absl::InvalidArgumentError(fmt::format(
          "layer {}: a time or size is negative", Quoted(layer.name)));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckRecomputation(const WorkloadParts& parts) {
  for (const auto& [what, ids] :
       {std::pair{"checkpoint", &parts.checkpoints},
        std::pair{"checkpoint_initiate", &parts.recompute_starts}}) {
    for (const LayerId id : *ids) {
      if (id.index() >= parts.layers.size()) {
        return FieldError(fmt::format("{}s", what),
                          fmt::format("{} {} is no layer: the last one is {}",
                                      what, id, parts.layers.size() - 1));
      }
    }
    if (!std::is_sorted(ids->begin(), ids->end())) {
      return absl::InvalidArgumentError(
          fmt::format("the {}s are not sorted", what));
    }
  }
  if (parts.recompute_starts.empty()) return absl::OkStatus();
  const LayerId first = parts.recompute_starts.front();
  if (parts.checkpoints.empty() || parts.checkpoints.front() > first) {
    return FieldError(
        "checkpoint_initiates",
        fmt::format("checkpoint_initiate {} has no checkpoint at or before it",
                    first));
  }
  return absl::OkStatus();
}

}  // namespace

std::string_view Name(Policy policy) {
  switch (policy) {
    case Policy::kHybridTransformer:
      return "HYBRID_TRANSFORMER";
    case Policy::kHybridTransformerFwdInBckwd:
      return "HYBRID_TRANSFORMER_FWD_IN_BCKWD";
  }
  ASTRA_CHECK(false, "policy {}", static_cast<int>(policy));
}

std::string_view Name(Phase phase) {
  switch (phase) {
    case Phase::kForward:
      return "fwd";
    case Phase::kInputGradient:
      return "ig";
    case Phase::kWeightGradient:
      return "wg";
  }
  ASTRA_CHECK(false, "phase {}", static_cast<int>(phase));
}

absl::StatusOr<Workload> Workload::Create(WorkloadParts parts) {
  if (parts.layers.empty()) {
    return absl::InvalidArgumentError("there is no layer");
  }
  if (parts.pipeline_message < Bytes(0)) {
    return absl::InvalidArgumentError("the pipeline message is negative");
  }
  ASTRA_RETURN_IF_ERROR(ParallelPlan::Create(parts.sizes).status());
  for (const Layer& layer : parts.layers) {
    ASTRA_RETURN_IF_ERROR(CheckLayer(layer));
  }
  ASTRA_RETURN_IF_ERROR(CheckRecomputation(parts));
  return Workload(std::move(parts));
}

bool IsOncePerIteration(std::string_view layer_name) {
  constexpr std::string_view kNames[] = {
      "grad_norm",      "grad_gather",     "grad_param_comm",
      "layernorm",      "embedding_grads", "grad_param_compute",
      "moe_grad_norm1", "moe_grad_norm2",  "cross_entropy1",
      "cross_entropy2", "cross_entropy3",  "optimizer1",
      "optimizer2",     "optimizer3",      "optimizer4",
  };
  return std::find(std::begin(kNames), std::end(kNames), layer_name) !=
         std::end(kNames);
}

}  // namespace astra
