#include "astra-core/apps/serving/capacity_run.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/apps/json_parts.h"
#include "astra-core/apps/serving/replica_times.h"
#include "astra-core/apps/serving/serving_files.h"
#include "astra-core/apps/serving/serving_pools_report.h"
#include "astra-core/apps/serving/serving_replay.h"
#include "astra-core/apps/serving/serving_report.h"
#include "astra-core/apps/serving/serving_setup.h"
#include "astra-core/apps/serving/sizing_options.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/files.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/main_support.h"
#include "astra-core/command_line/option_reading.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

constexpr double kMsPerSecond = 1e3;

struct CapacityJob {
  SimaiServingOptions options;
  SizingLoad load;
  LatencyLimits limits;
  CapacityOptions search;
  std::optional<double> rate;  // Given: the fewest replicas are searched.
};

struct CapacityRuns {
  Capacity capacity;
  std::vector<ReplayedLoad> loads;   // Of each run.
  std::optional<ReplayedLoad> best;  // Of the run that is the answer.
  std::optional<SteadyLoad> closed;  // Of a replica there, in the closed form.
};

// `side` is null where one pool does all.
ReplayedDeployment DeploymentOf(const CapacityJob& job, ReplicaTimes& times,
                                const DecodeSide* side) {
  const ServingJob& serving = job.options.job;
  ReplayedDeployment deployment = {
      .pool = PoolOf(serving, &times.steps()),
      .request_seconds = 1e-6 * serving.engine.serving.request_us};
  if (side == nullptr) return deployment;
  deployment.decode = PoolOf(side->job, &side->times.steps());
  deployment.transfer = side->transfer;
  deployment.transfer_layers = side->transfer_layers;
  deployment.first_token_from_decode = side->first_token_from_decode;
  return deployment;
}

// The closed form of a replica; none for a scheduler, and for what a replica
// does, that it does not know.
std::optional<SteadyState> SteadyOf(const CapacityJob& job,
                                    const ServingJob& serving,
                                    ReplicaTimes& times) {
  if (!CheckSteadyScheduler(serving.scheduler->name).ok() ||
      serving.layout.attention_ranks > 1 || serving.options.draft_tokens > 0) {
    return std::nullopt;
  }
  return SteadyState(
      {.cost = &times.steps(),
       .options = serving.options,
       .scheduler = serving.scheduler->name,
       .request_seconds = 1e-6 * serving.engine.serving.request_us,
       .steps_under_way = serving.layout.pipeline},
      job.load.lengths);
}

// Returns whether enough requests keep the limits, and yet they pile up.
bool IsOnlyUnsteady(const CapacityJob& job, const ReplayedLoad& load) {
  return !load.is_steady && load.share >= job.search.share;
}

// Returns the load of a replica that keeps the limits in the closed form, to
// start from; one request a second where it has none.
SteadyLoad GuessOf(const CapacityJob& job,
                   const std::optional<SteadyState>& steady,
                   bool decodes_only) {
  SteadyLoad guess;
  guess.rate = 1;
  guess.in_flight = 1;
  if (!steady) return guess;
  const auto keeps = [](const std::optional<TimePs>& limit, double seconds) {
    return !limit || seconds <= ToSeconds(*limit);
  };
  for (int64_t count = 2; count <= steady->most_in_flight(); count *= 2) {
    const auto batch = static_cast<double>(count);
    const std::optional<SteadyLoad> load =
        decodes_only ? steady->DecodeAtBatch(batch, /*transfer_seconds=*/0)
                     : steady->AtBatch(batch);
    if (!load || !keeps(job.limits.to_first_token, load->ttft) ||
        !keeps(job.limits.per_token, load->tpot)) {
      break;
    }
    guess = *load;
  }
  return guess;
}

// Searches the rate, or the replicas, of the deployment; `side` is null where
// one pool does all. With two pools the guess is what the decoding one takes.
absl::StatusOr<CapacityRuns> Search(const CapacityJob& job, ReplicaTimes& times,
                                    const DecodeSide* side) {
  ReplayedDeployment deployment = DeploymentOf(job, times, side);
  const std::optional<SteadyState> steady =
      side == nullptr ? SteadyOf(job, job.options.job, times)
                      : SteadyOf(job, side->job, side->times);
  const SteadyLoad guess = GuessOf(job, steady, side != nullptr);
  const auto replicas =
      static_cast<double>(deployment.decode.value_or(deployment.pool).replicas);
  CapacityRuns runs;
  const auto replay = [&](double rate,
                          double in_flight) -> absl::StatusOr<double> {
    ASTRA_ASSIGN_OR_RETURN(const ReplayedLoad load,
                           ReplayAt(deployment, job.load, job.limits, rate,
                                    job.load.CountOf(in_flight)));
    runs.loads.push_back(load);
    return load.share_if_steady();
  };
  if (job.rate) {
    const double in_flight = guess.in_flight * *job.rate / guess.rate;
    ASTRA_ASSIGN_OR_RETURN(
        runs.capacity,
        LeastCount(std::llround(std::ceil(*job.rate / guess.rate)),
                   kMostCapacityReplicas, job.search, [&](double count) {
                     deployment.pool.replicas = std::llround(count);
                     return replay(*job.rate, in_flight);
                   }));
  } else {
    ASTRA_ASSIGN_OR_RETURN(
        runs.capacity,
        LargestRate(replicas * guess.rate, job.search, [&](double rate) {
          return replay(rate, guess.in_flight * rate / guess.rate);
        }));
  }
  for (size_t i = 0; i < runs.loads.size(); ++i) {
    if (runs.capacity.runs[i].load == runs.capacity.largest) {
      runs.best = runs.loads[i];
    }
  }
  if (steady && runs.best && side == nullptr) {
    const double count = job.rate ? runs.capacity.largest : replicas;
    runs.closed = steady->AtRate(runs.best->rate / count);
  }
  return runs;
}

