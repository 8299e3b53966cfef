#include "astra-core/apps/fit/simai_fit_iteration.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/apps/fit/constants_fit.h"
#include "astra-core/apps/fit/iteration_file.h"
#include "astra-core/apps/fit/measured_job.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/files.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_text.h"
#include "fmt/core.h"
#include "workload/frameworks/framework_file.h"
#include "workload/traces/kineto_profile.h"

namespace astra {
namespace {

constexpr double kFarOff = 3;  // Deviations.

// What is observed of one iteration, and how it is predicted.
struct Observed {
  const MeasuredIteration* iteration;
  const MeasuredJob* job;
  std::optional<uint32_t> rank;  // Rank of a trace; none: the whole iteration.
  MeasuredTime observation;

  absl::StatusOr<double> Predict(const JobConstants& constants) const {
    if (rank) return job->ComputingSeconds(constants, *rank);
    ASTRA_ASSIGN_OR_RETURN(const SimulationResult result,
                           job->Predict(constants));
    return ToSeconds(result.total());
  }

  std::string name() const {
    return rank ? fmt::format("{} kernels of rank {}", iteration->place, *rank)
                : iteration->place;
  }
};

absl::StatusOr<std::vector<MeasuredJob>> ReadJobs(const IterationFile& file,
                                                  Warnings* warnings) {
  std::vector<MeasuredJob> jobs;
  for (const MeasuredIteration& iteration : file.iterations) {
    ASTRA_ASSIGN_OR_RETURN(MeasuredJob job,
                           MeasuredJob::Create(iteration, warnings));
    if (!jobs.empty() && job.framework() != jobs.front().framework()) {
      return absl::InvalidArgumentError(fmt::format(
          "{}: --framework {} differs from {} of the first "
          "iteration: expected one framework for all",
          iteration.place, job.framework(), jobs.front().framework()));
    }
    jobs.push_back(std::move(job));
  }
  return jobs;
}

// Reads a trace that says when its kernels compute.
absl::StatusOr<KinetoProfile> ReadComputing(const std::string& file) {
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(file));
  ASTRA_ASSIGN_OR_RETURN(KinetoProfile trace,
                         ParseKinetoProfile(file, contents));
  if (trace.num_computing_kernels == 0) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: no kernel computes: expected a trace of ProfilerActivity.CUDA",
        file));
  }
  if (trace.num_unplaced_kernels > 0) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: {} of {} kernels that compute have no \"ts\" and \"dur\" in "
        "microseconds",
        file, trace.num_unplaced_kernels, trace.num_computing_kernels));
  }
  return trace;
}

absl::StatusOr<std::vector<Observed>> ObservationsOf(
    const IterationFile& file, const std::vector<MeasuredJob>& jobs) {
  std::vector<Observed> all;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const MeasuredIteration& iteration = file.iterations[i];
    const double spread = iteration.spread_pct / 100;
    all.push_back({&iteration,
                   &jobs[i],
                   std::nullopt,
                   {iteration.seconds, iteration.seconds * spread}});
    if (iteration.trace.empty()) continue;
    ASTRA_ASSIGN_OR_RETURN(const KinetoProfile trace,
                           ReadComputing(iteration.trace));
    const double seconds = 1e-6 * ToMicroseconds(trace.computing) /
                           static_cast<double>(trace.num_steps);
    all.push_back(
        {&iteration, &jobs[i], trace.rank, {seconds, seconds * spread}});
  }
  return all;
}

// Refuses observations that are shorter than the job takes when no kernel slows
// down and nobody waits for the host.
absl::Status CheckPossible(const std::vector<Observed>& all) {
  constexpr JobConstants kFullSpeed = {1, 0, 0};
  for (const Observed& one : all) {
    ASTRA_ASSIGN_OR_RETURN(const double least, one.Predict(kFullSpeed));
    const MeasuredTime& observation = one.observation;
    if (observation.seconds + kFarOff * observation.deviation >= least) {
      continue;
    }
    return absl::InvalidArgumentError(fmt::format(
        "{}: {:.6g} s is impossible: at full speed the job takes {:.6g} s; are "
        "its options those of the run?",
        one.name(), observation.seconds, least));
  }
  return absl::OkStatus();
}

std::string_view WhyNot(JobConstant constant, ConstantState state) {
  switch (state) {
    case ConstantState::kNotAsked:
      return "no iteration has experts";
    case ConstantState::kTooFew:
      return "needs more iterations than are given";
    case ConstantState::kUnstable:
      return constant == JobConstant::kLoad
                 ? "computing is too little of the iterations"
                 : "the iterations are too alike; others with another number "
                   "of micro-batches, or a trace, would tell";
    case ConstantState::kDetermined:
    case ConstantState::kBeyond:
      break;
  }
  return "";
}

