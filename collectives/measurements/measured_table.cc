#include "collectives/measurements/measured_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/types/span.h"
#include "astra-core/base/csv_reader.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "collectives/measurements/dispatch_tables.h"
#include "collectives/measurements/other_tables.h"
#include "fmt/format.h"

namespace astra {
namespace {

constexpr std::string_view kNotStated = "not stated";

constexpr std::string_view kRequired[] = {
    "gpu", "nodes", "gpus_total", "nic_gbps", "collective", "bytes", "time_us",
};

// Columns of a table made from a log.
constexpr std::string_view kAllColumns[] = {
    "source_url", "gpu",          "nodes", "gpus_total", "nic_gbps",
    "nvlink_gen", "collective",   "bytes", "algbw_GBps", "busbw_GBps",
    "time_us",    "nccl_version", "env",   "notes",
};

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// Returns the grade in notes: 'A' for "q=A; quiet box".
std::optional<char> GradeOf(std::string_view notes) {
  constexpr std::string_view kKey = "q=";
  constexpr std::string_view kGrades = "ABCX";
  for (size_t i = notes.find(kKey); i != std::string_view::npos;
       i = notes.find(kKey, i + 1)) {
    const std::string_view value = notes.substr(i + kKey.size());
    const bool is_word =
        (i == 0 || notes[i - 1] == ' ' || notes[i - 1] == ';') &&
        !value.empty() && kGrades.find(value[0]) != std::string_view::npos &&
        (value.size() == 1 ||
         std::string_view(";, ").find(value[1]) != std::string_view::npos);
    if (is_word) return value[0];
  }
  return std::nullopt;
}

// An engine of inference as tables of its all-reduces call it.
struct EngineWord {
  std::string_view prefix;  // Beginning of the environment.
  std::string_view engine;  // Name in inputs/engines.
};
constexpr EngineWord kEngineWords[] = {{"vLLM_custom", "vllm"},
                                       {"SGLang_CustomAllReduce", "sglang"},
                                       {"TRTLLM", "trtllm"}};

// Reads which engine of inference ran and how: "SGLang_CustomAllReduce_graph".
// Its release is a folder of the source: "comm/sglang/0.5.10/".
void ReadEngine(std::string_view env, std::string_view source,
                MeasuredEnvironment& environment) {
  for (const auto& [prefix, engine] : kEngineWords) {
    if (env.substr(0, prefix.size()) != prefix) continue;
    environment.engine = engine;
    environment.launch =
        env.ends_with("eager") ? Launch::kHost : Launch::kGraph;
    const std::string folder = fmt::format("/{}/", engine);
    const size_t place = source.find(folder);
    if (place == std::string_view::npos) return;
    const std::string_view rest = source.substr(place + folder.size());
    environment.engine += fmt::format("@{}", rest.substr(0, rest.find('/')));
  }
}

// Reads what dispatched tokens: "dispatcher=NAME routing=KEY=VALUE,...".
void ReadDispatcher(std::string_view env, MeasuredEnvironment& environment) {
  while (!env.empty()) {
    const size_t end = std::min(env.find(' '), env.size());
    const std::string_view word = env.substr(0, end);
    env.remove_prefix(std::min(end + 1, env.size()));
    const size_t equals = word.find('=');
    if (word == "prepared") environment.is_prepared = true;
    if (equals == std::string_view::npos) continue;
    const std::string value(word.substr(equals + 1));
    if (word.substr(0, equals) == "dispatcher") environment.dispatcher = value;
    if (word.substr(0, equals) == "routing") environment.routing = value;
  }
}

// "one process with 8 threads": each GPU has a thread of its own, which starts
// its next collective while the last one runs. A process that starts them for
// all GPUs, one after the other, falls behind.
bool HasThreadForEachGpu(std::string_view notes) {
  const size_t place = notes.find("one process with ");
  return place != std::string_view::npos &&
         notes.find(" threads", place) != std::string_view::npos;
}

// Reads the cells of a row and keeps the first problem.
class RowReader {
 public:
  RowReader(absl::Span<const std::string> columns,
            std::vector<std::string> cells)
      : columns_(columns) {
    row_.cells = std::move(cells);
    ReadPlace();
    ReadMeasurement();
  }

