#include "workload/parallel_plan.h"

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/field_error.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

int64_t ExpertTensorOf(const ParallelSizes& sizes) {
  return sizes.expert_tensor.value_or(sizes.tensor);
}

// Errors: those of ParallelPlan::Create().
absl::Status CheckSizes(const ParallelSizes& sizes) {
  const int64_t expert_tensor = ExpertTensorOf(sizes);
  const std::pair<std::string_view, int64_t> named[] = {
      {"all_gpus", sizes.num_ranks}, {"TP", sizes.tensor},
      {"CP", sizes.context},         {"EP", sizes.expert},
      {"ETP", expert_tensor},        {"PP", sizes.pipeline},
      {"VPP", sizes.virtual_stages}, {"GA", sizes.micro_batches},
  };
  for (const auto& [name, size] : named) {
    if (size < 1 || size > ParallelPlan::kMaxRanks) {
      return absl::InvalidArgumentError(
          fmt::format("{} is {}: expected a number from 1 to {}", name, size,
                      ParallelPlan::kMaxRanks));
    }
  }
  // The sizes are below 2^24, so that a product of two cannot overflow.
  const int64_t pipelines = sizes.tensor * sizes.pipeline;
  if (sizes.num_ranks % pipelines != 0) {
    return FieldError(
        "sizes.gpus",
        fmt::format(
            "TP {} x PP {} does not divide the {} GPUs: there is no whole DP",
            sizes.tensor, sizes.pipeline, sizes.num_ranks));
  }
  const int64_t data = sizes.num_ranks / pipelines;
  if (data % sizes.context != 0) {
    return FieldError(
        "sizes.cp",
        fmt::format(
            "CP {} does not divide {} = {} GPUs / (TP {} x PP {}): there is no "
            "whole DP",
            sizes.context, data, sizes.num_ranks, sizes.tensor,
            sizes.pipeline));
  }
  const int64_t stage = sizes.tensor * data;
  if (stage % (expert_tensor * sizes.expert) != 0) {
    if (expert_tensor != sizes.tensor) {
      return FieldError(
          "sizes.etp",
          fmt::format("ETP {} x EP {} does not divide the {} GPUs of a stage",
                      expert_tensor, sizes.expert, stage));
    }
    return FieldError(
        "sizes.ep",
        fmt::format("EP {} does not divide DP {} = {} GPUs / (TP {} x PP {})",
                    sizes.expert, data, sizes.num_ranks, sizes.tensor,
                    sizes.pipeline));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ParallelPlan> ParallelPlan::Create(const ParallelSizes& sizes) {
  ASTRA_RETURN_IF_ERROR(CheckSizes(sizes));
  const int64_t expert_tensor = ExpertTensorOf(sizes);
  const int64_t data = sizes.num_ranks / (sizes.tensor * sizes.pipeline);
  const int64_t stage = sizes.tensor * data;
  using Dimension = ParallelDimension;
  const auto shape = [](int64_t size, int64_t stride) {
    return Shape{static_cast<uint32_t>(size), static_cast<uint32_t>(stride)};
  };
  const int64_t experts = expert_tensor * sizes.expert;
  ParallelPlan plan(static_cast<uint32_t>(sizes.num_ranks));
  plan.of(Dimension::kTensor) = shape(sizes.tensor, 1);
  plan.of(Dimension::kContext) = shape(sizes.context, sizes.tensor);
  plan.of(Dimension::kData) = shape(data, sizes.tensor);
  plan.of(Dimension::kExpertTensor) = shape(expert_tensor, 1);
  plan.of(Dimension::kExpert) = shape(sizes.expert, expert_tensor);
  plan.of(Dimension::kDataExpert) = shape(stage / experts, experts);
  plan.of(Dimension::kPipeline) = shape(sizes.pipeline, stage);
  return plan;
}

// Each block of stride * size consecutive ranks consists of `stride` groups.
uint32_t ParallelPlan::GroupOf(ParallelDimension dimension, RankId rank) const {
  const uint32_t stride = GroupStride(dimension);
  const uint32_t block = stride * GroupSize(dimension);
  return rank.index() / block * stride + rank.index() % stride;
}

std::vector<RankId> ParallelPlan::Ranks(ParallelDimension dimension,
                                        uint32_t group) const {
  const uint32_t stride = GroupStride(dimension);
  const uint32_t size = GroupSize(dimension);
  const uint32_t first = group / stride * stride * size + group % stride;
  std::vector<RankId> ranks;
  ranks.reserve(size);
  for (uint32_t i = 0; i < size; ++i) {
    ranks.push_back(RankId(first + i * stride));
  }
  return ranks;
}

}  // namespace astra
