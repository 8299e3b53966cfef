// Options of simai_serving, as its command line gives them.

#ifndef ASTRA_CORE_APPS_SERVING_SIMAI_SERVING_OPTIONS_H_
#define ASTRA_CORE_APPS_SERVING_SIMAI_SERVING_OPTIONS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/apps/serving/serving_job.h"
#include "astra-core/base/log.h"
#include "astra-core/command_line/command_line.h"
#include "workload/serving/request_source.h"

namespace astra {

struct SimaiServingOptions {
  ServingJob job;
  // What the memory says; none: the number of blocks was given.
  std::optional<CacheRoom> room;

  std::optional<std::string> trace;  // Else requests are drawn.
  int64_t requests = 0;              // 0: all of the trace.
  int64_t prompt_tokens = 0;
  int64_t output_tokens = 0;
  double rate = 0;  // Requests per second; 0: a closed loop.
  int64_t in_flight =
      0;  // Requests of a closed loop; 0: they arrive at `rate`.
  uint64_t seed = 0;

  std::optional<std::string> compare_table;
  bool writes_steps = false;
  std::string name;    // Name of the run.
  std::string output;  // Folder for the results.
  Warnings warnings;
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

// Reads --dtype. Errors: InvalidArgument for one that the model has not.
absl::Status ReadServingPrecision(const CommandLine& flags, ServingJob& job);

// Reads the engine, its scheduler, and what a step may hold. Errors: those of
// LoadInferenceEngine and UseFacts.
absl::Status ReadServingEngine(const CommandLine& flags, ServingJob& job);

// Returns where the requests come from. Errors: those of ParseRequestTrace and
// of SyntheticRequests.
absl::StatusOr<std::unique_ptr<RequestSource>> SourceOf(
    SimaiServingOptions& options);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SIMAI_SERVING_OPTIONS_H_
