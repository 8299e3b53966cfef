#include "collectives/nccl/estimator.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

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
  std::map<CollectiveKind, std::vector<CollectiveTimes>>
      times;  // See SlowestOf.
};

namespace {

constexpr size_t kTheGroup = 0;  // Each CollectiveTimes here has one.

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

// Returns the groups of which the slowest gives the time of a collective: all
// ranks, or of a send-recv, in which each rank sends to the next, the first
// neighbours within a server and the first ones between servers.
std::vector<std::vector<RankId>> TimedGroups(CollectiveKind kind,
                                             const std::vector<RankId>& ranks,
                                             const Topology& topology) {
  if (kind != CollectiveKind::kSendRecv) return {ranks};
  std::optional<std::vector<RankId>> within;
  std::optional<std::vector<RankId>> between;
  for (size_t i = 1; i < ranks.size(); ++i) {
    const bool is_within =
        topology.ServerOf(ranks[i - 1]) == topology.ServerOf(ranks[i]);
    std::optional<std::vector<RankId>>& pair = is_within ? within : between;
    if (!pair) pair = {ranks[i - 1], ranks[i]};
  }
  std::vector<std::vector<RankId>> pairs;
  if (within) pairs.push_back(*within);
  if (between) pairs.push_back(*between);
  return pairs;
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

absl::StatusOr<size_t> CollectiveEstimator::SlowestOf(CollectiveKind kind,
                                                      Bytes bytes) const {
  State& state = *state_;
  if (state.times.count(kind) == 0) {
    std::vector<CollectiveTimes> all;
    for (std::vector<RankId>& group :
         TimedGroups(kind, state.ranks, state.topology)) {
      ASTRA_ASSIGN_OR_RETURN(
          CollectiveTimes times,
          CollectiveTimes::Create(kind, {std::move(group)}, state.system,
                                  state.options, state.routes));
      all.push_back(std::move(times));
    }
    state.times.emplace(kind, std::move(all));
  }
  std::vector<CollectiveTimes>& all = state.times.at(kind);
  if (all.size() == 1) return 0;
  size_t slowest = 0;
  TimePs longest;
  for (size_t i = 0; i < all.size(); ++i) {
    ASTRA_ASSIGN_OR_RETURN(const TimedCollective timed,
                           all[i].Time(kTheGroup, bytes));
    if (timed.time <= longest) continue;
    longest = timed.time;
    slowest = i;
  }
  return slowest;
}

absl::StatusOr<CollectiveEstimate> CollectiveEstimator::Estimate(
    CollectiveKind kind, Bytes bytes) {
  if (bytes < Bytes(1)) {
    return absl::InvalidArgumentError(
        fmt::format("a collective of {}: expected 1 byte or more", bytes));
  }
  ASTRA_ASSIGN_OR_RETURN(const size_t slowest, SlowestOf(kind, bytes));
  ASTRA_ASSIGN_OR_RETURN(const TimedCollective timed,
                         state_->times[kind][slowest].Time(kTheGroup, bytes));
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
  ASTRA_ASSIGN_OR_RETURN(const size_t slowest, SlowestOf(kind, bytes));
  return TuningText(state_->times[kind][slowest].tuning(kTheGroup), bytes);
}

const Topology& CollectiveEstimator::topology() const {
  return state_->topology;
}
const std::vector<RankId>& CollectiveEstimator::ranks() const {
  return state_->ranks;
}
absl::StatusOr<std::vector<RankId>> CollectiveEstimator::TimedRanks(
    CollectiveKind kind, Bytes bytes) const {
  if (kind != CollectiveKind::kSendRecv) return state_->ranks;
  ASTRA_ASSIGN_OR_RETURN(const size_t slowest, SlowestOf(kind, bytes));
  return TimedGroups(kind, state_->ranks, state_->topology)[slowest];
}
const SystemSpec& CollectiveEstimator::system() const { return state_->system; }

}  // namespace astra
