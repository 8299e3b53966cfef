#include "workload/generator/layout_rules.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/generator/model_parts.h"
#include "workload/modules/embedding.h"
#include "workload/modules/module.h"
#include "workload/modules/size_rules.h"
#include "workload/parallel_plan.h"
#include "workload/pipeline/schedule.h"

namespace astra {
namespace {

absl::Status CheckAttention(const ModelSpec& model,
                            const TrainingSetup& setup) {
  if (setup.context == 1) return absl::OkStatus();
  if (!setup.flash_attention) {
    return absl::InvalidArgumentError(
        fmt::format("CP {} needs flash attention", setup.context));
  }
  const auto check = [&](const auto& kind) {
    return kind.CheckContext(setup.module_context());
  };
  if (model.other_attention) {
    ASTRA_RETURN_IF_ERROR(std::visit(check, *model.other_attention));
  }
  ASTRA_RETURN_IF_ERROR(std::visit(check, model.attention));
  if (setup.context_method == ContextMethod::kAllToAll) {
    return absl::OkStatus();
  }
  return MustDivide("twice CP", 2 * setup.context, setup.positions,
                    "positions of a sequence (each rank has an early and a "
                    "late part)");
}

absl::Status CheckBatch(const TrainingSetup& setup) {
  if (setup.global_batch < 1) {
    return absl::InvalidArgumentError("the global batch has no sequence");
  }
  const int64_t pass = setup.data() * setup.micro_batch;
  if (setup.global_batch % pass != 0) {
    return absl::InvalidArgumentError(fmt::format(
        "the global batch {} is no multiple of DP {} x micro-batch {}",
        setup.global_batch, setup.data(), setup.micro_batch));
  }
  if (setup.pipeline_schedule()->has_virtual_stages &&
      setup.micro_batches() % setup.pipeline != 0) {
    return absl::InvalidArgumentError(fmt::format(
        "{} micro-batches are no multiple of PP {}, as virtual stages need",
        setup.micro_batches(), setup.pipeline));
  }
  return absl::OkStatus();
}

absl::Status CheckStages(const ModelSpec& model, const TrainingSetup& setup) {
  const int64_t ends =
      (setup.account_for_embedding ? 1 : 0) + (setup.account_for_loss ? 1 : 0);
  if (setup.pipeline > model.layers + ends) {
    return absl::InvalidArgumentError(fmt::format(
        "PP {} is more than the {} layers", setup.pipeline, model.layers));
  }
  if (setup.chunks() > 1 && setup.pipeline == 1) {
    return absl::InvalidArgumentError(
        fmt::format("VPP {} without pipeline stages: PP is 1", setup.chunks()));
  }
  ASTRA_RETURN_IF_ERROR(CheckShape(setup.pipeline_schedule(),
                                   {.stages = setup.pipeline,
                                    .chunks = setup.chunks(),
                                    .micro_batches = setup.micro_batches()}));
  ASTRA_ASSIGN_OR_RETURN(const std::vector<int64_t> layers,
                         PartLayers(model, setup));
  const int64_t most = *std::max_element(layers.begin(), layers.end());
  const int64_t again = setup.recompute_layers.value_or(1);
  if (setup.recompute != Recompute::kFull || again <= most) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(fmt::format(
      "full recomputation of {} layers: a {} has {} at most", again,
      setup.chunks() > 1 ? "chunk of a pipeline stage" : "pipeline stage",
      most));
}

absl::Status CheckOverlap(const ModelSpec& model, const TrainingSetup& setup) {
  if (setup.tensor_overlap && setup.tensor == 1) {
    return absl::InvalidArgumentError(
        "the overlap of tensor-parallel collectives has no effect: TP is 1");
  }
  if (setup.tensor_overlap && !setup.sequence_parallel) {
    return absl::InvalidArgumentError(
        "the overlap of tensor-parallel collectives needs sequence "
        "parallelism");
  }
  if (!setup.shared_expert_overlap) return absl::OkStatus();
  if (!model.HasSharedExperts()) {
    return absl::InvalidArgumentError(
        fmt::format("the overlap of shared experts has no effect: {} has none",
                    model.name));
  }
  if (setup.expert == 1) {
    return absl::InvalidArgumentError(
        "the overlap of shared experts has no effect: EP is 1");
  }
  return absl::OkStatus();
}

absl::Status CheckZeroGroup(const TrainingSetup& setup) {
  if (!setup.zero_group) return absl::OkStatus();
  if (setup.zero != Zero::kOptimizer) {
    return absl::InvalidArgumentError(
        fmt::format("a ZeRO group has no effect with ZeRO {}: it is of ZeRO 1",
                    static_cast<int>(setup.zero)));
  }
  return MustDivide("the ZeRO group", *setup.zero_group,
                    setup.data() * setup.context,
                    "ranks with the same parameters");
}

absl::Status CheckFramework(const ModelSpec& model,
                            const TrainingSetup& setup) {
  ASTRA_RETURN_IF_ERROR(CheckZeroGroup(setup));
  if (setup.zero >= Zero::kGradients && setup.pipeline > 1) {
    return absl::InvalidArgumentError(fmt::format(
        "ZeRO {} needs PP 1, not {}: gradients are reduced in every "
        "micro-batch",
        static_cast<int>(setup.zero), setup.pipeline));
  }
  if (model.experts && setup.tensor > 1 && !setup.sequence_parallel) {
    return absl::InvalidArgumentError(fmt::format(
        "experts with TP {} need sequence parallelism", setup.tensor));
  }
  return CheckOverlap(model, setup);
}

}  // namespace

absl::Status CheckSplits(const ModelSpec& model, int64_t tensor, int64_t expert,
                         int64_t expert_tensor) {
  const auto check = [&](const auto& kind) { return kind.CheckTensor(tensor); };
  ASTRA_RETURN_IF_ERROR(std::visit(check, model.attention));
  if (model.other_attention) {
    ASTRA_RETURN_IF_ERROR(std::visit(check, *model.other_attention));
  }
  if (model.feed_forward.ffn > 0) {
    ASTRA_RETURN_IF_ERROR(MustDivide("TP", tensor, model.feed_forward.ffn,
                                     "columns of the feed-forward part"));
  }
  if (!model.experts) {
    if (expert == 1) return absl::OkStatus();
    return absl::InvalidArgumentError(fmt::format(
        "EP {} has no effect: {} has no experts", expert, model.name));
  }
  ASTRA_RETURN_IF_ERROR(
      MustDivide("EP", expert, model.experts->experts, "experts"));
  ASTRA_RETURN_IF_ERROR(MustDivide("ETP", expert_tensor, model.experts->ffn,
                                   "columns of an expert"));
  return MustDivide("TP", tensor, model.experts->shared_ffn,
                    "columns of the shared experts");
}

absl::Status CheckTokens(int64_t sequences, int64_t positions) {
  if (positions >= 1 && sequences >= 1 && positions <= kMaxPositions &&
      sequences <= kMaxTokens / positions) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(fmt::format(
      "{} sequences of {} positions at once: expected 1 to {} positions of a "
      "sequence and 1 to {} in all",
      sequences, positions, kMaxPositions, kMaxTokens));
}

namespace {

absl::Status CheckRules(const ModelSpec& model, const TrainingSetup& setup) {
  // The layout by itself first: data() divides by it.
  const ParallelSizes sizes = {.num_ranks = setup.world_size,
                               .tensor = setup.tensor,
                               .context = setup.context,
                               .expert = setup.expert,
                               .expert_tensor = setup.expert_tensor,
                               .pipeline = setup.pipeline,
                               .virtual_stages = setup.chunks(),
                               .order = setup.order};
  ASTRA_RETURN_IF_ERROR(ParallelPlan::Create(sizes).status());
  ASTRA_RETURN_IF_ERROR(
      CheckSplits(model, setup.tensor, setup.expert,
                  setup.expert_tensor.value_or(setup.tensor)));
  if (setup.sequence_parallel) {
    ASTRA_RETURN_IF_ERROR(
        MustDivide("TP x CP", setup.tensor * setup.context, setup.positions,
                   "positions of a sequence, as sequence parallelism needs"));
  }
  ASTRA_RETURN_IF_ERROR(MustDivide("CP", setup.context, setup.positions,
                                   "positions of a sequence"));
  ASTRA_RETURN_IF_ERROR(
      MustDivide("TP", setup.tensor,
                 PaddedVocabulary(model.vocabulary, setup.tensor,
                                  setup.vocabulary_divisor),
                 "words of the vocabulary"));
  ASTRA_RETURN_IF_ERROR(CheckAttention(model, setup));
  ASTRA_RETURN_IF_ERROR(CheckFramework(model, setup));
  ASTRA_RETURN_IF_ERROR(CheckBatch(setup));
  ASTRA_RETURN_IF_ERROR(CheckStages(model, setup));
  return ParallelPlan::Create(setup.sizes()).status();
}

}  // namespace

absl::Status AsIllegalLayout(const absl::Status& status) {
  return status.ok() ? status : absl::FailedPreconditionError(status.message());
}

absl::Status CheckTraining(const ModelSpec& model, const TrainingSetup& setup) {
  ASTRA_RETURN_IF_ERROR(CheckTokens(setup.micro_batch, setup.positions));
  if (model.positions == Positions::kLearned &&
      setup.positions > model.max_positions) {
    return absl::InvalidArgumentError(
        fmt::format("sequence length {} is beyond the {} learned positions "
                    "(max_positions)",
                    setup.positions, model.max_positions));
  }
  return AsIllegalLayout(CheckRules(model, setup));
}

}  // namespace astra
