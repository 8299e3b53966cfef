#include "network-frontends/packet/islands.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "network-frontends/packet/packet_setup.h"
#include "network-frontends/packet/paths.h"
#include "network-frontends/packet/ports.h"
#include "network-frontends/packet/records.h"
#include "network-frontends/packet/switch_buffers.h"

namespace astra {
namespace {

constexpr uint32_t kMostLooks = 24;
// Events from one scan to the next, at least; and for each link that was
// scanned.
constexpr uint64_t kFewEvents = 64;
constexpr uint64_t kEventsPerLink = 8;

// Groups of things that are joined two by two.
class Groups {
 public:
  explicit Groups(size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), size_t{0});
  }
  size_t Find(size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void Join(size_t i, size_t j) { parent_[Find(i)] = Find(j); }

 private:
  std::vector<size_t> parent_;
};

}  // namespace

Islands::Islands(const NetworkParts& parts, const Happen& happen)
    : parts_(parts), happen_(happen) {}

void Islands::Begin(double tolerance) {
  tolerance_ = tolerance;
  most_looks_ = kMostLooks;
  if (tolerance > 0) {
    // One packet more or less in half of all looks is half of the tolerance.
    const auto looks = static_cast<uint32_t>(std::ceil(4 / tolerance));
    most_looks_ = std::max(std::bit_ceil(looks), std::bit_ceil(kMostLooks));
  }
  if (due_ != kNotDue) return;
  due_ = 0;
  islands_of_.assign(parts_.ports.size(), kNoId<IslandId>);
  seen_.assign(parts_.ports.size(), 0);
  reserves_.resize(parts_.buffers.size());
}

template <class Visit>
void Islands::ForEachLink(QueuePairId id, const Visit& visit) const {
  for (const Paths::Way way : {Paths::Way::kThere, Paths::Way::kBack}) {
    const LinkId* link = parts_.paths.Find(id, way);
    for (; *link != kNoId<LinkId>; ++link) visit(*link);
  }
}

void Islands::BeforeSend(QueuePairId id) {
  if (due_ == kNotDue) return;
  if (is_active_.size() <= id.index()) {
    is_active_.resize(id.index() + 1);
    patience_.resize(id.index() + 1);
  }
  if (parts_.queue_pairs[id].link == kNoId<LinkId>) return;
  if (!is_active_[id.index()]) {
    is_active_[id.index()] = true;
    active_.push_back(id);
  }
  if (free_.size() == slots_.size()) return;
  most_together_ = std::max(most_together_, num_stopped_ + 1);
  std::vector<Agenda::Entry> pending;
  ForEachLink(id, [&](LinkId link) {
    const IslandId island = islands_of_[link.index()];
    if (island != kNoId<IslandId>) GoOn(island, &pending);
  });
  CatchUp(pending);
}

void Islands::BeforeTouching(QueuePairId id) {
  const LinkId link = parts_.queue_pairs[id].link;
  if (link == kNoId<LinkId> || !HasStopped(link)) return;
  std::vector<Agenda::Entry> pending;
  GoOn(islands_of_[link.index()], &pending);
  CatchUp(pending);
}

void Islands::AfterEvent(uint64_t num_events) {
  for (const QueuePairId id : acked_) {
    if (!parts_.queue_pairs[id].is_watched) continue;
    LookAt(islands_of_[parts_.queue_pairs[id].link.index()], num_events);
  }
  acked_.clear();
  if (num_events >= next_scan_) Scan(num_events);
  due_ = next_scan_;
}

// Drops the queue pairs that have nothing left to do. Returns how many links
// the others have.
uint64_t Islands::DropIdle() {
  uint64_t num_links = 0;
  const auto last =
      std::remove_if(active_.begin(), active_.end(), [&](QueuePairId id) {
        const QueuePair& qp = parts_.queue_pairs[id];
        const bool is_idle = qp.acked == qp.end && qp.in_network == 0;
        if (is_idle) {
          is_active_[id.index()] = false;
        } else {
          ForEachLink(id, [&](LinkId) { ++num_links; });
        }
        return is_idle;
      });
  active_.erase(last, active_.end());
  return num_links;
}