std::string ValueText(JobConstant constant, double value) {
  return constant == JobConstant::kLoad ? fmt::format("{:.4f}", value)
                                        : fmt::format("{:.0f}", value);
}

// Returns a line such as "load: 0.7310 +- 0.0150" for each constant.
std::vector<std::string> DescribeConstants(const ConstantsFit& fit) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < kNumJobConstants; ++i) {
    const auto constant = static_cast<JobConstant>(i);
    const auto& [state, deviation] = fit.constants[i];
    const std::string value = ValueText(constant, fit.values[i]);
    if (state == ConstantState::kDetermined) {
      lines.push_back(fmt::format("{}: {} +- {}", kJobConstantNames[i], value,
                                  ValueText(constant, deviation)));
    } else if (state == ConstantState::kBeyond) {
      lines.push_back(
          fmt::format("{}: {}, the end of its range, beyond which "
                      "the best value would be",
                      kJobConstantNames[i], value));
    } else {
      lines.push_back(fmt::format("{}: not determined, {} is kept: {}",
                                  kJobConstantNames[i], value,
                                  WhyNot(constant, state)));
    }
  }
  return lines;
}

bool IsFound(ConstantState state) {
  return state == ConstantState::kDetermined || state == ConstantState::kBeyond;
}

absl::StatusOr<std::string> FrameworkText(const SimaiFitOptions& options,
                                          const IterationFile& file,
                                          const std::string& framework,
                                          const ConstantsFit& fit) {
  if (framework.find_first_of("/.") < framework.find('@')) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: --framework {} is a file: expected a name of --list-frameworks, "
        "which is the base of the one that is written",
        file.iterations.front().place, framework));
  }
  ASTRA_ASSIGN_OR_RETURN(const Framework base, LoadFramework(framework));
  std::string text =
      fmt::format("name: {}\nbase: {}{}{}\nsource:\n", file.name, base.name,
                  base.release.empty() ? "" : "@", base.release);
  AppendFormat(
      &text, "  - {}\n",
      YamlQuoted(fmt::format("simai_fit --iteration {}: {} measured",
                             options.files.front(), file.iterations.size())));
  for (const std::string& line : DescribeConstants(fit)) {
    AppendFormat(&text, "  - {}\n", YamlQuoted(line));
  }
  for (size_t i = 0; i < kNumJobConstants; ++i) {
    if (!IsFound(fit.constants[i].state)) continue;
    AppendFormat(&text, "{}: {}\n", kJobConstantNames[i],
                 ValueText(static_cast<JobConstant>(i), fit.values[i]));
  }
  return text;
}

double ErrorPct(double predicted, double measured) {
  return 100 * (predicted / measured - 1);
}

// Writes the table of all observations.
void Tabulate(const std::vector<Observed>& all,
              const std::vector<double>& before, const ConstantsFit& fit,
              FitReport& report) {
  std::string csv = "place,measured_s,before_s,fitted_s,error_pct\n";
  AppendFormat(&report.page, "{:<36} {:>12} {:>12} {:>12} {:>9}\n", "iteration",
               "measured s", "before s", "fitted s", "error");
  for (size_t i = 0; i < all.size(); ++i) {
    const MeasuredTime& observation = all[i].observation;
    const double error = ErrorPct(fit.predicted[i], observation.seconds);
    AppendFormat(&csv, "{},{:.6g},{:.6g},{:.6g},{:+.2f}\n", all[i].name(),
                 observation.seconds, before[i], fit.predicted[i], error);
    AppendFormat(
        &report.page, "{:<36} {:>12.6g} {:>12.6g} {:>12.6g} {:>+7.2f} %\n",
        all[i].name(), observation.seconds, before[i], fit.predicted[i], error);
  }
  report.files.push_back({"iterations.csv", std::move(csv)});
}

// Returns the error for observations that no load explains. It names the one
// that is longest beside its prediction and the one that is shortest.
absl::Status NoLoadExplains(const std::vector<Observed>& all,
                            const ConstantsFit& fit) {
  size_t longest = 0;
  size_t shortest = 0;
  const auto ratio = [&](size_t i) {
    return all[i].observation.seconds / fit.predicted[i];
  };
  for (size_t i = 1; i < all.size(); ++i) {
    if (ratio(i) > ratio(longest)) longest = i;
    if (ratio(i) < ratio(shortest)) shortest = i;
  }
  std::string measured =
      fmt::format("{:.6g} s", all[longest].observation.seconds);
  std::string predicted =
      fmt::format("it takes {:.6g} s", fit.predicted[longest]);
  if (shortest != longest) {
    AppendFormat(&measured, " here and {:.6g} s of {}",
                 all[shortest].observation.seconds, all[shortest].name());
    predicted = fmt::format("they take {:.6g} s and {:.6g} s",
                            fit.predicted[longest], fit.predicted[shortest]);
  }
  const double load = fit.values[static_cast<size_t>(JobConstant::kLoad)];
  return absl::InvalidArgumentError(
      fmt::format("{}: no load is found that explains {}: with load {} {}",
                  all[longest].name(), measured,
                  ValueText(JobConstant::kLoad, load), predicted));
}

