// Simulates collectives up to an instant, apart from all others.

#ifndef ASTRA_CORE_ENGINE_LONE_RUN_H_
#define ASTRA_CORE_ENGINE_LONE_RUN_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/engine/collective_lowering.h"
#include "astra-core/engine/flow_carrier.h"
#include "astra-core/engine/flow_run.h"
#include "astra-core/engine/round_skipper.h"
#include "network-frontends/network_backend.h"

namespace astra {

// When the kernel of a rank starts, after which its flows may leave.
struct KernelStart {
  TimePs time;
  GroupRank rank;
  // Kernels that start at one instant, also those of several collectives,
  // start in this order.
  uint64_t order = 0;

  friend bool operator<(const KernelStart& a, const KernelStart& b) {
    return std::tie(a.time, a.order) < std::tie(b.time, b.order);
  }
  friend bool operator==(const KernelStart&, const KernelStart&) = default;
};

// The start of a kernel, and the position of its collective.
struct AnyStart {
  KernelStart start;
  uint32_t collective = 0;

  friend bool operator<(const AnyStart& a, const AnyStart& b) {
    return a.start < b.start;
  }
};

// Returns the starts of all collectives in the order in which they happen.
template <class Collective>
std::vector<AnyStart> StartsInOrder(absl::Span<const Collective> collectives) {
  std::vector<AnyStart> starts;
  for (uint32_t i = 0; i < collectives.size(); ++i) {
    for (const KernelStart& start : collectives[i].starts) {
      starts.push_back({start, i});
    }
  }
  std::stable_sort(starts.begin(), starts.end());
  return starts;
}

// A collective, and when its kernels start, in order.
struct LoneCollective {
  CarriedFlow of;               // Identifies it for a carrier.
  CollectiveMessages messages;  // With a graph.
  std::vector<KernelStart> starts;
};

// When a rank has sent and received all its flows, and which was the last.
struct RankEnd {
  TimePs time;
  uint32_t collective = 0;  // Its position among those of the run.
  FlowId flow;
  GroupRank rank;
  // How often flows had been done at that instant before: a message that takes
  // no time follows another at the same instant.
  uint32_t batch = 0;
};

// How far a run goes.
struct RunLimit {
  size_t ends = 0;
  uint64_t events = std::numeric_limits<uint64_t>::max();
};

// Returns the position of the collective of `flow`, which is one of them.
size_t PositionOf(const CarriedFlow& flow,
                  absl::Span<const LoneCollective> collectives);

class LoneRun {
 public:
  // `carrier`, whose network is `network`, must carry nothing else while a
  // function below is called. Kernels start from now() on. All must outlive the
  // object.
  LoneRun(absl::Span<const LoneCollective> collectives, FlowCarrier& carrier,
          NetworkBackend& network);

  // Returns the ends of ranks by time. The first runs to `limit`, which is not
  // before the last start. The second runs until the last flow is done, or
  // `limit.ends` ranks have their results, or nothing happens any more; it
  // gives up after `limit.events` events. Once all that a collective meets are
  // done, it skips rounds of that one where it can, with its own of `skippers`;
  // times are then those of a run that skips none. It calls `watch` many times
  // a second, and ends with the error that it returns.
  std::vector<RankEnd> RunTo(TimePs limit);
  absl::StatusOr<std::vector<RankEnd>> RunToEnd(
      const RunLimit& limit, absl::Span<RoundSkipper> skippers,
      const std::function<absl::Status()>& watch);

  bool is_done() const;
  std::unique_ptr<FlowRun> TakeFlows(size_t collective) {
    return std::move(flows_[collective]);
  }

 private:
  void Start(std::vector<RankEnd>* ends);
  bool Advance(TimePs limit, std::vector<RankEnd>* ends);
  void SkipRounds(absl::Span<RoundSkipper> skippers);

  const absl::Span<const LoneCollective> collectives_;
  FlowCarrier& carrier_;
  NetworkBackend& network_;
  std::vector<std::unique_ptr<FlowRun>> flows_;
  std::vector<TimePs> later_;  // By collective: time that was skipped.
  std::vector<std::vector<size_t>> meets_;  // By collective; to skip rounds.
  TimePs last_ = TimePs(-1);                // When flows were done last,
  uint32_t batch_ = 0;               // and how often before at that instant.
  std::vector<FlowId> ready_;        // Scratch.
  std::vector<GroupRank> finished_;  // Scratch.
  std::vector<CarriedFlow> done_;    // Scratch.
  std::vector<CarriedFlow> done_of_one_;  // Scratch.
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_LONE_RUN_H_
