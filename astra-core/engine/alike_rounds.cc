#include "astra-core/engine/alike_rounds.h"

#include <utility>

#include "astra-core/base/units.h"

namespace astra {
namespace {

std::vector<AlikeRounds> AlikeRoundsOf(absl::Span<const uint64_t> marks,
                                       uint64_t per_round) {
  std::vector<AlikeRounds> alike;
  const uint64_t num_rounds = marks.size() / per_round;
  AlikeRounds run = {0, 1};
  for (uint64_t round = 1; round < num_rounds; ++round) {
    const auto now = marks.subspan(round * per_round, per_round);
    if (now != marks.subspan((round - 1) * per_round, per_round)) {
      if (run.end - run.begin > 1) alike.push_back(run);
      run.begin = round;
    }
    run.end = round + 1;
  }
  if (run.end - run.begin > 1) alike.push_back(run);
  return alike;
}

}  // namespace

std::vector<Rounds> AlikeRoundsOf(absl::Span<const uint64_t> marks,
                                  const FlowGraph& graph) {
  constexpr Bytes kFewPackets(16384);
  std::vector<Rounds> rounds;
  if (graph.num_flows() == 0 || graph.flow(FlowId(0)).bytes < kFewPackets) {
    return rounds;
  }
  for (const uint64_t per_round : graph.flows_per_round()) {
    std::vector<AlikeRounds> alike = AlikeRoundsOf(marks, per_round);
    if (!alike.empty()) rounds.push_back({per_round, std::move(alike)});
  }
  return rounds;
}

}  // namespace astra
