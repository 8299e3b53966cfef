#include "workload/simai_text/simai_text.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/field_error.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::Status CheckLayers(std::string_view what,
                         absl::Span<const uint32_t> layers,
                         const SimaiText& text) {
  for (const uint32_t layer : layers) {
    if (layer < text.layers.size()) continue;
    return FieldError(fmt::format("{}s", what),
                      fmt::format("{} {} is no layer: the last one is {}", what,
                                  layer, text.layers.size() - 1));
  }
  if (std::is_sorted(layers.begin(), layers.end())) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("the {}s are not sorted", what));
}

absl::Status CheckRecomputation(const SimaiText& text) {
  ASTRA_RETURN_IF_ERROR(CheckLayers("checkpoint", text.checkpoints, text));
  ASTRA_RETURN_IF_ERROR(
      CheckLayers("checkpoint_initiate", text.recompute_starts, text));
  if (text.recompute_starts.empty()) return absl::OkStatus();
  const uint32_t first = text.recompute_starts.front();
  if (!text.checkpoints.empty() && text.checkpoints.front() <= first) {
    return absl::OkStatus();
  }
  return FieldError(
      "checkpoint_initiates",
      fmt::format("checkpoint_initiate {} has no checkpoint at or before it",
                  first));
}

// Returns whether a layer of this name is work done once per iteration.
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

std::vector<Step> StepsOf(const SimaiPhase& phase, StepKind communicates) {
  std::vector<Step> steps;
  if (phase.compute != TimePs(0)) {
    Step& step = steps.emplace_back();
    step.compute = phase.compute;
  }
  if (phase.communication) {
    Step& step = steps.emplace_back();
    step.kind = communicates;
    step.communication = *phase.communication;
  }
  return steps;
}

ProgramModule ModuleOf(const SimaiLayer& layer) {
  ProgramModule module;
  module.name = layer.name;
  module.update = layer.update;
  module.is_once = IsOncePerIteration(layer.name);
  const auto take = [&](Phase phase, ModulePass pass, StepKind communicates) {
    module.passes[IndexOf(pass)] = StepsOf(layer.phase(phase), communicates);
  };
  take(Phase::kForward, ModulePass::kForward, StepKind::kBlocking);
  take(Phase::kInputGradient, ModulePass::kInputGradient, StepKind::kBlocking);
  take(Phase::kWeightGradient, ModulePass::kWeightGradient, StepKind::kLaunch);
  return module;
}

// Sets rerun_from of the modules that start a recomputation.
void AddReruns(const SimaiText& text, std::vector<ProgramModule>& modules) {
  for (const uint32_t start : text.recompute_starts) {
    const auto after = std::upper_bound(text.checkpoints.begin(),
                                        text.checkpoints.end(), start);
    modules[start].rerun_from = ModuleId(*std::prev(after));
  }
}

}  // namespace

std::string_view Name(SimaiPolicy policy) {
  constexpr std::string_view kNames[] = {"HYBRID_TRANSFORMER",
                                         "HYBRID_TRANSFORMER_FWD_IN_BCKWD"};
  return kNames[static_cast<size_t>(policy)];
}

absl::StatusOr<Program> ProgramOf(const SimaiText& text) {
  if (text.layers.empty()) {
    return absl::InvalidArgumentError("there is no layer");
  }
  ASTRA_RETURN_IF_ERROR(CheckRecomputation(text));
  ProgramParts parts;
  parts.sizes = text.sizes;
  parts.schedule = SimaiSchedule();
  parts.pipeline_message = text.pipeline_message;
  parts.modules.reserve(text.layers.size());
  ProgramStage stage;
  stage.count = text.sizes.pipeline;
  ModuleRun all;
  for (const SimaiLayer& layer : text.layers) {
    all.modules.push_back(
        ModuleId(static_cast<uint32_t>(parts.modules.size())));
    parts.modules.push_back(ModuleOf(layer));
  }
  AddReruns(text, parts.modules);
  stage.runs.push_back(std::move(all));
  parts.stages.push_back(std::move(stage));
  return Program::Create(std::move(parts));
}

}  // namespace astra
