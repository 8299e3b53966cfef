#include "collectives/measurements/measured_file.h"

#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/csv_reader.h"
#include "astra-core/base/status_macros.h"
#include "collectives/measurements/inspector_log.h"
#include "collectives/measurements/measured_terms.h"
#include "collectives/measurements/nccl_tests_log.h"
#include "collectives/measurements/other_tables.h"
#include "fmt/core.h"

namespace astra {
namespace {

bool IsInspectorLog(std::string_view contents) {
  const size_t first = contents.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && contents[first] == '{';
}

bool IsTable(std::string_view file, std::string_view contents) {
  const CsvReader csv(file, contents);
  for (const std::string_view column : {"bytes", "time_us", "gpu"}) {
    if (csv.Find(column)) return true;
  }
  return OtherFormOf(csv).has_value();
}

// Returns whether the text names a program of nccl-tests, or has its columns or
// its options.
bool MentionsNcclTests(std::string_view contents) {
  for (const std::string_view word : {"_perf", "algbw", "nThread"}) {
    if (contents.find(word) != std::string_view::npos) return true;
  }
  return false;
}

absl::Status CheckIsWhole(std::string_view file, const NcclTestsLog& log) {
  if (!log.collective) {
    return absl::InvalidArgumentError(
        fmt::format("{}: the log does not tell the collective: expected a line "
                    "such as \"# Collective test starting: all_reduce_perf\"",
                    file));
  }
  if (log.num_ranks == 0 || log.hosts.empty() || log.gpus.empty()) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: the log does not tell the ranks, their hosts and GPUs: expected "
        "lines such as \"#  Rank  0 Group  0 Pid 7 on node1 device  0 [0x1b] "
        "NVIDIA H100 80GB HBM3\"",
        file));
  }
  const std::string model = GpuModelOf(log.gpus[0]);
  for (const std::string& gpu : log.gpus) {
    if (GpuModelOf(gpu) == model) continue;
    return absl::InvalidArgumentError(
        fmt::format("{}: ranks on {} and on {}: expected one model of GPU",
                    file, model, GpuModelOf(gpu)));
  }
  return absl::OkStatus();
}

absl::StatusOr<MeasuredFile> ReadLog(std::string_view file,
                                     std::string_view contents) {
  const absl::StatusOr<NcclTestsLog> log = ParseNcclTestsLog(file, contents);
  if (!log.ok() && !MentionsNcclTests(contents)) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: expected measured times: a table (CSV) with the columns bytes and "
        "time_us, a log of nccl-tests, or JSON lines of NCCL's inspector",
        file));
  }
  ASTRA_RETURN_IF_ERROR(log.status());
  ASTRA_RETURN_IF_ERROR(CheckIsWhole(file, *log));
  LogSetting setting;
  setting.source = file;
  return MeasuredFile{TabulateLog(*log, setting).rows, {}};
}

MeasuredRow RowOf(const InspectorRecord& record) {
  MeasuredRow row;
  row.problem = record.problem;
  row.num_nodes = record.num_nodes;
  row.num_gpus = record.num_ranks;
  row.collective = record.collective;
  row.size = record.size;
  row.time_us = record.time_us;
  row.environment.launch = Launch::kQueued;
  return row;
}

absl::StatusOr<MeasuredFile> ReadInspectorLog(std::string_view file,
                                              std::string_view contents) {
  ASTRA_ASSIGN_OR_RETURN(const InspectorLog log,
                         ParseInspectorLog(file, contents));
  MeasuredFile measured;
  measured.rows.reserve(log.records.size());
  measured.calls.reserve(log.records.size());
  for (const InspectorRecord& record : log.records) {
    measured.rows.push_back(RowOf(record));
    measured.calls.push_back(fmt::format("{} {} {}", record.communicator,
                                         Name(record.collective),
                                         record.serial));
  }
  return measured;
}

}  // namespace

MeasuredForm MeasuredFormOf(std::string_view file, std::string_view contents) {
  if (IsInspectorLog(contents)) return MeasuredForm::kInspector;
  return IsTable(file, contents) ? MeasuredForm::kTable
                                 : MeasuredForm::kNcclTests;
}

absl::StatusOr<MeasuredFile> ParseMeasuredFile(std::string_view file,
                                               std::string_view contents) {
  const MeasuredForm form = MeasuredFormOf(file, contents);
  if (form == MeasuredForm::kInspector) return ReadInspectorLog(file, contents);
  if (form == MeasuredForm::kNcclTests) return ReadLog(file, contents);
  ASTRA_ASSIGN_OR_RETURN(MeasuredTable table,
                         ParseMeasuredTable(file, contents));
  return MeasuredFile{std::move(table.rows), {}};
}

}  // namespace astra
