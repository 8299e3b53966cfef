#include "astra-core/apps/collective/simai_collective_calibrate.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/apps/collective/simai_collective_log.h"
#include "astra-core/base/log.h"
#include "astra-core/base/status_macros.h"
#include "collectives/calibration/calibrate.h"
#include "collectives/calibration/measured_setup.h"
#include "collectives/calibration/observations.h"
#include "collectives/measurements/measured_table.h"
#include "collectives/measurements/measured_terms.h"
#include "collectives/systems/system_library.h"
#include "fmt/core.h"

namespace astra {
namespace {

// A system, what was measured on it, and warnings about rows.
struct CalibrationInput {
  SystemSpec system;
  std::vector<Observation> observations;
  Warnings warnings;
};

absl::StatusOr<CalibrationInput> ReadLog(
    const SimaiCollectiveOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(const LoggedRun run, ReadLoggedRun(options));
  CalibrationInput input;
  input.system = run.cluster.system();
  for (const MeasuredRow& row : run.table.rows) {
    if (!row.problem.empty()) continue;
    input.observations.push_back(
        {.kind = row.collective,
         .num_gpus = run.cluster.topology().num_gpus(),
         .gpus_per_server = run.cluster.topology().gpus_per_server(),
         .options = run.nccl,
         .bytes = row.size,
         .time_us = row.time_us});
  }
  return input;
}

absl::StatusOr<CalibrationInput> ReadTable(
    const SimaiCollectiveOptions& options) {
  CalibrationInput input;
  ASTRA_ASSIGN_OR_RETURN(input.system, LoadSystem(options.cluster.system));
  ASTRA_ASSIGN_OR_RETURN(const MeasuredTable table,
                         ReadMeasuredTable(options.measurements));
  for (const MeasuredRow& row : table.rows) {
    const absl::StatusOr<MeasuredSetup> setup = SetupOf(row);
    if (!setup.ok() || row.grade == 'X' || setup->options.engine ||
        !IsOnLinksOf(input.system, *setup) || !CheckTime(row, *setup).ok()) {
      continue;
    }
    input.observations.push_back({.kind = row.collective,
                                  .num_gpus = setup->num_gpus,
                                  .gpus_per_server = setup->gpus_per_server,
                                  .options = setup->options,
                                  .bytes = row.size,
                                  .time_us = row.time_us});
  }
  const size_t num_rows = table.rows.size();
  const size_t num_left_out = num_rows - input.observations.size();
  if (input.observations.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("{}: none of its {} rows was measured on the links of {}",
                    options.measurements, num_rows, input.system.name));
  }
  if (num_left_out > 0) {
    input.warnings.push_back(fmt::format(
        "{}: {} of {} rows are left out, which cannot be used or were not "
        "measured on the links of {}",
        options.measurements, num_left_out, num_rows, input.system.name));
  }
  return input;
}

// Adds a warning for each of the first few sizes that occur more than once, and
// one that counts the others.
void WarnOfRepeatedSizes(const std::string& file, CalibrationInput* input) {
  constexpr size_t kMostNamed = 5;
  std::vector<std::vector<size_t>> rows;  // By measurement.
  const std::vector<size_t> ids = MeasurementIds(input->observations);
  for (size_t i = 0; i < ids.size(); ++i) {
    rows.resize(std::max(rows.size(), ids[i] + 1));
    rows[ids[i]].push_back(i);
  }
  size_t num_repeated = 0;
  for (const std::vector<size_t>& same : rows) {
    if (same.size() < 2 || ++num_repeated > kMostNamed) continue;
    const Observation& row = input->observations[same.front()];
    input->warnings.push_back(fmt::format(
        "{}: {} of {} B on {} GPUs occurs {} times: {} rows count", file,
        NcclTestsName(row.kind), row.bytes.count(), row.num_gpus, same.size(),
        same.size() == 2 ? "both" : "all"));
  }
  if (num_repeated > kMostNamed) {
    input->warnings.push_back(fmt::format(
        "{}: {} sizes occur more than once, of which {} are named: all rows "
        "count",
        file, num_repeated, kMostNamed));
  }
}

// Returns a warning that the errors after a fit do not tell how good the fit
// is.
std::string TooFewRowsText(const SystemCalibration& fit) {
  const size_t constants = fit.constants.size();
  const size_t rows = fit.num_measurements;
  return fmt::format(
      "{} constant{} fitted to {} different measurement{}: the fit meets these "
      "rows, whatever the rest of the system is like; give a log of at least "
      "{} sizes",
      constants, constants == 1 ? " was" : "s were", rows, rows == 1 ? "" : "s",
      kRowsPerConstant * constants);
}

}  // namespace

absl::StatusOr<CollectiveReport> ReportCalibration(
    const SimaiCollectiveOptions& options) {
  const bool is_log = options.task == CollectiveTask::kCalibrate;
  ASTRA_ASSIGN_OR_RETURN(CalibrationInput input,
                         is_log ? ReadLog(options) : ReadTable(options));
  WarnOfRepeatedSizes(options.measurements, &input);
  const absl::StatusOr<SystemCalibration> fit =
      Calibrate(input.system, input.observations);
  if (!fit.ok()) {
    return absl::Status(fit.status().code(),
                        fmt::format("{}: {}", options.measurements,
                                    std::string(fit.status().message())));
  }
  if (!IsDetermined(*fit)) input.warnings.push_back(TooFewRowsText(*fit));
  return CollectiveReport{
      .page = CalibrationText(*fit),
      .files = {{fit->system.name + ".yaml", WriteSystem(fit->system)}},
      .num_rows = fit->after.errors.size(),
      .warnings = std::move(input.warnings)};
}

}  // namespace astra
