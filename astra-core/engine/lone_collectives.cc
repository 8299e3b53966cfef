#include "astra-core/engine/lone_collectives.h"

#include <algorithm>
#include <bit>
#include <string>
#include <tuple>
#include <utility>

#include "astra-core/base/check.h"
#include "astra-core/base/random.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/round_skipper.h"

namespace astra {
namespace {

TimePs RoundDown(TimePs time, TimePs to) {
  return TimePs(time.count() / to.count() * to.count());
}
// Times each of which is about `factor` times the one before: 0, then from
// `least` on up to `most`, which is the only one of its kind when rounding
// down.
class TimeScale {
 public:
  TimeScale(TimePs least, TimePs most, int64_t factor) {
    for (TimePs time = most; time > least;
         time = TimePs(time.count() / factor)) {
      times_.push_back(time);
    }
    times_.emplace_back();
    std::reverse(times_.begin(), times_.end());
  }

  TimePs RoundDown(TimePs time) const {
    return *(std::upper_bound(times_.begin(), times_.end(), time) - 1);
  }
  TimePs RoundUp(TimePs time) const {
    const auto next = std::lower_bound(times_.begin(), times_.end(), time);
    return next != times_.end() ? *next : times_.back();
  }

 private:
  std::vector<TimePs> times_;
};

// Returns the collective with each start moved to `move(start)`. Of one
// instant, ranks start in the order of their numbers.
template <class Move>
StartedCollective MovedStarts(StartedCollective started, const Move& move) {
  std::vector<uint64_t> orders;
  for (KernelStart& start : started.starts) {
    start.time = move(start.time);
    orders.push_back(start.order);
  }
  std::sort(started.starts.begin(), started.starts.end(),
            [](const KernelStart& a, const KernelStart& b) {
              return std::tie(a.time, a.rank) < std::tie(b.time, b.rank);
            });
  std::sort(orders.begin(), orders.end());
  for (size_t i = 0; i < orders.size(); ++i) {
    started.starts[i].order = orders[i];
  }
  return started;
}

// Returns whether every end is one of a collective whose ranks had all started
// before. Times of ends count from the first start.
bool EndAfterStarts(absl::Span<const RankEnd> ends,
                    absl::Span<const StartedCollective> collectives) {
  const TimePs begin = collectives.front().starts.front().time;
  return std::all_of(ends.begin(), ends.end(), [&](const RankEnd& end) {
    const StartedCollective& of = collectives[end.collective];
    return of.have_all_started() && begin + end.time >= of.starts.back().time;
  });
}

// Returns how many ranks have their results if no other kernels start.
size_t NumEnds(absl::Span<const StartedCollective> collectives) {
  size_t num_ends = 0;
  for (const StartedCollective& each : collectives) {
    if (each.have_all_started()) num_ends += each.starts.size();
  }
  return num_ends;
}

}  // namespace

LoneCollectives::LoneCollectives(
    const Communicators& communicators, const CollectiveCosts& costs,
    CollectiveLowering& lowering,
    const std::function<std::unique_ptr<NetworkBackend>()>& new_network,
    std::unique_ptr<NetworkBackend> network, const LoneOptions& options)
    : lowering_(lowering),
      new_network_(new_network),
      options_(options),
      regions_(communicators, costs, lowering) {
  SetNetwork(std::move(network));
}

void LoneCollectives::SetNetwork(std::unique_ptr<NetworkBackend> network) {
  carrier_.reset();
  if (network_ != nullptr) events_before_ += network_->work().events;
  network_ = std::move(network);
  carrier_ = std::make_unique<FlowCarrier>(*network_);
  if (!options_.notes_messages) return;
  network_->LogArrivals(
      [this](const FlowRecord& message, absl::Span<const LinkId> /*path*/) {
        recorder_->Add(message);
      });
}

bool LoneCollectives::IsNeverReplayed(const Communication& what) const {
  if (options_.never_replayed == nullptr) return false;
  const std::vector<Communication>& never = *options_.never_replayed;
  return std::find(never.begin(), never.end(), what) != never.end();
}

absl::Status LoneCollectives::Regret(const CollectiveRegion& region,
                                     std::string_view why) {
  if (options_.never_replayed != nullptr && !IsNeverReplayed(region.what)) {
    options_.never_replayed->push_back(region.what);
  }
  return absl::UnavailableError(std::string(why));
}

const CollectiveRegion& LoneCollectives::JointRegionOf(
    absl::Span<const StartedCollective> collectives) {
  std::vector<const CollectiveRegion*> regions;
  for (const StartedCollective& each : collectives) {
    regions.push_back(each.region);
  }
  return regions_.JointRegionOf(regions, *network_->replay());
}

// The ends of ranks move by no more than the starts, since a message leaves as
// soon as the last of what it waits for is there. So starts may be moved by
// `tolerance`. They may be moved by more if two simulations say that it makes
// no difference: one in which no rank starts earlier than it does, and one in
// which none starts later.
absl::StatusOr<StartedCollective> LoneCollectives::Rounded(
    const Turns& turns, const StartedCollective& started, TimePs tolerance) {
  const TimePs duration = started.region->closed_form;
  const TimePs last = started.starts.back().time;
  const uint32_t num_simulated = num_simulated_[started.region->shape];
  for (const int64_t factor : {16, 4, 2}) {
    if (num_simulated < kManySimulated) break;
    if (costly_.count(started.region->shape) > 0) break;
    const TimeScale scale(tolerance, duration, factor);
    StartedCollective later = MovedStarts(started, [&](TimePs start) {
      return last - scale.RoundDown(last - start);
    });
    const StartedCollective earlier = MovedStarts(started, [&](TimePs start) {
      return last - scale.RoundUp(last - start);
    });
    ASTRA_ASSIGN_OR_RETURN(const bool is_alike,
                           EndAlike(later, earlier, turns, tolerance));
    if (is_alike) return later;
  }
  // A rank that starts long before the last one has done all that it can do
  // without it, so it makes no difference how early it starts.
  return MovedStarts(started, [&](TimePs start) {
    return last - RoundDown(std::min(last - start, duration), tolerance);
  });
}

// A small move of a start may change which of two packets of the collective
// goes first on a link, and so all that follows. So the first, second, fourth
// and eighth time, and so on, the ends of ranks are compared with those that
// the collective has if nothing is moved.
absl::Status LoneCollectives::RoundStarts(const Turns& turns,
                                          StartedCollective& started) {
  if (is_exact()) return absl::OkStatus();
  const TimePs tolerance =
      ShareOf(options_.bound.share, started.region->closed_form);
  const uint32_t shape = started.region->shape;
  if (tolerance <= TimePs(1) || sensitive_.count(shape) > 0) {
    return absl::OkStatus();
  }
  ASTRA_ASSIGN_OR_RETURN(StartedCollective moved,
                         Rounded(turns, started, tolerance));
  if (moved.starts == started.starts) return absl::OkStatus();
  if (std::has_single_bit(++num_moved_[shape]) && costly_.count(shape) == 0) {
    ASTRA_ASSIGN_OR_RETURN(const bool is_alike,
                           EndAlike(moved, started, turns, tolerance));
    // A comparison that cost too much was given up and tells nothing.
    if (!is_alike && costly_.count(shape) == 0) {
      sensitive_.insert(shape);
      return absl::OkStatus();
    }
  }
  started = std::move(moved);
  return absl::OkStatus();
}

// Returns whether each rank ends at the same time in both, up to `tolerance`.
// The second simulation is given up if it takes many more events than the
// first, as it does where some ranks start so early that few rounds are alike.
absl::StatusOr<bool> LoneCollectives::EndAlike(const StartedCollective& later,
                                               const StartedCollective& earlier,
                                               const Turns& turns,
                                               TimePs tolerance) {
  std::vector<TimePs> ends(later.starts.size());
  uint64_t most_events = kNoLimit;
  for (const StartedCollective* each : {&later, &earlier}) {
    ASTRA_ASSIGN_OR_RETURN(
        const LoneResult* result,
        Find(*each->region, absl::MakeConstSpan(each, 1), turns, most_events));
    if (result->events >= most_events) costly_.insert(each->region->shape);
    if (!result->is_regular) return false;
    most_events = kMostTimesAsMany * result->events;
    const TimePs begin = each->starts.front().time;
    for (const RankEnd& end : result->ends) {
      const GroupRank rank = result->RankOf(end, absl::MakeConstSpan(each, 1));
      TimePs& of_rank = ends[rank.index()];
      of_rank = begin + end.time - of_rank;
    }
  }
  return std::all_of(ends.begin(), ends.end(), [&](TimePs difference) {
    return -1 * tolerance <= difference && difference <= tolerance;
  });
}

absl::StatusOr<const LoneResult*> LoneCollectives::ResultOf(
    const CollectiveRegion& region,
    absl::Span<const StartedCollective> collectives, const Turns& turns) {
  ASTRA_ASSIGN_OR_RETURN(const LoneResult* result,
                         Find(region, collectives, turns));
  if (!result->is_regular) irregular_.insert(region.shape);
  return result;
}

// If results need not be exact, ranks that are alike change places, so that
// they start in the order of their numbers. Messages are those of their ranks.
bool LoneCollectives::MayRenumber(
    absl::Span<const StartedCollective> collectives) const {
  return !is_exact() && !options_.notes_messages && collectives.size() == 1 &&
         collectives.front().region->has_alike_ranks;
}

absl::StatusOr<const LoneResult*> LoneCollectives::Find(
    const CollectiveRegion& region,
    absl::Span<const StartedCollective> collectives, const Turns& turns,
    uint64_t most_events) {
  if (MayRenumber(collectives)) {
    StartedCollective renumbered = collectives.front();
    for (uint32_t i = 0; i < renumbered.starts.size(); ++i) {
      renumbered.starts[i].rank = GroupRank(i);
      renumbered.starts[i].order = i;
    }
    ASTRA_ASSIGN_OR_RETURN(
        LoneResult * result,
        FindAsNumbered(region, absl::MakeConstSpan(&renumbered, 1), turns,
                       most_events));
    result->is_by_start = true;
    return result;
  }
  return FindAsNumbered(region, collectives, turns, most_events);
}

absl::StatusOr<LoneResult*> LoneCollectives::FindAsNumbered(
    const CollectiveRegion& region,
    absl::Span<const StartedCollective> collectives, const Turns& turns,
    uint64_t most_events) {
  std::vector<int64_t> key = {int64_t{region.shape}, int64_t{is_exact()},
                              static_cast<int64_t>(most_events)};
  const TimePs begin = collectives.front().starts.front().time;
  for (const auto& [start, collective] : StartsInOrder(collectives)) {
    key.push_back((start.time - begin).count());
    key.push_back(collective);
    key.push_back(start.rank.index());
  }
  key.push_back(-1);
  // Whose turn is first makes a difference of a few packets.
  if (is_exact()) key.insert(key.end(), turns.begin(), turns.end());
  const auto found = results_.find(key);
  if (found != results_.end()) return &found->second;
  ++num_simulated_[region.shape];
  ASTRA_ASSIGN_OR_RETURN(LoneResult result,
                         Simulate(region, collectives, turns, most_events));
  events_so_far_ = num_events();
  return &results_.emplace(std::move(key), std::move(result)).first->second;
}

absl::StatusOr<std::vector<LoneCollective>> LoneCollectives::WithGraphs(
    absl::Span<const StartedCollective> collectives) {
  std::vector<LoneCollective> made;
  for (const auto& [of, region, starts] : collectives) {
    LoneCollective& each = made.emplace_back();
    each.of = of;
    each.messages = region->messages;
    each.starts = starts;
    ASTRA_ASSIGN_OR_RETURN(each.messages.graph,
                           lowering_.GraphOf(each.messages, region->what));
  }
  return made;
}

absl::StatusOr<LoneResult> LoneCollectives::Simulate(
    const CollectiveRegion& region,
    absl::Span<const StartedCollective> collectives, const Turns& turns,
    uint64_t most_events) {
  ASTRA_ASSIGN_OR_RETURN(std::vector<LoneCollective> alone,
                         WithGraphs(collectives));
  ReplaySupport& network = *network_->replay();
  network.SkipPackets(is_exact() ? 0 : options_.bound.share);
  network.CloseConnections();
  network.SetTurns(region.connections, turns);
  network.StartMeasuring(region.links, region.switches);
  const uint64_t events_before = num_events();
  const TimePs begin = network_->now();
  const TimePs moved_by = begin - alone.front().starts.front().time;
  std::vector<RoundSkipper> skippers;
  for (size_t i = 0; i < alone.size(); ++i) {
    for (KernelStart& start : alone[i].starts) start.time += moved_by;
    skippers.emplace_back(
        *collectives[i].region, collectives[i].of,
        [this, i] { return recorder_ == nullptr ? 0 : recorder_->NumOf(i); },
        *carrier_, *network_);
  }
  if (options_.notes_messages) {
    recorder_ = std::make_unique<MessageRecorder>(alone, region.connections,
                                                  *carrier_, begin);
  }
  RunLimit limit = {.ends = NumEnds(collectives), .events = most_events};
  if (collectives.size() > 1) limit.events = kMostEventsTogether;
  LoneRun run(alone, *carrier_, *network_);
  absl::StatusOr<std::vector<RankEnd>> ends =
      run.RunToEnd(limit, absl::MakeSpan(skippers), watch_);
  const std::unique_ptr<MessageRecorder> recorder = std::move(recorder_);
  if (!ends.ok()) return ends.status();  // So does the run.
  LoneResult result;
  result.ends = *std::move(ends);
  for (RankEnd& end : result.ends) end.time -= begin;
  result.events = num_events() - events_before;
  result.events_in_earnest = result.events;
  if (result.ends.size() == NumEnds(collectives)) {
    Measure(region, collectives, skippers, recorder.get(), &result);
  }
  // A run that was irregular, or was stopped early, leaves queue pairs behind
  // that would disturb the next one, so that one gets a new network.
  if (!result.is_regular || !result.is_whole) SetNetwork(new_network_());
  return result;
}

// Adds to the ends of ranks what else there is to know of a simulation.
void LoneCollectives::Measure(const CollectiveRegion& region,
                              absl::Span<const StartedCollective> collectives,
                              absl::Span<const RoundSkipper> skippers,
                              MessageRecorder* recorder, LoneResult* result) {
  ReplaySupport& network = *network_->replay();
  result->is_whole = std::all_of(
      collectives.begin(), collectives.end(),
      [](const StartedCollective& each) { return each.have_all_started(); });
  Measurement& measured = result->measured;
  measured = result->is_whole ? network.StopMeasuring(region.connections)
                              : network.Measure();
  const uint64_t simulated_hops =
      measured.num_packet_hops - measured.num_counted_hops;
  simulated_hops_ += simulated_hops;
  TimePs later;
  int64_t num_skipping = 0;
  for (size_t i = 0; i < skippers.size(); ++i) {
    skippers[i].AddSkipped(region.links, &measured);
    later = std::max(later, skippers[i].later());
    if (skippers[i].later() > TimePs(0)) ++num_skipping;
    if (recorder != nullptr) recorder->AddSkipped(i, skippers[i].skipped());
  }
  measured.quiet += later;  // Or a little sooner.
  // The rounds that were skipped would have met other messages in buffers than
  // those that were simulated did, so the sum of all peaks is taken.
  if (collectives.size() > 1) {
    for (int64_t& bytes : measured.peak_bytes) bytes *= 1 + num_skipping;
  }
  result->events_in_earnest += measured.num_packet_hops - simulated_hops;
  if (recorder != nullptr) result->messages = recorder->Take();
  result->is_regular =
      measured.is_regular && EndAfterStarts(result->ends, collectives);
  // Nobody asks how much there was of what has not come to its end.
  if (!result->is_whole) measured = Measurement();
  // Acknowledgements that are still under way slow nobody down much.
  if (result->is_regular && result->is_whole && !is_exact()) {
    measured.quiet = result->ends.back().time;
  }
}

}  // namespace astra
