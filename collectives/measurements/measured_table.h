// Reads a table of measured collectives, as CSV with a row for each size of
// each run.
//
//   gpu            "H100-SXM5-80GB"
//   nodes          servers
//   gpus_total     GPUs of all servers
//   nic_gbps       the NICs of a server: "8x400 IB", "none"
//   collective     "all_reduce"
//   bytes          the "size" of nccl-tests
//   time_us        of one collective
//   system         optional: a system of inputs/systems, where it is known
//   nvlink_gen     optional: "NVLink4 NVSwitch3 (18 links, 450 GB/s/dir)",
//                  "pairs"
//   nccl_version   optional: "2.26.2+cuda12.8"
//   env            optional: how NCCL ran, see measured_environment.h
//   notes          optional; "q=A" grades a row: A good, B noisy, C roughly
//                  right, X not to be scored
//   source_url     optional: where it was published
//
// Columns come in any order. Other columns are allowed (algbw_GBps,
// busbw_GBps), and all are kept unchanged. Tables of Vidur and of the
// regression estimator are also read: other_tables.h converts them. A row that
// makes no sense is not an error, since many hands write tables;
// MeasuredRow::problem says what is wrong.

#ifndef COLLECTIVES_MEASUREMENTS_MEASURED_TABLE_H_
#define COLLECTIVES_MEASUREMENTS_MEASURED_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/base/units.h"
#include "collectives/measurements/measured_environment.h"
#include "collectives/measurements/measured_terms.h"
#include "collectives/measurements/nccl_tests_log.h"

namespace astra {

struct MeasuredRow {
  // Texts of the row, one for each column of the table.
  std::vector<std::string> cells;

  // Reason why the row cannot be used, in one line; empty if it can. The other
  // fields are then valid; if there is a problem, some are not set.
  std::string problem;

  std::string source;     // "not stated" if the table does not tell.
  std::string system;     // A system of inputs/systems; empty if not stated.
  std::string gpu;        // As the table spells it.
  std::string gpu_model;  // Such as "H100".
  uint32_t num_nodes = 0;
  uint32_t num_gpus = 0;  // Always a multiple of num_nodes.
  MeasuredNics nics;
  MeasuredNvlink nvlink;
  CollectiveKind collective = CollectiveKind::kAllReduce;
  Bytes size;
  double time_us = 0;
  std::optional<MeasuredVersion> nccl_version;
  MeasuredEnvironment environment;
  std::optional<char> grade;  // 'A', 'B', 'C' or 'X'.

  uint32_t num_gpus_per_node() const { return num_gpus / num_nodes; }
};

struct MeasuredTable {
  std::vector<std::string> columns;
  std::vector<MeasuredRow> rows;
};

// Limits of a table. A table beyond them is a mistake rather than a
// measurement.
constexpr size_t kMaxMeasuredRows = 1'000'000;
constexpr int64_t kMaxMeasuredGpus = 1 << 20;
constexpr int64_t kMaxMeasuredBytes = int64_t{1} << 50;
constexpr double kMinMeasuredUs = 1e-3;
constexpr double kMaxMeasuredUs = 1e12;

// Reads a table of measurements.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for errors of CsvReader, a
// missing column, and too many rows.
absl::StatusOr<MeasuredTable> ParseMeasuredTable(std::string_view file,
                                                 std::string_view contents);

// Applies ParseMeasuredTable to the file `path`. Errors: also those of
// ReadFile.
absl::StatusOr<MeasuredTable> ReadMeasuredTable(const std::string& path);

// Facts about a run that a log of nccl-tests does not state. A field that is
// set overrides the log.
struct LogSetting {
  std::string source = "not stated";
  std::optional<CollectiveKind> collective;
  std::string gpu;
  uint32_t num_nodes = 0;
  uint32_t num_gpus = 0;
  std::string nics = "not stated";
  std::string nvlink = "not stated";
  std::string env;
  std::string notes;
  bool in_place = false;  // Uses the in-place half of rows.
};

// Returns the log as a table with all columns of this file's format and the two
// bandwidths. The choices that NCCL reported are appended to `env` of the
// setting.
MeasuredTable TabulateLog(const NcclTestsLog& log, const LogSetting& setting);

}  // namespace astra

#endif  // COLLECTIVES_MEASUREMENTS_MEASURED_TABLE_H_
