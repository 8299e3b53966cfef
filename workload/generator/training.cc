#include "workload/generator/training.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "astra-core/base/status_macros.h"
#include "workload/generator/optimizer.h"
#include "workload/modules/embedding.h"
#include "workload/modules/experts.h"
#include "workload/modules/feed_forward.h"
#include "workload/modules/full_attention.h"
#include "workload/modules/latent_attention.h"
#include "workload/modules/linear_attention.h"
#include "workload/modules/logits.h"

namespace astra {
namespace {

// Whether the operator is part of the scores of attention.
bool IsCoreAttention(const Operator& op) {
  constexpr std::string_view kNames[] = {"attention", "attention_product",
                                         "softmax", "delta_rule"};
  return std::find(std::begin(kNames), std::end(kNames), op.name) !=
         std::end(kNames);
}

// Sets what a module of a block runs once more before its backward pass.
void SetRecompute(Recompute recompute, MockModule& module) {
  const std::vector<ModuleStep>& forward = module.pass(ModulePass::kForward);
  std::vector<ModuleStep>& again =
      module.passes[IndexOf(ModulePass::kRecompute)];
  switch (recompute) {
    case Recompute::kNone:
      return;
    case Recompute::kFull:
      again = forward;
      module.saved_bytes = 0;
      return;
    case Recompute::kSelective:
      module.saved_bytes -= module.score_bytes;
      std::copy_if(forward.begin(), forward.end(), std::back_inserter(again),
                   [](const ModuleStep& step) {
                     return step.kind == StepKind::kCompute
                                ? IsCoreAttention(step.op)
                                : step.communication.dimension ==
                                      ParallelDimension::kContext;
                   });
  }
}

std::vector<MockModule> AttentionModules(const ModelSpec& model, int64_t layer,
                                         const ModuleContext& context) {
  if (model.HasLinearAttention(layer)) {
    return LinearAttentionModules(model, context);
  }
  if (model.latent_attention) return LatentAttentionModules(model, context);
  return FullAttentionModules(model, model.HasWindow(layer), context);
}

// A block, with what it recomputes and, for ZeRO 2 and 3, its collectives.
std::vector<MockModule> TrainedBlock(const ModelSpec& model, int64_t layer,
                                     const TrainingSetup& setup) {
  const ModuleContext context = setup.module_context();
  std::vector<MockModule> modules = BlockModules(model, layer, context);
  for (MockModule& module : modules) SetRecompute(setup.recompute, module);
  if (setup.recompute == Recompute::kFull) {
    modules.front().saved_bytes =
        2 * context.split_tokens() * model.hidden;  // The input of the block.
  }
  return WithSharding(std::move(modules), "block", setup);
}

// The embedding or the logits, and what trains them.
std::vector<MockModule> TrainedEnd(MockModule module, std::string_view unit,
                                   const TrainingSetup& setup) {
  std::vector<MockModule> modules;
  modules.push_back(std::move(module));
  return WithSharding(std::move(modules), unit, setup);
}

std::vector<MockModule> LastModules(const ModelSpec& model, int64_t vocabulary,
                                    const TrainingSetup& setup) {
  const ModuleContext context = setup.module_context();
  MockModule logits = Logits(model, vocabulary, context);
  if (model.tied_embeddings && setup.pipeline > 1) {
    logits.parameters += vocabulary / setup.tensor * model.hidden;  // A copy.
  }
  std::vector<MockModule> modules =
      TrainedEnd(std::move(logits), "logits", setup);
  modules.push_back(CrossEntropy(vocabulary, context));
  return modules;
}

// Between stages travel the hidden states of the split tokens.
Bytes PipelineMessage(const ModelSpec& model, const TrainingSetup& setup) {
  if (setup.pipeline == 1) return Bytes(0);
  return Bytes(2 * setup.module_context().split_tokens() * model.hidden);
}

void AddModules(std::vector<MockModule> modules, BlueprintBuilder& builder,
                ProgramStage& stage) {
  AppendRun(builder.AddAll(std::move(modules)), stage.runs);
}

}  // namespace

absl::StatusOr<Blueprint> TrainingBlueprint(const ModelSpec& model,
                                            const TrainingSetup& setup) {
  ASTRA_RETURN_IF_ERROR(CheckModel(model));
  ASTRA_RETURN_IF_ERROR(CheckTraining(model, setup));
  Blueprint empty;
  empty.sizes = setup.sizes();
  empty.sequence_parallel = setup.sequence_parallel;
  empty.pipeline_message = PipelineMessage(model, setup);
  BlueprintBuilder builder(std::move(empty));

  const int64_t vocabulary = PaddedVocabulary(model.vocabulary, setup.tensor,
                                              setup.vocabulary_divisor);
  const std::vector<int64_t> layers = StageLayers(model, setup);
  int64_t layer = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    ProgramStage stage;
    if (i == 0) {
      AddModules(
          TrainedEnd(Embedding(model, vocabulary, setup.module_context()),
                     "embedding", setup),
          builder, stage);
    }
    for (int64_t end = layer + layers[i]; layer < end; ++layer) {
      AddModules(TrainedBlock(model, layer, setup), builder, stage);
    }
    if (i + 1 == layers.size()) {
      AddModules(LastModules(model, vocabulary, setup), builder, stage);
    }
    stage.after =
        builder.AddAll(OptimizerModules(builder.blueprint(), stage, setup));
    builder.AddStage(std::move(stage));
  }
  return builder.Take();
}

std::vector<MockModule> BlockModules(const ModelSpec& model, int64_t layer,
                                     const ModuleContext& context) {
  std::vector<MockModule> modules = AttentionModules(model, layer, context);
  const auto append = [&modules](std::vector<MockModule> more) {
    std::move(more.begin(), more.end(), std::back_inserter(modules));
  };
  if (!model.HasExperts(layer)) {
    append(FeedForwardModules(model, context));
    return modules;
  }
  append(ExpertModules(model, context));
  if (model.experts->shared_ffn > 0) {
    append(SharedExpertModules(model, context));
  }
  return modules;
}

int64_t CountParameters(const ModelSpec& model) {
  const ModuleContext alone;
  const MockModule first = Embedding(model, model.vocabulary, alone);
  const MockModule last = Logits(model, model.vocabulary, alone);
  int64_t count = first.parameters + last.parameters;
  for (int64_t layer = 0; layer < model.layers; ++layer) {
    for (const MockModule& module : BlockModules(model, layer, alone)) {
      count += module.parameters + module.expert_parameters;
    }
  }
  return count;
}

int64_t CountActiveParameters(const ModelSpec& model) {
  if (!model.experts) return CountParameters(model);
  // Routers score all experts.
  const Experts& experts = *model.experts;
  const int64_t routers = (model.layers - experts.dense_layers) *
                          (model.hidden * (experts.experts - experts.top_k) +
                           (experts.router_bias ? experts.experts : 0));
  ModelSpec active = model;
  active.experts->experts = experts.top_k;
  active.experts->router_bias = false;
  return CountParameters(active) + routers;
}

}  // namespace astra
