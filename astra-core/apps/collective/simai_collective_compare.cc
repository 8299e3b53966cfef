#include "astra-core/apps/collective/simai_collective_compare.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/apps/collective/simai_collective_cluster.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "collectives/calibration/calibrate.h"
#include "collectives/calibration/measured_setup.h"
#include "collectives/measurements/comparison.h"
#include "collectives/measurements/error_summary.h"
#include "collectives/measurements/measured_table.h"
#include "collectives/measurements/measured_terms.h"
#include "collectives/measurements/nccl_tests_log.h"
#include "collectives/measurements/outcome.h"
#include "collectives/nccl/estimator.h"
#include "collectives/nccl/system_topology.h"
#include "collectives/systems/system_library.h"
#include "fmt/core.h"

namespace astra {
namespace {

struct MeasuredComparison {
  MeasuredTable table;
  std::vector<Outcome> outcomes;  // One for each row.
  std::string header;             // Comment lines that describe the prediction.
};

Outcome OutcomeOf(const absl::StatusOr<CollectiveEstimate>& estimate) {
  Outcome outcome;
  if (!estimate.ok()) {
    outcome.status = std::string(estimate.status().message());
    return outcome;
  }
  outcome.predicted_us = estimate->time_us;
  outcome.algorithm = estimate->algorithm;
  outcome.protocol = estimate->protocol;
  return outcome;
}

absl::StatusOr<CollectiveEstimate> Estimate(CollectiveEstimator& cluster,
                                            const MeasuredRow& row) {
  if (!row.problem.empty()) return absl::InvalidArgumentError(row.problem);
  return cluster.Estimate(row.collective, row.size);
}

// Returns the cluster on which the log was taken.
absl::StatusOr<ClusterOptions> ClusterOf(const SimaiCollectiveOptions& options,
                                         const NcclTestsLog& log) {
  ClusterOptions cluster = options.cluster;
  const bool is_stated = cluster.num_servers || cluster.num_gpus ||
                         cluster.gpus_per_server || cluster.topology_file ||
                         !cluster.ranks.empty();
  if (log.num_ranks == 0 || log.hosts.empty()) {
    if (is_stated) return cluster;
    return absl::InvalidArgumentError(fmt::format(
        "{}: no rank is listed before this row: give --servers or --gpus",
        log.ranks_place));
  }
  if (cluster.topology_file) return cluster;
  if (is_stated) {
    return absl::InvalidArgumentError(fmt::format(
        "--servers, --gpus and the like have no effect: {} lists its {} ranks",
        options.measurements, log.num_ranks));
  }
  if (log.num_ranks == 1) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: one rank is listed: expected 2 or more", log.ranks_place));
  }
  const auto num_hosts = static_cast<uint32_t>(log.hosts.size());
  if (log.num_ranks % num_hosts != 0) {
    return absl::InvalidArgumentError(
        fmt::format("{}: {} ranks on {} hosts: expected as many on each",
                    log.ranks_place, log.num_ranks, num_hosts));
  }
  cluster.num_servers = num_hosts;
  cluster.gpus_per_server = log.num_ranks / num_hosts;
  return cluster;
}

// Returns the version of NCCL that a log states, as "2.29.2+cuda13.1" or as the
// number 22902.
absl::StatusOr<NcclVersion> NcclVersionOf(const NcclTestsLog& log) {
  const std::optional<MeasuredVersion> stated =
      ParseMeasuredVersion(log.nccl_version);
  absl::StatusOr<NcclVersion> version = ParseNcclVersion(
      stated ? fmt::format("{}.{}", stated->major, stated->minor)
             : log.nccl_version);
  if (version.ok()) return version;
  return absl::InvalidArgumentError(fmt::format(
      "{}: NCCL version {}: expected 2.18 to 2.99, or such a number as 22807; "
      "--nccl NCCL_VERSION=2.28 goes before the log",
      log.nccl_version_place, Quoted(log.nccl_version)));
}

// Returns NCCL's options as the log says that it ran; the user's settings take
// precedence over the log.
absl::StatusOr<NcclOptions> NcclOf(const SimaiCollectiveOptions& options,
                                   const NcclTestsLog& log) {
  NcclOptions nccl;
  if (log.uses_cuda_graph) nccl.launch = Launch::kGraph;
  if (log.nccl_version.empty()) return ApplyNcclSettings(options.nccl, nccl);
  constexpr NcclVersion kNotUnderstood{0, 0};
  const absl::StatusOr<NcclVersion> stated = NcclVersionOf(log);
  nccl.version = stated.value_or(kNotUnderstood);
  ASTRA_ASSIGN_OR_RETURN(nccl, ApplyNcclSettings(options.nccl, nccl));
  if (nccl.version == kNotUnderstood) return stated.status();
  return nccl;
}

absl::Status CheckKind(const SimaiCollectiveOptions& options,
                       const NcclTestsLog& log) {
  if (!log.collective && !options.kind) {
    return absl::InvalidArgumentError(fmt::format(
        "{} does not tell the collective: give --op", options.measurements));
  }
  if (log.collective && options.kind && *log.collective != *options.kind) {
    return absl::InvalidArgumentError(
        fmt::format("--op is {}, but {} is of {}", NcclTestsName(*options.kind),
                    options.measurements, NcclTestsName(*log.collective)));
  }
  return absl::OkStatus();
}

// A log, and the NCCL and cluster that it was taken on.
struct LoggedRun {
  NcclOptions nccl;
  CollectiveEstimator cluster;
  MeasuredTable table;
};

// Returns `status`, an error of the cluster, at the place in the log that
// describes the cluster, unless the user describes it.
absl::Status AtRanksOf(const NcclTestsLog& log,
                       const SimaiCollectiveOptions& options,
                       const absl::Status& status) {
  const bool is_of_log = log.num_ranks != 0 && !log.hosts.empty() &&
                         !options.cluster.topology_file;
  if (!is_of_log) return status;
  return absl::Status(
      status.code(),
      fmt::format("{}: {}", log.ranks_place, std::string(status.message())));
}

absl::StatusOr<LoggedRun> ReadLoggedRun(const SimaiCollectiveOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(const NcclTestsLog log,
                         ReadNcclTestsLog(options.measurements));
  ASTRA_RETURN_IF_ERROR(CheckKind(options, log));
  ASTRA_ASSIGN_OR_RETURN(const NcclOptions nccl, NcclOf(options, log));
  ASTRA_ASSIGN_OR_RETURN(const ClusterOptions cluster_options,
                         ClusterOf(options, log));
  absl::StatusOr<CollectiveEstimator> built =
      BuildEstimator(cluster_options, nccl);
  if (!built.ok()) return AtRanksOf(log, options, built.status());
  CollectiveEstimator cluster = *std::move(built);
  const auto num_ranks = static_cast<uint32_t>(cluster.ranks().size());
  if (log.num_ranks != 0 && log.num_ranks != num_ranks) {
    return absl::InvalidArgumentError(
        fmt::format("{}: {} ranks are listed, the group has {}",
                    log.ranks_place, log.num_ranks, num_ranks));
  }
  const uint32_t per_server = cluster.topology().gpus_per_server();
  LogSetting setting;
  setting.source = options.measurements;
  setting.collective = options.kind;
  if (log.gpus.empty()) setting.gpu = cluster.system().gpu;
  if (log.hosts.empty()) {
    setting.num_gpus = num_ranks;
    setting.num_nodes = (num_ranks + per_server - 1) / per_server;
  }
  setting.in_place = options.in_place;
  return LoggedRun{nccl, std::move(cluster), TabulateLog(log, setting)};
}

// Returns the setup of a row, which is everything but the collective and its
// size. Rows with equal setups share an estimator.
std::string SetupKeyOf(const MeasuredTable& table, const MeasuredRow& row) {
  std::string key =
      fmt::format("{}{}", Name(row.environment.launch.value_or(Launch::kHost)),
                  row.environment.symmetric);
  if (row.environment.algorithm) {
    key += Name(*row.environment.algorithm);
  }
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const std::string_view name = table.columns[i];
    if (name == "collective" || name == "bytes" || name == "time_us" ||
        name == "notes" || name == "algbw_GBps" || name == "busbw_GBps") {
      continue;
    }
    key += fmt::format("\n{}", row.cells[i]);
  }
  return key;
}

