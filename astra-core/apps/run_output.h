// What the command lines of all programs that run a workload say: where they
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

// What a run of a workload may write: of what an earlier run
// left in the folder, nothing must be taken for this run's.
constexpr std::string_view kResultFiles[] = {
    "EndToEnd.csv", "iteration.csv", "collectives.csv",   "links.csv",
    "run.json",     "breakdown.csv", "critical_path.csv", "memory.csv",
    "trace.json",   "flows.csv",     "queues.csv",        "rates.csv",
    "pfc.csv",      "cnp.csv",       "capture.pcapng",    "cost.json",
    "fct.txt",      "pfc.txt",       "chart.html"};

struct RunOutput {
  std::string name;    // Of the run.
  std::string folder;  // For the results.
};

// What --result, or else `otherwise`, and --output, or else results/NAME, say.
//
// Errors: InvalidArgument for a name that is none for a folder, or an empty
// folder.
absl::StatusOr<RunOutput> ReadRunOutput(const CommandLine& flags,
                                        std::string_view otherwise);

// What makes computation slower than its times say.
struct Disturbances {
  std::optional<double> contention;  // See communication_slowdown.
  double jitter = 0;
};

// What --contention and --jitter say.
//
// Errors: InvalidArgument for what is no share.
absl::StatusOr<Disturbances> ReadDisturbances(const CommandLine& flags);

// What --seed says; none if it is not given.
//
// Errors: InvalidArgument for what is no whole number.
absl::StatusOr<std::optional<uint64_t>> ReadSeed(const CommandLine& flags);

// What --stop-at says; kMaxCollectiveTime if it is not given.
//
// Errors: InvalidArgument for what is no time, or is longer.
absl::StatusOr<TimePs> ReadStopAt(const CommandLine& flags);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_RUN_OUTPUT_H_
