#include "astra-core/physical/rank_sockets.h"

#include <algorithm>
#include <set>
#include <utility>

namespace astra {

RankSockets::RankSockets(const ConnectionPlan& plan, Poller& poller,
                         uint64_t first_token)
    : plan_(plan),
      poller_(poller),
      first_token_(first_token),
      num_outgoing_(plan.outgoing.size()),
      sockets_(num_outgoing_ + plan.incoming.size()) {}

std::optional<ConnectionPlace> RankSockets::Take(const ConnectionKey& key,
                                                 Socket socket) {
  const bool is_outgoing = key.source == plan_.rank;
  const std::vector<ConnectionKey>& keys =
      is_outgoing ? plan_.outgoing : plan_.incoming;
  const auto found = std::lower_bound(keys.begin(), keys.end(), key);
  if (found == keys.end() || *found != key) return std::nullopt;
  const ConnectionPlace place{is_outgoing,
                              static_cast<size_t>(found - keys.begin())};
  Socket& own = sockets_[Of(place)];
  if (own.is_open()) return std::nullopt;
  own = std::move(socket);
  Watch(place, {.reads = true});
  return place;
}

void RankSockets::Watch(ConnectionPlace place, Interest interest) {
  poller_.Change(At(place), first_token_ + Of(place), interest);
}

const ConnectionKey& RankSockets::KeyOf(ConnectionPlace place) const {
  return place.is_outgoing ? plan_.outgoing[place.index]
                           : plan_.incoming[place.index];
}

RankId RankSockets::PeerOf(ConnectionPlace place) const {
  return place.is_outgoing ? KeyOf(place).target : KeyOf(place).source;
}

ConnectionPlace RankSockets::PlaceAt(size_t position) const {
  return position < num_outgoing_
             ? ConnectionPlace{true, position}
             : ConnectionPlace{false, position - num_outgoing_};
}

ConnectionPlace RankSockets::PlaceOf(uint64_t token) const {
  return PlaceAt(token - first_token_);
}

std::vector<ConnectionKey> RankSockets::MissingOutgoing() const {
  std::vector<ConnectionKey> keys;
  for (size_t i = 0; i < num_outgoing_; ++i) {
    if (!sockets_[i].is_open()) keys.push_back(plan_.outgoing[i]);
  }
  return keys;
}

std::vector<RankId> RankSockets::PeersWithout(
    const std::function<bool(ConnectionPlace)>& is_ready) const {
  std::set<RankId> peers;
  for (size_t i = 0; i < sockets_.size(); ++i) {
    const ConnectionPlace place = PlaceAt(i);
    if (!is_ready(place)) peers.insert(PeerOf(place));
  }
  return {peers.begin(), peers.end()};
}

}  // namespace astra