  MeasuredRow&& row() { return std::move(row_); }

 private:
  std::string_view Cell(std::string_view column) const {
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i] == column) return Trimmed(row_.cells[i]);
    }
    return {};
  }

  void ReadPlace() {
    const std::string_view source = Cell("source_url");
    row_.source = source.empty() ? kNotStated : source;
    row_.system = Cell("system");
    row_.gpu = Cell("gpu");
    row_.gpu_model = GpuModelOf(row_.gpu);
    if (row_.gpu.empty()) Note("no GPU");
    // scripts/profile/profile_collectives.py --dry-run writes this text.
    if (row_.gpu.find("dry run") != std::string::npos) {
      Note("a time that was guessed in a dry run");
    }
    row_.num_nodes = static_cast<uint32_t>(Whole("nodes", kMaxMeasuredGpus));
    row_.num_gpus =
        static_cast<uint32_t>(Whole("gpus_total", kMaxMeasuredGpus));
    if (row_.num_gpus % row_.num_nodes != 0) {
      Note(fmt::format("{} GPUs do not divide by {} nodes", row_.num_gpus,
                       row_.num_nodes));
    }
    row_.nics = ParseMeasuredNics(Cell("nic_gbps"));
    row_.nvlink = ParseMeasuredNvlink(Cell("nvlink_gen"));
  }

  void ReadMeasurement() {
    const std::string_view collective = Cell("collective");
    if (const auto kind = CollectiveOf(collective)) {
      row_.collective = *kind;
    } else if (collective == kPreparation || collective == kQuantisedCombine) {
      Note(fmt::format("no collective by itself: {}", collective));
    } else {
      Note(UnknownName("collective", collective, NcclTestsNames()));
    }
    row_.size = Bytes(Whole("bytes", kMaxMeasuredBytes));
    const absl::StatusOr<double> time_us =
        ParseNumber("time_us", Cell("time_us"), kMinMeasuredUs, kMaxMeasuredUs);
    if (time_us.ok()) row_.time_us = *time_us;
    Note(time_us.status());
    row_.nccl_version = ParseMeasuredVersion(Cell("nccl_version"));
    row_.environment =
        ParseMeasuredEnvironment(Cell("env"), row_.size, row_.num_gpus);
    row_.grade = GradeOf(Cell("notes"));
    ReadEngine(Cell("env"), row_.source, row_.environment);
    ReadDispatcher(Cell("env"), row_.environment);
    if (!row_.environment.launch && HasThreadForEachGpu(Cell("notes"))) {
      row_.environment.launch = Launch::kQueued;
    }
  }

  // Reads a whole number from 1; returns 1 if there is a problem. Spreadsheets
  // sometimes write it as "8192.0" or "1e6".
  int64_t Whole(std::string_view column, int64_t max) {
    const std::string_view text = Cell(column);
    const absl::StatusOr<int64_t> value = ParseInteger(column, text, 1, max);
    if (value.ok()) return *value;
    const absl::StatusOr<double> number =
        ParseNumber(column, text, 1, static_cast<double>(max));
    if (number.ok() && *number == std::floor(*number)) {
      return static_cast<int64_t>(*number);
    }
    Note(value.status());
    return 1;
  }

  void Note(std::string problem) {
    if (row_.problem.empty()) row_.problem = std::move(problem);
  }
  void Note(const absl::Status& status) {
    if (!status.ok()) Note(std::string(status.message()));
  }

  absl::Span<const std::string> columns_;
  MeasuredRow row_;
};

