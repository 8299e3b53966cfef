// Skips the rounds of a collective that go as those before them.
//
// A large collective runs the same messages again and again, a round for each
// part of the buffer, and shorter rounds for the steps within. Whenever the
// first flow of a round has arrived, the state of the collective and of its
// links is compared with those before: once it recurs, with times and numbers
// counted from there, so does all that follows, as long as sizes stay the same.
// The rounds up to there are counted, and what is under way is taken for what
// is under way then.

#ifndef ASTRA_CORE_ENGINE_ROUND_SKIPPER_H_
#define ASTRA_CORE_ENGINE_ROUND_SKIPPER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/alike_rounds.h"
#include "astra-core/engine/collective_regions.h"
#include "astra-core/engine/flow_carrier.h"
#include "astra-core/engine/flow_run.h"
#include "network-frontends/network_backend.h"
#include "network-frontends/replay_support.h"

namespace astra {

// What was counted instead of simulated: `times` more of what came between two
// numbers of messages that have been simulated, which may contain others that
// were skipped.
struct SkippedRounds {
  uint64_t first_message = 0;
  uint64_t end_message = 0;
  int64_t times = 0;
  TimePs period;
};

class RoundSkipper {
 public:
  // Skips rounds of the collective that `of` belongs to. It takes place in
  // `region`, where nothing else may go on once AfterArrivals() is called.
  // `num_messages` tells how many of its messages have arrived. All must
  // outlive the object.
  RoundSkipper(const CollectiveRegion& region, const CarriedFlow& of,
               std::function<uint64_t()> num_messages, FlowCarrier& carrier,
               NetworkBackend& network);

  // Returns whether the collectives of both have links in common.
  bool Meets(const RoundSkipper& other) const;

  // Flows have arrived, and what could leave then has left. Returns by how much
  // all that follows is later than the network says.
  TimePs AfterArrivals(absl::Span<const CarriedFlow> arrived, FlowRun& flows);

  TimePs later() const { return later_; }
  absl::Span<const SkippedRounds> skipped() const { return skipped_; }
  // Adds all that was skipped, but for the time. `links` are those that were
  // measured. Requires that congestion control has been at rest.
  void AddSkipped(absl::Span<const LinkId> links, Measurement* to) const;

 private:
  static constexpr size_t kMaxLooks = 64;  // Of one run of alike rounds.

  // How it was when the first flow of a round had arrived. What was skipped
  // before is in the time and the traffic.
  struct Look {
    uint64_t round = 0;
    uint64_t state = 0;
    uint64_t num_messages = 0;  // Without what was skipped.
    TimePs time;
    std::vector<LinkTraffic> traffic;  // In the order of the region's links.
  };
  // Rounds of one length.
  struct Level {
    const Rounds* rounds = nullptr;
    uint64_t section = 0;  // Begin of the alike rounds of `looks`.
    std::vector<Look> looks;
  };

  // Both return whether rounds were skipped.
  bool LookAt(uint64_t round, Level& level, FlowRun& flows);
  bool Skip(const Look& before, const Look& now, uint64_t end,
            uint64_t per_round, FlowRun& flows);

  const CollectiveRegion* region_;
  const CarriedFlow of_;
  const std::function<uint64_t()> num_messages_;
  FlowCarrier& carrier_;
  NetworkBackend& network_;
  std::vector<Level> levels_;
  std::vector<SkippedRounds> skipped_;
  // What was not simulated.
  TimePs later_;
  uint64_t num_flows_ = 0;
  std::vector<LinkTraffic> traffic_;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_ROUND_SKIPPER_H_
