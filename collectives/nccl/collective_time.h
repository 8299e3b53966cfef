// Computes how long a collective takes: what NCCL chooses, and the time of this
// choice on the links of a topology.
//
// The time of the chosen algorithm and protocol for S bytes is
//
// clang-format off
//   max(launch, latency + S / B + ramp S / (S + ramp_size))
//
//   launch       the least time between two collectives that the host or a
//                graph launches; see Interconnect. None behind other work.
//   latency      NCCL's own, with the latency of the transport, and with the
//                propagation of the topology's links in place of that which
//                NCCL's constants contain; see tuning.h
//   B            bandwidth that the busiest link yields for the buffer, with
//                the shares of its rate that algorithm and protocol reach
//   ramp         time that pipelines lose until they are full; see Pace.
//                Between servers it grows with the levels of a tree.
// clang-format on
//
// Collectives that NCCL makes of sends and receives go straight to the other
// ranks, or by way of the rank on the target's rail (PXN). Their latency is one
// message and the posting of the others.
//
// The all-reduce kernels of an engine of inference go before NCCL's choice,
// where the options name an engine; engine_time.h says how long they take.
//
// Dispatches and combines of experts are all-to-alls, unless the options name a
// dispatcher; dispatcher.h says how long that takes.
//
// Measured times go before all of these, where the options have them for the
// group: measured_curve.h says what holds between and beyond the measured
// sizes. They do not replace the kernels of an engine.
//
// Left out: other collectives on the same links at the same time.

#ifndef COLLECTIVES_NCCL_COLLECTIVE_TIME_H_
#define COLLECTIVES_NCCL_COLLECTIVE_TIME_H_

#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "collectives/closed_form.h"
#include "collectives/collective_request.h"
#include "collectives/measured_curve.h"
#include "collectives/nccl/nccl_options.h"
#include "collectives/nccl/propagation.h"
#include "collectives/nccl/sized_time.h"
#include "collectives/nccl/tuning.h"
#include "collectives/systems/system_spec.h"
#include "topology/routes.h"

namespace astra {

// A collective of one group, chosen and timed.
struct TimedCollective {
  std::string_view algorithm;  // "Ring"; "P2P" of sends and receives.
  std::string_view protocol;
  uint32_t channels = 0;
  TimePs time;
  TimePs transfer;  // Part of `time` in which the busiest link is busy.
  bool is_latency_bound = false;  // More than half of the time is not S / B.
  LinkId bottleneck;
  std::string_view registry_name;  // Name in registry.h.
  CollectiveTimeSource source = CollectiveTimeSource::kModel;
};

// A collective as messages, for a network that runs each of them: the algorithm
// of registry.h, how it cuts the buffer, and what takes time beside the links.
// Bytes on the wire hold whatever makes the closed form slower than the links:
// what pipelines lose until they are full, the limits of the kernel, and, where
// the topology gives messages between servers no choice of paths, collisions of
// queue pairs in a fabric that has them. Otherwise the network models these.
//
// NCCL's latencies contain the propagation through the NVSwitch or one switch
// of the fabric. The links of a topology have it too, so it is subtracted.
struct NcclMessages {
  std::string_view registry_name;
  Chunking chunking;

  double start_us = 0;  // Per rank: from its call to its first message.
  double least_us = 0;  // Least time from a rank's call to its result.

  // Times of the closed form if the group runs alone: the time but for
  // `least_us`, and the part of it that goes with the bytes.
  double time_us = 0;
  double wire_us = 0;
  bool has_one_path = true;  // Between servers; see above.

  // A message between two ranks of one server, or of two servers. If one end is
  // a switch, the message has half of the latency. wire_bytes_per_byte is the
  // bytes of the protocol, divided by the share of the rate that it reaches.
  struct Hop {
    double latency_us = 0;
    double wire_bytes_per_byte = 1;
  };
  Hop within;
  Hop between;
};

// One kind of collective over all groups of a dimension, which run at once.
class CollectiveTimes {
 public:
  // Groups are lists of ranks in group order. There is at least one, and all
  // have the same number of ranks, two or more. Choices that `asked` leaves
  // open follow the transport; see Transport::nccl. `system` and `routes` must
  // outlive the object.
  //
  // Errors: those of HardwareOf and CheckVersion; InvalidArgument for options
  // that contradict one another or have no effect on the system.
  static absl::StatusOr<CollectiveTimes> Create(
      CollectiveKind kind, std::vector<std::vector<RankId>> groups,
      const SystemSpec& system, const NcclOptions& asked, Routes& routes);

  // Returns the choice and the time for a buffer of `bytes`.
  //
  // Errors: those of Choose and LayOnLinks; FailedPrecondition if NCCL_ALGO
  // asks for an algorithm that the group cannot run.
  absl::StatusOr<TimedCollective> Time(size_t group, Bytes bytes);

  // Returns the same collective as messages. Errors: those of Choose;
  // FailedPrecondition for symmetric buffers, whose kernels are known only as a
  // formula.
  absl::StatusOr<NcclMessages> Messages(size_t group, Bytes bytes);

  // Returns the candidates for the group; none for sends and receives.
  const TuningTable& tuning(size_t group) const {
    return tables_[table_of_group_[group]];
  }

  // Returns a class number by group: groups with the same number take the same
  // time for each of `sizes`. Errors: those of Time.
  absl::StatusOr<std::vector<uint32_t>> Classify(absl::Span<const Bytes> sizes);

