#include "workload/generator/training.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "astra-core/base/status_macros.h"
#include "workload/generator/layout_rules.h"
#include "workload/generator/model_parts.h"
#include "workload/generator/module_memory.h"
#include "workload/generator/optimizer.h"
#include "workload/modules/embedding.h"
#include "workload/modules/experts.h"
#include "workload/modules/feed_forward.h"
#include "workload/modules/logits.h"
#include "workload/modules/recomputation.h"
#include "workload/modules/token_prediction.h"

namespace astra {
namespace {

constexpr std::string_view kLogits = "logits";  // Name of a TrainedUnit.

using Modules = std::vector<MockModule>;

// Sets what the modules of a group of blocks run again. `residual` is the size
// of a hidden state.
void SetRecomputation(const TrainingSetup& setup, bool runs_again,
                      int64_t residual, Modules& modules) {
  if (!runs_again) return;
  if (setup.recompute == Recompute::kFull) {
    RecomputeBlock(residual, setup.stops_recomputing, modules);
  } else {
    RecomputePartly(setup.recompute_modules, residual, setup.module_context(),
                    modules);
  }
}

// Returns the modules of each block of a group, including recomputation.
// `blocks` names blocks that have the same modules.
std::vector<Modules> TrainedBlocks(const ModelSpec& model,
                                   const std::vector<int64_t>& blocks,
                                   bool runs_again,
                                   const TrainingSetup& setup) {
  const ModuleContext context = setup.module_context();
  const int64_t residual = 2 * context.split_tokens() * model.hidden;
  Modules all;
  std::vector<size_t> ends;
  for (const int64_t layer : blocks) {
    for (MockModule& module : BlockModules(model, layer, context)) {
      // The gradient of the residual stream stays while a branch goes backward.
      module.workspace_bytes += residual;
      all.push_back(std::move(module));
    }
    ends.push_back(all.size());
  }
  SetRecomputation(setup, runs_again, residual, all);
  std::vector<Modules> trained;
  auto next = all.begin();
  for (const size_t end : ends) {
    const auto last = all.begin() + static_cast<std::ptrdiff_t>(end);
    trained.emplace_back(std::make_move_iterator(next),
                         std::make_move_iterator(last));
    next = last;
  }
  return trained;
}

// Returns the size of a message between stages: the hidden states of split
// tokens.
Bytes PipelineMessage(const ModelSpec& model, const TrainingSetup& setup) {
  if (setup.pipeline == 1) return Bytes(0);
  return Bytes(2 * setup.module_context().split_tokens() * model.hidden);
}

absl::Status CheckRecompute(const ModelSpec& model,
                            const TrainingSetup& setup) {
  if (setup.recompute != Recompute::kSelective) return absl::OkStatus();
  constexpr RecomputeModule kShared = RecomputeModule::kSharedExperts;
  if (setup.shared_expert_overlap && setup.recompute_modules.Has(kShared)) {
    return absl::FailedPreconditionError(
        "shared_experts cannot be recomputed while they hide the way of tokens "
        "(--shared-expert-overlap)");
  }
  return CheckHasModules(model.name, setup.recompute_modules,
                         RecomputeModulesOf(model));
}

// Builds the stages from the chunks of the model.
class StageMaker {
 public:
  StageMaker(const ModelSpec& model, const TrainingSetup& setup,
             BlueprintBuilder* builder)
      : model_(model),
        setup_(setup),
        vocabulary_(PaddedVocabulary(model.vocabulary, setup.tensor,
                                     setup.vocabulary_divisor)),
        builder_(builder) {}

  // Builds stage `number`, which holds `parts`, one in each chunk.
  ProgramStage Make(int64_t number, const std::vector<ModelPart>& parts) const {
    const bool has_embedding =
        std::any_of(parts.begin(), parts.end(),
                    [](const ModelPart& part) { return part.has_embedding; });
    ProgramStage stage;
    for (size_t i = 0; i < parts.size(); ++i) {
      const auto chunk = static_cast<int64_t>(i);
      std::vector<TrainedUnit> units = UnitsOf(parts[i], has_embedding);
      AddSharding(setup_, BucketOf(setup_, number, chunk), units);
      for (TrainedUnit& unit : units) {
        if (unit.name != kLogits) continue;
        unit.modules.push_back(
            CrossEntropy(vocabulary_, setup_.module_context()));
      }
      for (TrainedUnit& unit : units) {
        AppendRun(builder_->AddAll(std::move(unit.modules)), stage.runs, chunk);
      }
    }
    stage.after = builder_->AddAll(
        OptimizerModules(builder_->blueprint(), stage, setup_));
    return stage;
  }

 private:
  // Returns the modules of each block of a group, which are made once.
  const std::vector<Modules>& BlocksOf(const BlockGroup& group) const {
    std::vector<int64_t> likes;
    for (int64_t i = group.first_layer; i < group.end_layer; ++i) {
      likes.push_back(FirstLike(model_, i));
    }
    std::vector<Modules>& blocks = blocks_[{group.runs_again, likes}];
    if (blocks.empty()) {
      blocks = TrainedBlocks(model_, likes, group.runs_again, setup_);
    }
    return blocks;
  }