// Warns of observations that do not agree with the others. Refuses them where
// they also leave the load open, as where they differ by less than the job
// takes at full speed.
absl::Status CheckAgreement(const std::vector<Observed>& all,
                            const ConstantsFit& fit, Warnings& warnings) {
  const ConstantFit& load =
      fit.constants[static_cast<size_t>(JobConstant::kLoad)];
  for (size_t i = 0; i < all.size(); ++i) {
    const auto& [seconds, deviation] = all[i].observation;
    if (std::abs(fit.predicted[i] - seconds) <= kFarOff * deviation) continue;
    if (load.state != ConstantState::kDetermined) {
      return NoLoadExplains(all, fit);
    }
    warnings.push_back(fmt::format(
        "{}: {:.6g} s contradicts the other iterations: fitted to all, it "
        "takes {:.6g} s",
        all[i].name(), seconds, fit.predicted[i]));
  }
  return absl::OkStatus();
}

// Refuses a load that no GPU is known to have.
absl::Status CheckLoad(const IterationFile& file, const ConstantsFit& fit) {
  const double load = fit.values[static_cast<size_t>(JobConstant::kLoad)];
  if (load >= kLeastFittedLoad) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "{}: only a load of {:.3f} explains the iterations: expected at least "
      "{}; either the options are not those of the run, or the GPUs mostly "
      "wait, and iterations with other numbers of micro-batches would tell",
      file.iterations.front().place, load, kLeastFittedLoad));
}

// Fits the constants that can differ between such jobs.
absl::StatusOr<ConstantsFit> FitJobs(const std::vector<MeasuredJob>& jobs,
                                     const std::vector<Observed>& all,
                                     const PredictTimes& predict) {
  std::vector<MeasuredTime> observations;
  observations.reserve(all.size());
  for (const Observed& one : all) observations.push_back(one.observation);
  std::vector<JobConstant> asked = {JobConstant::kLoad,
                                    JobConstant::kIterationUs};
  if (std::any_of(jobs.begin(), jobs.end(),
                  [](const MeasuredJob& job) { return job.has_experts(); })) {
    asked.push_back(JobConstant::kExpertHostUs);
  }
  return FitConstants(observations, jobs.front().constants(), asked, predict);
}

std::string ResultText(const std::vector<Observed>& all, size_t iterations,
                       const ConstantsFit& fit) {
  double worst = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const double seconds = all[i].observation.seconds;
    worst = std::max(worst, std::abs(ErrorPct(fit.predicted[i], seconds)));
  }
  return fmt::format("{} iteration{}, at most {:.2f} % off", iterations,
                     iterations == 1 ? "" : "s", worst);
}

}  // namespace

absl::StatusOr<FitReport> ReportIterations(const SimaiFitOptions& options) {
  FitReport report;
  const std::string& path = options.files.front();
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
  ASTRA_ASSIGN_OR_RETURN(const IterationFile file,
                         ParseIterations(path, contents));
  ASTRA_ASSIGN_OR_RETURN(const std::vector<MeasuredJob> jobs,
                         ReadJobs(file, &report.warnings));
  ASTRA_ASSIGN_OR_RETURN(const std::vector<Observed> all,
                         ObservationsOf(file, jobs));
  ASTRA_RETURN_IF_ERROR(CheckPossible(all));
  const PredictTimes predict = [&](const JobConstants& constants)
      -> absl::StatusOr<std::vector<double>> {
    std::vector<double> times;
    for (const Observed& one : all) {
      ASTRA_ASSIGN_OR_RETURN(times.emplace_back(), one.Predict(constants));
    }
    return times;
  };
  ASTRA_ASSIGN_OR_RETURN(const std::vector<double> before,
                         predict(jobs.front().constants()));
  ASTRA_ASSIGN_OR_RETURN(const ConstantsFit fit, FitJobs(jobs, all, predict));
  ASTRA_RETURN_IF_ERROR(CheckLoad(file, fit));
  ASTRA_RETURN_IF_ERROR(CheckAgreement(all, fit, report.warnings));
  ASTRA_ASSIGN_OR_RETURN(
      std::string framework,
      FrameworkText(options, file, jobs.front().framework(), fit));
  report.files.push_back({file.name + ".yaml", std::move(framework)});
  Tabulate(all, before, fit, report);
  for (const std::string& line : DescribeConstants(fit)) {
    report.page += line + "\n";
  }
  report.files.push_back({"summary.txt", report.page});
  report.result = ResultText(all, file.iterations.size(), fit);
  return report;
}

}  // namespace astra
