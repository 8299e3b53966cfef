#include "astra-core/apps/serving/weights_run.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "astra-core/base/append_format.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/serving/cache_memory.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

// Times of the replicas that load.
struct LoadFigures {
  int64_t replicas = 0;
  double mean = 0;
  double most = 0;
};

LoadFigures FiguresOf(absl::Span<const TimePs> times) {
  LoadFigures figures;
  for (const TimePs time : times) {
    if (time == TimePs(0)) continue;
    const double seconds = ToSeconds(time);
    ++figures.replicas;
    figures.mean += seconds;
    figures.most = std::max(figures.most, seconds);
  }
  if (figures.replicas > 0) {
    figures.mean /= static_cast<double>(figures.replicas);
  }
  return figures;
}

}  // namespace

absl::StatusOr<std::unique_ptr<WeightsRun>> WeightsRun::Create(
    WeightSource source, const ServingJob& job, const DecodePool* decode,
    ServingCluster& cluster) {
  std::vector<WeightPlace> places;
  for (const PoolPlace& pool : cluster.pools()) {
    const ServingJob& of = places.empty() ? job : decode->job;
    ASTRA_ASSIGN_OR_RETURN(const Bytes bytes,
                           BytesOfWeights(of.model, of.layout));
    places.push_back({pool, bytes});
  }
  std::unique_ptr<WeightsRun> run(new WeightsRun(source, std::move(places)));
  run->loads_ = source == WeightSource::kStorage
                    ? LoadsFromStorage(run->places_, *cluster.storage_gpu(),
                                       cluster.topology().gpus_per_server())
                    : LoadsFromReplica(run->places_);
  ASTRA_ASSIGN_OR_RETURN(run->times_, LoadTimes(run->loads_, cluster.routes()));
  return run;
}

StartWeights WeightsRun::ClosedForm() {
  return [this](uint32_t replica) { return std::optional(times_[replica]); };
}

void WeightsRun::Describe(absl::Span<const TimePs> on_network,
                          std::string* page) const {
  const LoadFigures figures =
      FiguresOf(on_network.empty() ? times_ : on_network);
  AppendFormat(page,
               "weights    {:.2f} GiB on a GPU; {} replica{} loaded from {} in "
               "{:.3f} s in the mean, {:.3f} s at most\n",
               ToGib(places_.front().bytes), figures.replicas,
               figures.replicas == 1 ? "" : "s",
               source_ == WeightSource::kStorage ? "storage" : "the first one",
               figures.mean, figures.most);
}

void WeightsRun::AddTo(absl::Span<const TimePs> on_network,
                       nlohmann::ordered_json& json) const {
  const LoadFigures figures =
      FiguresOf(on_network.empty() ? times_ : on_network);
  json["weights"] = {{"source", Name(source_)},
                     {"bytes_per_gpu", places_.front().bytes.count()},
                     {"replicas", figures.replicas},
                     {"load_s_mean", figures.mean},
                     {"load_s_max", figures.most}};
}

}  // namespace astra
