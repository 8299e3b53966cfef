// A table of measured collectives: one row for each size of each run, as CSV.
//
//   gpu            "H100-SXM5-80GB"
//   nodes          servers
//   gpus_total     GPUs of all servers
//   nic_gbps       the NICs of a server: "8x400 IB", "none"
//   collective     "all_reduce"
//   bytes          the "size" of nccl-tests
//   time_us        of one collective
//   nvlink_gen     optional: "NVLink4 NVSwitch3 (18 links, 450 GB/s/dir)"
//   nccl_version   optional: "2.26.2+cuda12.8"
//   env            optional: how NCCL ran, see measured_environment.h
//   notes          optional; "q=A" grades a row: A good, B noisy, C roughly
//                  right, X not to be scored
//   source_url     optional: where it was published
//
// The columns come in any order, and others may be there (algbw_GBps,
// busbw_GBps); all are kept as they are. Tables of Vidur and of the regression
// estimator are understood, too: other_tables.h turns them into these columns.
// Rows are written by many hands: one
// that makes no sense is not an error, but says what is wrong with it.

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
  // As they were read, one for each column of the table.
  std::vector<std::string> cells;

  // Why the row cannot be used, in one line; empty if it can. What follows is
  // then valid; else some of it is not set.
  std::string problem;

  std::string source;     // "not stated" where the table does not tell.
  std::string gpu;        // As written.
  std::string gpu_model;  // "H100"
  uint32_t num_nodes = 0;
  uint32_t num_gpus = 0;  // A multiple of num_nodes.
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

// Limits: more is a mistake rather than a measurement.
constexpr size_t kMaxMeasuredRows = 1'000'000;
constexpr int64_t kMaxMeasuredGpus = 1 << 20;
constexpr int64_t kMaxMeasuredBytes = int64_t{1} << 50;
constexpr double kMinMeasuredUs = 1e-3;
constexpr double kMaxMeasuredUs = 1e12;

// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for what CsvReader refuses, a
// column that is lacking, and too many rows.
absl::StatusOr<MeasuredTable> ParseMeasuredTable(std::string_view file,
                                                 std::string_view contents);

// ParseMeasuredTable of the file `path`. Errors: also those of ReadFile.
absl::StatusOr<MeasuredTable> ReadMeasuredTable(const std::string& path);

// What a log of nccl-tests does not tell, or what is to be said instead: what
// is set here goes before what the log says.
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
  bool in_place = false;  // Which half of each row.
};

// The log as a table with all columns above and the two bandwidths. What NCCL
// said it chose goes to `env`, behind the setting's.
MeasuredTable TabulateLog(const NcclTestsLog& log, const LogSetting& setting);

}  // namespace astra

#endif  // COLLECTIVES_MEASUREMENTS_MEASURED_TABLE_H_
