// How long a collective takes: what NCCL chooses, and what that takes on the
// links of a topology.
//
// The time of the chosen algorithm and protocol for S bytes is
//
//   max(launch, latency + detour + S / B + ramp S / (S + ramp_size))
//
//   launch       the least time between two collectives; see Interconnect
//   latency      NCCL's own, with the latency of the transport; see tuning.h
//   detour       propagation between servers beyond that of one switch, which
//                NCCL's constants contain, for each crossing
//   B            what the busiest link yields for each byte of the buffer, with
//                the shares of its rate that the algorithm and protocol reach
//   ramp         what pipelines lose until they are full; see Pace. Between
//                servers it grows with the levels of a tree.
//
// Collectives that NCCL makes of sends and receives go straight to the other
// ranks, or by way of the rank on the target's rail (PXN); their latency is one
// message and the posting of the others.
//
// What it leaves out: other collectives on the same links at the same time.

#ifndef COLLECTIVES_NCCL_COLLECTIVE_TIME_H_
#define COLLECTIVES_NCCL_COLLECTIVE_TIME_H_

#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "collectives/closed_form.h"
#include "collectives/collective_request.h"
#include "collectives/nccl/nccl_options.h"
#include "collectives/nccl/tuning.h"
#include "collectives/systems/system_spec.h"
#include "topology/routes.h"

namespace astra {

// The time of one algorithm and protocol as a function of the size.
struct SizedTime {
  double launch_us = 0;
  double latency_us = 0;  // With the detour.
  double ps_per_byte = 0;
  double ramp_us = 0;
  double ramp_bytes = 1;

  // Rounded to the nearest picosecond; at most kMaxCollectiveTime.
  TimePs TimeOf(Bytes bytes) const;

  friend auto operator<=>(const SizedTime&, const SizedTime&) = default;
};

// A collective of one group, chosen and timed.
struct TimedCollective {
  std::string_view algorithm;  // "Ring", or "P2P" of sends and receives.
  std::string_view protocol;
  uint32_t channels = 0;
  TimePs time;
  bool is_latency_bound = false;  // More than half is not S / B.
  LinkId bottleneck;
  std::string_view registry_name;  // Of the algorithm in registry.h.
};

// A collective as messages, for whoever runs each of them: which algorithm of
// registry.h, how it cuts the buffer, and what takes time beside the links.
// Pipelines fill and messages of other collectives get in the way as they are
// run, so neither the ramp nor collisions of queue pairs are in it; nor is the
// limit of a channel's rate, which is above that of the links unless
// NCCL_MAX_NCHANNELS is low.
//
// NCCL's latencies contain the propagation through the NVSwitch or one switch
// of the fabric, which the links of a topology have, too: it is taken off.
struct NcclMessages {
  std::string_view registry_name;
  Chunking chunking;

  double start_us = 0;  // Of a rank, from its call to its first message.
  double least_us = 0;  // Of a rank, from its call to its result, at least.

  // A message between two ranks of one server, or of two. The latency is half
  // of that where one end is a switch. The wire carries so many bytes for each:
  // those of the protocol, over the share of the rate that it reaches.
  struct Hop {
    double latency_us = 0;
    double wire_bytes_per_byte = 1;
  };
  Hop within;
  Hop between;
};

// One kind of collective over all the groups of a dimension, which run at once.
class CollectiveTimes {
 public:
  // `system` and `routes` must outlive the object. Groups are lists of ranks in
  // group order, of the same number of ranks, two or more; at least one. What
  // `asked` leaves open is as the transport says; see Transport::nccl.
  //
  // Errors: those of HardwareOf; InvalidArgument for options that contradict
  // one another or have no effect on the system.
  static absl::StatusOr<CollectiveTimes> Create(
      CollectiveKind kind, std::vector<std::vector<RankId>> groups,
      const SystemSpec& system, const NcclOptions& asked, Routes& routes);

  // Errors: those of Choose and LayOnLinks; FailedPrecondition if NCCL_ALGO
  // asks for an algorithm that the group cannot run.
  absl::StatusOr<TimedCollective> Time(size_t group, Bytes bytes);

  // The same as messages. Errors: those of Choose; FailedPrecondition for
  // symmetric buffers, whose kernels are known as a formula only.
  absl::StatusOr<NcclMessages> Messages(size_t group, Bytes bytes) const;

  // What was chosen among, for the group; no candidates for sends and receives.
  const TuningTable& tuning(size_t group) const {
    return tables_[table_of_group_[group]];
  }

  // By group, a number: groups with the same number take the same time for each
  // of `sizes`. Errors: those of Time.
  absl::StatusOr<std::vector<uint32_t>> Classify(absl::Span<const Bytes> sizes);

  // By link: the bytes it carries, from all groups, for each byte of a buffer
  // of `bytes`, as the first group would run it.
  absl::StatusOr<absl::Span<const double>> LinkBytesPerByte(Bytes bytes);

 private:
  CollectiveTimes(CollectiveKind kind, std::vector<std::vector<RankId>> groups,
                  const SystemSpec& system, NcclOptions options,
                  Routes& routes);

  absl::Status AddDetours();

  // How a group would run a buffer of a size.
  struct Chosen {
    std::optional<NcclAlgorithm> algorithm;  // None: sends and receives.
    NcclProtocol protocol = NcclProtocol::kSimple;
    uint32_t channels = 0;
    double latency_us = 0;
    std::string_view registry_name;
  };

  absl::StatusOr<Chosen> ChooseFor(size_t group, Bytes bytes) const;
  absl::StatusOr<const ClosedForms*> FormsOf(const Chosen& chosen);
  SizedTime SizedTimeOf(const Chosen& chosen, size_t group,
                        const ClosedForm& form) const;
  NcclMessages::Hop HopWithin(const Chosen& chosen, double latency_us) const;
  NcclMessages::Hop HopBetween(const Chosen& chosen, double latency_us) const;
  // A kernel goes no faster than its channels, a ring with LL no faster than
  // that protocol; and each rank of a ring copies its own share from input to
  // output.
  void AddKernelLimits(const Chosen& chosen, const GroupHardware& hardware,
                       SizedTime* time) const;
  double LaunchUs(const GroupHardware& hardware) const;
  double QueuePairShare() const;
  // Of the links of the topology, which may be slower than the data sheet's.
  double EfficiencyWithin(const Pace& pace) const;
  uint32_t NumServers() const;  // The most that a group spans.
  // Kernels on symmetric memory are for reductions and copies in one server.
  bool IsSymmetric() const;
  LatencyParts PointToPoint(const GroupHardware& hardware) const;
  double PointToPointUs(const GroupHardware& hardware) const;
  // Of the rank's own share, from input to output.
  double CopyPsPerByte(const GroupHardware& hardware) const;

  CollectiveKind kind_;
  std::vector<std::vector<RankId>> groups_;
  const SystemSpec& system_;
  NcclOptions options_;
  Routes& routes_;
  std::vector<TuningTable> tables_;  // Of groups with different hardware.
  std::vector<uint32_t> table_of_group_;
  std::vector<double> detour_us_;                  // By group, of one crossing.
  std::map<std::string_view, ClosedForms> forms_;  // By registry name.
};

}  // namespace astra

#endif  // COLLECTIVES_NCCL_COLLECTIVE_TIME_H_
