// Who uses which link and switch now: collectives that are replayed, each of
// which has its links for itself, and those that are simulated in earnest.

#ifndef ASTRA_CORE_ENGINE_LINK_CLAIMS_H_
#define ASTRA_CORE_ENGINE_LINK_CLAIMS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/replay_support.h"

namespace astra {

using ClaimId = Id<struct ClaimTag>;  // Of CollectiveReplays; never used again.
inline constexpr ClaimId kNoClaim(std::numeric_limits<uint32_t>::max());

class LinkClaims {
 public:
  explicit LinkClaims(size_t num_links)
      : claim_of_(num_links, kNoClaim), num_live_(num_links) {}

  // Returns the claims that have one of the links, each once.
  std::vector<ClaimId> ClaimsOn(absl::Span<const LinkId> links) const;
  // Returns whether a live collective has one of the links.
  bool HasLive(absl::Span<const LinkId> links) const;

  void Claim(ClaimId claim, absl::Span<const LinkId> links);
  void Release(absl::Span<const LinkId> links);
  void AddLive(absl::Span<const LinkId> links);
  void RemoveLive(absl::Span<const LinkId> links);

 private:
  std::vector<ClaimId> claim_of_;   // By link.
  std::vector<uint32_t> num_live_;  // By link.
};

// The most that collectives hold in the buffers of a switch at a time. Those
// that were there together feel nothing of one another if there is room for all
// of it; see ReplaySupport::HasRoomFor.
struct BufferUser {
  ClaimId claim = kNoClaim;  // Of a replay.
  uint64_t live = 0;         // What identifies a live collective.
  int64_t bytes = 0;
  TimePs until = kNever;  // When it is gone.
};

class BufferClaims {
 public:
  // `network` must outlive the object.
  explicit BufferClaims(const ReplaySupport& network) : network_(network) {}

  // Adds a user of `node`, and forgets those that were gone before `now`.
  void Add(NodeId node, const BufferUser& user, TimePs now);
  // Takes a replay away as if it had not been there.
  void Remove(NodeId node, ClaimId claim);
  // Says that a live collective is gone after `now`.
  void End(NodeId node, uint64_t live, TimePs now);

  bool HasRoom(NodeId node) const;
  // Returns whether a user of `node` is gone at `now`.
  bool HasGone(NodeId node, TimePs now) const;
  // Returns the replays that are there at `now`.
  std::vector<ClaimId> ClaimsAt(NodeId node, TimePs now) const;

 private:
  const ReplaySupport& network_;
  std::map<NodeId, std::vector<BufferUser>> users_;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_LINK_CLAIMS_H_
