#include "astra-core/engine/pipeline.h"

#include <cmath>
#include <cstddef>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "collectives/bus_bandwidth_file.h"
#include "collectives/registry.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Returns each rank, except those of the last stage, with its neighbour in the
// next stage.
std::vector<std::vector<RankId>> NeighbouringStages(const ParallelPlan& plan) {
  std::vector<std::vector<RankId>> pairs;
  for (uint32_t stage = 0; stage + 1 < plan.num_stages(); ++stage) {
    for (uint32_t i = 0; i < plan.stage_size(); ++i) {
      pairs.push_back({plan.RankOf(stage, i), plan.RankOf(stage + 1, i)});
    }
  }
  return pairs;
}

constexpr CollectiveKind kKind = CollectiveKind::kSendRecv;

// Returns the time of a message of `bytes` between each pair.
absl::StatusOr<std::vector<TimedCollective>> TimesOf(
    const std::vector<std::vector<RankId>>& pairs, const ClosedForms& forms,
    Bytes bytes, const std::optional<NcclSystem>& nccl, Routes& routes) {
  std::vector<TimedCollective> times;
  times.reserve(pairs.size());
  if (!nccl) {
    CollectiveCost cost;
    cost.algorithm = DefaultCollectiveAlgorithm(kKind);
    cost.forms = forms;
    for (uint32_t pair = 0; pair < pairs.size(); ++pair) {
      times.push_back(cost.Time(pair, bytes));
    }
    return times;
  }
  ASTRA_ASSIGN_OR_RETURN(CollectiveTimes by_nccl,
                         CollectiveTimes::Create(kKind, pairs, nccl->system,
                                                 nccl->options, routes));
  for (size_t pair = 0; pair < pairs.size(); ++pair) {
    ASTRA_ASSIGN_OR_RETURN(times.emplace_back(), by_nccl.Time(pair, bytes));
  }
  return times;
}

// The message between the slowest pair, as a record for the report.
CollectiveRecord SlowestMessage(const std::vector<std::vector<RankId>>& pairs,
                                const std::vector<TimedCollective>& times,
                                Bytes bytes,
                                std::optional<double> measured_gb_per_s) {
  CollectiveRecord message;
  message.communication = {kKind, ParallelDimension::kPipeline, bytes};
  message.num_ranks = 2;
  message.num_groups = static_cast<uint32_t>(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (i > 0 && times[i].time <= message.time) continue;
    message.time = times[i].time;
    message.algorithm = times[i].algorithm;
    message.protocol = times[i].protocol;
    message.lowest_rank = pairs[i].front();
    message.bottleneck = times[i].bottleneck;
    message.is_latency_bound = times[i].is_latency_bound;
    message.source = times[i].source;
  }
  if (measured_gb_per_s) {
    message.is_measured = true;
    message.time = AtBusBandwidth(kKind, 2, *measured_gb_per_s).TimeOf(bytes);
  }
  return message;
}

}  // namespace

absl::StatusOr<PipelineResult> AddPipeline(
    const PipelineMessages& messages, const ParallelPlan& plan, TimePs bubble,
    double overlap, const std::optional<NcclSystem>& nccl,
    std::optional<double> measured_gb_per_s, Routes& routes,
    std::vector<double>& link_bytes) {
  PipelineResult result;
  if (plan.GroupSize(ParallelDimension::kPipeline) == 1) return result;
  result.bubble = bubble;
  if (messages.bytes == Bytes(0)) return result;

  const std::vector<std::vector<RankId>> pairs = NeighbouringStages(plan);
  ASTRA_ASSIGN_OR_RETURN(
      const ClosedForms forms,
      LayOnLinks(DefaultCollectiveAlgorithm(CollectiveKind::kSendRecv), pairs,
                 routes));
  ASTRA_ASSIGN_OR_RETURN(const std::vector<TimedCollective> times,
                         TimesOf(pairs, forms, messages.bytes, nccl, routes));
  result.message =
      SlowestMessage(pairs, times, messages.bytes, measured_gb_per_s);
  const int64_t one_way = messages.micro_batches * messages.virtual_stages;
  result.num_messages = 2 * one_way;
  result.message.count = result.num_messages;
  const double exposed_ps = (1 - overlap) *
                            static_cast<double>(result.num_messages) *
                            static_cast<double>(result.message.time.count());
  if (exposed_ps > static_cast<double>(kMaxCollectiveTime.count())) {
    return absl::ResourceExhaustedError(
        fmt::format("{} pipeline messages of {} take longer than the limit of "
                    "26 days",
                    result.num_messages, messages.bytes));
  }
  result.exposed = TimePs(std::llround(exposed_ps));

  // Gradients go back over the other direction of the same links.
  const double bytes = static_cast<double>(one_way) *
                       static_cast<double>(messages.bytes.count());
  for (size_t link = 0; link < link_bytes.size(); ++link) {
    const double forward = bytes * forms.link_bytes_per_byte[link];
    link_bytes[link] += forward;
    link_bytes[link ^ 1] += forward;
  }
  return result;
}

}  // namespace astra