// Finds the islands, and watches those that may come to be as they were.
void Islands::Scan(uint64_t num_events) {
  next_scan_ = num_events + std::max(kFewEvents, kEventsPerLink * DropIdle());
  Groups groups(active_.size());
  for (size_t i = 0; i < active_.size(); ++i) {
    ForEachLink(active_[i], [&](LinkId link) {
      const uint64_t before = std::exchange(seen_[link.index()], first_ + i);
      if (before >= first_) groups.Join(i, before - first_);
    });
  }
  first_ += active_.size();
  std::map<size_t, std::vector<QueuePairId>> members;
  for (size_t i = 0; i < active_.size(); ++i) {
    const LinkId link = parts_.queue_pairs[active_[i]].link;
    if (islands_of_[link.index()] != kNoId<IslandId>) continue;
    members[groups.Find(i)].push_back(active_[i]);
  }
  for (auto& [_, queue_pairs] : members) {
    Watch(std::move(queue_pairs), num_events);
  }
}

void Islands::Watch(std::vector<QueuePairId> queue_pairs, uint64_t num_events) {
  std::vector<LinkId> links;
  for (const QueuePairId id : queue_pairs) {
    if (patience_[id.index()].until > num_events) return;
    ForEachLink(id, [&](LinkId link) { links.push_back(link); });
  }
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  Island island(parts_, std::move(queue_pairs), std::move(links));
  const QueuePairId sender = island.FindSteadySender();
  if (sender == kNoId<QueuePairId>) return;
  if (free_.empty()) {
    free_.emplace_back(static_cast<uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const IslandId id = free_.back();
  free_.pop_back();
  for (const LinkId link : island.links()) islands_of_[link.index()] = id;
  parts_.queue_pairs[sender].is_watched = true;
  Slot& slot = slots_[id.index()];
  slot.island = std::make_unique<Island>(std::move(island));
  slot.sender = sender;
}

// Look 0 is replaced by looks 1, 2, 4 and so on as the one that others are
// compared with. Where rates may differ a little, it goes on until there are
// enough packets to tell.
void Islands::LookAt(IslandId id, uint64_t num_events) {
  Slot& slot = slots_[id.index()];
  const uint32_t number = slot.num_looks++;
  const bool is_last = number >= most_looks_;
  const bool replaces = number == 0 || std::has_single_bit(number);
  if (number > kMostLooks && !replaces) return;
  Island::Look now = slot.island->TakeLook();
  if (slot.before && IsAsBefore(slot, now, is_last)) {
    if (TryToStop(slot, std::move(now))) {
      return parts_.events.PushWake(slot.wake, id);
    }
    BePatient(slot, num_events);
    return Forget(id);
  }
  if (is_last) {
    BePatient(slot, num_events);
    return Forget(id);
  }
  if (!replaces) return;
  slot.earlier = std::exchange(slot.before, std::move(now));
}

bool Islands::IsAsBefore(const Slot& slot, const Island::Look& now,
                         bool is_last) const {
  if (now.state == slot.before->state) return now.time > slot.before->time;
  return is_last && tolerance_ > 0 &&
         Island::IsSteady(*slot.earlier, *slot.before, now, parts_.setup.full);
}

// Leaves the queue pairs of an island alone for a while, each time for longer.
void Islands::BePatient(const Slot& slot, uint64_t num_events) {
  constexpr uint32_t kMostPatience = 1024;
  const uint64_t num_links = slot.island->links().size();
  for (const QueuePairId id : slot.island->queue_pairs()) {
    Patience& patience = patience_[id.index()];
    patience.until = num_events + patience.factor * kFewEvents * num_links;
    patience.factor = std::min(2 * patience.factor, kMostPatience);
  }
}

// Stops an island that is as it was before. Returns false if that is of no use.
bool Islands::TryToStop(Slot& slot, Island::Look now) {
  if (slot.island->FindSteadySender() == kNoId<QueuePairId>) return false;
  const int64_t times = Island::TimesUntilEnd(*slot.before, now);
  if (times == 0) return false;
  slot.holds = slot.island->Holds();
  if (!TakeHolds(slot.holds)) return false;
  for (const QueuePairId id : slot.island->queue_pairs()) {
    patience_[id.index()].factor = 1;
  }
  slot.wake = now.time + times * (now.time - slot.before->time);
  slot.times = times;
  slot.key = parts_.events.key();
  slot.now = std::move(now);
  slot.island->Stop();
  ++num_stopped_;
  num_queue_pairs_stopped_ += slot.island->queue_pairs().size();
  const bool have_all_stopped = num_queue_pairs_stopped_ == active_.size();
  most_together_ =
      std::max(most_together_, num_stopped_ + (have_all_stopped ? 0 : 1));
  parts_.queue_pairs[slot.sender].is_watched = false;
  return true;
}

// Sets memory aside at switches, if there is enough everywhere.
bool Islands::TakeHolds(const std::vector<Island::Hold>& holds) {
  for (const Island::Hold& hold : holds) {
    const SharedBuffer& buffer = parts_.buffers.BufferAt(hold.at);
    if (!buffer.StaysEasy(
            buffer.shared_used_bytes + buffer.aside_bytes + hold.more_bytes,
            std::max(buffer.largest_aside_bytes, hold.largest_bytes),
            parts_.setup.full.count())) {
      return false;
    }
  }
  for (const Island::Hold& hold : holds) {
    Reserve& reserve = reserves_[hold.at.index()];
    reserve.more_bytes += hold.more_bytes;
    reserve.largest_bytes.insert(hold.largest_bytes);
    SetAside(hold.at);
  }
  return true;
}

void Islands::OnWake(IslandId id) {
  // The event is stale if the island has gone on before.
  if (slots_[id.index()].wake != parts_.events.now()) return;
  std::vector<Agenda::Entry> pending;
  GoOn(id, &pending);
  CatchUp(pending);
}

void Islands::CatchUp() {
  if (free_.size() == slots_.size()) return;
  std::vector<Agenda::Entry> pending;
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].has_stopped()) GoOn(IslandId(i), &pending);
  }
  CatchUp(pending);
}

