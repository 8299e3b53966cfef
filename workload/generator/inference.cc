#include "workload/generator/inference.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/generator/layout_rules.h"
#include "workload/generator/model_parts.h"
#include "workload/generator/training.h"
#include "workload/generator/training_setup.h"
#include "workload/modules/embedding.h"
#include "workload/modules/experts.h"
#include "workload/modules/logits.h"
#include "workload/parallel_plan.h"

namespace astra {
namespace {

ModuleContext ContextOf(const InferenceSetup& setup) {
  const bool decodes = setup.phase == InferencePhase::kDecode;
  return {.tensor = setup.tensor,
          .expert = setup.expert,
          .expert_tensor = setup.expert_tensor_size(),
          .sequences = setup.batch,
          .positions = decodes ? setup.queries : setup.positions,
          .past = decodes ? setup.positions : setup.cached,
          .training = false,
          .decoding = decodes,
          .precision = setup.precision,
          .expert_load = setup.expert_load,
          .fp8_dispatch = setup.fp8_dispatch};
}

// Expresses the layout as a training setup, because the same rules apply.
TrainingSetup LayoutOf(const InferenceSetup& setup) {
  TrainingSetup layout;
  layout.world_size = setup.world_size;
  layout.tensor = setup.tensor;
  layout.pipeline = setup.pipeline;
  layout.expert = setup.expert;
  layout.expert_tensor = setup.expert_tensor_size();
  return layout;
}

absl::Status CheckLayout(const ModelSpec& model, const InferenceSetup& setup) {
  const ParallelSizes sizes = {.num_ranks = setup.world_size,
                               .tensor = setup.tensor,
                               .expert = setup.expert,
                               .expert_tensor = setup.expert_tensor_size(),
                               .pipeline = setup.pipeline};
  ASTRA_RETURN_IF_ERROR(ParallelPlan::Create(sizes).status());
  ASTRA_RETURN_IF_ERROR(CheckSplits(model, setup.tensor, setup.expert,
                                    setup.expert_tensor_size()));
  if (setup.pipeline > model.layers) {
    return absl::InvalidArgumentError(fmt::format(
        "PP {} is more than the {} layers", setup.pipeline, model.layers));
  }
  return absl::OkStatus();
}

absl::Status CheckInference(const ModelSpec& model,
                            const InferenceSetup& setup) {
  ASTRA_RETURN_IF_ERROR(AsIllegalLayout(CheckLayout(model, setup)));
  ASTRA_RETURN_IF_ERROR(CheckTokens(setup.batch, setup.positions));
  if (setup.cached != 0) {
    ASTRA_RETURN_IF_ERROR(CheckTokens(setup.batch, setup.cached));
  }
  const int64_t next =
      setup.phase == InferencePhase::kDecode ? setup.queries : 0;
  const int64_t longest = setup.positions + setup.cached + next;
  if (model.positions == Positions::kLearned && longest > model.max_positions) {
    return absl::InvalidArgumentError(fmt::format(
        "{} positions are beyond the {} learned ones (max_positions)", longest,
        model.max_positions));
  }
  return absl::OkStatus();
}

// Moves the shared experts before the router, where inference runs them: tokens
// are not yet under way then.
std::vector<MockModule> InferredBlock(const ModelSpec& model, int64_t layer,
                                      const ModuleContext& context) {
  std::vector<MockModule> modules = BlockModules(model, layer, context);
  const auto is_shared = [](const MockModule& module) {
    return module.name.rfind("shared_", 0) == 0;
  };
  const auto router = std::find_if(
      modules.begin(), modules.end(),
      [](const MockModule& module) { return module.name == "moe_router"; });
  std::stable_partition(router, modules.end(), is_shared);
  return modules;
}

// Returns the bytes that `op` reads and writes beside its weights and the
// cache.
int64_t ActivationBytes(const Operator& op, int64_t cache) {
  int64_t others = 0;
  if (const auto* product = std::get_if<Gemm>(&op.shape)) {
    others = std::llround(
        static_cast<double>(product->groups * product->n * product->k) *
        BytesOf(op.precision));
  } else if (std::holds_alternative<Attention>(op.shape)) {
    others = cache;
  }
  return std::max<int64_t>(0, std::llround(BytesMoved(op)) - others);
}

// Returns the memory of a module; InferenceBlueprint describes it.
ModuleMemory MemoryOf(const MockModule& module, const ModelSpec& model,
                      const ModuleContext& context) {
  constexpr int64_t kElementBytes = 2;
  double weight_bytes = kElementBytes;
  int64_t largest = 0;
  for (const ModuleStep& step : module.pass(ModulePass::kForward)) {
    if (step.kind != StepKind::kCompute) continue;
    if (std::holds_alternative<Gemm>(step.op.shape)) {
      weight_bytes = std::min(weight_bytes, BytesOf(step.op.precision));
    }
    largest =
        std::max(largest, ActivationBytes(step.op, module.kv_cache_bytes));
  }
  const int64_t parameters = module.parameters + module.expert_parameters;
  ModuleMemory memory;
  memory.weights =
      Bytes(std::llround(static_cast<double>(parameters) * weight_bytes));
  memory.cache = Bytes(module.kv_cache_bytes);
  memory.workspace =
      Bytes(largest + kElementBytes * context.tokens() * model.hidden);
  return memory;
}

std::vector<MockModule> WithMemory(std::vector<MockModule> modules,
                                   const ModelSpec& model,
                                   const ModuleContext& context) {
  for (MockModule& module : modules) {
    module.memory = MemoryOf(module, model, context);
  }
  return modules;
}

}  // namespace

absl::StatusOr<Blueprint> InferenceBlueprint(const ModelSpec& model,
                                             const InferenceSetup& setup) {
  ASTRA_RETURN_IF_ERROR(CheckModel(model));
  ASTRA_RETURN_IF_ERROR(CheckInference(model, setup));
  const ModuleContext context = ContextOf(setup);
  Blueprint empty;
  empty.forward_only = true;
  empty.sizes = {.num_ranks = setup.world_size,
                 .tensor = setup.tensor,
                 .expert = setup.expert,
                 .expert_tensor = setup.expert_tensor_size(),
                 .pipeline = setup.pipeline};
  if (setup.pipeline > 1) {
    empty.pipeline_message = Bytes(2 * context.tokens() * model.hidden);
  }
  if (model.experts) {
    empty.routing = RoutingWithBytes(model, setup.fp8_dispatch);
  }
  BlueprintBuilder builder(std::move(empty));
  const auto add = [&](std::vector<MockModule> modules) {
    return builder.AddAll(WithMemory(std::move(modules), model, context));
  };
  const int64_t vocabulary =
      PaddedVocabulary(model.vocabulary, setup.tensor, /*divisor=*/1);
  ASTRA_ASSIGN_OR_RETURN(const std::vector<int64_t> layers,
                         PartLayers(model, LayoutOf(setup)));
  int64_t layer = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    ProgramStage stage;
    if (i == 0) {
      AppendRun(add({Embedding(model, vocabulary, context)}), stage.runs);
    }
    for (int64_t end = layer + layers[i]; layer < end; ++layer) {
      AppendRun(add(InferredBlock(model, layer, context)), stage.runs);
    }
    if (i + 1 == layers.size()) {
      AppendRun(add({Logits(model, vocabulary, context)}), stage.runs);
    }
    builder.AddStage(std::move(stage));
  }
  return builder.Take();
}

}  // namespace astra
