#include "network-frontends/packet/prefetcher.h"

#include <optional>

namespace astra {
namespace {

// From this number of links on, the ports no longer fit the second-level cache.
constexpr size_t kManyLinks = 1024;

constexpr size_t kLineBytes = 64;  // Size of a cache line.

// Fetches the first `bytes` bytes of `value`.
void FetchLines(const void* value, size_t bytes) {
  for (size_t i = 0; i < bytes; i += kLineBytes) {
    __builtin_prefetch(static_cast<const char*>(value) + i);
  }
}

// Fetches what each packet touches of its port.
void FetchPort(const Port& port) { FetchLines(&port, 3 * kLineBytes); }

}  // namespace

Prefetcher::Prefetcher(const PacketEvents& events, const Ports& ports,
                       const Paths& paths, const QueuePairPool& queue_pairs)
    : events_(events),
      ports_(ports),
      paths_(paths),
      queue_pairs_(queue_pairs),
      is_large_(ports.size() >= kManyLinks) {}

void Prefetcher::Fetch() {
  if (events_.agenda().num_opened() != num_prefetched_) FetchBuckets();
  if (const Packet* packet = PacketAt(3)) {
    __builtin_prefetch(paths_.FindHop(*packet));
  }
  if (const Packet* packet = PacketAt(1)) {
    const LinkId next = paths_.Next(*packet);
    if (next != kNoId<LinkId>) return FetchPort(ports_[next]);
    FetchLines(&queue_pairs_[packet->queue_pair], sizeof(QueuePair));
  }
}

void Prefetcher::FetchBuckets() {
  const Agenda& agenda = events_.agenda();
  num_prefetched_ = agenda.num_opened();
  agenda.ForEachKeyOfNextBucket([&](uint32_t key) {
    if (const Port* port = PortOf(key)) FetchPort(*port);
  });
  for (size_t i = 0; const auto key = agenda.PeekKey(i); ++i) {
    const Port* port = PortOf(*key);
    if (port == nullptr) continue;
    for (const Lane& lane : port->lanes) lane.Prefetch();
  }
}

// Returns the port that an event is for, or nullptr.
const Port* Prefetcher::PortOf(uint32_t key) const {
  if (PacketEvents::KindOf(key) != EventKind::kLink) return nullptr;
  return &ports_[PacketEvents::IdOf<LinkId>(key)];
}

// Returns the packet that arrives at the event that comes `ahead` after the
// next, or nullptr.
const Packet* Prefetcher::PacketAt(size_t ahead) const {
  const std::optional<uint32_t> key = events_.agenda().PeekKey(ahead);
  const Port* port = key ? PortOf(*key) : nullptr;
  if (port == nullptr) return nullptr;
  for (const Lane& lane : port->lanes) {
    if (!lane.has_wire()) continue;
    const Packet& packet = lane.first_on_wire();
    return packet.queue_pair == kNoId<QueuePairId> ? nullptr : &packet;
  }
  return nullptr;
}

}  // namespace astra
