#include "astra-core/apps/collective/simai_collective_compare.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/apps/collective/simai_collective_cluster.h"
#include "astra-core/apps/collective/simai_collective_log.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "collectives/calibration/measured_setup.h"
#include "collectives/measurements/comparison.h"
#include "collectives/measurements/error_summary.h"
#include "collectives/measurements/measured_table.h"
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

// One estimator serves all rows with equal setups.
struct TableCluster {
  MeasuredSetup setup;
  CollectiveEstimator estimator;
};

// Returns the cluster of a row, with the constants of `system` if there is
// one. Errors: those of SetupOf; also InvalidArgument for a row of other links
// than those of `system`.
absl::StatusOr<TableCluster> ClusterOf(
    const MeasuredRow& row, const std::optional<SystemSpec>& system) {
  ASTRA_ASSIGN_OR_RETURN(MeasuredSetup setup, SetupOf(row));
  if (system) {
    if (!IsOnLinksOf(*system, setup)) {
      return absl::InvalidArgumentError(
          fmt::format("not measured on the links of {}", system->name));
    }
    setup.system.interconnect = system->interconnect;
    const bool has_fabric = setup.num_gpus > setup.gpus_per_server;
    if (has_fabric) setup.system.transport = system->transport;
  }
  ASTRA_ASSIGN_OR_RETURN(
      Topology topology,
      BuildSystemTopology(setup.system, setup.num_gpus, setup.gpus_per_server));
  ASTRA_ASSIGN_OR_RETURN(
      CollectiveEstimator estimator,
      CollectiveEstimator::Create(setup.system, std::move(topology), {},
                                  setup.options));
  return TableCluster{std::move(setup), std::move(estimator)};
}

absl::StatusOr<CollectiveEstimate> EstimateOf(
    absl::StatusOr<TableCluster>& cluster, const MeasuredRow& row) {
  ASTRA_RETURN_IF_ERROR(cluster.status());
  ASTRA_RETURN_IF_ERROR(CheckTime(row, cluster->setup));
  return Estimate(cluster->estimator, row);
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

absl::StatusOr<MeasuredComparison> CompareTable(
    const SimaiCollectiveOptions& options) {
  MeasuredComparison comparison;
  ASTRA_ASSIGN_OR_RETURN(comparison.table,
                         ReadMeasuredTable(options.measurements));
  std::optional<SystemSpec> system;
  if (!options.cluster.system.empty()) {
    ASTRA_ASSIGN_OR_RETURN(system, LoadSystem(options.cluster.system));
  }
  std::map<std::string, absl::StatusOr<TableCluster>> clusters;
  for (const MeasuredRow& row : comparison.table.rows) {
    if (!row.problem.empty()) {
      comparison.outcomes.push_back(
          OutcomeOf(absl::InvalidArgumentError(row.problem)));
      continue;
    }
    const std::string key = SetupKeyOf(comparison.table, row);
    auto found = clusters.find(key);
    if (found == clusters.end()) {
      found = clusters.emplace(key, ClusterOf(row, system)).first;
    }
    comparison.outcomes.push_back(OutcomeOf(EstimateOf(found->second, row)));
  }
  const auto is_ok = [](const Outcome& outcome) { return outcome.ok(); };
  if (system && !std::any_of(comparison.outcomes.begin(),
                             comparison.outcomes.end(), is_ok)) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: none of its {} rows was measured on the links of {}",
        options.measurements, comparison.outcomes.size(), system->name));
  }
  return comparison;
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

absl::StatusOr<CollectiveReport> ReportComparison(
    const SimaiCollectiveOptions& options) {
  const bool is_log = options.task == CollectiveTask::kCompareLog;
  ASTRA_ASSIGN_OR_RETURN(const MeasuredComparison comparison,
                         is_log ? CompareLog(options) : CompareTable(options));
  const auto& [table, outcomes, _] = comparison;
  return CollectiveReport{.page = is_log ? LogComparisonText(comparison)
                                         : FormatErrorSummary(table, outcomes),
                          .files = ComparisonFiles(table, outcomes),
                          .num_rows = outcomes.size(),
                          .warnings = {}};
}

}  // namespace astra
