#include "astra-core/engine/collective_replays.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/units.h"

namespace astra {
namespace {

uint64_t LiveNumber(const CarriedFlow& of) {
  return uint64_t{of.communicator} << 32 | of.number;
}

}  // namespace

CollectiveReplays::CollectiveReplays(LoneCollectives& lone,
                                     NetworkBackend& network)
    : lone_(lone),
      network_(network),
      support_(*network.replay()),
      links_(support_.topology().links().size()),
      buffers_(support_) {}

ClaimId CollectiveReplays::Claim(const CarriedFlow& of,
                                 const CollectiveRegion& region,
                                 GroupRank rank) {
  EndQuietClaims(network_.now());
  const std::vector<ClaimId> others = links_.ClaimsOn(region.links);
  const bool can_be = lone_.IsReplayable(region) &&
                      !links_.HasLive(region.links) && IsIdle(region);
  if (!can_be || !CanMerge(others)) {
    Evict(others);
    return kNoClaim;
  }
  const ClaimId id(num_claims_++);
  ReplayClaim& claim = claims_[id];
  Merge(others, id);
  claim.collectives.push_back({of, &region, {{network_.now(), rank}}});
  claim.region = &region;
  if (!others.empty()) {
    claim.region = &lone_.JointRegionOf(claim.collectives);
    if (!lone_.IsReplayable(*claim.region)) evicted_.push_back(id);
  }
  claim.turns = support_.TurnsOf(claim.region->connections);
  links_.Claim(id, claim.region->links);
  begins_.insert(claim.begin());
  open_.emplace(claim.begin(), id);
  return id;
}

// Others can be joined once all their kernels have started.
bool CollectiveReplays::CanMerge(const std::vector<ClaimId>& claims) const {
  size_t count = 1;
  for (const ClaimId id : claims) {
    const ReplayClaim& claim = claims_.at(id);
    count += claim.collectives.size();
    if (claim.result == nullptr) return false;
  }
  return count <= kMostTogether;
}

// Moves the collectives of `others` into one claim. Their next end is what
// comes first, unless all kernels of the new one have started before.
void CollectiveReplays::Merge(const std::vector<ClaimId>& others,
                              ClaimId into) {
  ReplayClaim& claim = claims_[into];
  TimePs deadline = kNever;
  for (const ClaimId id : others) {
    ReplayClaim other = TakeClaim(id);
    for (const RankEnd& end : other.result->ends) {
      const TimePs time = other.begin() + end.time;
      if (time > network_.now()) deadline = std::min(deadline, time);
    }
    for (StartedCollective& each : other.collectives) {
      claim.collectives.push_back(std::move(each));
    }
  }
  std::stable_sort(claim.collectives.begin(), claim.collectives.end(),
                   [](const StartedCollective& a, const StartedCollective& b) {
                     return a.starts.front().time < b.starts.front().time;
                   });
  if (deadline == kNever) return;
  ends_.push({.time = deadline - TimePs(1),
              .end = {.flow = {}, .rank = {}, .claim = into},
              .place = 0,
              .is_deadline = true});
}

bool CollectiveReplays::IsIdle(const CollectiveRegion& region) const {
  return std::all_of(region.links.begin(), region.links.end(),
                     [this](LinkId link) { return support_.IsIdle(link); }) &&
         support_.AreAtRest(region.connections);
}

absl::StatusOr<bool> CollectiveReplays::Start(ClaimId id, GroupRank rank) {
  ReplayClaim& claim = claims_.at(id);
  StartedCollective& started = claim.collectives.back();
  started.starts.push_back({network_.now(), rank});
  const uint32_t num_ranks = started.region->messages.layout->num_ranks();
  if (started.starts.size() < num_ranks) return true;
  const TimePs begin = claim.begin();
  ASTRA_RETURN_IF_ERROR(
      lone_.RoundStarts(claim.turns, absl::MakeSpan(claim.collectives)));
  begins_.erase(begins_.find(begin));
  open_.erase({begin, id});
  begins_.insert(claim.begin());
  open_.emplace(claim.begin(), id);
  return Resolve(id);
}

// Finds out how the collectives of a claim go, all of whose kernels have
// started. Who was at their switches since the first start counts.
absl::StatusOr<bool> CollectiveReplays::Resolve(ClaimId id) {
  ReplayClaim& claim = claims_.at(id);
  const CollectiveRegion& region = *claim.region;
  ASTRA_ASSIGN_OR_RETURN(
      const LoneResult* result,
      lone_.ResultOf(region, claim.collectives, claim.turns));
  if (!result->is_regular) return false;
  const TimePs since = FirstOpenStart();
  const TimePs now = network_.now();
  const TimePs begin = claim.begin();
  bool has_room = true;
  for (size_t i = 0; i < region.switches.size(); ++i) {
    const NodeId node = region.switches[i];
    buffers_.Add(node,
                 {.claim = id,
                  .live = 0,
                  .bytes = result->measured.peak_bytes[i],
                  .until = begin + result->measured.quiet},
                 since);
    if (buffers_.HasRoom(node)) continue;
    has_room = false;
    if (buffers_.HasGone(node, now)) {
      return absl::UnavailableError("replays that have ended shared buffers");
    }
  }
  if (!has_room) return false;
  open_.erase({begin, id});
  claim.result = result;
  quiet_.emplace(claim.quiet(), id);
  for (uint32_t i = 0; i < result->ends.size(); ++i) {
    const auto& [time, collective, flow, rank, batch] = result->ends[i];
    const CarriedFlow& of = claim.collectives[collective].of;
    // A collective that was here before may have had results before now.
    ends_.push({.time = std::max(now, begin + time),
                .end = {.flow = {of.communicator, of.number, flow},
                        .rank = rank,
                        .claim = id,
                        .collective = collective,
                        .is_late = begin + time <= now},
                .batch = batch,
                .place = i});
  }
  return true;
}

void CollectiveReplays::AddLive(const CarriedFlow& of,
                                const CollectiveRegion& region) {
  const TimePs now = network_.now();
  EndQuietClaims(now);
  Evict(links_.ClaimsOn(region.links));
  links_.AddLive(region.links);
  for (size_t i = 0; i < region.switches.size(); ++i) {
    const NodeId node = region.switches[i];
    buffers_.Add(node,
                 {.claim = kNoClaim,
                  .live = LiveNumber(of),
                  .bytes = region.most_at_switch[i]},
                 FirstOpenStart());
    if (!buffers_.HasRoom(node)) Evict(buffers_.ClaimsAt(node, now));
  }
}

void CollectiveReplays::RemoveLive(const CarriedFlow& of,
                                   const CollectiveRegion& region) {
  links_.RemoveLive(region.links);
  for (const NodeId node : region.switches) {
    buffers_.End(node, LiveNumber(of), network_.now());
  }
}

void CollectiveReplays::Evict(const std::vector<ClaimId>& claims) {
  for (const ClaimId id : claims) {
    if (std::find(evicted_.begin(), evicted_.end(), id) == evicted_.end()) {
      evicted_.push_back(id);
    }
  }
}

ReplayClaim CollectiveReplays::TakeClaim(ClaimId id) {
  const auto found = claims_.find(id);
  ReplayClaim claim = std::move(found->second);
  claims_.erase(found);
  links_.Release(claim.region->links);
  for (const NodeId node : claim.region->switches) buffers_.Remove(node, id);
  begins_.erase(begins_.find(claim.begin()));
  open_.erase({claim.begin(), id});
  if (claim.result != nullptr) quiet_.erase({claim.quiet(), id});
  return claim;
}

bool CollectiveReplays::has_ends() {
  DropTakenEnds();
  return !ends_.empty();
}

TimePs CollectiveReplays::next_end() {
  DropTakenEnds();
  return ends_.empty() ? kNever : ends_.top().time;
}

void CollectiveReplays::DropTakenEnds() {
  while (!ends_.empty() && !has_claim(ends_.top().end.claim)) ends_.pop();
}

std::vector<ReplayedEnd> CollectiveReplays::TakeEnds() {
  std::vector<ReplayedEnd> ends;
  while (next_end() == network_.now()) {
    const DueEnd due = ends_.top();
    ends_.pop();
    if (!due.is_deadline) {
      ends.push_back(due.end);
    } else if (claims_.at(due.end.claim).result == nullptr) {
      Evict({due.end.claim});
    }
  }
  return ends;
}

// Ends the claims that are quiet at `until`: they are as good as simulated.
void CollectiveReplays::EndQuietClaims(TimePs until) {
  while (!quiet_.empty() && quiet_.begin()->first <= until) {
    const ClaimId id = quiet_.begin()->second;
    const auto found = claims_.find(id);
    const ReplayClaim& claim = found->second;
    const CollectiveRegion& region = *claim.region;
    support_.Replay(claim.result->measured, region.links, region.connections);
    links_.Release(region.links);
    begins_.erase(begins_.find(claim.begin()));
    claims_.erase(found);
    quiet_.erase(quiet_.begin());
  }
}

TimePs CollectiveReplays::FirstBegin() {
  EndQuietClaims(network_.now());
  return begins_.empty() ? network_.now() : *begins_.begin();
}

// Returns when the first of the claims without a result began, or now.
TimePs CollectiveReplays::FirstOpenStart() const {
  return open_.empty() ? network_.now()
                       : std::min(network_.now(), open_.begin()->first);
}

void CollectiveReplays::Finish() {
  TimePs last = network_.now();
  if (!quiet_.empty()) last = std::max(last, quiet_.rbegin()->first);
  EndQuietClaims(kNever);
  support_.CountSimulated(lone_.TakeSimulatedHops());
  std::vector<MessageId> arrived;
  network_.AdvanceTo(last, &arrived);
  ASTRA_CHECK(arrived.empty(), "messages arrive after the end");
}

}  // namespace astra
