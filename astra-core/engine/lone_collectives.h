// How collectives go that have the network for themselves: which links they
// use, and when each rank has its result. Each is simulated once, on a network
// of its own, and so are those that lie alike elsewhere in the cluster.
//
// Two collectives go the same way if they consist of the same messages with the
// same costs; if their connections pass alike links, numbered in the same order
// (events of one instant happen in the order of links); if their ranks start at
// the same times after one another; and if the turns of their NICs begin at the
// same places. These four are the key of what is remembered.

#ifndef ASTRA_CORE_ENGINE_LONE_COLLECTIVES_H_
#define ASTRA_CORE_ENGINE_LONE_COLLECTIVES_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/engine/collective_lowering.h"
#include "astra-core/engine/collective_regions.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/lone_run.h"
#include "astra-core/engine/message_log.h"
#include "astra-core/engine/message_recorder.h"
#include "astra-core/engine/round_skipper.h"
#include "astra-core/engine/simulation_options.h"
#include "network-frontends/network_backend.h"
#include "network-frontends/replay_support.h"
#include "workload/phase.h"

namespace astra {

// A collective and its kernels that have started, in order.
struct StartedCollective {
  CarriedFlow of;
  const CollectiveRegion* region = nullptr;
  std::vector<KernelStart> starts;

  bool have_all_started() const {
    return starts.size() == region->messages.layout->num_ranks();
  }
};

// How collectives went. Times count from the start of the first kernel.
struct LoneResult {
  // By time. Those of collectives all of whose kernels have started.
  std::vector<RankEnd> ends;
  bool is_whole = false;  // All kernels of all collectives have started.
  // Empty if the result is not whole.
  Measurement measured;
  uint64_t events = 0;  // That were simulated.
  // How many events it takes if nothing is skipped, whole or not.
  uint64_t events_in_earnest = 0;
  // Of each collective; empty if nobody wants to know of messages.
  std::vector<std::shared_ptr<const MessageSequence>> messages;
  // False: it cannot be counted again. It depends on more than itself, or it
  // took too many events.
  bool is_regular = false;
  // Of a single collective: rank i of the ends is the one that started after i
  // others.
  bool is_by_start = false;

  // Returns the rank that an end is of.
  GroupRank RankOf(const RankEnd& end,
                   absl::Span<const StartedCollective> collectives) const {
    return is_by_start ? collectives[0].starts[end.rank.index()].rank
                       : end.rank;
  }
};

struct LoneOptions {
  bool notes_messages = false;      // Results tell of messages.
  ErrorBound bound = {.share = 0};  // By default, results are exact.
  // As in SimulationOptions.
  std::shared_ptr<std::vector<Communication>> never_replayed = nullptr;
};

class LoneCollectives {
 public:
  // All references must outlive the object. `network`, which is one of
  // `new_network`, is at time 0 and has ReplaySupport.
  LoneCollectives(
      const Communicators& communicators, const CollectiveCosts& costs,
      CollectiveLowering& lowering,
      const std::function<std::unique_ptr<NetworkBackend>()>& new_network,
      std::unique_ptr<NetworkBackend> network, const LoneOptions& options);

  // Is called many times a second while something is simulated, which ends with
  // the error that it returns.
  void set_watch(std::function<absl::Status()> watch) {
    watch_ = std::move(watch);
  }

  // Returns where the collective takes place. Errors: those of
  // CollectiveLowering.
  absl::StatusOr<const CollectiveRegion*> RegionOf(CommunicatorId communicator,
                                                   const Communication& what) {
    return regions_.RegionOf(communicator, what, *network_->replay());
  }

  // Returns whether the collective can be counted again, as far as is known: no
  // rank has its result before all have started, and it has not turned out to
  // depend on anything else.
  bool IsReplayable(const CollectiveRegion& region) const {
    return region.needs_all && irregular_.count(region.shape) == 0 &&
           !IsNeverReplayed(region.what);
  }

  // Says that a collective should not have been counted again, nor any other of
  // its kind. Returns Unavailable with `why`: the run must begin anew.
  absl::Status Regret(const CollectiveRegion& region, std::string_view why);

  // Returns where collectives take place together.
  const CollectiveRegion& JointRegionOf(
      absl::Span<const StartedCollective> collectives);

