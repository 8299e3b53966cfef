#include "astra-core/apps/own_algorithms.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/status_macros.h"
#include "collectives/schedules/algorithm_file.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::StatusOr<CustomCollective> ReadOne(const AlgorithmOption& option,
                                         const std::optional<NcclSystem>& nccl,
                                         const Topology& topology,
                                         Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(CustomSchedule schedule,
                         ReadAlgorithm(option.file, warnings));
  CustomCollective custom{.file = option.file,
                          .schedule = std::move(schedule),
                          .min_bytes = option.min_bytes,
                          .max_bytes = option.max_bytes,
                          .one_server = {},
                          .several_servers = {}};
  if (!nccl) return custom;
  const ThreadBlocks blocks = ThreadBlocksOf(
      custom.schedule.MostConnections(), nccl->system.architecture, topology);
  const auto costs = [&](bool is_one_server) {
    return CostsOfSimple(nccl->system, is_one_server,
                         custom.schedule.collective().kind,
                         custom.schedule.name(), nccl->options.launch, blocks);
  };
  custom.one_server = costs(true);
  custom.several_servers = costs(false);
  return custom;
}

// "1024 to 8192 bytes", or "1024 bytes".
std::string SizesText(const std::set<Bytes>& sizes) {
  const int64_t min = sizes.begin()->count();
  const int64_t max = sizes.rbegin()->count();
  return min == max ? fmt::format("{} bytes", min)
                    : fmt::format("{} to {} bytes", min, max);
}

std::string UsedText(const CollectiveSizes& used, const ParallelPlan& plan) {
  std::string text;
  for (const auto& [key, sizes] : used) {
    const auto [dimension, kind] = key;
    if (kind == CollectiveKind::kSendRecv) continue;
    text += fmt::format(
        "{}{} of {} ranks over {}, {}", text.empty() ? "" : "; ", Name(kind),
        plan.GroupSize(dimension), Name(dimension), SizesText(sizes));
  }
  return text.empty() ? "none" : text;
}

std::string WhatItIs(const CustomCollective& custom) {
  const ChunkedCollective& own = custom.schedule.collective();
  std::string text =
      fmt::format("{} of {} ranks", Name(own.kind), own.num_ranks);
  if (custom.max_bytes.count() < std::numeric_limits<int64_t>::max()) {
    text += fmt::format(", {} to {} bytes", custom.min_bytes.count(),
                        custom.max_bytes.count());
  }
  if (own.is_rooted() && own.root != 0) {
    text += fmt::format(", with root {} in place of 0", own.root);
  }
  return text;
}

absl::Status FitsNothing(const RunOptions& options,
                         const CustomCollective& custom,
                         const CollectiveSizes& used,
                         const ParallelPlan& plan) {
  for (const auto& [key, sizes] : used) {
    for (const Bytes bytes : sizes) {
      if (!custom.Fits(key.second, plan.GroupSize(key.first), bytes)) continue;
      return absl::InvalidArgumentError(
          fmt::format("--algorithm: {} has no effect: an algorithm before it "
                      "carries out all that it fits",
                      custom.file));
    }
  }
  return absl::InvalidArgumentError(fmt::format(
      "--algorithm: {} fits no collective of {}: it is {}; there are {}",
      custom.file, options.workload_file, WhatItIs(custom),
      UsedText(used, plan)));
}

absl::Status CheckUsed(const RunOptions& options,
                       absl::Span<const CustomCollective> customs,
                       const CollectiveSizes& used, const ParallelPlan& plan) {
  std::set<const CustomCollective*> effective;
  for (const auto& [key, sizes] : used) {
    const auto [dimension, kind] = key;
    for (const Bytes bytes : sizes) {
      const CustomCollective* custom =
          FindCustom(customs, kind, plan.GroupSize(dimension), bytes);
      if (custom != nullptr && IsOfExperts(kind) && options.dispatcher) {
        return absl::InvalidArgumentError(
            fmt::format("--dispatcher has no effect on the {} of {} bytes, "
                        "which {} carries out",
                        Name(kind), bytes.count(), custom->file));
      }
      effective.insert(custom);
    }
  }
  for (const CustomCollective& custom : customs) {
    if (effective.count(&custom) == 0) {
      return FitsNothing(options, custom, used, plan);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OwnAlgorithms> ReadOwnAlgorithms(
    const RunOptions& options, const std::optional<NcclSystem>& nccl,
    const CollectiveSizes& used, const ParallelPlan& plan,
    const Topology& topology, Warnings* warnings) {
  if (options.algorithms.empty()) return OwnAlgorithms();
  std::vector<CustomCollective> customs;
  for (const AlgorithmOption& option : options.algorithms) {
    ASTRA_ASSIGN_OR_RETURN(CustomCollective custom,
                           ReadOne(option, nccl, topology, warnings));
    customs.push_back(std::move(custom));
  }
  ASTRA_RETURN_IF_ERROR(CheckUsed(options, customs, used, plan));
  return std::make_shared<const std::vector<CustomCollective>>(
      std::move(customs));
}

std::string DescribeOwnAlgorithms(const OwnAlgorithms& algorithms,
                                  const SimulationResult& result) {
  if (algorithms == nullptr) return "";
  std::string text;
  for (const CustomCollective& custom : *algorithms) {
    const std::string_view name = custom.schedule.name();
    int64_t own = 0;
    int64_t all = 0;
    for (const CollectiveRecord& record : result.collectives) {
      if (record.communication.kind == CollectiveKind::kSendRecv) continue;
      const int64_t count = record.count * record.num_groups;
      all += count;
      // Two algorithms may have the same name.
      if (record.algorithm.data() == name.data()) own += count;
    }
    text += fmt::format("algorithm  {} of {}: {} of {} collectives\n", name,
                        custom.file, own, all);
  }
  return text;
}

}  // namespace astra
