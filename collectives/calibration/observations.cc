#include "collectives/calibration/observations.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "astra-core/base/ids.h"
#include "astra-core/base/status_macros.h"
#include "collectives/nccl/collective_time.h"
#include "collectives/nccl/system_topology.h"
#include "fmt/core.h"
#include "topology/routes.h"
#include "topology/topology.h"

namespace astra {

struct Predictor::Cluster {
  explicit Cluster(Topology built)
      : topology(std::move(built)), routes(topology) {}
  Topology topology;
  Routes routes;
};

namespace {

absl::Status AtObservation(size_t i, const absl::Status& status) {
  return absl::Status(
      status.code(),
      fmt::format("observation {}: {}", i + 1, std::string(status.message())));
}

absl::Status Check(const Observation& observation) {
  if (observation.num_gpus < 2) {
    return absl::InvalidArgumentError(fmt::format(
        "a collective of {} GPU(s): expected 2 or more", observation.num_gpus));
  }
  if (observation.bytes < Bytes(1)) {
    return absl::InvalidArgumentError(fmt::format(
        "a collective of {}: expected 1 byte or more", observation.bytes));
  }
  if (!std::isfinite(observation.time_us) || observation.time_us <= 0) {
    return absl::InvalidArgumentError(fmt::format(
        "a time of {} us: expected one above 0", observation.time_us));
  }
  return absl::OkStatus();
}

// Returns all ranks. For a send-recv, returns neighbours on different servers
// if there are several, as CollectiveEstimator does.
std::vector<RankId> GroupOf(const Observation& observation) {
  if (observation.kind == CollectiveKind::kSendRecv) {
    const bool is_one_server =
        observation.num_gpus == observation.gpus_per_server;
    const uint32_t second = is_one_server ? 1 : observation.gpus_per_server;
    return {RankId(second - 1), RankId(second)};
  }
  std::vector<RankId> ranks;
  for (uint32_t i = 0; i < observation.num_gpus; ++i) ranks.emplace_back(i);
  return ranks;
}

// Returns what the observations of a sweep have in common.
auto SweepKeyOf(const Observation& observation) {
  return std::tuple(observation.kind, observation.num_gpus,
                    observation.gpus_per_server, observation.options);
}

}  // namespace

std::vector<size_t> MeasurementIds(absl::Span<const Observation> observations) {
  const auto key_of = [](const Observation& observation) {
    return std::tuple(SweepKeyOf(observation), observation.bytes);
  };
  std::map<decltype(key_of({})), size_t> known;
  std::vector<size_t> ids;
  for (const Observation& observation : observations) {
    const size_t next = known.size();
    ids.push_back(known.try_emplace(key_of(observation), next).first->second);
  }
  return ids;
}

std::vector<Observation> MediansOf(absl::Span<const Observation> observations) {
  const std::vector<size_t> ids = MeasurementIds(observations);
  std::vector<Observation> medians;
  std::vector<std::vector<double>> times;  // By measurement.
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == medians.size()) {
      medians.push_back(observations[i]);
      times.emplace_back();
    }
    times[ids[i]].push_back(observations[i].time_us);
  }
  for (size_t id = 0; id < medians.size(); ++id) {
    const auto middle =
        times[id].begin() + static_cast<ptrdiff_t>((times[id].size() - 1) / 2);
    std::nth_element(times[id].begin(), middle, times[id].end());
    medians[id].time_us = *middle;
  }
  return medians;
}

Predictor::Predictor(absl::Span<const Observation> observations)
    : observations_(observations) {}
Predictor::~Predictor() = default;
Predictor::Predictor(Predictor&&) noexcept = default;

absl::StatusOr<Predictor> Predictor::Create(
    const SystemSpec& system, absl::Span<const Observation> observations) {
  Predictor predictor(observations);
  std::map<decltype(SweepKeyOf({})), size_t> sweep_ids;
  for (size_t i = 0; i < observations.size(); ++i) {
    const Observation& observation = observations[i];
    const absl::Status is_good = Check(observation);
    if (!is_good.ok()) return AtObservation(i, is_good);
    const absl::StatusOr<Cluster*> cluster =
        predictor.ClusterOf(system, observation);
    if (!cluster.ok()) return AtObservation(i, cluster.status());
    const auto [place, is_new] = sweep_ids.try_emplace(
        SweepKeyOf(observation), predictor.sweeps_.size());
    if (is_new) predictor.sweeps_.push_back({*cluster, {}});
    predictor.sweeps_[place->second].members.push_back(i);
  }
  return predictor;
}

absl::StatusOr<Predictor::Cluster*> Predictor::ClusterOf(
    const SystemSpec& system, const Observation& observation) {
  std::unique_ptr<Cluster>& cluster =
      clusters_[{observation.num_gpus, observation.gpus_per_server}];
  if (cluster == nullptr) {
    ASTRA_ASSIGN_OR_RETURN(Topology topology,
                           BuildSystemTopology(system, observation.num_gpus,
                                               observation.gpus_per_server));
    cluster = std::make_unique<Cluster>(std::move(topology));
  }
  return cluster.get();
}

std::string_view PatternOf(const TimedCollective& timed, CollectiveKind kind) {
  if (timed.algorithm != "P2P") return timed.registry_name;
  return kind == CollectiveKind::kSendRecv ? kSendRecvPattern : kDirectPattern;
}

bool Predictor::CanMatter(const CalibratedConstant& constant, size_t i,
                          const Prediction& prediction) const {
  const Observation& observation = observations_[i];
  if (constant.of_transport &&
      observation.num_gpus == observation.gpus_per_server) {
    return false;
  }
  if (constant.pattern.empty()) return true;
  const bool is_symmetric =
      observation.options.symmetric && !constant.of_transport;
  return constant.pattern ==
         (is_symmetric ? kSymmetricPattern : prediction.pattern);
}

absl::Status Predictor::PredictMembers(const SystemSpec& system,
                                       const Sweep& sweep,
                                       const std::vector<size_t>& members,
                                       std::vector<Prediction>* predictions) {
  if (members.empty()) return absl::OkStatus();
  const Observation& first = observations_[members.front()];
  absl::StatusOr<CollectiveTimes> times =
      CollectiveTimes::Create(first.kind, {GroupOf(first)}, system,
                              first.options, sweep.cluster->routes);
  if (!times.ok()) return AtObservation(members.front(), times.status());
  for (const size_t i : members) {
    const absl::StatusOr<TimedCollective> timed =
        times->Time(0, observations_[i].bytes);
    if (!timed.ok()) return AtObservation(i, timed.status());
    const double time_us = static_cast<double>(timed->time.count()) / kPsPerUs;
    (*predictions)[i] = {std::log(time_us / observations_[i].time_us),
                         PatternOf(*timed, first.kind)};
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Prediction>> Predictor::Predict(
    const SystemSpec& system) {
  std::vector<Prediction> predictions(observations_.size());
  for (const Sweep& sweep : sweeps_) {
    ASTRA_RETURN_IF_ERROR(
        PredictMembers(system, sweep, sweep.members, &predictions));
  }
  return predictions;
}

absl::Status Predictor::PredictAgain(const SystemSpec& system,
                                     const CalibratedConstant& constant,
                                     std::vector<Prediction>* predictions) {
  for (const Sweep& sweep : sweeps_) {
    std::vector<size_t> members;
    for (const size_t i : sweep.members) {
      if (CanMatter(constant, i, (*predictions)[i])) members.push_back(i);
    }
    ASTRA_RETURN_IF_ERROR(PredictMembers(system, sweep, members, predictions));
  }
  return absl::OkStatus();
}

}  // namespace astra
