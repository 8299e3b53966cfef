// How fast requests are served, and the peak memory: a trace, if one is named,
// on 64 replicas, and a million synthetic requests on 8, alone and as sessions
// of five turns with prefixes in the host's memory. Steps take a fixed time, so
// that only the schedulers and the event loop are timed.
//
//   serving_rate [TRACE]
//
// The time is expected to grow with the number of steps and of output tokens.

#include <sys/resource.h>

#include <chrono>
#include <string>
#include <utility>

#include "astra-core/base/files.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/serving/metrics.h"
#include "workload/serving/request_trace.h"
#include "workload/serving/simulation.h"
#include "workload/serving/synthetic_requests.h"

namespace astra {
namespace {

class FixedCost : public StepCost {
 public:
  TimePs TimeOf(const StepWork&) override { return Microseconds(20'000); }
};

long PeakMiB() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

// Serves the source under `name` and prints a line.
absl::Status Time(const std::string& name, const SchedulerKind& scheduler,
                  int64_t replicas, RequestSource* source,
                  int64_t host_blocks = 0) {
  FixedCost cost;
  ServingOptions options;
  options.pool = {
      .replicas = replicas,
      .scheduler = &scheduler,
      .options = scheduler.defaults,
      .router = *FindRouter(host_blocks > 0 ? "prefix-aware" : "least-loaded"),
      .cost = &cost,
      .host_block_time = Microseconds(50)};
  options.pool.options.host_blocks = host_blocks;
  options.pool.options.num_blocks = 400'000 / options.pool.options.block_tokens;
  options.pool.options.max_sequence_tokens = 150'000;
  ServingMetrics metrics;
  const auto begin = std::chrono::steady_clock::now();
  ASTRA_RETURN_IF_ERROR(Serve(options, source, &metrics));
  const std::chrono::duration<double> time =
      std::chrono::steady_clock::now() - begin;
  const ServingSummary summary = metrics.Summary();
  fmt::print(
      "{:10} {:20} {:9} requests {:10} steps {:11} output tokens {:5.1f} % "
      "hits "
      "{:6.2f} s, {} MiB\n",
      name, scheduler.name, summary.requests, summary.steps,
      summary.output_tokens, 100 * summary.PrefixHitRate(), time.count(),
      PeakMiB());
  return absl::OkStatus();
}

absl::Status TimeTrace(const std::string& file) {
  const absl::StatusOr<std::string> contents = ReadFile(file);
  if (!contents.ok()) return contents.status();
  for (const auto kind : {&VllmScheduler, &SarathiScheduler, &OrcaScheduler,
                          &SglangScheduler, &TrtllmScheduler}) {
    Warnings warnings;
    absl::StatusOr<RequestTrace> trace =
        ParseRequestTrace(file, *contents, {}, &warnings);
    if (!trace.ok()) return trace.status();
    SchedulerKind scheduler = kind();
    scheduler.defaults.chunked_prefill = true;
    ListedRequests source(std::move(trace->requests));
    ASTRA_RETURN_IF_ERROR(Time("trace", scheduler, 64, &source));
  }
  return absl::OkStatus();
}

absl::Status TimeMillion() {
  SyntheticOptions options;
  options.lengths = {.prompt_tokens = 512, .output_tokens = 64};
  options.per_second = 200;
  options.count = 1'000'000;
  absl::StatusOr<SyntheticRequests> source = SyntheticRequests::Create(options);
  if (!source.ok()) return source.status();
  return Time("synthetic", VllmScheduler(), 8, &*source);
}

absl::Status TimeSessions() {
  SyntheticOptions options;
  options.lengths = {.prompt_tokens = 256, .output_tokens = 64};
  options.per_second = 40;
  options.count = 200'000;
  options.turns = 5;
  options.turn_wait = Microseconds(60'000'000);
  absl::StatusOr<SyntheticRequests> source = SyntheticRequests::Create(options);
  if (!source.ok()) return source.status();
  return Time("sessions", VllmScheduler(), 8, &*source, 100'000);
}

}  // namespace
}  // namespace astra

int main(int argc, char** argv) {
  absl::Status status = astra::TimeMillion();
  if (status.ok()) status = astra::TimeSessions();
  if (status.ok() && argc > 1) status = astra::TimeTrace(argv[1]);
  if (!status.ok()) fmt::print(stderr, "{}\n", status.ToString());
  return status.ok() ? 0 : 1;
}