absl::StatusOr<CollectiveEstimator> EstimatorOf(const MeasuredRow& row) {
  ASTRA_ASSIGN_OR_RETURN(const MeasuredSetup setup, SetupOf(row));
  ASTRA_ASSIGN_OR_RETURN(
      Topology topology,
      BuildSystemTopology(setup.system, setup.num_gpus, setup.gpus_per_server));
  return CollectiveEstimator::Create(setup.system, std::move(topology), {},
                                     setup.options);
}

absl::StatusOr<MeasuredComparison> CompareLog(
    const SimaiCollectiveOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(LoggedRun run, ReadLoggedRun(options));
  MeasuredComparison comparison;
  comparison.header = DescribeCluster(options.cluster, run.cluster, run.nccl);
  comparison.table = std::move(run.table);
  for (const MeasuredRow& row : comparison.table.rows) {
    comparison.outcomes.push_back(OutcomeOf(Estimate(run.cluster, row)));
  }
  return comparison;
}

absl::StatusOr<SystemCalibration> CalibrateToLog(
    const SimaiCollectiveOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(const LoggedRun run, ReadLoggedRun(options));
  std::vector<Observation> observations;
  for (const MeasuredRow& row : run.table.rows) {
    if (!row.problem.empty()) continue;
    observations.push_back(
        {.kind = row.collective,
         .num_gpus = run.cluster.topology().num_gpus(),
         .gpus_per_server = run.cluster.topology().gpus_per_server(),
         .options = run.nccl,
         .bytes = row.size,
         .time_us = row.time_us});
  }
  return Calibrate(run.cluster.system(), observations);
}