std::string EnvOf(const NcclTestsLog& log, const NcclTestsRow& row,
                  const LogSetting& setting) {
  std::string env = setting.env;
  const auto add = [&env](std::string_view text) {
    env += fmt::format("{}{}", env.empty() ? "" : "; ", text);
  };
  if (log.uses_cuda_graph) add("CUDA graph");
  if (row.algorithm) {
    add(fmt::format("NCCL picked {}", Name(*row.algorithm)));
    if (row.protocol) env += fmt::format(" {}", Name(*row.protocol));
  }
  return env;
}

}  // namespace

absl::StatusOr<MeasuredTable> ParseMeasuredTable(std::string_view file,
                                                 std::string_view contents) {
  CsvReader csv(file, contents);
  MeasuredTable table;
  if (IsDeepEpTable(csv) || IsNvlinkAllToAllTable(csv)) {
    ASTRA_ASSIGN_OR_RETURN(const OtherRows rows,
                           IsDeepEpTable(csv) ? ReadDeepEpTable(csv)
                                              : ReadNvlinkAllToAllTable(csv));
    table.columns.assign(std::begin(kDispatchColumns),
                         std::end(kDispatchColumns));
    for (const std::vector<std::string>& cells : rows) {
      table.rows.push_back(RowReader(table.columns, cells).row());
    }
    return table;
  }
  if (const std::optional<TableForm> form = OtherFormOf(csv)) {
    ASTRA_ASSIGN_OR_RETURN(const OtherRows rows,
                           ReadOtherRows(*form, file, csv));
    table.columns.assign(std::begin(kOtherColumns), std::end(kOtherColumns));
    for (const std::vector<std::string>& cells : rows) {
      table.rows.push_back(RowReader(table.columns, cells).row());
    }
    return table;
  }
  for (const std::string_view column : kRequired) csv.Column(column);
  for (const CsvCell& cell : csv.header()) table.columns.push_back(cell.text);
  while (csv.NextRow()) {
    if (table.rows.size() == kMaxMeasuredRows) {
      csv.Fail(csv.cell(0), fmt::format("more than {} rows", kMaxMeasuredRows));
      break;
    }
    std::vector<std::string> cells;
    cells.reserve(table.columns.size());
    for (size_t i = 0; i < table.columns.size(); ++i) {
      cells.push_back(csv.cell(i).text);
    }
    table.rows.push_back(RowReader(table.columns, std::move(cells)).row());
  }
  ASTRA_RETURN_IF_ERROR(csv.status());
  return table;
}

absl::StatusOr<MeasuredTable> ReadMeasuredTable(const std::string& path) {
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
  return ParseMeasuredTable(path, contents);
}

MeasuredTable TabulateLog(const NcclTestsLog& log, const LogSetting& setting) {
  const std::optional<CollectiveKind> collective =
      setting.collective ? setting.collective : log.collective;
  const auto num_hosts = static_cast<uint32_t>(log.hosts.size());
  const std::string gpu = !setting.gpu.empty() ? setting.gpu
                          : log.gpus.empty()   ? ""
                                               : log.gpus[0];
  MeasuredTable table;
  table.columns.assign(std::begin(kAllColumns), std::end(kAllColumns));
  for (const NcclTestsRow& row : log.rows) {
    const NcclTestsTime& time =
        setting.in_place ? row.in_place : row.out_of_place;
    std::vector<std::string> cells = {
        setting.source,
        gpu,
        fmt::to_string(setting.num_nodes > 0 ? setting.num_nodes : num_hosts),
        fmt::to_string(setting.num_gpus > 0 ? setting.num_gpus : log.num_ranks),
        setting.nics,
        setting.nvlink,
        std::string(collective ? NcclTestsName(*collective) : kNotStated),
        fmt::to_string(row.size.count()),
        fmt::format("{}", time.algbw),
        fmt::format("{}", time.busbw),
        fmt::format("{}", time.time_us),
        log.nccl_version,
        EnvOf(log, row, setting),
        setting.notes,
    };
    table.rows.push_back(RowReader(table.columns, std::move(cells)).row());
  }
  return table;
}

}  // namespace astra