  // Returns whether results are exact, so far.
  bool is_exact() const {
    return options_.bound.share == 0 ||
           events_so_far_ < options_.bound.exact_events;
  }

  // If results need not be exact, moves the starts of the kernels of a
  // collective that is alone, none to an earlier time, so that fewer differ.
  // `turns` are as for ResultOf().
  absl::Status RoundStarts(const Turns& turns, StartedCollective& started);

  // Returns how collectives go if no other kernels start than those that have.
  // `region` is that of all, and `turns` are those of its NICs at the first
  // start, which is the first of the first collective.
  absl::StatusOr<const LoneResult*> ResultOf(
      const CollectiveRegion& region,
      absl::Span<const StartedCollective> collectives, const Turns& turns);

  // Returns how many events were executed on networks of this object.
  uint64_t num_events() const {
    return events_before_ + network_->work().events;
  }

  // Returns the packet-hops that were simulated since the last call.
  uint64_t TakeSimulatedHops() { return std::exchange(simulated_hops_, 0); }

  // Returns the collectives with their graphs.
  absl::StatusOr<std::vector<LoneCollective>> WithGraphs(
      absl::Span<const StartedCollective> collectives);

 private:
  // Collectives that meet are not counted again if they take more events: each
  // other collective that comes to them would have all of them simulated anew.
  static constexpr uint64_t kMostEventsTogether = 4'000'000;
  // So often is a shape simulated before others are tried for comparison.
  static constexpr uint32_t kManySimulated = 3;
  // The second simulation of a comparison may take so many times the events of
  // the first.
  static constexpr uint64_t kMostTimesAsMany = 2;
  static constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

  // Gives up after `most_events`.
  absl::StatusOr<LoneResult> Simulate(
      const CollectiveRegion& region,
      absl::Span<const StartedCollective> collectives, const Turns& turns,
      uint64_t most_events);
  void Measure(const CollectiveRegion& region,
               absl::Span<const StartedCollective> collectives,
               absl::Span<const RoundSkipper> skippers,
               MessageRecorder* recorder, LoneResult* result);
  // Like ResultOf(), of a result that may not be used. A simulation is given up
  // after `most_events`.
  absl::StatusOr<const LoneResult*> Find(
      const CollectiveRegion& region,
      absl::Span<const StartedCollective> collectives, const Turns& turns,
      uint64_t most_events = kNoLimit);
  absl::StatusOr<LoneResult*> FindAsNumbered(
      const CollectiveRegion& region,
      absl::Span<const StartedCollective> collectives, const Turns& turns,
      uint64_t most_events);
  // Returns the collective with its starts moved as RoundStarts() says. Each
  // moves by at most `tolerance`, or further where simulations agree.
  absl::StatusOr<StartedCollective> Rounded(const Turns& turns,
                                            const StartedCollective& started,
                                            TimePs tolerance);
  bool IsNeverReplayed(const Communication& what) const;
  bool MayRenumber(absl::Span<const StartedCollective> collectives) const;
  absl::StatusOr<bool> EndAlike(const StartedCollective& later,
                                const StartedCollective& earlier,
                                const Turns& turns, TimePs tolerance);
  void SetNetwork(std::unique_ptr<NetworkBackend> network);

  CollectiveLowering& lowering_;
  const std::function<std::unique_ptr<NetworkBackend>()>& new_network_;
  const LoneOptions options_;
  std::function<absl::Status()> watch_ = [] { return absl::OkStatus(); };
  uint64_t events_before_ = 0;  // Events of networks before `network_`.
  std::unique_ptr<NetworkBackend> network_;
  std::unique_ptr<FlowCarrier> carrier_;
  std::unique_ptr<MessageRecorder> recorder_;  // During a simulation.

  CollectiveRegions regions_;
  std::set<uint32_t> irregular_;                // Shapes.
  std::set<uint32_t> costly_;                   // Shapes not to be compared.
  std::set<uint32_t> sensitive_;                // Shapes not to be moved.
  std::map<uint32_t, uint32_t> num_moved_;      // By shape.
  std::map<uint32_t, uint32_t> num_simulated_;  // By shape.
  std::map<std::vector<int64_t>, LoneResult> results_;
  uint64_t simulated_hops_ = 0;
  uint64_t events_so_far_ = 0;  // After the last simulation.
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_LONE_COLLECTIVES_H_
