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
      buffers_(support_) {
  support_.SkipPackets(0);
}

ClaimId CollectiveReplays::Claim(const CarriedFlow& of,
                                 const CollectiveRegion& region,
                                 GroupRank rank) {
  EndQuietClaims(network_.now());
  ReleaseGone();
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
  claim.collectives.push_back(
      {of, &region, {{network_.now(), rank, num_starts_++}}});
  starting_[KeyOf(of)] = id;
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

bool CollectiveReplays::CanMerge(const std::vector<ClaimId>& claims) const {
  size_t count = 1;
  for (const ClaimId id : claims) count += claims_.at(id).collectives.size();
  return count <= kMostTogether;
}

// Moves the collectives of `others` into one claim.
void CollectiveReplays::Merge(const std::vector<ClaimId>& others,
                              ClaimId into) {
  ReplayClaim& claim = claims_[into];
  TimePs next_end = kNever;
  for (const ClaimId id : others) {
    ReplayClaim other = TakeClaim(id);
    next_end = std::min(next_end, NextEndOf(other));
    claim.has_told_ends = claim.has_told_ends || other.has_told_ends;
    claim.events_spent += other.events_spent;
    for (StartedCollective& each : other.collectives) {
      if (!each.have_all_started()) starting_[KeyOf(each.of)] = into;
      claim.collectives.push_back(std::move(each));
    }
  }
  std::stable_sort(claim.collectives.begin(), claim.collectives.end(),
                   [](const StartedCollective& a, const StartedCollective& b) {
                     return a.starts.front().time < b.starts.front().time;
                   });
  ExpectEnd(into, next_end);
}

// Returns before when no rank of a claim has its result if others come. They
// delay it, but for the little that another order of packets can make.
TimePs CollectiveReplays::NextEndOf(const ReplayClaim& claim) const {
  constexpr TimePs kLittle = Microseconds(10);
  if (claim.result == nullptr) return claim.next_end;
  const TimePs now = network_.now();
  for (const RankEnd& end : claim.result->ends) {
    const TimePs wait = claim.begin() + end.time - now;
    if (wait <= TimePs(0)) continue;
    return now +
           std::max(TimePs(0), wait - std::max(kLittle, ShareOf(0.25, wait)));
  }
  return kNever;
}

// Says that a rank of a claim, which has no result, may have its result at
// `time`.
void CollectiveReplays::ExpectEnd(ClaimId id, TimePs time) {
  ReplayClaim& claim = claims_.at(id);
  if (time >= claim.next_end) return;
  claim.next_end = time;
  ends_.push({.time = std::max(network_.now(), time - TimePs(1)),
              .end = {.flow = {}, .rank = {}, .claim = id},
              .place = 0,
              .is_deadline = true});
}

bool CollectiveReplays::IsIdle(const CollectiveRegion& region) const {
  return std::all_of(region.links.begin(), region.links.end(),
                     [this](LinkId link) { return support_.IsIdle(link); }) &&
         support_.AreAtRest(region.connections);
}

absl::Status CollectiveReplays::Start(const CarriedFlow& of, GroupRank rank) {
  const auto starting = starting_.find(KeyOf(of));
  const ClaimId id = starting->second;
  ReplayClaim& claim = claims_.at(id);
  if (claim.result != nullptr) {
    const TimePs next_end = NextEndOf(claim);
    claim.result = nullptr;
    claim.next_end = kNever;
    ExpectEnd(id, next_end);
  }
  const auto started = std::find_if(
      claim.collectives.begin(), claim.collectives.end(),
      [&](const StartedCollective& each) { return AreOfOne(each.of, of); });
  started->starts.push_back({network_.now(), rank, num_starts_++});
  if (!started->have_all_started()) return absl::OkStatus();
  starting_.erase(starting);
  return OnAllStarted(id,
                      static_cast<size_t>(started - claim.collectives.begin()));
}

absl::Status CollectiveReplays::OnAllStarted(ClaimId id, size_t position) {
  ReplayClaim& claim = claims_.at(id);
  StartedCollective& started = claim.collectives[position];
  if (claim.collectives.size() > 1) {
    ExpectEnd(id, started.starts.front().time + started.region->least_time);
    return absl::OkStatus();
  }
  begins_.erase(begins_.find(claim.begin()));
  open_.erase({claim.begin(), id});
  ASTRA_RETURN_IF_ERROR(lone_.RoundStarts(claim.turns, started));
  begins_.insert(claim.begin());
  open_.emplace(claim.begin(), id);
  return Resolve(id);
}

// Finds out how the collectives of a claim go.
absl::Status CollectiveReplays::Resolve(ClaimId id) {
  ReplayClaim& claim = claims_.at(id);
  const uint64_t events_before = lone_.num_events();
  ASTRA_ASSIGN_OR_RETURN(
      const LoneResult* result,
      lone_.ResultOf(*claim.region, claim.collectives, claim.turns));
  claim.events_spent += lone_.num_events() - events_before;
  bool can_be = result->is_regular && !CostsTooMuch(claim, *result);
  if (can_be && result->is_whole) {
    ASTRA_ASSIGN_OR_RETURN(can_be, TakeRoom(id, *result));
  }
  if (!can_be) {
    Evict({id});
    return absl::OkStatus();
  }
  const TimePs now = network_.now();
  const TimePs begin = claim.begin();
  claim.result = result;
  ++claim.num_results;
  if (claim.is_whole()) {
    open_.erase({begin, id});
    quiet_.emplace(claim.quiet(), id);
  } else {
    claim.has_told_ends = true;
  }
  for (uint32_t i = 0; i < result->ends.size(); ++i) {
    const RankEnd& one = result->ends[i];
    const CarriedFlow& of = claim.collectives[one.collective].of;
    // A collective that was here before may have had results before now.
    const TimePs time = begin + one.time;
    ends_.push({.time = std::max(now, time),
                .end = {.flow = {of.communicator, of.number, one.flow},
                        .rank = result->RankOf(one, claim.collectives),
                        .claim = id,
                        .collective = one.collective,
                        .batch = one.batch,
                        .is_late = time <= now},
                .place = i,
                .result = claim.num_results});
  }
  return absl::OkStatus();
}

// Returns whether a claim had better be simulated in earnest: each collective
// that came had all of them simulated anew, from the beginning.
bool CollectiveReplays::CostsTooMuch(const ReplayClaim& claim,
                                     const LoneResult& result) const {
  return claim.collectives.size() > 1 &&
         claim.events_spent > kMostTimes * result.events_in_earnest;
}

// Returns whether there is room for a claim at its switches. Who was there
// since the first start counts.
absl::StatusOr<bool> CollectiveReplays::TakeRoom(ClaimId id,
                                                 const LoneResult& result) {
  const ReplayClaim& claim = claims_.at(id);
  const CollectiveRegion& region = *claim.region;
  const TimePs since = FirstOpenStart();
  bool has_room = true;
  for (size_t i = 0; i < region.switches.size(); ++i) {
    const NodeId node = region.switches[i];
    buffers_.Add(node,
                 {.claim = id,
                  .live = 0,
                  .bytes = result.measured.peak_bytes[i],
                  .until = claim.begin() + result.measured.quiet},
                 since);
    if (buffers_.HasRoom(node)) continue;
    has_room = false;
    if (claim.has_told_ends || buffers_.HasGone(node, network_.now())) {
      return RegretAt(node, claim);
    }
  }
  return has_room;
}

// Says that the collectives of a claim that pass a switch should not have been
// counted again.
absl::Status CollectiveReplays::RegretAt(NodeId node,
                                         const ReplayClaim& claim) {
  absl::Status status;
  for (const StartedCollective& each : claim.collectives) {
    const std::vector<NodeId>& switches = each.region->switches;
    if (!std::binary_search(switches.begin(), switches.end(), node)) continue;
    status = lone_.Regret(
        *each.region, "replays that are over shared the memory of a switch");
  }
  return status;
}

void CollectiveReplays::AddLive(const CarriedFlow& of,
                                const CollectiveRegion& region) {
  const TimePs now = network_.now();
  EndQuietClaims(now);
  ReleaseGone();
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
  leaving_.emplace_back(of, &region);
  ReleaseGone();
}

void CollectiveReplays::ReleaseGone() {
  const auto is_gone = [this](const auto& leaving) {
    const auto& [of, region] = leaving;
    if (support_.HaveUnderWay(region->connections)) return false;
    links_.RemoveLive(region->links);
    for (const NodeId node : region->switches) {
      buffers_.End(node, LiveNumber(of), network_.now());
    }
    return true;
  };
  leaving_.erase(std::remove_if(leaving_.begin(), leaving_.end(), is_gone),
                 leaving_.end());
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
  if (claim.is_whole()) quiet_.erase({claim.quiet(), id});
  for (const StartedCollective& each : claim.collectives) {
    if (!each.have_all_started()) starting_.erase(KeyOf(each.of));
  }
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
  while (!ends_.empty() && IsVoid(ends_.top())) ends_.pop();
}

bool CollectiveReplays::IsVoid(const DueEnd& due) const {
  const auto found = claims_.find(due.end.claim);
  if (found == claims_.end()) return true;
  const ReplayClaim& claim = found->second;
  const bool has_result = claim.result != nullptr;
  return due.is_deadline ? has_result
                         : !has_result || due.result != claim.num_results;
}

absl::StatusOr<std::vector<ReplayedEnd>> CollectiveReplays::TakeEnds() {
  std::vector<ReplayedEnd> ends;
  while (next_end() == network_.now()) {
    const DueEnd due = ends_.top();
    ends_.pop();
    if (due.is_deadline) {
      ASTRA_RETURN_IF_ERROR(Resolve(due.end.claim));
    } else {
      ends.push_back(due.end);
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
  support_.CountSimulated(lone_.TakeSimulatedHops(), lone_.num_events());
  std::vector<MessageId> arrived;
  network_.AdvanceTo(last, &arrived);
  ASTRA_CHECK(arrived.empty(), "messages arrive after the end");
}

}  // namespace astra
