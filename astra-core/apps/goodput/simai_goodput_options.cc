#include "astra-core/apps/goodput/simai_goodput_options.h"

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/apps/run_output.h"
#include "astra-core/base/files.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "astra-core/goodput/failures_file.h"
#include "fmt/core.h"
#include "topology/topology.h"

namespace astra {
namespace {

constexpr std::string_view kUsage =
    "usage: simai_goodput --gpus N --checkpoint TIME\n"
    "                     (--gpu-mtbf TIME --restart TIME | --failures FILE)\n"
    "\n"
    "Says how much of its time a long training job spends on work that counts, "
    "when\n"
    "GPUs, links and software fail: by a formula, and by simulation. Times are "
    "numbers\n"
    "with ms, s, min, h or d.\n";

constexpr CommandExample kExamples[] = {
    {"simai_goodput --gpus 16384 --gpu-mtbf 50677h --restart 10min \\\n"
     "  --checkpoint 30s",
     "A month on 16,384 GPUs, with the best time between checkpoints:"},
    {"simai_goodput --gpus 4096 --gpu-mtbf 110000h --restart 15min \\\n"
     "  --checkpoint 5s --every 30min --iteration 6.2s",
     "With a checkpoint every half hour, and what an iteration comes to:"},
};

constexpr OptionSpec kOptions[] = {
    {"gpus", "g", "N", "Job", "GPUs of the job"},
    {"checkpoint", "", "TIME", "Job",
     "time for which a checkpoint stops computation"},
    {"every", "", "TIME|best", "Job",
     "work between checkpoints; best (default): what gives the highest "
     "goodput"},
    {"iteration", "", "TIME", "Job",
     "time of an iteration without failures; prints the effective time"},
    {"gpu-mtbf", "", "TIME", "Failures",
     "mean time between failures of one GPU, with all that fails with it"},
    {"restart", "", "TIME", "Failures",
     "time from a failure until work goes on: detection, rescheduling, "
     "loading"},
    {"failures", "", "FILE", "Failures",
     "several kinds of failures, in place of both: YAML that begins with "
     "simai_failures"},
    {"days", "", "N", "Simulation", "length of a run (default 30)"},
    {"trials", "", "N", "Simulation", "runs (default 1000)"},
    {"seed", "", "N", "Simulation", "seed of the failures (default 1)"},
    {"output", "o", "DIR", "Output", "folder (default ./results/NAME)"},
    {"result", "r name", "NAME", "Output", "name of the run (default goodput)"},
};

constexpr int64_t kMostDays = 36'500;
constexpr int64_t kMostTrials = 1'000'000;

// Returns the time that option `name` gives. Errors: InvalidArgument unless it
// is above 0, or with `or_zero` at least 0.
absl::StatusOr<double> ReadDuration(const CommandLine& flags,
                                    std::string_view name, bool or_zero) {
  ASTRA_RETURN_IF_ERROR(Require(flags, name));
  absl::StatusOr<double> time = ParseDuration(*flags.value(name));
  if (time.ok() && (*time > 0 || (or_zero && *time == 0))) return time;
  return absl::InvalidArgumentError(
      fmt::format("--{}: {}", name,
                  time.ok() ? "expected a time above 0"
                            : std::string(time.status().message())));
}

absl::Status ReadFailures(const CommandLine& flags,
                          SimaiGoodputOptions& options) {
  if (!flags.has("failures")) {
    FailureKind& kind = options.job.failures.emplace_back();
    kind.name = "gpu";
    ASTRA_ASSIGN_OR_RETURN(const double mtbf,
                           ReadDuration(flags, "gpu-mtbf", false));
    kind.mean_s = mtbf / static_cast<double>(options.num_gpus);
    ASTRA_ASSIGN_OR_RETURN(kind.restart_s,
                           ReadDuration(flags, "restart", true));
    return absl::OkStatus();
  }
  constexpr std::string_view kSaid[] = {"gpu-mtbf", "restart"};
  ASTRA_RETURN_IF_ERROR(Refuse(
      flags, kSaid, "--failures says what fails, and how long it takes"));
  const std::string file = *flags.value("failures");
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(file));
  ASTRA_ASSIGN_OR_RETURN(options.job.failures,
                         ParseFailures(file, contents, options.num_gpus));
  return absl::OkStatus();
}

// Refuses runs that would take minutes: failures that come by the million.
absl::Status CheckWork(const SimaiGoodputOptions& options) {
  constexpr double kMostFailures = 5e8;
  double failures = 0;
  for (const FailureKind& kind : options.job.failures) {
    failures += options.duration_s / kind.mean_s;
  }
  failures *= static_cast<double>(options.trials);
  if (failures <= kMostFailures) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "{} runs of {:g} days have some {:.2g} failures, more than "
      "{:g}: take fewer --trials or --days",
      options.trials, options.duration_s / 86'400, failures, kMostFailures));
}

}  // namespace

absl::Span<const OptionSpec> SimaiGoodputOptionSpecs() { return kOptions; }

std::string SimaiGoodputHelp() {
  return HelpText(kUsage, kOptions) + ExamplesText(kExamples);
}

absl::Span<const CommandExample> SimaiGoodputExamples() { return kExamples; }

absl::StatusOr<SimaiGoodputOptions> ReadSimaiGoodputOptions(
    const CommandLine& flags) {
  SimaiGoodputOptions options;
  ASTRA_RETURN_IF_ERROR(Require(flags, "gpus"));
  ASTRA_ASSIGN_OR_RETURN(options.num_gpus,
                         flags.integer("gpus", 0, 1, Topology::kMaxNodes));
  ASTRA_ASSIGN_OR_RETURN(options.job.checkpoint_s,
                         ReadDuration(flags, "checkpoint", false));
  if (flags.value("every").value_or("best") != "best") {
    ASTRA_ASSIGN_OR_RETURN(options.interval_s,
                           ReadDuration(flags, "every", false));
  }
  if (flags.has("iteration")) {
    ASTRA_ASSIGN_OR_RETURN(options.iteration_s,
                           ReadDuration(flags, "iteration", false));
  }
  ASTRA_RETURN_IF_ERROR(ReadFailures(flags, options));
  constexpr double kSecondsPerDay = 86'400;
  ASTRA_ASSIGN_OR_RETURN(const int64_t days,
                         flags.integer("days", 30, 1, kMostDays));
  options.duration_s = kSecondsPerDay * static_cast<double>(days);
  ASTRA_ASSIGN_OR_RETURN(options.trials,
                         flags.integer("trials", 1000, 1, kMostTrials));
  ASTRA_RETURN_IF_ERROR(CheckWork(options));
  ASTRA_ASSIGN_OR_RETURN(const std::optional<uint64_t> seed, ReadSeed(flags));
  options.seed = seed.value_or(1);
  ASTRA_ASSIGN_OR_RETURN(RunOutput output, ReadRunOutput(flags, "goodput"));
  options.name = std::move(output.name);
  options.output = std::move(output.folder);
  return options;
}

}  // namespace astra