  // Returns by link the bytes that it carries, from all groups, for each byte
  // of a buffer of `bytes`, as `group` would run it.
  absl::StatusOr<absl::Span<const double>> LinkBytesPerByte(size_t group,
                                                            Bytes bytes);

 private:
  CollectiveTimes(CollectiveKind kind, std::vector<std::vector<RankId>> groups,
                  const SystemSpec& system, NcclOptions options,
                  Routes& routes);

  absl::Status AddPropagation();
  HopExtra ExtraOf(std::optional<NcclAlgorithm> algorithm, size_t group) const;
  double LastCrossingsUs(size_t group) const;

  // Choice of a group for a size.
  struct Chosen {
    std::optional<NcclAlgorithm> algorithm{};  // None: not a choice of NCCL.
    NcclProtocol protocol = NcclProtocol::kSimple;
    uint32_t channels = 0;
    double latency_us = 0;
    std::string_view registry_name;
    const EngineKernel* kernel = nullptr;  // Not null: it runs, not NCCL.
    std::optional<TokenWork> work{};       // Not null: a dispatcher runs.
    // Bytes on links, for each byte that the algorithm of registry.h sends.
    double within_share = 1;
    double between_share = 1;
  };
  // How a collective is laid on links: by table, the algorithm of registry.h
  // that its groups run, which differs where one group is within a server and
  // another is not; and the table whose groups' shares of the links' rates
  // hold, with the kernel of an engine that may reach others.
  struct FormsKey {
    std::vector<std::string_view> names;
    uint32_t table = 0;
    std::optional<EngineAlgorithm> kernel;

    friend auto operator<=>(const FormsKey&, const FormsKey&) = default;
  };

  // Returns whether an engine of inference runs the collective, or asks NCCL
  // to.
  bool IsOfEngine(const GroupHardware& hardware) const;
  Chosen ChoosePointToPoint(size_t group) const;
  // Return what a dispatcher does with tokens, and its time without a launch.
  absl::StatusOr<Chosen> ChooseDispatcher(size_t group) const;
  SizedTime DispatcherTime(const Chosen& chosen, const ClosedForm& form) const;
  absl::StatusOr<Chosen> ChooseFor(size_t group, Bytes bytes) const;
  // Returns what the model says, whatever was measured.
  absl::StatusOr<TimedCollective> ModelTime(size_t group, Bytes bytes);
  // Returns the measured times of a collective that NCCL runs, or null.
  const MeasuredCurve* CurveOf(size_t group, Bytes bytes) const;
  // Returns the collective on the links, where `group` has `chosen` for a
  // buffer of `bytes`, and all other groups run what they choose.
  absl::StatusOr<const ClosedForms*> FormsOf(size_t group, const Chosen& chosen,
                                             Bytes bytes);
  absl::StatusOr<FormsKey> FormsKeyOf(size_t group, const Chosen& chosen,
                                      Bytes bytes) const;
  SizedTime SizedTimeOf(const Chosen& chosen, size_t group,
                        const ClosedForm& form) const;
  LatencyParts PartsOf(const Chosen& chosen,
                       const GroupHardware& hardware) const;
  NcclMessages::Hop HopWithin(const Chosen& chosen, double latency_us,
                              size_t group) const;
  NcclMessages::Hop HopBetween(const Chosen& chosen, double latency_us,
                               size_t group) const;
  Pace PaceWithin(const Chosen& chosen) const;
  Pace PaceBetween(const Chosen& chosen) const;
  // Adds limits of the kernel: it is no faster than its channels, and a ring
  // with LL is no faster than this protocol.
  void AddKernelLimits(const Chosen& chosen, const GroupHardware& hardware,
                       SizedTime* time) const;
  double LaunchUs(const Chosen& chosen, const GroupHardware& hardware) const;
  double QueuePairShare() const;
  // Returns the efficiency relative to the links of the topology, which may be
  // slower than those of the data sheet.
  double EfficiencyWithin(const Pace& pace,
                          const GroupHardware& hardware) const;
  uint32_t NumServers() const;  // The most that a group spans.
  // Returns whether kernels on symmetric memory are used. They exist for
  // reductions and copies in one server.
  bool IsSymmetric() const;
  // Returns the calibrated latency of a group of one server; of others, that of
  // NCCL's constants.
  const ProtocolLatency& LatencyOf(std::optional<NcclAlgorithm> algorithm,
                                   NcclProtocol protocol,
                                   const GroupHardware& hardware) const;
  LatencyScale ScaleOf(NcclAlgorithm algorithm, NcclProtocol protocol,
                       const GroupHardware& hardware) const;
  LatencyParts PointToPoint(const GroupHardware& hardware) const;
  // Returns the time in which a rank of a ring copies its own share from input
  // to output, and an engine its buffer.
  double CopyPsPerByte(const Chosen& chosen,
                       const GroupHardware& hardware) const;

  CollectiveKind kind_;
  std::vector<std::vector<RankId>> groups_;
  const SystemSpec& system_;
  NcclOptions options_;
  Routes& routes_;
  std::vector<TuningTable> tables_;  // One for each kind of group hardware.
  // Index into tables_ of each group.
  std::vector<uint32_t> table_of_group_;
  std::vector<size_t> first_group_;       // By table.
  std::vector<Propagation> propagation_;  // One for each group.
  std::map<FormsKey, ClosedForms> forms_;
};

}  // namespace astra

#endif  // COLLECTIVES_NCCL_COLLECTIVE_TIME_H_