// Says whether a run passed, and why not where limits are not the reason.
std::string_view Passes(const CapacityJob& job, const CapacityRuns& runs,
                        size_t run) {
  const ReplayedLoad& load = runs.loads[run];
  if (runs.capacity.runs[run].passes) return "yes";
  return IsOnlyUnsteady(job, load) ? "no: more come than end" : "no";
}

std::string_view LoadName(const CapacityJob& job) {
  return job.rate ? "replicas" : "requests/s";
}

// Returns the line of the pool that decodes, or nothing.
std::string DecodeLineOf(const CapacityJob& job) {
  std::string line;
  if (job.options.decode) AppendDecodePool(*job.options.decode, &line);
  return line;
}

std::string PageOf(const CapacityJob& job, const CapacityRuns& runs) {
  const ServingJob& serving = job.options.job;
  std::string page = fmt::format(
      "{} on {}: {}, {} {}\n{}capacity   {} at which {:g} % of "
      "the requests keep {}\n\n{:>12} {:>9} {:>9} {:>9} {:>9} {:>9}  passes\n",
      serving.model.name, serving.gpu.name, LayoutText(serving.layout),
      serving.engine.name, serving.engine.release, DecodeLineOf(job),
      job.rate ? fmt::format("fewest replicas for {:g} requests/s", *job.rate)
               : std::string("largest rate"),
      100 * job.search.share, DescribeLimits(job.limits), LoadName(job),
      "within %", "ttft ms", "ttft p99", "tpot ms", "tpot p99");
  for (size_t i = 0; i < runs.loads.size(); ++i) {
    const ReplayedLoad& load = runs.loads[i];
    const CapacityRun& run = runs.capacity.runs[i];
    AppendFormat(&page,
                 "{:>12.6g} {:>9.2f} {:>9.1f} {:>9.1f} {:>9.2f} {:>9.2f}  {}\n",
                 run.load, 100 * load.share, kMsPerSecond * load.ttft,
                 kMsPerSecond * load.ttft_p99, kMsPerSecond * load.tpot,
                 kMsPerSecond * load.tpot_p99, Passes(job, runs, i));
  }
  if (!runs.capacity.is_monotone) {
    page +=
        "not monotone: a lighter load failed where a heavier one passed; "
        "more --requests make runs alike\n";
  }
  if (!runs.capacity.is_precise && runs.capacity.largest > 0) {
    AppendFormat(&page, "not precise: the {} runs were used up\n",
                 job.search.most_runs);
  }
  if (runs.closed) {
    AppendFormat(&page,
                 "closed form of the answer, in the mean: ttft {:.1f} ms, "
                 "tpot {:.2f} ms\n",
                 kMsPerSecond * runs.closed->ttft,
                 kMsPerSecond * runs.closed->tpot);
  }
  return page + "\n";
}

// Says why no run passed.
std::string WhyNone(const CapacityJob& job, const CapacityRuns& runs) {
  for (const ReplayedLoad& load : runs.loads) {
    if (!IsOnlyUnsteady(job, load)) continue;
    return "no answer: more requests come than end though they keep the "
           "limits; with more --requests more of them end";
  }
  if (!job.rate) return "no rate keeps the limits";
  return fmt::format(
      "no number of replicas up to {} keeps the limits at {:g} requests/s",
      kMostCapacityReplicas, *job.rate);
}

std::string ResultOf(const CapacityJob& job, const CapacityRuns& runs) {
  const ServingJob& serving = job.options.job;
  if (!runs.best) return WhyNone(job, runs);
  const double gpus = job.rate
                          ? runs.capacity.largest *
                                static_cast<double>(serving.layout.num_gpus())
                          : static_cast<double>(job.options.num_gpus());
  return fmt::format(
      "{:.4g} requests/s on {:g} GPU{}, {:.1f} output tokens/s for each GPU",
      runs.best->rate, gpus, gpus == 1 ? "" : "s",
      runs.best->output_rate / gpus);
}

