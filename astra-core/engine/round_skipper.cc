#include "astra-core/engine/round_skipper.h"

#include <algorithm>
#include <utility>

#include "astra-core/base/random.h"

namespace astra {

TimePs RoundSkipper::AfterArrivals(absl::Span<const CarriedFlow> arrived,
                                   FlowRun& flows) {
  const uint64_t per_round = flows.graph().flows_per_round();
  if (per_round == 0) return TimePs();
  for (const CarriedFlow& flow : arrived) {
    if (flow.flow.index() % per_round != 0) continue;
    LookAt(flow.flow.index() / per_round, flows);
    break;
  }
  return later_;
}

void RoundSkipper::LookAt(uint64_t round, FlowRun& flows) {
  const auto alike =
      std::find_if(alike_.begin(), alike_.end(), [round](const AlikeRounds& a) {
        return round >= a.begin && round < a.end;
      });
  if (alike == alike_.end() || flows.is_done()) return;
  if (alike->begin != section_) looks_.clear();
  section_ = alike->begin;
  if (looks_.size() >= kMaxLooks) return;

  const uint64_t first = round * flows.graph().flows_per_round();
  ReplaySupport& network = *network_.replay();
  const auto label = [&](MessageId message) {
    return carrier_.FlowOf(message).flow.index() - first;
  };
  Look look;
  look.round = round;
  look.time = network_.now();
  look.state = HashOf(network.StateOf(connections_, label),
                      carrier_.StateFrom(first), flows.StateFrom(first));
  look.measured = network.Measure();
  const auto before =
      std::find_if(looks_.begin(), looks_.end(),
                   [&](const Look& l) { return l.state == look.state; });
  if (before != looks_.end()) {
    Skip(*before, look, alike->end, flows);
    looks_.clear();
  } else {
    looks_.push_back(std::move(look));
  }
}

// What is under way may depend on nothing but alike rounds, also afterwards.
void RoundSkipper::Skip(const Look& before, const Look& now, uint64_t end,
                        FlowRun& flows) {
  const uint64_t per_round = flows.graph().flows_per_round();
  const uint64_t last = carrier_.LastUnderWay() / per_round;
  const uint64_t period = now.round - before.round;
  if (last + 1 + period > end) return;
  const uint64_t times = (end - 1 - last) / period;
  flows.Skip(times * period);
  carrier_.Renumber(times * period * per_round);
  skipped_.push_back(
      {before.measured, now.measured, static_cast<int64_t>(times)});
  later_ += static_cast<int64_t>(times) * (now.time - before.time);
}

}  // namespace astra