// Returns whether the constants of `system` decide the time of a row of
// `setup`.
bool IsOnSystem(const MeasuredSetup& setup, const SystemSpec& system) {
  if (setup.system.interconnect.name != system.interconnect.name) return false;
  return setup.num_gpus == setup.gpus_per_server ||
         setup.system.transport.name == system.transport.name;
}

// A fit, and what a user should know of the rows that it did not use.
struct TableCalibration {
  SystemCalibration fit;
  std::string left_out;  // Empty if every row was used.
};

absl::StatusOr<TableCalibration> CalibrateToTable(
    const SimaiCollectiveOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(const SystemSpec system,
                         LoadSystem(options.cluster.system));
  ASTRA_ASSIGN_OR_RETURN(const MeasuredTable table,
                         ReadMeasuredTable(options.measurements));
  std::vector<Observation> observations;
  for (const MeasuredRow& row : table.rows) {
    const absl::StatusOr<MeasuredSetup> setup = SetupOf(row);
    if (!setup.ok() || row.grade == 'X' || setup->options.engine ||
        !IsOnSystem(*setup, system)) {
      continue;
    }
    observations.push_back({.kind = row.collective,
                            .num_gpus = setup->num_gpus,
                            .gpus_per_server = setup->gpus_per_server,
                            .options = setup->options,
                            .bytes = row.size,
                            .time_us = row.time_us});
  }
  if (observations.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("{}: none of its {} rows was measured on the links of {}",
                    options.measurements, table.rows.size(), system.name));
  }
  TableCalibration calibration;
  ASTRA_ASSIGN_OR_RETURN(calibration.fit, Calibrate(system, observations));
  if (observations.size() < table.rows.size()) {
    calibration.left_out = fmt::format(
        "{}: {} of {} rows are left out, which cannot be used or were not "
        "measured on the links of {}",
        options.measurements, table.rows.size() - observations.size(),
        table.rows.size(), system.name);
  }
  return calibration;
}

absl::StatusOr<MeasuredComparison> CompareTable(const std::string& path) {
  MeasuredComparison comparison;
  ASTRA_ASSIGN_OR_RETURN(comparison.table, ReadMeasuredTable(path));
  std::map<std::string, absl::StatusOr<CollectiveEstimator>> estimators;
  for (const MeasuredRow& row : comparison.table.rows) {
    if (!row.problem.empty()) {
      comparison.outcomes.push_back(
          OutcomeOf(absl::InvalidArgumentError(row.problem)));
      continue;
    }
    const std::string key = SetupKeyOf(comparison.table, row);
    auto found = estimators.find(key);
    if (found == estimators.end()) {
      found = estimators.emplace(key, EstimatorOf(row)).first;
    }
    absl::StatusOr<CollectiveEstimator>& cluster = found->second;
    comparison.outcomes.push_back(OutcomeOf(
        cluster.ok() ? Estimate(*cluster, row)
                     : absl::StatusOr<CollectiveEstimate>(cluster.status())));
  }
  return comparison;
}