std::string CsvOf(const CapacityRuns& runs) {
  std::string csv =
      "load,rate,requests,share_within,steady,passes,ttft_mean_ms,ttft_p99_ms,"
      "tpot_mean_ms,tpot_p99_ms,output_tokens_per_s\n";
  for (size_t i = 0; i < runs.loads.size(); ++i) {
    const ReplayedLoad& load = runs.loads[i];
    AppendFormat(&csv, "{},{},{},{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g}\n",
                 runs.capacity.runs[i].load, load.rate, load.requests,
                 load.share, load.is_steady, runs.capacity.runs[i].passes,
                 kMsPerSecond * load.ttft, kMsPerSecond * load.ttft_p99,
                 kMsPerSecond * load.tpot, kMsPerSecond * load.tpot_p99,
                 load.output_rate);
  }
  return csv;
}

std::string JsonOf(const CapacityJob& job, const CapacityRuns& runs) {
  const ServingJob& serving = job.options.job;
  Json json = {{"name", job.options.name},
               {"model", serving.model.name},
               {"gpu", serving.gpu.name},
               {"tp", serving.layout.tensor},
               {"pp", serving.layout.pipeline},
               {"ep", serving.layout.expert},
               {"attention_dp", serving.layout.attention_ranks},
               {"replicas", job.rate ? Json() : Json(serving.replicas)},
               {"share", job.search.share},
               {"searched", job.rate ? "replicas" : "rate"},
               {"passed", runs.capacity.largest},
               {"failed", runs.capacity.failed},
               {"is_monotone", runs.capacity.is_monotone},
               {"is_precise", runs.capacity.is_precise}};
  if (job.options.decode) {
    const ServingJob& decode = job.options.decode->job;
    json["decode_tp"] = decode.layout.tensor;
    json["decode_pp"] = decode.layout.pipeline;
    json["decode_ep"] = decode.layout.expert;
    json["decode_attention_dp"] = decode.layout.attention_ranks;
    json["decode_replicas"] = decode.replicas;
  }
  if (runs.best) {
    json["rate"] = runs.best->rate;
    json["output_tokens_per_s"] = runs.best->output_rate;
  }
  return JsonText(json);
}

absl::StatusOr<CapacityJob> JobOf(const CommandLine& flags,
                                  SimaiServingOptions options) {
  CapacityJob job;
  constexpr std::string_view kOther[] = {"concurrency",   "steps",
                                         "timeline",      "threads",
                                         "curves",        "shared-prefix",
                                         "prefix-groups", "turns",
                                         "turn-wait-ms",  "turn-wait-cv",
                                         "fidelity",      "network",
                                         "beside",        "beside-first-gpu",
                                         "load-weights"};
  ASTRA_RETURN_IF_ERROR(Refuse(flags, kOther, "--capacity is given"));
  ASTRA_ASSIGN_OR_RETURN(job.limits, ReadSizingLimits(flags));
  ASTRA_ASSIGN_OR_RETURN(job.search.share, ReadSizingShare(flags));
  ASTRA_ASSIGN_OR_RETURN(
      job.load, ReadSizingLoad(flags, options.job.model, &options.warnings));
  if (flags.has("rate")) {
    constexpr std::string_view kReplicas[] = {"replicas", "topology",
                                              "decode-replicas"};
    ASTRA_RETURN_IF_ERROR(
        Refuse(flags, kReplicas, "--capacity finds the replicas for --rate"));
    job.rate = options.points.front().rate;
  }
  job.options = std::move(options);
  return job;
}

}  // namespace

absl::Status RunCapacity(const CommandLine& flags, SimaiServingOptions options,
                         const Log& log) {
  ASTRA_ASSIGN_OR_RETURN(CapacityJob job, JobOf(flags, std::move(options)));
  ASTRA_ASSIGN_OR_RETURN(
      const std::unique_ptr<ReplicaTimes> times,
      ReplicaTimes::Create(job.options.job, &job.options.warnings));
  ASTRA_ASSIGN_OR_RETURN(
      const std::unique_ptr<ServingSetup> setup,
      ServingSetup::Create(job.options.job, job.options.decode,
                           job.options.fabric, &job.options.warnings));
  log.Report(job.options.warnings);
  ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                         OutputFolder::Create(job.options.output));
  ASTRA_ASSIGN_OR_RETURN(const CapacityRuns runs,
                         Search(job, *times, setup->parts().decode));
  ASTRA_RETURN_IF_ERROR(setup->status());
  ASTRA_RETURN_IF_ERROR(WriteServingFiles(
      folder, job.options.output,
      {{"capacity.csv", CsvOf(runs)}, {"capacity.json", JsonOf(job, runs)}}));
  Print(PageOf(job, runs));
  Print(
      fmt::format("results    {}: capacity.csv capacity.json\nfinished   {}: "
                  "{}\n",
                  job.options.output, job.options.name, ResultOf(job, runs)));
  return FlushStdout();
}

}  // namespace astra
