#include "collectives/measurements/inspector_log.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_reader.h"
#include "collectives/measurements/measured_table.h"
#include "collectives/measurements/measured_terms.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Returns the position behind the first JSON object in `line`, which begins
// with it; npos if the object does not end. Braces in texts do not count.
size_t EndOfObject(std::string_view line) {
  size_t depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (in_text && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_text = !in_text;
    } else if (!in_text && c == '{') {
      ++depth;
    } else if (!in_text && c == '}' && --depth == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

// Returns how often the buffer of nccl-tests holds the size of the inspector.
int64_t PartsOf(const InspectorRecord& record) {
  switch (record.collective) {
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
    case CollectiveKind::kDispatch:
    case CollectiveKind::kCombine:
      return record.num_ranks;
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kSendRecv:
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
      return 1;
  }
  ASTRA_CHECK(false, "collective kind {}", static_cast<int>(record.collective));
}

void Note(InspectorRecord* record, std::string problem) {
  if (record->problem.empty()) record->problem = std::move(problem);
}

// Fills in what a line of any kind says of the communicator.
void ReadHeader(YamlFields& root, InspectorRecord* record) {
  YamlFields header = root.Map("header", "the header of a record");
  record->communicator = header.Text("id");
  record->num_ranks =
      static_cast<uint32_t>(header.Integer("n_ranks", 1, kMaxMeasuredGpus));
  record->num_nodes =
      static_cast<uint32_t>(header.Integer("nnodes", 1, kMaxMeasuredGpus));
  if (record->num_ranks % record->num_nodes != 0) {
    Note(record, fmt::format("{} ranks do not divide by {} nodes",
                             record->num_ranks, record->num_nodes));
  }
}

void ReadSize(const std::string& text, InspectorRecord* record) {
  const absl::StatusOr<int64_t> part =
      ParseInteger("coll_msg_size_bytes", text, 1, kMaxMeasuredBytes);
  if (!part.ok()) return Note(record, std::string(part.status().message()));
  const int64_t parts = PartsOf(*record);
  if (*part > kMaxMeasuredBytes / parts) {
    return Note(record,
                fmt::format("coll_msg_size_bytes is {} for each of {} ranks: "
                            "expected {} in all at most",
                            *part, parts, kMaxMeasuredBytes));
  }
  record->size = Bytes(*part * parts);
}

void ReadTime(const std::string& text, std::string_view source,
              InspectorRecord* record) {
  if (source == "collective_cpu") {
    Note(record, "timed by the host, which cannot see the kernel");
  } else if (source != "kernel_gpu" && source != "kernel_cpu") {
    Note(record, UnknownName("coll_timing_source", source,
                             {"kernel_gpu", "kernel_cpu", "collective_cpu"}));
  }
  const absl::StatusOr<double> time_us =
      ParseNumber("coll_exec_time_us", text, kMinMeasuredUs, kMaxMeasuredUs);
  if (!time_us.ok()) {
    return Note(record, std::string(time_us.status().message()));
  }
  record->time_us = *time_us;
}

InspectorRecord ReadCollective(YamlFields& root) {
  InspectorRecord record;
  ReadHeader(root, &record);
  YamlFields perf = root.Map("coll_perf", "coll_perf");
  const std::string name = perf.Text("coll");
  const std::string size = perf.Text("coll_msg_size_bytes");
  const std::string time_us = perf.Text("coll_exec_time_us");
  const std::string source = perf.Text("coll_timing_source");
  record.serial = perf.Integer("coll_sn");
  if (const auto kind = CollectiveOf(name)) {
    record.collective = *kind;
  } else {
    Note(&record, UnknownName("collective", name, NcclTestsNames()));
  }
  ReadSize(size, &record);
  ReadTime(time_us, source, &record);
  return record;
}

// Adds the record that `line` holds, if any. Places in errors are those in the
// line, as ":1:COLUMN: ...".
absl::Status ReadLine(std::string_view line, InspectorLog* log) {
  if (line.front() != '{') {
    return absl::InvalidArgumentError(
        fmt::format(":1:1: unexpected {}: expected a record of NCCL's "
                    "inspector, as one JSON object on a line",
                    Quoted(line)));
  }
  YamlDocument document("", line);
  YamlFields root = document.Root("a record of NCCL's inspector");
  ASTRA_RETURN_IF_ERROR(document.status());
  if (const size_t end = EndOfObject(line); end < line.size()) {
    return absl::InvalidArgumentError(fmt::format(
        ":1:{}: unexpected {} behind the record: expected one record on "
        "each line",
        end + 1, Quoted(line.substr(end))));
  }
  if (root.has("coll_perf")) {
    log->records.push_back(ReadCollective(root));
  } else if (root.has("p2p_perf")) {
    InspectorRecord record;
    record.problem = "a send or a receive alone";
    ReadHeader(root, &record);
    log->records.push_back(std::move(record));
  }
  return document.status();
}

std::string_view WithoutLastBlanks(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const size_t end = text.find_last_not_of(kSpace);
  return end == std::string_view::npos ? "" : text.substr(0, end + 1);
}

absl::Status ErrorAt(std::string_view file, size_t line,
                     std::string_view rest) {
  return absl::InvalidArgumentError(fmt::format("{}:{}:{}", file, line, rest));
}

// Returns the error of ReadLine() with the file and the line before it.
absl::Status AtLine(std::string_view file, size_t line,
                    const absl::Status& status) {
  const std::string message(status.message());
  return ErrorAt(file, line, message.substr(message.find(':', 1) + 1));
}

}  // namespace

absl::StatusOr<InspectorLog> ParseInspectorLog(std::string_view file,
                                               std::string_view contents) {
  InspectorLog log;
  size_t number = 1;
  for (; !contents.empty(); ++number) {
    const size_t end = std::min(contents.find('\n'), contents.size());
    const std::string_view line = WithoutLastBlanks(contents.substr(0, end));
    contents.remove_prefix(std::min(end + 1, contents.size()));
    if (line.empty()) continue;
    if (log.records.size() == kMaxInspectorRecords) {
      return ErrorAt(
          file, number,
          fmt::format("1: more than {} records", kMaxInspectorRecords));
    }
    const absl::Status status = ReadLine(line, &log);
    if (!status.ok()) return AtLine(file, number, status);
  }
  if (log.records.empty()) {
    return ErrorAt(file, number,
                   "1: no record of a collective: expected lines of NCCL's "
                   "inspector, with \"coll_perf\"");
  }
  return log;
}

}  // namespace astra
