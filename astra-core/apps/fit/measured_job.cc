#include "astra-core/apps/fit/measured_job.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/apps/iteration_run.h"
#include "astra-core/apps/run_defaults.h"
#include "astra-core/apps/simai_environment.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/run/run.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr std::string_view kWorkloadName = "the workload";

absl::Status At(std::string_view place, const absl::Status& status) {
  return absl::InvalidArgumentError(
      fmt::format("{}: {}", place, std::string(status.message())));
}

absl::Status At(std::string_view place, std::string_view program,
                const absl::Status& status) {
  return absl::InvalidArgumentError(
      fmt::format("{}: {}: {}", place, program, std::string(status.message())));
}

// Parses options, and refuses those that only change what is written.
absl::StatusOr<CommandLine> ParseOptions(
    std::string_view program, absl::Span<const OptionSpec> specs,
    const std::vector<std::string>& words) {
  std::vector<const char*> argv = {program.data()};
  for (const std::string& word : words) argv.push_back(word.c_str());
  ASTRA_ASSIGN_OR_RETURN(
      CommandLine flags,
      CommandLine::Parse(specs, static_cast<int>(argv.size()), argv.data()));
  for (const OptionSpec& option : specs) {
    if (option.group != "Output" || !flags.has(option.name)) continue;
    return absl::InvalidArgumentError(
        fmt::format("--{} has no effect: nothing is written for an iteration",
                    option.name));
  }
  return flags;
}

absl::StatusOr<GenWorkloadOptions> ReadWorkloadOptions(
    const CommandLine& flags) {
  for (const auto& [option, why] :
       {std::pair("load", "it is what is sought"),
        std::pair("phase", "an iteration is of training")}) {
    if (!flags.has(option)) continue;
    return absl::InvalidArgumentError(
        fmt::format("--{} has no effect: {}", option, why));
  }
  ASTRA_ASSIGN_OR_RETURN(GenWorkloadOptions options,
                         ReadGenWorkloadOptions(flags));
  if (!std::holds_alternative<TrainingSetup>(options.setup)) {
    return absl::InvalidArgumentError("an iteration is of training");
  }
  return options;
}

}  // namespace

absl::StatusOr<MeasuredJob> MeasuredJob::Create(
    const MeasuredIteration& iteration, Warnings* warnings) {
  constexpr const char* kWorkload = "gen_workload";
  constexpr const char* kRun = "simai_analytical";
  MeasuredJob job;
  job.place_ = iteration.place;
  const auto flags =
      ParseOptions(kWorkload, GenWorkloadOptionSpecs(), iteration.gen_workload);
  if (!flags.ok()) return At(job.place_, kWorkload, flags.status());
  job.framework_ = flags->value("framework").value_or("megatron");
  absl::StatusOr<GenWorkloadOptions> workload = ReadWorkloadOptions(*flags);
  if (!workload.ok()) return At(job.place_, kWorkload, workload.status());
  job.workload_ = *std::move(workload);
  std::vector<std::string> words = iteration.simai_analytical;
  words.push_back(fmt::format("--workload={}", kWorkloadName));
  const auto run_flags = ParseOptions(kRun, RunOptionSpecs(), words);
  if (!run_flags.ok()) return At(job.place_, kRun, run_flags.status());
  absl::StatusOr<RunOptions> run = ReadRunOptions(
      SimaiAnalyticalDefaults(), *run_flags, SimaiVariablesOfProcess());
  if (!run.ok()) return At(job.place_, kRun, run.status());
  job.run_ = *std::move(run);
  for (const Warnings* some : {&job.workload_.warnings, &job.run_.warnings}) {
    for (const std::string& warning : *some) {
      warnings->push_back(fmt::format("{}: {}", job.place_, warning));
    }
  }
  return job;
}

JobConstants MeasuredJob::constants() const {
  const auto& setup = std::get<TrainingSetup>(workload_.setup);
  constexpr double kNsPerUs = 1000;
  return {workload_.load,
          static_cast<double>(setup.iteration_host_ns) / kNsPerUs,
          static_cast<double>(setup.expert_host_ns) / kNsPerUs};
}

absl::StatusOr<SimulationResult> MeasuredJob::Predict(
    const JobConstants& constants) const {
  const auto [load, iteration_us, expert_host_us] = constants;
  constexpr double kNsPerUs = 1000;
  GenWorkloadOptions options = workload_;
  auto& setup = std::get<TrainingSetup>(options.setup);
  options.load = load;
  setup.iteration_host_ns = std::llround(iteration_us * kNsPerUs);
  setup.expert_host_ns = std::llround(expert_host_us * kNsPerUs);
  auto program = GenerateProgram(options);
  if (!program.ok()) return At(place_, program.status());
  absl::StatusOr<RunResult> run = RunGenerated(run_, *std::move(program));
  if (!run.ok()) return At(place_, run.status());
  return std::move(run->result);
}

absl::StatusOr<double> MeasuredJob::ComputingSeconds(
    const JobConstants& constants, uint32_t rank) const {
  JobConstants kernels = constants;  // Waiting for the host is no kernel.
  kernels[static_cast<size_t>(JobConstant::kIterationUs)] = 0;
  kernels[static_cast<size_t>(JobConstant::kExpertHostUs)] = 0;
  ASTRA_ASSIGN_OR_RETURN(const SimulationResult result, Predict(kernels));
  const auto& setup = std::get<TrainingSetup>(workload_.setup);
  if (rank >= setup.world_size) {
    return absl::InvalidArgumentError(
        fmt::format("{}: the trace is of rank {}, but the job has {} GPUs",
                    place_, rank, setup.world_size));
  }
  const auto stage =
      static_cast<uint32_t>(rank / (setup.world_size / setup.pipeline));
  const auto found = std::find_if(
      result.ranks.begin(), result.ranks.end(),
      [stage](const RankResult& one) { return one.stage == stage; });
  const RankResult& of_stage =
      found == result.ranks.end() ? result.ranks.front() : *found;
  return ToSeconds(of_stage.compute + of_stage.slowed);
}

}  // namespace astra
