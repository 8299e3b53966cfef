#include "astra-core/engine/round_skipper.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "astra-core/base/random.h"

namespace astra {
namespace {

// Adds `times` times what came between two measurements.
void Add(const Measurement& first, const Measurement& last, int64_t times,
         Measurement* to) {
  const auto factor = static_cast<uint64_t>(times);
  to->links.resize(last.links.size());
  for (size_t i = 0; i < to->links.size(); ++i) {
    to->links[i].AddBetween(first.links[i], last.links[i], times);
  }
  to->num_flows += factor * (last.num_flows - first.num_flows);
  to->num_data_packets +=
      factor * (last.num_data_packets - first.num_data_packets);
  to->num_packet_hops +=
      factor * (last.num_packet_hops - first.num_packet_hops);
  to->sending += times * (last.sending - first.sending);
  to->sending_slowly += times * (last.sending_slowly - first.sending_slowly);
  to->quiet += times * (last.quiet - first.quiet);
}

}  // namespace

RoundSkipper::RoundSkipper(const std::vector<Rounds>& rounds,
                           const std::vector<Connection>& connections,
                           FlowCarrier& carrier, NetworkBackend& network)
    : connections_(connections), carrier_(carrier), network_(network) {
  for (const Rounds& each : rounds) {
    Level& level = levels_.emplace_back();
    level.rounds = &each;
  }
}

void RoundSkipper::AddSkipped(Measurement* to) const {
  if (skipped_.empty()) return;
  Measurement nothing;
  nothing.links.resize(not_simulated_.links.size());
  Add(nothing, not_simulated_, 1, to);
}

// Skipping long rounds renumbers flows, so that shorter ones are looked at
// later.
TimePs RoundSkipper::AfterArrivals(absl::Span<const CarriedFlow> arrived,
                                   FlowRun& flows) {
  for (Level& level : levels_) {
    const uint64_t per_round = level.rounds->num_flows;
    const auto first = std::find_if(
        arrived.begin(), arrived.end(),
        [&](const auto& flow) { return flow.flow.index() % per_round == 0; });
    if (first == arrived.end()) continue;
    if (LookAt(first->flow.index() / per_round, level, flows)) break;
  }
  return not_simulated_.quiet;
}

bool RoundSkipper::LookAt(uint64_t round, Level& level, FlowRun& flows) {
  const auto& [per_round, alike] = *level.rounds;
  const auto run =
      std::find_if(alike.begin(), alike.end(), [round](const AlikeRounds& a) {
        return round >= a.begin && round < a.end;
      });
  if (run == alike.end() || flows.is_done()) return false;
  if (run->begin != level.section) level.looks.clear();
  level.section = run->begin;
  if (level.looks.size() >= kMaxLooks) return false;

  const uint64_t first = round * per_round;
  ReplaySupport& network = *network_.replay();
  const auto label = [&](MessageId message) {
    return carrier_.FlowOf(message).flow.index() - first;
  };
  const std::optional<uint64_t> state = network.StateOf(connections_, label);
  if (!state) return false;
  Look look;
  look.round = round;
  look.state = HashOf(*state, carrier_.StateFrom(first),
                      flows.StateFrom(round, per_round));
  look.measured = network.Measure();
  look.num_messages = look.measured.num_flows;
  AddSkipped(&look.measured);
  const auto before =
      std::find_if(level.looks.begin(), level.looks.end(),
                   [&](const Look& l) { return l.state == look.state; });
  if (before == level.looks.end()) {
    level.looks.push_back(std::move(look));
    return false;
  }
  const bool has_skipped = Skip(*before, look, run->end, per_round, flows);
  level.looks.clear();
  // Looks at shorter rounds do not tell what has been skipped since.
  if (has_skipped) {
    for (Level& each : levels_) each.looks.clear();
  }
  return has_skipped;
}

// What is under way may depend on nothing but alike rounds, also afterwards.
bool RoundSkipper::Skip(const Look& before, const Look& now, uint64_t end,
                        uint64_t per_round, FlowRun& flows) {
  const uint64_t last = carrier_.LastUnderWay() / per_round;
  const uint64_t period = now.round - before.round;
  if (last + 1 + period > end) return false;
  const uint64_t times = (end - 1 - last) / period;
  flows.Skip(times * period, per_round);
  carrier_.Renumber(times * period * per_round);
  skipped_.push_back({before.num_messages, now.num_messages,
                      static_cast<int64_t>(times),
                      now.measured.quiet - before.measured.quiet});
  Add(before.measured, now.measured, static_cast<int64_t>(times),
      &not_simulated_);
  return true;
}

}  // namespace astra
