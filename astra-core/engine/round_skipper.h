// Skips the rounds of a collective that go as those before them.
//
// A large collective runs the same messages again and again, a round for each
// part of the buffer. Whenever the first flow of a round has arrived, the state
// of the collective and of its links is compared with those before: once it
// recurs, with times and numbers counted from there, so does all that follows,
// as long as sizes stay the same. The rounds up to there are counted, and what
// is under way is taken for what is under way then.

#ifndef ASTRA_CORE_ENGINE_ROUND_SKIPPER_H_
#define ASTRA_CORE_ENGINE_ROUND_SKIPPER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/engine/flow_carrier.h"
#include "astra-core/engine/flow_run.h"
#include "network-frontends/network_backend.h"
#include "network-frontends/replay_support.h"

namespace astra {

// Loops of a graph that have the same sizes.
struct AlikeRounds {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// What was counted instead of simulated: `times` more of what came between two
// measurements.
struct SkippedRounds {
  Measurement first;
  Measurement last;
  int64_t times = 0;
};

class RoundSkipper {
 public:
  // All must outlive the object. `network` measures the collective.
  RoundSkipper(const std::vector<AlikeRounds>& alike,
               const std::vector<Connection>& connections, FlowCarrier& carrier,
               NetworkBackend& network)
      : alike_(alike),
        connections_(connections),
        carrier_(carrier),
        network_(network) {}

  // Flows have arrived, and what could leave then has left. Returns by how much
  // all that follows is later than the network says.
  TimePs AfterArrivals(absl::Span<const CarriedFlow> arrived, FlowRun& flows);

  absl::Span<const SkippedRounds> skipped() const { return skipped_; }

 private:
  static constexpr size_t kMaxLooks = 64;  // Of one run of alike rounds.

  // How it was when the first flow of a round had arrived.
  struct Look {
    uint64_t round = 0;
    uint64_t state = 0;
    TimePs time;
    Measurement measured;
  };

  void LookAt(uint64_t round, FlowRun& flows);
  void Skip(const Look& before, const Look& now, uint64_t end, FlowRun& flows);

  const std::vector<AlikeRounds>& alike_;
  const std::vector<Connection>& connections_;
  FlowCarrier& carrier_;
  NetworkBackend& network_;
  uint64_t section_ = 0;  // Begin of the alike rounds of `looks_`.
  std::vector<Look> looks_;
  std::vector<SkippedRounds> skipped_;
  TimePs later_;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_ROUND_SKIPPER_H_
