#include "workload/parallel_plan.h"

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "fmt/format.h"

namespace astra {
namespace {

constexpr int64_t kMaxRanks = int64_t{1} << 24;

}  // namespace

absl::StatusOr<ParallelPlan> ParallelPlan::Create(const ParallelSizes& sizes) {
  const std::pair<std::string_view, int64_t> named[] = {
      {"all_gpus", sizes.num_ranks}, {"TP", sizes.tensor},
      {"EP", sizes.expert},          {"PP", sizes.pipeline},
      {"VPP", sizes.virtual_stages}, {"GA", sizes.micro_batches},
  };
  for (const auto& [name, size] : named) {
    if (size < 1 || size > kMaxRanks) {
      return absl::InvalidArgumentError(fmt::format(
          "{} is {}: expected a number from 1 to {}", name, size, kMaxRanks));
    }
  }
  const int64_t model = sizes.tensor * sizes.pipeline;
  if (sizes.num_ranks % model != 0) {
    return absl::InvalidArgumentError(fmt::format(
        "TP {} x PP {} does not divide the {} GPUs: there is no whole DP",
        sizes.tensor, sizes.pipeline, sizes.num_ranks));
  }
  const int64_t data = sizes.num_ranks / model;
  if (data % sizes.expert != 0) {
    return absl::InvalidArgumentError(fmt::format(
        "EP {} does not divide DP {} = {} GPUs / (TP {} x PP {})", sizes.expert,
        data, sizes.num_ranks, sizes.tensor, sizes.pipeline));
  }
  return ParallelPlan(static_cast<uint32_t>(sizes.num_ranks),
                      static_cast<uint32_t>(sizes.tensor),
                      static_cast<uint32_t>(sizes.expert),
                      static_cast<uint32_t>(data));
}

uint32_t ParallelPlan::GroupSize(ParallelDimension dimension) const {
  switch (dimension) {
    case ParallelDimension::kTensor:
      return tensor_;
    case ParallelDimension::kData:
      return data_;
    case ParallelDimension::kExpert:
      return expert_;
    case ParallelDimension::kDataExpert:
      return data_ / expert_;
    case ParallelDimension::kPipeline:
      return num_ranks_ / (tensor_ * data_);
  }
  ASTRA_CHECK(false, "dimension {}", static_cast<int>(dimension));
}

uint32_t ParallelPlan::GroupStride(ParallelDimension dimension) const {
  switch (dimension) {
    case ParallelDimension::kTensor:
      return 1;
    case ParallelDimension::kData:
    case ParallelDimension::kExpert:
      return tensor_;
    case ParallelDimension::kDataExpert:
      return tensor_ * expert_;
    case ParallelDimension::kPipeline:
      return tensor_ * data_;
  }
  ASTRA_CHECK(false, "dimension {}", static_cast<int>(dimension));
}

// The ranks of stride * size consecutive ones form `stride` groups.
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
