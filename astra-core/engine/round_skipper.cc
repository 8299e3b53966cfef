#include "astra-core/engine/round_skipper.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "astra-core/base/random.h"

namespace astra {

RoundSkipper::RoundSkipper(const CollectiveRegion& region,
                           const CarriedFlow& of,
                           std::function<uint64_t()> num_messages,
                           FlowCarrier& carrier, NetworkBackend& network)
    : region_(&region),
      of_(of),
      num_messages_(std::move(num_messages)),
      carrier_(carrier),
      network_(network),
      traffic_(region.links.size()) {
  for (const Rounds& each : region.facts->rounds) {
    Level& level = levels_.emplace_back();
    level.rounds = &each;
  }
}

bool RoundSkipper::Meets(const RoundSkipper& other) const {
  const std::vector<LinkId>& a = region_->links;
  const std::vector<LinkId>& b = other.region_->links;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (*i == *j) return true;
    *i < *j ? ++i : ++j;
  }
  return false;
}

// While congestion control is at rest, a queue pair sends whenever its data
// takes time at its NIC.
void RoundSkipper::AddSkipped(absl::Span<const LinkId> links,
                              Measurement* to) const {
  if (skipped_.empty()) return;
  to->num_flows += num_flows_;
  for (size_t i = 0; i < traffic_.size(); ++i) {
    const LinkId link = region_->links[i];
    const auto place = std::lower_bound(links.begin(), links.end(), link);
    to->links[static_cast<size_t>(place - links.begin())].AddBetween(
        {}, traffic_[i], 1);
    to->num_packet_hops += traffic_[i].packets;
    if (!std::binary_search(region_->first_links.begin(),
                            region_->first_links.end(), link)) {
      continue;
    }
    to->num_data_packets += traffic_[i].data_packets;
    to->sending += traffic_[i].data_busy;
  }
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
  return later_;
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

  CarriedFlow first = of_;
  first.flow = FlowId(round * per_round);
  ReplaySupport& network = *network_.replay();
  const auto label = [&](MessageId message) {
    return carrier_.FlowOf(message).flow.index() - first.flow.index();
  };
  const std::optional<uint64_t> state =
      network.StateOf(region_->connections, region_->links, label);
  if (!state) return false;
  Look look;
  look.round = round;
  look.state = HashOf(*state, carrier_.StateFrom(first),
                      flows.StateFrom(round, per_round));
  look.num_messages = num_messages_();
  look.time = network_.now() + later_;
  look.traffic = network.TrafficOf(region_->links);
  for (size_t i = 0; i < traffic_.size(); ++i) {
    look.traffic[i].AddBetween({}, traffic_[i], 1);
  }
  const auto before =
      std::find_if(level.looks.begin(), level.looks.end(),
                   [&](const Look& l) { return l.state == look.state; });
  if (before == level.looks.end()) {
    level.looks.push_back(std::move(look));
    return false;
  }
  const bool has_skipped = Skip(*before, look, run->end, per_round, flows);
  level.looks.clear();
  if (!has_skipped) return false;
  // Looks at shorter rounds do not tell what has been skipped since. Those at
  // longer ones do.
  const auto place = static_cast<size_t>(&level - levels_.data());
  for (size_t i = place; i < levels_.size(); ++i) levels_[i].looks.clear();
  return true;
}

// What is under way may depend on nothing but alike rounds, also afterwards.
bool RoundSkipper::Skip(const Look& before, const Look& now, uint64_t end,
                        uint64_t per_round, FlowRun& flows) {
  const uint64_t last = carrier_.LastUnderWay(of_) / per_round;
  const uint64_t period = now.round - before.round;
  if (last + 1 + period > end) return false;
  const uint64_t times = (end - 1 - last) / period;
  const uint64_t flows_skipped = times * period * per_round;
  flows.Skip(times * period, per_round);
  carrier_.Renumber(of_, flows_skipped);
  const auto repeated = static_cast<int64_t>(times);
  skipped_.push_back({before.num_messages, now.num_messages, repeated,
                      now.time - before.time});
  later_ += repeated * (now.time - before.time);
  num_flows_ += flows_skipped;
  for (size_t i = 0; i < traffic_.size(); ++i) {
    traffic_[i].AddBetween(before.traffic[i], now.traffic[i], repeated);
  }
  return true;
}

}  // namespace astra
