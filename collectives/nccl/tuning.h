// NCCL's own prediction of how long each algorithm and protocol would take, by
// which it chooses. The prediction ranks candidates and is not accurate as a
// time; collective_time.h gives the time of the chosen candidate.
//
//   time = latency + bytes / bandwidth
//
// The latency adds up constants along the longest path. The bandwidth starts
// from the channels found and subtracts what protocols and algorithms are known
// to lose.
//
// Left out, since no algorithm here carries them: NVLS over several servers and
// CollNetDirect for all-gather and reduce-scatter, which both need SHARP.
//
// Source: NCCL 2.30, src/graph/tuning.cc (formulas and constants); for NVLS
// before 2.28, the same file of NCCL 2.25 to 2.27.

#ifndef COLLECTIVES_NCCL_TUNING_H_
#define COLLECTIVES_NCCL_TUNING_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/base/units.h"
#include "collectives/nccl/channel_graph.h"
#include "collectives/nccl/nccl_options.h"
#include "collectives/nccl_algorithm.h"

namespace astra {

struct TuningCandidate {
  NcclAlgorithm algorithm = NcclAlgorithm::kRing;
  NcclProtocol protocol = NcclProtocol::kSimple;
  uint32_t channels = 0;  // Channels of the kernel.
  double latency_us = 0;
  double GBps = 0;         // Algorithm bandwidth: buffer size over time.
  bool is_allowed = true;  // NCCL_ALGO, NCCL_PROTO and the like allow it.
};

// Returns whether NCCL makes the collective of sends and receives, so that
// there is no choice.
bool IsSendsAndReceives(CollectiveKind kind);

// Returns whether NCCL may run a collective of `kind` by the algorithm.
bool IsAlgorithmOf(NcclAlgorithm algorithm, CollectiveKind kind);

// Returns whether NCCL has kernels of the collective for symmetric buffers.
bool HasSymmetricKernels(CollectiveKind kind);

// Factors on NCCL's constants within a server: the start of a kernel, and hops.
struct LatencyScale {
  double start = 1;
  double within = 1;
};

// Parts of a candidate's latency, in microseconds: the start of a kernel, and a
// message between two ranks of one server or of two servers. A message to or
// from a switch takes half as long. A run in which each message takes its part
// has the same total latency.
struct LatencyParts {
  double start_us = 0;
  double within_us = 0;
  double between_us = 0;
};
LatencyParts LatencyPartsOf(NcclAlgorithm algorithm, NcclProtocol protocol,
                            CollectiveKind kind, const GroupHardware& hardware,
                            const LatencyScale& scale = {});

// Time of a message beyond NCCL's constants: within a server, and between two.
// NCCL's constants contain the propagation through one switch of a usual server
// and of a usual fabric. The time is negative if links are shorter.
struct HopExtra {
  double within_us = 0;
  double between_us = 0;

  friend auto operator<=>(const HopExtra&, const HopExtra&) = default;
};

// Returns NCCL's latency of a collective of `kind`, with `extra` for each hop
// of its longest path. No hop becomes negative.
double LatencyUs(NcclAlgorithm algorithm, NcclProtocol protocol,
                 CollectiveKind kind, const GroupHardware& hardware,
                 const HopExtra& extra = {}, const LatencyScale& scale = {});

// Returns the largest rate of one channel, in GB/s of bus bandwidth.
double ChannelGBps(GpuArchitecture architecture);

// Candidates of NCCL for one kind of collective of one group, in NCCL's order.
struct TuningTable {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  GroupHardware hardware;
  std::vector<TuningCandidate> candidates;
};

// Returns the candidates of `kind` over a group: algorithms that the version of
// NCCL has and that the group can run. Kinds that NCCL makes of sends
// and receives (all-to-all, send-recv, gather, scatter) have none.
TuningTable Tune(CollectiveKind kind, const GroupHardware& hardware,
                 const NcclOptions& options);

// Returns NCCL's prediction for `candidate` of `table`, in microseconds.
double PredictedUs(const TuningTable& table, const TuningCandidate& candidate,
                   Bytes bytes);

// Returns the index of the allowed candidate with the smallest prediction, the
// first of equals.
//
// Errors: FailedPrecondition if none is allowed; the message lists the
// candidates.
absl::StatusOr<size_t> Choose(const TuningTable& table, Bytes bytes);

// Returns the candidates for `bytes` as text, as NCCL_DEBUG_SUBSYS=TUNING
// prints them: latency/bandwidth and predicted time of each, and which one
// wins.
std::string TuningText(const TuningTable& table, Bytes bytes);

}  // namespace astra

#endif  // COLLECTIVES_NCCL_TUNING_H_
