#include "astra-core/engine/pipeline_links.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "workload/pipeline/schedule.h"

namespace astra {

Bytes StageMessageBytes(const Program& program) {
  if (!program.simulates_pipeline()) return program.pipeline_message();
  return std::max(Bytes(1), program.pipeline_message());
}

std::vector<PipelineLink> PipelineLinks(const Program& program) {
  std::vector<PipelineLink> links;
  const PipelineShape shape = program.shape();
  for (int64_t chunk = 0; chunk < shape.chunks; ++chunk) {
    for (int64_t stage = 0; stage < shape.stages; ++stage) {
      const Place here = {stage, chunk};
      const std::optional<Place> next =
          NextPlace(program.schedule(), shape, here);
      if (!next || next->stage == stage) continue;
      const auto from = static_cast<uint32_t>(stage);
      const auto to = static_cast<uint32_t>(next->stage);
      const auto from_chunk = static_cast<uint32_t>(chunk);
      const auto to_chunk = static_cast<uint32_t>(next->chunk);
      links.push_back({from, to,
                       LaneOf(StageMessage::kSendActivation, from_chunk),
                       LaneOf(StageMessage::kReceiveActivation, to_chunk)});
      if (program.forward_only()) continue;
      links.push_back({to, from, LaneOf(StageMessage::kSendGradient, to_chunk),
                       LaneOf(StageMessage::kReceiveGradient, from_chunk),
                       true});
    }
  }
  return links;
}

PipelinePairs PairsOf(absl::Span<const PipelineLink> links,
                      const ParallelPlan& plan) {
  PipelinePairs result;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> first_pair;
  for (const PipelineLink& link : links) {
    const auto next = static_cast<uint32_t>(result.pairs.size());
    const auto [found, is_new] =
        first_pair.try_emplace({link.from, link.to}, next);
    result.first_pair.push_back(found->second);
    for (uint32_t i = 0; is_new && i < plan.stage_size(); ++i) {
      result.pairs.push_back(
          {plan.RankOf(link.from, i), plan.RankOf(link.to, i)});
    }
  }
  return result;
}

}  // namespace astra
