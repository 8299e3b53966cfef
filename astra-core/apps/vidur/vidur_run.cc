#include "astra-core/apps/vidur/vidur_run.h"

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/base/append_format.h"
#include "astra-core/base/files.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/serving/metrics.h"
#include "workload/serving/request_source.h"
#include "workload/serving/serving_tables.h"
#include "workload/serving/simulation.h"
#include "workload/vidur/vidur_metrics.h"

namespace astra {
namespace {

constexpr double kSecondsPerPs = 1e-12;

// Keeps the results of requests for Vidur's file, and counts the rest.
class Gatherer : public ServingObserver {
 public:
  void OnRequest(const RequestResult& result) override {
    metrics_.OnRequest(result);
    results_.push_back(result);
  }
  void OnStep(const StepRecord& step) override { metrics_.OnStep(step); }
  void OnTokens(TimePs gap, int64_t tokens) override {
    metrics_.OnTokens(gap, tokens);
  }

  ServingSummary Summary() const { return metrics_.Summary(); }
  std::vector<RequestResult> TakeResults() { return std::move(results_); }

 private:
  ServingMetrics metrics_;
  std::vector<RequestResult> results_;
};

// Vidur's documentation names the file allreduce.csv, and its code
// all_reduce.csv.
std::string ExistingPath(const std::string& path) {
  constexpr std::string_view kName = "/all_reduce.csv";
  if (Exists(path) || !path.ends_with(kName)) {
    return path;
  }
  const std::string other =
      path.substr(0, path.size() - kName.size()) + "/allreduce.csv";
  return Exists(other) ? other : path;
}

absl::StatusOr<VidurSamples> ReadSamples(const SimaiVidurOptions& options,
                                         Warnings* warnings) {
  constexpr int64_t kDgx = 8;
  constexpr int64_t kPairwise = 4;
  const VidurReplica& replica = options.replica;
  const bool is_dgx = options.network_device.find("dgx") != std::string::npos ||
                      options.network_device.starts_with("a40");
  const bool spans_nodes =
      replica.tensor * replica.stages > (is_dgx ? kDgx : kPairwise);
  VidurSamples samples;
  for (size_t i = 0; i < options.tables.size(); ++i) {
    if (options.tables[i].empty()) continue;
    const std::string path = ExistingPath(options.tables[i]);
    ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
    ASTRA_RETURN_IF_ERROR(ReadVidurTable(static_cast<VidurTable>(i), path,
                                         contents, replica, spans_nodes,
                                         &samples, warnings));
  }
  return samples;
}

absl::StatusOr<std::vector<Request>> ReadRequests(
    const SimaiVidurOptions& options, Warnings* warnings) {
  VidurLoad load = options.load;
  if (!options.trace_file.empty()) {
    ASTRA_ASSIGN_OR_RETURN(const std::string contents,
                           ReadFile(options.trace_file));
    ASTRA_ASSIGN_OR_RETURN(load.trace,
                           ParseVidurTrace(options.trace_file, contents,
                                           options.replays, warnings));
  }
  return options.replays ? ReplayVidurTrace(load) : DrawVidurRequests(load);
}

std::string PageOf(const SimaiVidurOptions& options,
                   const ServingSummary& summary) {
  const VidurReplica& replica = options.replica;
  std::string page = fmt::format(
      "{} on {} {}: {} of TP {}, PP {}, scheduler {}\n", replica.model.name,
      options.replicas * replica.tensor * replica.stages, replica.device.name,
      options.replicas == 1 ? "a replica"
                            : fmt::format("{} replicas", options.replicas),
      replica.tensor, replica.stages, options.scheduler->name);
  AppendFormat(&page, "cache      {} blocks of {}\n",
               options.batching.num_blocks, options.batching.block_tokens);
  AppendFormat(
      &page,
      "served     {} requests of {} prompt and {} output tokens in {:.3f} s\n",
      summary.requests, summary.prompt_tokens, summary.output_tokens,
      ToSeconds(summary.last_token - summary.first_arrival));
  struct Line {
    std::string_view name;
    const TimeFigures& figures;
  };
  const Line lines[] = {
      {"request_e2e_time", summary.e2e},
      {"request_e2e_time_normalized", summary.normalized_e2e},
      {"request_scheduling_delay", summary.queueing},
      {"prefill_e2e_time", summary.ttft},
      {"decode_token_execution_plus_preemption_time", summary.itl}};
  AppendFormat(&page, "\n{:<44} {:>10} {:>10} {:>10} {:>10}\n", "s", "mean",
               "p50", "p90", "p99");
  for (const Line& line : lines) {
    const TimeFigures& f = line.figures;
    AppendFormat(&page, "{:<44} {:>10.6f} {:>10.6f} {:>10.6f} {:>10.6f}\n",
                 line.name, kSecondsPerPs * f.mean, kSecondsPerPs * f.p50,
                 kSecondsPerPs * f.p90, kSecondsPerPs * f.p99);
  }
  AppendFormat(&page,
               "\nsteps      {} of {:.1f} sequences; cache {:.1f} % in the "
               "mean; {} preemptions\n",
               summary.steps, summary.batch_mean, 100 * summary.kv_use_mean,
               summary.preemptions);
  return page;
}

}  // namespace

absl::StatusOr<VidurRun> RunVidur(const SimaiVidurOptions& options,
                                  Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(const VidurSamples samples,
                         ReadSamples(options, warnings));
  ASTRA_ASSIGN_OR_RETURN(std::vector<Request> requests,
                         ReadRequests(options, warnings));
  ASTRA_ASSIGN_OR_RETURN(
      VidurCost cost,
      VidurCost::Create(options.replica, options.predictor, samples));
  ServingOptions serving;
  serving.pool = {.replicas = options.replicas,
                  .scheduler = options.scheduler,
                  .options = options.batching,
                  .router = options.router,
                  .cost = &cost};
  serving.seed = options.seed;
  ListedRequests source(std::move(requests));
  Gatherer gatherer;
  ASTRA_RETURN_IF_ERROR(Serve(serving, &source, &gatherer));
  for (std::string& line : cost.Outside()) warnings->push_back(std::move(line));
  const ServingSummary summary = gatherer.Summary();
  if (summary.requests == 0) {
    return absl::InvalidArgumentError(
        "no request arrives within the duration of the generator: expected a "
        "longer duration, or more requests a second");
  }
  return VidurRun{
      .page = PageOf(options, summary),
      .result = fmt::format("ttft {:.1f} ms, {:.1f} output tokens/s",
                            1e3 * kSecondsPerPs * summary.ttft.mean,
                            summary.PerSecond(summary.output_tokens)),
      .request_metrics =
          VidurRequestMetrics(gatherer.TakeResults(), options.has_host_time),
      .metrics = MetricsCsv(summary)};
}

}  // namespace astra