// Returns a warning that the errors after a fit do not tell how good the fit
// is.
std::string TooFewRowsText(const SystemCalibration& fit) {
  const size_t constants = fit.constants.size();
  const size_t rows = fit.after.errors.size();
  return fmt::format(
      "{} constant{} fitted to {} measurement{}: the fit meets these rows, "
      "whatever the rest of the system is like; give a log of at least {} "
      "sizes",
      constants, constants == 1 ? " was" : "s were", rows, rows == 1 ? "" : "s",
      kRowsPerConstant * constants);
}

// The report of a fit, with `warning` unless it is empty.
CollectiveReport CalibrationReport(const SystemCalibration& fit,
                                   std::string warning) {
  CollectiveReport report = {
      .page = CalibrationText(fit),
      .files = {{fit.system.name + ".yaml", WriteSystem(fit.system)}},
      .num_rows = fit.after.errors.size(),
      .warnings = {}};
  if (!warning.empty()) report.warnings.push_back(std::move(warning));
  if (!IsDetermined(fit)) report.warnings.push_back(TooFewRowsText(fit));
  return report;
}

std::string LogComparisonText(const MeasuredComparison& comparison) {
  std::string text = fmt::format(
      "{}#\n#{:>11}  {:>12}  {:>12}  {:>7}  {:<9}  {}\n"
      "#{:>11}  {:>12}  {:>12}  {:>7}\n",
      comparison.header, "size", "measured", "predicted", "error", "algorithm",
      "protocol", "(B)", "(us)", "(us)", "(%)");
  std::vector<double> errors;
  for (size_t i = 0; i < comparison.outcomes.size(); ++i) {
    const MeasuredRow& row = comparison.table.rows[i];
    const Outcome& outcome = comparison.outcomes[i];
    if (!outcome.ok()) {
      text += fmt::format("{:>12}  {}\n", row.size.count(), outcome.status);
      continue;
    }
    errors.push_back(ErrorPercent(row, outcome));
    text += fmt::format("{:>12}  {:>12.2f}  {:>12.2f}  {:>+7.1f}  {:<9}  {}\n",
                        row.size.count(), row.time_us, outcome.predicted_us,
                        errors.back(), outcome.algorithm, outcome.protocol);
  }
  const ErrorSummary summary = SummarizeErrors(std::move(errors));
  return text + fmt::format(
                    "# Median error         : {:+.1f} % "
                    "(absolute: median {:.1f} %, p90 {:.1f} %)\n",
                    summary.median, summary.median_abs, summary.p90_abs);
}

}  // namespace

absl::StatusOr<CollectiveReport> ReportMeasurements(
    const SimaiCollectiveOptions& options) {
  if (options.task == CollectiveTask::kCalibrateTable) {
    ASTRA_ASSIGN_OR_RETURN(const TableCalibration calibration,
                           CalibrateToTable(options));
    return CalibrationReport(calibration.fit, calibration.left_out);
  }
  if (options.task == CollectiveTask::kCalibrate) {
    ASTRA_ASSIGN_OR_RETURN(const SystemCalibration fit,
                           CalibrateToLog(options));
    return CalibrationReport(fit, "");
  }
  const bool is_log = options.task == CollectiveTask::kCompareLog;
  ASTRA_ASSIGN_OR_RETURN(
      const MeasuredComparison comparison,
      is_log ? CompareLog(options) : CompareTable(options.measurements));
  const auto& [table, outcomes, _] = comparison;
  return CollectiveReport{.page = is_log ? LogComparisonText(comparison)
                                         : FormatErrorSummary(table, outcomes),
                          .files = ComparisonFiles(table, outcomes),
                          .num_rows = outcomes.size(),
                          .warnings = {}};
}

}  // namespace astra
