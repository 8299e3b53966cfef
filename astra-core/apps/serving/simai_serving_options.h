// Options of simai_serving, as its command line gives them.

#ifndef ASTRA_CORE_APPS_SERVING_SIMAI_SERVING_OPTIONS_H_
#define ASTRA_CORE_APPS_SERVING_SIMAI_SERVING_OPTIONS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/apps/serving/answer_options.h"
#include "astra-core/apps/serving/serving_fabric_options.h"
#include "astra-core/apps/serving/serving_job.h"
#include "astra-core/apps/serving/serving_points.h"
#include "astra-core/apps/serving/serving_pool_options.h"
#include "astra-core/base/log.h"
#include "astra-core/command_line/command_line.h"
#include "workload/serving/request.h"
#include "workload/serving/request_source.h"
#include "workload/serving/synthetic_requests.h"

namespace astra {

struct SimaiServingOptions {
  ServingJob job;
  // What the memory says; none: the number of blocks was given.
  std::optional<CacheRoom> room;
  FabricOptions fabric;
  std::optional<DecodePool> decode;  // Else the replicas of `job` decode too.

  std::optional<std::string> trace;  // Else requests are drawn.
  std::vector<Request> traced;       // Requests of the trace; see ReadTrace().
  // 0: all of the trace, or kRounds for each drawn request that is in flight.
  int64_t requests = 0;
  int64_t prompt_tokens = 0;
  int64_t output_tokens = 0;
  std::vector<LoadPoint> points;  // Loads to serve, each on its own.
  uint64_t seed = 0;
  SyntheticOptions sessions;  // Its shared prefixes and turns alone count.
  AnswerOptions answers;

  std::optional<std::string> compare_table;
  bool writes_steps = false;
  std::string name;    // Name of the run.
  std::string output;  // Folder for the results.
  Warnings warnings;

  // Name of the system that collectives are timed on; none where there are
  // none.
  std::optional<std::string> system;

  // Returns how many requests the first load has. Requires that ReadTrace() was
  // ok.
  int64_t num_requests() const;
  int64_t num_gpus() const {
    return job.num_gpus() + (decode ? decode->job.num_gpus() : 0);
  }
};

absl::Span<const OptionSpec> SimaiServingOptionSpecs();

// Returns the text of --help.
std::string SimaiServingHelp();

// Returns the examples that --help ends with.
absl::Span<const CommandExample> SimaiServingExamples();

// Reads the command line. Errors: InvalidArgument for a missing or wrong
// option, or one without effect; those of the readers of models, GPUs and
// engines, of UseFacts and of RoomForCache.
absl::StatusOr<SimaiServingOptions> ReadSimaiServingOptions(
    const CommandLine& flags);

// Reads the requests of the trace, if there is one. Errors: those of
// ParseRequestTrace.
absl::Status ReadTrace(SimaiServingOptions& options);

// Returns the requests of a point. Requires that ReadTrace() was ok. Errors:
// those of SyntheticRequests.
absl::StatusOr<std::unique_ptr<RequestSource>> SourceOf(
    const SimaiServingOptions& options, const LoadPoint& point);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SIMAI_SERVING_OPTIONS_H_
