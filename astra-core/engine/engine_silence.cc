// The part of Engine that says why nothing happens any more.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/engine/engine.h"
#include "fmt/core.h"

namespace astra {

// Returns the error for ranks that wait when nothing is left to happen: which
// ranks wait, and for what.
absl::Status Engine::Silence() {
  constexpr size_t kMaxNamed = 4;
  last_event_ = std::max(last_event_, collectives_.last_give_up());
  std::string who;
  size_t num_waiting = 0;
  std::vector<std::string> told;  // What ranks wait for, without repeats.
  for (uint32_t id = 0; id < actors_.size(); ++id) {
    const Actor& actor = actors_[id];
    for (uint32_t i = 0; i < actor.lanes.size(); ++i) {
      const Lane& lane = actor.lanes[i];
      // A call that waits for another lane of its rank is not the cause.
      if (lane.calls.empty() || IsBlocked(actor, LaneId(i))) continue;
      if (++num_waiting > kMaxNamed) continue;
      std::string what = WhatIsAwaited(lane);
      const bool is_told =
          std::find(told.begin(), told.end(), what) != told.end();
      who += fmt::format("; rank {} waits since {:.3f} us {}",
                         communicators_.classes.lowest_rank[id],
                         ToMicroseconds(lane.joined),
                         is_told ? "for the same" : what);
      if (!is_told) told.push_back(std::move(what));
    }
  }
  if (num_waiting == 0) {
    return absl::InternalError(
        fmt::format("nothing is left to happen after {:.3f} us{}; no other "
                    "rank waits for it",
                    ToMicroseconds(last_event_), DescribeDead()));
  }
  if (num_waiting > kMaxNamed) {
    who += fmt::format("; and {} more", num_waiting - kMaxNamed);
  }
  who = DescribeDead() + who;
  const std::string why = collectives_.WhyStuck();
  return absl::InternalError(fmt::format(
      "nothing is left to happen after {:.3f} us, but {} rank(s) wait{}{}{}",
      ToMicroseconds(last_event_), num_waiting, who,
      why.empty() ? "" : "; the network says: ", why));
}

// "; rank 3 is dead since 500.000 us".
std::string Engine::DescribeDead() const {
  std::string text;
  for (const SpeedChange& change : options_.speed_changes) {
    if (change.speed != 0 || change.time > collectives_.now()) continue;
    text += fmt::format("; rank {} is dead since {:.3f} us", change.rank,
                        ToMicroseconds(change.time));
  }
  return text;
}

std::string Engine::WhatIsAwaited(const Lane& lane) const {
  const Call& call = lane.calls.front();
  const Communicator& group = communicators_.list[call.communicator.index()];
  return fmt::format(
      "in layer {} ({}) for the {} of {} over {}, {} ranks from rank {}, which "
      "lacks {}",
      layer_names_[call.layer.index()], Name(call.phase),
      Name(call.communication.kind), call.communication.bytes,
      Name(call.communication.dimension), group.ranks.size(),
      group.ranks.front(), collectives_.WhatIsMissing(call.communicator));
}

}  // namespace astra
