#include "astra-core/apps/collective/simai_collective_calibrate.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/apps/collective/calibration_source.h"
#include "astra-core/base/status_macros.h"
#include "collectives/calibration/calibrate.h"
#include "collectives/calibration/observations.h"
#include "collectives/measurements/measured_terms.h"
#include "collectives/systems/system_library.h"
#include "fmt/core.h"

namespace astra {
namespace {

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
      "rows, whatever the rest of the system is like; measure at least {} "
      "sizes",
      constants, constants == 1 ? " was" : "s were", rows, rows == 1 ? "" : "s",
      kRowsPerConstant * constants);
}

}  // namespace

absl::StatusOr<CollectiveReport> ReportCalibration(
    const SimaiCollectiveOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(CalibrationInput input,
                         ReadCalibrationSource(options));
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
