// What came of running a point: points/KEY/record.json, written at once and
// last, so that a run that has one is over.

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

// A result of a run as one number: "iteration_ms", "mfu".
struct Metric {
  std::string name;
  double value;
};

// What the run took, which differs from run to run.
struct PointCost {
  double wall_s = 0;
  double cpu_s = 0;
  double peak_memory_mib = 0;  // Of the largest of its processes.
  std::string host;
  std::string ended;  // "2026-01-31T12:00:00Z".
  int64_t attempts = 1;
};

struct PointRecord {
  std::string key;
  bool finished = false;  // Else it failed, or is illegal.
  bool illegal = false;   // A program refused its layout; `reason` is the rule.
  int exit_code = 0;      // Of the step that failed; 128 + signal as in shells.
  std::string reason;     // One line, empty where it finished.
  std::string version;    // Of the program that ran.
  // As typed into a shell: to the folder that paths are relative to, then a
  // step each.
  std::vector<std::string> commands;
  std::vector<PointInput> inputs;
  std::vector<Metric> metrics;  // In the order of the result file.
  PointCost cost;
};

std::string FormatPointRecord(const PointRecord& record);

// Errors: InvalidArgument "FILE: ..." for what is no record of `key`.
absl::StatusOr<PointRecord> ParsePointRecord(std::string_view file,
                                             std::string_view contents,
                                             std::string_view key);

// The record of a run, if it is over. A record that cannot be read, or is not
// as ParsePointRecord() expects it, is none: its point has not run. `fault`
// then says what is wrong in one line that names the file; else it is empty.
std::optional<PointRecord> ReadPointRecord(const SweepFolder& folder,
                                           std::string_view key,
                                           std::string* fault);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_EXECUTION_POINT_RECORD_H_
