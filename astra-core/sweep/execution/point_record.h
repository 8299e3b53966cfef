// The outcome of running a point. It is stored in points/KEY/record.json, which
// is written atomically and last: a run that has a record is over.

#ifndef ASTRA_CORE_SWEEP_EXECUTION_POINT_RECORD_H_
#define ASTRA_CORE_SWEEP_EXECUTION_POINT_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/sweep/execution/sweep_folder.h"
#include "astra-core/sweep/point_commands.h"

namespace astra {

// One number among the results of a run, such as "iteration_ms" or "mfu".
struct Metric {
  std::string name;
  double value;
};

// Resources that a run took. They differ from run to run.
struct PointCost {
  double wall_s = 0;
  double cpu_s = 0;
  // Peak memory of the largest of the run's processes.
  double peak_memory_mib = 0;
  std::string host;
  std::string ended;  // End of the run in UTC, such as "2026-01-31T12:00:00Z".
  int64_t attempts = 1;
};

struct PointRecord {
  std::string key;
  // False where the run failed or its layout is illegal.
  bool finished = false;
  // A program refused the layout; `reason` names the rule.
  bool illegal = false;
  // Exit code of the failed step; 128 + signal as in shells.
  int exit_code = 0;
  std::string reason;   // One line that says why; empty where the run finished.
  std::string version;  // Version of the program that ran.
  // Commands as typed into a shell: first a change to the folder that relative
  // paths start from, then one command for each step.
  std::vector<std::string> commands;
  std::vector<PointInput> inputs;
  std::vector<Metric> metrics;  // Metrics in the order of the result file.
  PointCost cost;
};

std::string FormatPointRecord(const PointRecord& record);

// Parses a record. Errors: InvalidArgument "FILE: ..." if the text is not a
// record of `key`.
absl::StatusOr<PointRecord> ParsePointRecord(std::string_view file,
                                             std::string_view contents,
                                             std::string_view key);

// Reads the record of a run that is over. Returns none where the record is
// missing, cannot be read or is refused by ParsePointRecord(); the point then
// counts as not run. `fault` becomes one line that names the file and what is
// wrong with the record, or empty where nothing is.
std::optional<PointRecord> ReadPointRecord(const SweepFolder& folder,
                                           std::string_view key,
                                           std::string* fault);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_EXECUTION_POINT_RECORD_H_