// Pauses that are still to be called for now must not be called for before.
void Islands::CatchUp(absl::Span<const Agenda::Entry> pending) {
  if (pending.empty()) return;
  const std::vector<PauseChange> changes = parts_.buffers.TakeChanges();
  parts_.events.CatchUp(pending, happen_);
  for (const PauseChange& change : changes) parts_.buffers.Tell(change);
}

// Forgets an island that has not stopped.
void Islands::Forget(IslandId id) {
  std::vector<Agenda::Entry> pending;
  GoOn(id, &pending);
}

// Forgets an island. If it has stopped, it is moved on first by as many periods
// as have passed, and what is pending is appended.
void Islands::GoOn(IslandId id, std::vector<Agenda::Entry>* pending) {
  Slot& slot = slots_[id.index()];
  if (slot.has_stopped()) {
    const PacketEvents& events = parts_.events;
    const TimePs passed = events.now() - slot.now.time;
    const TimePs period = slot.now.time - slot.before->time;
    int64_t times = std::min(passed.count() / period.count(), slot.times);
    const bool is_at_end = times > 0 && times * period == passed;
    if (is_at_end && events.key() < slot.key) --times;
    const std::vector<Agenda::Entry> entries =
        slot.island->GoOn(*slot.before, slot.now, times);
    pending->insert(pending->end(), entries.begin(), entries.end());
    for (const Island::Hold& hold : slot.holds) Release(hold);
    --num_stopped_;
    num_queue_pairs_stopped_ -= slot.island->queue_pairs().size();
  }
  for (const LinkId link : slot.island->links()) {
    islands_of_[link.index()] = kNoId<IslandId>;
  }
  parts_.queue_pairs[slot.sender].is_watched = false;
  slot = Slot();
  free_.push_back(id);
}

void Islands::Release(const Island::Hold& hold) {
  Reserve& reserve = reserves_[hold.at.index()];
  reserve.more_bytes -= hold.more_bytes;
  reserve.largest_bytes.erase(reserve.largest_bytes.find(hold.largest_bytes));
  SetAside(hold.at);
}

void Islands::SetAside(SwitchId at) {
  const Reserve& reserve = reserves_[at.index()];
  const int64_t largest =
      reserve.largest_bytes.empty() ? 0 : *reserve.largest_bytes.rbegin();
  parts_.buffers.SetAside(at, reserve.more_bytes, largest);
}

}  // namespace astra
