#include "network-frontends/packet/prefetcher.h"

#include <array>
#include <optional>

#include "absl/types/span.h"
#include "astra-core/base/units.h"

namespace astra {
namespace {

constexpr size_t kLineBytes = 64;  // Size of a cache line.

// Fetches the first `bytes` bytes of `value`. As all that only fetch, it is
// part of its caller: GCC drops calls of functions that change nothing.
[[gnu::always_inline]] inline void FetchLines(const void* value, size_t bytes) {
  for (size_t i = 0; i < bytes; i += kLineBytes) {
    __builtin_prefetch(static_cast<const char*>(value) + i);
  }
}

// Fetches what each packet touches of its port.
[[gnu::always_inline]] inline void FetchPort(const Port& port) {
  FetchLines(&port, 2 * kLineBytes);
}

// Returns the packet that is the next to arrive, or nullptr.
const Packet* FirstOnWire(const Port& port) {
  const auto [time, traffic_class] = port.FirstArrival();
  if (time == kNever) return nullptr;
  const Packet& packet =
      port.lanes[static_cast<size_t>(traffic_class)].first_on_wire();
  return packet.queue_pair == kNoId<QueuePairId> ? nullptr : &packet;
}

}  // namespace

Prefetcher::Prefetcher(const PacketEvents& events, const Ports& ports,
                       const Paths& paths, const QueuePairPool& queue_pairs)
    : events_(events),
      ports_(ports),
      paths_(paths),
      queue_pairs_(queue_pairs) {}

void Prefetcher::FetchBlock() {
  const Agenda& agenda = events_.agenda();
  if (agenda.num_opened() != num_opened_) {
    num_opened_ = agenda.num_opened();
    agenda.ForEachKeyOfNextBucket([&](uint32_t key) {
      if (const Port* port = PortOf(key)) FetchPort(*port);
    });
  }
  struct Arrival {
    const Port* port;
    const Packet* packet;
    const Lane* next;  // Where the packet, or what answers it, goes.
  };
  std::array<Arrival, kBlock> block;
  size_t count = 0;
  for (num_left_ = 0; num_left_ < kBlock; ++num_left_) {
    const std::optional<uint32_t> key = agenda.PeekKey(num_left_);
    if (!key) break;
    const Port* port = PortOf(*key);
    if (port == nullptr) continue;
    block[count++].port = port;
    for (const Lane& lane : port->lanes) lane.PrefetchWire();
  }
  const absl::Span<Arrival> arrivals(block.data(), count);
  for (Arrival& arrival : arrivals) {
    arrival.packet = FirstOnWire(*arrival.port);
    if (arrival.packet != nullptr) {
      __builtin_prefetch(paths_.FindHop(*arrival.packet));
    }
  }
  for (Arrival& arrival : arrivals) {
    arrival.next = nullptr;
    if (arrival.packet == nullptr) continue;
    LinkId next = paths_.Next(*arrival.packet);
    bool is_data = arrival.packet->kind == PacketKind::kData;
    if (next == kNoId<LinkId>) {
      // At its end it is answered, mostly on the link on which it came.
      FetchLines(&queue_pairs_[arrival.packet->queue_pair], sizeof(QueuePair));
      next = Reverse(ports_.LinkOf(*arrival.port));
      is_data = !is_data;
    }
    FetchPort(ports_[next]);
    arrival.next = &ports_[next].lanes[is_data ? 1 : 0];
  }
  for (const Arrival& arrival : arrivals) {
    if (arrival.next != nullptr) arrival.next->PrefetchQueue();
  }
}

// Returns the port that an event is for, or nullptr.
const Port* Prefetcher::PortOf(uint32_t key) const {
  if (PacketEvents::KindOf(key) != EventKind::kLink) return nullptr;
  return &ports_[PacketEvents::IdOf<LinkId>(key)];
}

}  // namespace astra
