#include "astra-core/engine/lone_run.h"

#include <algorithm>

#include "astra-core/base/status_macros.h"
#include "astra-core/base/units.h"
#include "astra-core/base/wall_pace.h"
#include "astra-core/engine/flow_sending.h"

namespace astra {

size_t PositionOf(const CarriedFlow& flow,
                  absl::Span<const LoneCollective> collectives) {
  size_t position = 0;
  while (!AreOfOne(collectives[position].of, flow)) ++position;
  return position;
}

LoneRun::LoneRun(absl::Span<const LoneCollective> collectives,
                 FlowCarrier& carrier, NetworkBackend& network)
    : collectives_(collectives),
      carrier_(carrier),
      network_(network),
      later_(collectives.size()) {
  for (const LoneCollective& collective : collectives) {
    flows_.push_back(std::make_unique<FlowRun>(collective.messages.graph));
  }
}

bool LoneRun::is_done() const {
  return std::all_of(flows_.begin(), flows_.end(),
                     [](const auto& flows) { return flows->is_done(); });
}

std::vector<RankEnd> LoneRun::RunTo(TimePs limit) {
  std::vector<RankEnd> ends;
  Start(&ends);
  while (Advance(limit, &ends)) {
  }
  return ends;
}

absl::StatusOr<std::vector<RankEnd>> LoneRun::RunToEnd(
    const RunLimit& limit, absl::Span<RoundSkipper> skippers,
    const std::function<absl::Status()>& watch) {
  meets_.resize(skippers.size());
  for (size_t i = 0; i < skippers.size(); ++i) {
    for (size_t j = 0; j < skippers.size(); ++j) {
      if (i != j && skippers[i].Meets(skippers[j])) meets_[i].push_back(j);
    }
  }
  std::vector<RankEnd> ends;
  const uint64_t events_before = network_.work().events;
  Start(&ends);
  // The network goes on in slices, so that signals are answered. A slice in
  // which nothing arrives doubles the next one. Its length must not follow the
  // wall clock, since what is skipped depends on it.
  TimePs slice = Microseconds(100);
  WallPace pace;
  while (!is_done() && ends.size() < limit.ends &&
         network_.work().events - events_before < limit.events) {
    if (pace.IsDue()) ASTRA_RETURN_IF_ERROR(watch());
    const bool is_last = slice >= kMaxCollectiveTime;
    const TimePs until = is_last ? kNever : network_.now() + slice;
    if (Advance(until, &ends)) {
      SkipRounds(skippers);
    } else if (is_last) {
      break;  // Nothing happens any more.
    } else {
      slice += slice;
    }
  }
  std::stable_sort(
      ends.begin(), ends.end(),
      [](const RankEnd& a, const RankEnd& b) { return a.time < b.time; });
  return ends;
}

// Skips rounds of collectives that have flows done at this instant and meet
// none that goes on.
void LoneRun::SkipRounds(absl::Span<RoundSkipper> skippers) {
  const auto is_done = [this](size_t i) { return flows_[i]->is_done(); };
  for (size_t i = 0; i < skippers.size(); ++i) {
    const bool have_all_started = collectives_[i].starts.size() ==
                                  collectives_[i].messages.graph->num_ranks();
    if (is_done(i) || !have_all_started ||
        !std::all_of(meets_[i].begin(), meets_[i].end(), is_done)) {
      continue;
    }
    done_of_one_.clear();
    for (const CarriedFlow& done : done_) {
      if (AreOfOne(done, collectives_[i].of)) done_of_one_.push_back(done);
    }
    if (done_of_one_.empty()) continue;
    later_[i] = skippers[i].AfterArrivals(done_of_one_, *flows_[i]);
  }
}

void LoneRun::Start(std::vector<RankEnd>* ends) {
  for (const auto& [start, collective] : StartsInOrder(collectives_)) {
    while (Advance(start.time, ends)) {
    }
    ready_.clear();
    flows_[collective]->Join(start.rank, &ready_);
    SendFlows(ready_, collectives_[collective].of,
              collectives_[collective].messages, carrier_);
  }
}

// Handles the flows of the next instant, but not beyond `limit`. Returns
// whether there were any.
bool LoneRun::Advance(TimePs limit, std::vector<RankEnd>* ends) {
  done_.clear();
  carrier_.AdvanceTo(limit, &done_);
  if (done_.empty()) return false;
  batch_ = network_.now() == last_ ? batch_ + 1 : 0;
  last_ = network_.now();
  for (const CarriedFlow& done : done_) {
    const size_t position = PositionOf(done, collectives_);
    ready_.clear();
    finished_.clear();
    flows_[position]->Arrive(done.flow, &ready_, &finished_);
    SendFlows(ready_, collectives_[position].of,
              collectives_[position].messages, carrier_);
    for (const GroupRank rank : finished_) {
      ends->push_back({network_.now() + later_[position],
                       static_cast<uint32_t>(position), done.flow, rank,
                       batch_});
    }
  }
  return true;
}

}  // namespace astra