  // Returns the units of one part. `has_embedding` tells whether the stage has
  // the embedding, maybe in another chunk.
  std::vector<TrainedUnit> UnitsOf(const ModelPart& part,
                                   bool has_embedding) const {
    const ModuleContext context = setup_.module_context();
    std::vector<TrainedUnit> units;
    if (part.has_embedding) {
      units.push_back({"embedding", {Embedding(model_, vocabulary_, context)}});
    }
    for (const BlockGroup& group : GroupsOf(part, setup_)) {
      for (const Modules& block : BlocksOf(group)) {
        units.push_back({"block", block});
      }
    }
    if (part.has_logits) {
      MockModule logits = Logits(model_, vocabulary_, context);
      if (model_.tied_embeddings && !has_embedding) {
        logits.parameters +=
            // The copy of the tied table.
            vocabulary_ / setup_.tensor * model_.hidden;
      }
      units.push_back({kLogits, {std::move(logits)}});
      AddTokenPrediction(has_embedding, units);
    }
    return units;
  }

  // Adds the layers that predict further tokens. Each is trained together with
  // its own pass through the head of the model, whose weights count once. A
  // stage without the embedding has a copy of it.
  void AddTokenPrediction(bool has_embedding,
                          std::vector<TrainedUnit>& units) const {
    const ModuleContext context = setup_.module_context();
    for (int64_t i = 0; i < setup_.mtp_layers; ++i) {
      MockModule embedding = Embedding(model_, vocabulary_, context);
      const bool is_copy = i == 0 && !has_embedding && !model_.tied_embeddings;
      if (!is_copy) embedding.parameters = 0;
      TrainedUnit unit = {"block", {std::move(embedding)}};
      unit.modules.push_back(TokenPrediction(model_, context));
      const Modules block =
          BlocksOf({.first_layer = model_.layers - 1,
                    .end_layer = model_.layers,
                    .runs_again = setup_.recompute != Recompute::kNone})
              .front();
      unit.modules.insert(unit.modules.end(), block.begin(), block.end());
      units.push_back(std::move(unit));
      MockModule logits = Logits(model_, vocabulary_, context);
      logits.parameters = 0;
      units.push_back({kLogits, {std::move(logits)}});
    }
  }

  const ModelSpec& model_;
  const TrainingSetup& setup_;
  const int64_t vocabulary_;
  BlueprintBuilder* const builder_;
  // By whether the group runs again, and the first block like each of it.
  mutable std::map<std::pair<bool, std::vector<int64_t>>, std::vector<Modules>>
      blocks_;
};

}  // namespace

int64_t FirstLike(const ModelSpec& model, int64_t layer) {
  const auto type = [&model](int64_t block) {
    return std::visit(
        [block](const auto& kind) { return kind.LayerType(block); },
        model.AttentionOf(block));
  };
  for (int64_t first = 0; first < layer; ++first) {
    if (model.HasExperts(first) == model.HasExperts(layer) &&
        type(first) == type(layer)) {
      return first;
    }
  }
  return layer;
}

absl::StatusOr<Blueprint> TrainingBlueprint(const ModelSpec& model,
                                            const TrainingSetup& setup) {
  ASTRA_RETURN_IF_ERROR(CheckModel(model));
  ASTRA_RETURN_IF_ERROR(CheckTraining(model, setup));
  ASTRA_RETURN_IF_ERROR(CheckRecompute(model, setup));
  Blueprint empty;
  empty.sizes = setup.sizes();
  empty.sequence_parallel = setup.sequence_parallel;
  empty.schedule = setup.pipeline_schedule();
  empty.pipeline_message = PipelineMessage(model, setup);
  if (model.experts) {
    empty.routing = RoutingWithBytes(model, setup.fp8_dispatch);
  }
  BlueprintBuilder builder(std::move(empty));
  const StageMaker maker(model, setup, &builder);
  int64_t number = 0;
  for (const std::vector<ModelPart>& parts : PartsOfStages(model, setup)) {
    builder.AddStage(maker.Make(number++, parts));
  }
  Blueprint blueprint = builder.Take();
  SetMemory(setup, blueprint);
  return blueprint;
}

std::vector<MockModule> BlockModules(const ModelSpec& model, int64_t layer,
                                     const ModuleContext& context) {
  std::vector<MockModule> modules = std::visit(
      [&](const auto& kind) { return kind.Modules(model, layer, context); },
      model.AttentionOf(layer));
  const auto append = [&modules](std::vector<MockModule> more) {
    std::move(more.begin(), more.end(), std::back_inserter(modules));
  };
  if (!model.HasExperts(layer)) {
    append(FeedForwardModules(model, context));
    return modules;
  }
  append(ExpertModules(model, context));
  if (model.experts->shared_ffn == 0) return modules;
  append(SharedExpertModules(model, context));
  if (!context.shared_expert_overlap) return modules;
  // Reorders "... dispatch gather experts combine column row" into "...
  // dispatch column gather experts row combine".
  const auto end = modules.end();
  std::rotate(end - 5, end - 2, end - 1);
  std::rotate(end - 2, end - 1, end);
  return modules;
}

RecomputeModules RecomputeModulesOf(const ModelSpec& model) {
  const ModuleContext alone;
  RecomputeModules modules;
  for (int64_t layer = 0; layer < model.layers; ++layer) {
    if (FirstLike(model, layer) < layer) continue;
    modules.Add(RecomputeModulesOf(BlockModules(model, layer, alone)));
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
  // Routers score all experts, so their parameters count in full.
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
