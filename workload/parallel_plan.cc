#include "workload/parallel_plan.h"

#include <algorithm>
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

absl::Status CheckOrder(const ParallelSizes& sizes, const RankViews& views) {
  if (sizes.pipeline == 1) return absl::OkStatus();
  const int64_t dense = StrideOf(sizes.order, views.dense, RankAxis::kPipeline);
  const int64_t expert =
      StrideOf(sizes.order, views.expert, RankAxis::kPipeline);
  if (dense == expert) return absl::OkStatus();
  return FieldError(
      "sizes.order",
      fmt::format("order {} puts stages {} ranks apart, those of experts {} "
                  "ranks (TP {}, CP {}; ETP {}, EP {})",
                  Name(sizes.order), dense, expert, sizes.tensor, sizes.context,
                  ExpertTensorOf(sizes), sizes.expert));
}

// Returns the axes of more than one rank, in order.
std::vector<RankAxis> LongAxes(const RankOrder& order, const AxisSizes& sizes) {
  std::vector<RankAxis> axes;
  for (const RankAxis axis : order.axes) {
    if (sizes[static_cast<size_t>(axis)] > 1) axes.push_back(axis);
  }
  return axes;
}

}  // namespace

RankViews ViewsOf(const ParallelSizes& sizes) {
  const int64_t stage = sizes.num_ranks / sizes.pipeline;
  const int64_t tensor = ExpertTensorOf(sizes);
  const AxisSizes dense = {sizes.tensor, sizes.context, 1,
                           stage / (sizes.tensor * sizes.context),
                           sizes.pipeline};
  if (sizes.expert == 1 && tensor == sizes.tensor) return {dense, dense};
  const AxisSizes expert = {tensor, 1, sizes.expert,
                            stage / (tensor * sizes.expert), sizes.pipeline};
  return {dense, expert};
}

bool NumbersAlike(const ParallelSizes& sizes, const RankOrder& order) {
  const RankViews views = ViewsOf(sizes);
  return LongAxes(sizes.order, views.dense) == LongAxes(order, views.dense) &&
         LongAxes(sizes.order, views.expert) == LongAxes(order, views.expert);
}

ParallelPlan::Shape ParallelPlan::ShapeOf(
    const RankOrder& order, const AxisSizes& sizes,
    std::initializer_list<RankAxis> axes) const {
  Shape shape;
  size_t place = 0;
  for (const RankAxis axis : order.axes) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) continue;
    AxisSizes of_stage = sizes;
    of_stage[static_cast<size_t>(RankAxis::kPipeline)] = 1;
    shape.runs[place++] = {
        static_cast<uint32_t>(sizes[static_cast<size_t>(axis)]),
        static_cast<uint32_t>(StrideOf(order, of_stage, axis))};
  }
  return shape;
}

absl::StatusOr<ParallelPlan> ParallelPlan::Create(const ParallelSizes& sizes) {
  ASTRA_RETURN_IF_ERROR(CheckSizes(sizes));
  const RankViews views = ViewsOf(sizes);
  ASTRA_RETURN_IF_ERROR(CheckOrder(sizes, views));
  using Dimension = ParallelDimension;
  using enum RankAxis;
  ParallelPlan plan(static_cast<uint32_t>(sizes.num_ranks));
  plan.num_stages_ = static_cast<uint32_t>(sizes.pipeline);
  plan.stage_stride_ = static_cast<uint32_t>(
      StrideOf(sizes.order, views.dense, RankAxis::kPipeline));
  const auto set = [&](Dimension dimension, const AxisSizes& view,
                       std::initializer_list<RankAxis> axes) {
    plan.of(dimension) = plan.ShapeOf(sizes.order, view, axes);
  };
  set(Dimension::kTensor, views.dense, {kTensor});
  set(Dimension::kContext, views.dense, {kContext});
  set(Dimension::kData, views.dense, {kContext, kData});
  set(Dimension::kExpertTensor, views.expert, {kTensor});
  set(Dimension::kExpert, views.expert, {kExpert});
  set(Dimension::kDataExpert, views.expert, {kContext, kData});
  return plan;
}

uint32_t ParallelPlan::PositionOf(RankId rank) const {
  const uint32_t block = stage_stride_ * num_stages_;
  return rank.index() / block * stage_stride_ + rank.index() % stage_stride_;
}

// Each block of stride * size positions of a run consists of `stride` groups.
uint32_t ParallelPlan::GroupOf(ParallelDimension dimension, RankId rank) const {
  uint32_t group = PositionOf(rank);
  if (dimension == ParallelDimension::kPipeline) return group;
  const Shape& shape = of(dimension);
  for (auto run = shape.runs.rbegin(); run != shape.runs.rend(); ++run) {
    group =
        group / (run->stride * run->size) * run->stride + group % run->stride;
  }
  return StageOf(rank) * (stage_size() / shape.size()) + group;
}

std::vector<RankId> ParallelPlan::Ranks(ParallelDimension dimension,
                                        uint32_t group) const {
  std::vector<RankId> ranks;
  ranks.reserve(GroupSize(dimension));
  if (dimension == ParallelDimension::kPipeline) {
    for (uint32_t stage = 0; stage < num_stages_; ++stage) {
      ranks.push_back(RankOf(stage, group));
    }
    return ranks;
  }
  const Shape& shape = of(dimension);
  const uint32_t per_stage = stage_size() / shape.size();
  uint32_t first = group % per_stage;
  for (const Run& run : shape.runs) {
    first = first / run.stride * run.stride * run.size + first % run.stride;
  }
  for (uint32_t i = 0; i < shape.runs[1].size; ++i) {
    for (uint32_t j = 0; j < shape.runs[0].size; ++j) {
      ranks.push_back(
          RankOf(group / per_stage,
                 first + i * shape.runs[1].stride + j * shape.runs[0].stride));
    }
  }
  return ranks;
}

}  // namespace astra
