// Collectives that are counted again instead of being simulated: which they are
// now, when their ranks have their results, and when they cannot be any more.
//
// A collective claims its links when its first message could leave. Once all
// kernels have started, how it goes is known (lone_collectives.h), and the ends
// of its ranks are all that happens. If another collective comes to one of its
// links before the last acknowledgement has gone, the two share a claim and go
// as they do together. How they go is found out only when one of them could
// have a result, for others may come before; it holds until another kernel of
// the claim starts. Where they cannot share a claim, or if buffers that it
// shares with others could become short, it must be simulated in earnest from
// its beginning: its claim is then given to the caller. The same happens where
// collectives that met are many or large, so that simulating all of them anew
// for each other that comes would cost more.

#ifndef ASTRA_CORE_ENGINE_COLLECTIVE_REPLAYS_H_
#define ASTRA_CORE_ENGINE_COLLECTIVE_REPLAYS_H_

#include <cstdint>
#include <map>
#include <queue>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/engine/flow_carrier.h"
#include "astra-core/engine/link_claims.h"
#include "astra-core/engine/lone_collectives.h"
#include "network-frontends/network_backend.h"

namespace astra {

struct ReplayClaim {
  // The collectives that share the claim because they met on links.
  std::vector<StartedCollective> collectives;
  const CollectiveRegion* region = nullptr;  // Of all.
  Turns turns;                               // As the first kernel started.
  // How it goes if no other kernel starts; none if that is not known.
  const LoneResult* result = nullptr;
  uint32_t num_results = 0;    // Ends of earlier results are void.
  TimePs next_end = kNever;    // Without a result: no rank has one before.
  bool has_told_ends = false;  // Of a result that was not whole.
  uint64_t events_spent = 0;   // Simulated to find its results.

  bool is_whole() const { return result != nullptr && result->is_whole; }
  TimePs begin() const { return collectives.front().starts.front().time; }
  // Requires is_whole().
  TimePs quiet() const { return begin() + result->measured.quiet; }
};

// A rank of a replayed collective that has its result.
struct ReplayedEnd {
  CarriedFlow flow;  // The last that the rank sent or received.
  GroupRank rank;
  ClaimId claim;
  uint32_t collective = 0;  // Its position in the claim.
  uint32_t batch = 0;       // As in RankEnd.
  bool is_late = false;     // It had its result before all had started.
};

class CollectiveReplays {
 public:
  // All must outlive the object. `network` must have ReplaySupport.
  CollectiveReplays(LoneCollectives& lone, NetworkBackend& network);

  LoneCollectives& lone() { return lone_; }

  // The first message of a collective may leave, after the kernel of `rank` has
  // started. Returns its claim, or kNoClaim if it must be simulated in earnest.
  // If the collective meets others on links, all of them become one claim.
  ClaimId Claim(const CarriedFlow& of, const CollectiveRegion& region,
                GroupRank rank);

  // Another kernel of a collective that has a claim starts.
  //
  // Errors, also below: those of LoneCollectives; Unavailable if a collective
  // that has ended should not have been counted.
  absl::Status Start(const CarriedFlow& of, GroupRank rank);

  // A collective is simulated in earnest from now on, or has come to its end:
  // it sends no more messages, but keeps its links until its last packet has
  // gone.
  void AddLive(const CarriedFlow& of, const CollectiveRegion& region);
  void RemoveLive(const CarriedFlow& of, const CollectiveRegion& region);

  // The claims that what was called since the last time has made impossible.
  bool has_evicted() const { return !evicted_.empty(); }
  std::vector<ClaimId> TakeEvicted() { return std::exchange(evicted_, {}); }
  bool has_claim(ClaimId claim) const { return claims_.count(claim) > 0; }
  const ReplayClaim& claim(ClaimId claim) const { return claims_.at(claim); }
  // Returns when the first claim began that is not quiet, or now.
  TimePs FirstBegin();
  // Takes a claim away, with all that is still to come of it.
  ReplayClaim TakeClaim(ClaimId claim);

  // Whether ranks are still to have results, and when the next has.
  bool has_ends();
  TimePs next_end();
  // Moves out the ends of now(), in the order in which their flows were done.
  absl::StatusOr<std::vector<ReplayedEnd>> TakeEnds();

  // Adds all that has been replayed to the network, and lets it go on until the
  // last packet has gone.
  void Finish();

 private:
  struct DueEnd {
    TimePs time;
    ReplayedEnd end;
    uint32_t place = 0;        // Among the ends of its claim.
    uint32_t result = 0;       // The number of the result.
    bool is_deadline = false;  // By then the claim must have a result.
  };
  struct Later {
    bool operator()(const DueEnd& a, const DueEnd& b) const {
      return std::tie(a.time, a.end.batch, a.end.flow, a.place) >
             std::tie(b.time, b.end.batch, b.end.flow, b.place);
    }
  };

  // A collective, by communicator and number.
  using CollectiveKey = std::pair<uint32_t, uint32_t>;

  // Most collectives of a claim. Each that joins may have all simulated anew.
  static constexpr size_t kMostTogether = 64;
  // So many times what it takes to simulate the collectives of a claim in
  // earnest may be spent on its results, which may serve others.
  static constexpr uint64_t kMostTimes = 2;

  static CollectiveKey KeyOf(const CarriedFlow& of) {
    return {of.communicator, of.number};
  }
  bool CanMerge(const std::vector<ClaimId>& claims) const;
  void Merge(const std::vector<ClaimId>& others, ClaimId into);
  TimePs NextEndOf(const ReplayClaim& claim) const;
  void ExpectEnd(ClaimId id, TimePs time);
  absl::Status OnAllStarted(ClaimId id, size_t position);
  absl::Status Resolve(ClaimId id);
  bool CostsTooMuch(const ReplayClaim& claim, const LoneResult& result) const;
  absl::StatusOr<bool> TakeRoom(ClaimId id, const LoneResult& result);
  absl::Status RegretAt(NodeId node, const ReplayClaim& claim);
  bool IsVoid(const DueEnd& due) const;
  void Evict(const std::vector<ClaimId>& claims);
  void EndQuietClaims(TimePs until);
  void DropTakenEnds();
  void ReleaseGone();
  bool IsIdle(const CollectiveRegion& region) const;
  TimePs FirstOpenStart() const;

  LoneCollectives& lone_;
  NetworkBackend& network_;
  ReplaySupport& support_;
  LinkClaims links_;
  BufferClaims buffers_;
  std::map<ClaimId, ReplayClaim> claims_;
  // Were simulated in earnest, came to their ends, and still have packets.
  std::vector<std::pair<CarriedFlow, const CollectiveRegion*>> leaving_;
  uint64_t num_starts_ = 0;  // Of kernels.
  uint32_t num_claims_ = 0;
  std::multiset<TimePs> begins_;                // Of all claims.
  std::map<CollectiveKey, ClaimId> starting_;   // Not all kernels have started.
  std::set<std::pair<TimePs, ClaimId>> open_;   // First starts; not whole yet.
  std::set<std::pair<TimePs, ClaimId>> quiet_;  // Ends of what is whole.
  std::priority_queue<DueEnd, std::vector<DueEnd>, Later> ends_;
  std::vector<ClaimId> evicted_;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_COLLECTIVE_REPLAYS_H_
