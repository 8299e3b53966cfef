#include "collectives/nccl/estimator.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "collectives/nccl/system_topology.h"
#include "collectives/systems/system_library.h"
#include "fmt/core.h"

namespace astra {

struct CollectiveEstimator::State {
  State(const SystemSpec& system_spec, Topology cluster,
        std::vector<RankId> group, const NcclOptions& nccl_options)
      : system(system_spec),
        topology(std::move(cluster)),
        ranks(std::move(group)),
        options(nccl_options),
        routes(topology) {}

  SystemSpec system;
  Topology topology;
  std::vector<RankId> ranks;
  NcclOptions options;
  Routes routes;
  std::map<CollectiveKind, CollectiveTimes> times;
};

namespace {

absl::Status CheckRanks(const std::vector<RankId>& ranks,
                        const Topology& topology) {
  std::vector<RankId> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.size() < 2) {
    return absl::InvalidArgumentError(fmt::format(
        "a collective of {} GPU(s): expected 2 or more", sorted.size()));
  }
  if (sorted.back().index() >= topology.num_gpus()) {
    return absl::InvalidArgumentError(
        fmt::format("rank {}: the topology has {} GPUs", sorted.back(),
                    topology.num_gpus()));
  }
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    return absl::InvalidArgumentError(
        fmt::format("rank {} is in the group twice", *twice));
  }
  return absl::OkStatus();
}

// Returns the first neighbours in group order that are on different servers, or
// else the first two: the pair that takes longest when each rank sends to the
// next.
std::vector<RankId> SlowestNeighbours(const std::vector<RankId>& ranks,
                                      const Topology& topology) {
  for (size_t i = 1; i < ranks.size(); ++i) {
    if (topology.ServerOf(ranks[i - 1]) != topology.ServerOf(ranks[i])) {
      return {ranks[i - 1], ranks[i]};
    }
  }
  return {ranks[0], ranks[1]};
}

}  // namespace

absl::StatusOr<CollectiveEstimator> CollectiveEstimator::Create(
    std::string_view system, uint32_t num_gpus, uint32_t gpus_per_server,
    const NcclOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(const SystemSpec spec, LoadSystem(system));
  if (gpus_per_server == 0) {
    gpus_per_server = GpusOfDomain(num_gpus, spec.gpus_per_server);
  }
  ASTRA_ASSIGN_OR_RETURN(Topology topology,
                         BuildSystemTopology(spec, num_gpus, gpus_per_server));
  return Create(spec, std::move(topology), {}, options);
}

absl::StatusOr<CollectiveEstimator> CollectiveEstimator::Create(
    const SystemSpec& system, Topology topology, std::vector<RankId> ranks,
    const NcclOptions& options) {
  if (ranks.empty()) {
    for (uint32_t rank = 0; rank < topology.num_gpus(); ++rank) {
      ranks.emplace_back(rank);
    }
  }
  ASTRA_RETURN_IF_ERROR(CheckRanks(ranks, topology));
  return CollectiveEstimator(std::make_shared<State>(
      system, std::move(topology), std::move(ranks), options));
}

absl::StatusOr<CollectiveTimes*> CollectiveEstimator::TimesOf(
    CollectiveKind kind) {
  State& state = *state_;
  const auto found = state.times.find(kind);
  if (found != state.times.end()) return &found->second;
  ASTRA_ASSIGN_OR_RETURN(
      CollectiveTimes times,
      CollectiveTimes::Create(kind, {TimedRanks(kind)}, state.system,
                              state.options, state.routes));
  return &state.times.emplace(kind, std::move(times)).first->second;
}

absl::StatusOr<CollectiveEstimate> CollectiveEstimator::Estimate(
    CollectiveKind kind, Bytes bytes) {
  constexpr size_t kTheGroup = 0;
  if (bytes < Bytes(1)) {
    return absl::InvalidArgumentError(
        fmt::format("a collective of {}: expected 1 byte or more", bytes));
  }
  ASTRA_ASSIGN_OR_RETURN(CollectiveTimes * times, TimesOf(kind));
  ASTRA_ASSIGN_OR_RETURN(const TimedCollective timed,
                         times->Time(kTheGroup, bytes));
  if (timed.time == kMaxCollectiveTime) {
    return absl::ResourceExhaustedError(
        fmt::format("the {} of {} would take longer than the limit of 26 days",
                    Name(kind), bytes));
  }
  constexpr double kBytesPerUsAndGBps = 1000;
  CollectiveEstimate estimate;
  estimate.time_us = static_cast<double>(timed.time.count()) / kPsPerUs;
  estimate.algbw_GBps = static_cast<double>(bytes.count()) /
                        (kBytesPerUsAndGBps * estimate.time_us);
  estimate.busbw_GBps =
      estimate.algbw_GBps *
      BusBandwidthFactor(kind, static_cast<uint32_t>(state_->ranks.size()));
  estimate.algorithm = timed.algorithm;
  estimate.protocol = timed.protocol;
  estimate.channels = timed.channels;
  estimate.is_latency_bound = timed.is_latency_bound;
  estimate.bottleneck = state_->topology.LinkName(timed.bottleneck);
  estimate.source = timed.source;
  return estimate;
}

absl::StatusOr<std::string> CollectiveEstimator::Tuning(CollectiveKind kind,
                                                        Bytes bytes) {
  constexpr size_t kTheGroup = 0;
  ASTRA_ASSIGN_OR_RETURN(const CollectiveTimes* times, TimesOf(kind));
  return TuningText(times->tuning(kTheGroup), bytes);
}

const Topology& CollectiveEstimator::topology() const {
  return state_->topology;
}
const std::vector<RankId>& CollectiveEstimator::ranks() const {
  return state_->ranks;
}
std::vector<RankId> CollectiveEstimator::TimedRanks(CollectiveKind kind) const {
  return kind == CollectiveKind::kSendRecv
             ? SlowestNeighbours(state_->ranks, state_->topology)
             : state_->ranks;
}
const SystemSpec& CollectiveEstimator::system() const { return state_->system; }

}  // namespace astra
