// Reads the options that all programs that run a workload have: where they
// write, when they stop, what they add at random.

#ifndef ASTRA_CORE_APPS_RUN_OUTPUT_H_
#define ASTRA_CORE_APPS_RUN_OUTPUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "astra-core/base/units.h"
#include "astra-core/command_line/command_line.h"

namespace astra {

// Files that a run of a workload may write. A run removes those of an earlier
// run that it does not write itself, so that nobody takes them for its own.
constexpr std::string_view kResultFiles[] = {
    "EndToEnd.csv",      "iteration.csv",   "collectives.csv",
    "links.csv",         "run.json",        "breakdown.csv",
    "critical_path.csv", "memory.csv",      "trace.json",
    "flows.csv",         "queues.csv",      "rates.csv",
    "pfc.csv",           "cnp.csv",         "capture.pcapng",
    "cost.json",         "fct.txt",         "pfc.txt",
    "stages.csv",        "chart.html",      "memory_snapshot.pickle",
    "jobs.csv",          "iterations.csv",  "changes.csv",
    "shared_links.csv",  "storage.csv",     "ranks.csv",
    "nodes.csv",         "completions.csv", "report.html",
    "latencies.csv"};

// Files that a run of simai_serving under one load or several, or a job that
// serves, may write. It removes those of an earlier run.
constexpr std::string_view kServingFiles[] = {
    "requests.csv", "metrics.csv", "steps.csv",   "curve.csv",
    "trace.json",   "run.json",    "serving.html"};

struct RunOutput {
  std::string name;    // Name of the run.
  std::string folder;  // Folder for the results.
};

// Returns the name that a run has after its input: that of the file `path`
// without its extension.
//
// Errors: those of ReadFile for a path that names no file, such as that of a
// folder "d/" or "..".
absl::StatusOr<std::string> NameOfInput(const std::string& path);

// Returns the name from --result, or else `otherwise`, which is that of the
// input, and the folder from --output, or else results/NAME.
//
// Errors: InvalidArgument for a name that no folder can have, or an empty
// folder.
absl::StatusOr<RunOutput> ReadRunOutput(const CommandLine& flags,
                                        std::string_view otherwise);

// Options that make computation slower than the workload says.
struct Disturbances {
  std::optional<double> contention;  // See communication_slowdown.
  double jitter = 0;
};

// Reads --contention and --jitter.
//
// Errors: InvalidArgument for a value that is not a share.
absl::StatusOr<Disturbances> ReadDisturbances(const CommandLine& flags);

// Reads --seed; none if it is not given.
//
// Errors: InvalidArgument for a value that is not a whole number.
absl::StatusOr<std::optional<uint64_t>> ReadSeed(const CommandLine& flags);

// Reads --stop-at; kMaxCollectiveTime if it is not given.
//
// Errors: InvalidArgument for a value that is not a time, or is longer.
absl::StatusOr<TimePs> ReadStopAt(const CommandLine& flags);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_RUN_OUTPUT_H_
