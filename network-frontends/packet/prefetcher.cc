#include "network-frontends/packet/prefetcher.h"

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
  agenda.ForEachOfNextBucket([&](const Agenda::Entry& entry) {
    if (const Port* port = PortOf(entry)) FetchPort(*port);
  });
  for (size_t i = 0; const Agenda::Entry* entry = agenda.Peek(i); ++i) {
    const Port* port = PortOf(*entry);
    if (port == nullptr) continue;
    for (const Lane& lane : port->lanes) lane.Prefetch();
  }
}

// Returns the port that an event is for, or nullptr.
const Port* Prefetcher::PortOf(const Agenda::Entry& entry) const {
  if (PacketEvents::KindOf(entry) != EventKind::kLink) return nullptr;
  return &ports_[PacketEvents::IdOf<LinkId>(entry)];
}

// Returns the packet that arrives at the event that comes `ahead` after the
// next, or nullptr.
const Packet* Prefetcher::PacketAt(size_t ahead) const {
  const Agenda::Entry* entry = events_.agenda().Peek(ahead);
  const Port* port = entry == nullptr ? nullptr : PortOf(*entry);
  if (port == nullptr) return nullptr;
  for (const Lane& lane : port->lanes) {
    if (!lane.has_wire()) continue;
    const Packet& packet = lane.first_on_wire();
    return packet.queue_pair == kNoId<QueuePairId> ? nullptr : &packet;
  }
  return nullptr;
}

}  // namespace astra
