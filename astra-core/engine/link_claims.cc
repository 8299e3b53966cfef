#include "astra-core/engine/link_claims.h"

#include <algorithm>

namespace astra {

std::vector<ClaimId> LinkClaims::ClaimsOn(
    absl::Span<const LinkId> links) const {
  std::vector<ClaimId> claims;
  for (const LinkId link : links) {
    const ClaimId claim = claim_of_[link.index()];
    if (claim != kNoClaim) claims.push_back(claim);
  }
  std::sort(claims.begin(), claims.end());
  claims.erase(std::unique(claims.begin(), claims.end()), claims.end());
  return claims;
}

bool LinkClaims::HasLive(absl::Span<const LinkId> links) const {
  return std::any_of(links.begin(), links.end(), [this](LinkId link) {
    return num_live_[link.index()] > 0;
  });
}

void LinkClaims::Claim(ClaimId claim, absl::Span<const LinkId> links) {
  for (const LinkId link : links) claim_of_[link.index()] = claim;
}

void LinkClaims::Release(absl::Span<const LinkId> links) {
  for (const LinkId link : links) claim_of_[link.index()] = kNoClaim;
}

void LinkClaims::AddLive(absl::Span<const LinkId> links) {
  for (const LinkId link : links) ++num_live_[link.index()];
}

void LinkClaims::RemoveLive(absl::Span<const LinkId> links) {
  for (const LinkId link : links) --num_live_[link.index()];
}

void BufferClaims::Add(NodeId node, const BufferUser& user, TimePs now) {
  std::vector<BufferUser>& users = users_[node];
  users.erase(
      std::remove_if(users.begin(), users.end(),
                     [now](const BufferUser& u) { return u.until <= now; }),
      users.end());
  users.push_back(user);
}

void BufferClaims::Remove(NodeId node, ClaimId claim) {
  std::vector<BufferUser>& users = users_[node];
  users.erase(
      std::remove_if(users.begin(), users.end(),
                     [claim](const BufferUser& u) { return u.claim == claim; }),
      users.end());
}

void BufferClaims::End(NodeId node, uint64_t live, TimePs now) {
  for (BufferUser& user : users_[node]) {
    const bool is_it =
        user.claim == kNoClaim && user.live == live && user.until == kNever;
    if (is_it) user.until = now;
  }
}

bool BufferClaims::HasRoom(NodeId node) const {
  const auto found = users_.find(node);
  if (found == users_.end() || found->second.size() < 2) return true;
  constexpr int64_t kTooMany = int64_t{1} << 48;
  int64_t sum = 0;
  int64_t largest = 0;
  for (const BufferUser& user : found->second) {
    if (user.bytes > kTooMany) return false;
    sum += user.bytes;
    largest = std::max(largest, user.bytes);
  }
  return network_.HasRoomFor(node, sum, largest);
}

bool BufferClaims::HasGone(NodeId node, TimePs now) const {
  const auto found = users_.find(node);
  return found != users_.end() &&
         std::any_of(found->second.begin(), found->second.end(),
                     [now](const BufferUser& u) { return u.until <= now; });
}

std::vector<ClaimId> BufferClaims::ClaimsAt(NodeId node, TimePs now) const {
  std::vector<ClaimId> claims;
  const auto found = users_.find(node);
  if (found == users_.end()) return claims;
  for (const BufferUser& user : found->second) {
    if (user.claim != kNoClaim && user.until > now) {
      claims.push_back(user.claim);
    }
  }
  return claims;
}

}  // namespace astra
