#include "workload/kernels/kernel_table.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "astra-core/base/csv_reader.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr double kMaxLatencyMs = 1e9;

// The values of one row, by column: cells, and what is the same in all rows.
// Remembers the cell that was read last: what is wrong is there.
class RowValues {
 public:
  using Columns = std::map<std::string, size_t, std::less<>>;
  using Constants = std::map<std::string, std::string, std::less<>>;

  RowValues(const Columns& columns, const Constants& constants,
            const std::vector<std::string>& cells)
      : columns_(columns), constants_(constants), cells_(cells) {}

  size_t last() const { return last_; }

  std::optional<std::string_view> Find(std::string_view name) {
    const auto column = columns_.find(name);
    last_ = column == columns_.end() ? 0 : column->second;
    if (column != columns_.end()) return cells_[last_];
    const auto constant = constants_.find(name);
    if (constant != constants_.end()) return constant->second;
    return std::nullopt;
  }

  absl::StatusOr<std::string_view> Text(std::string_view name) {
    if (const auto text = Find(name)) return *text;
    return absl::InvalidArgumentError(fmt::format("no column {}", name));
  }

  absl::StatusOr<double> Number(std::string_view name, KernelRange range) {
    ASTRA_ASSIGN_OR_RETURN(const std::string_view text, Text(name));
    return ParseNumber(name, text, range.min, range.max);
  }

 private:
  const Columns& columns_;
  const Constants& constants_;
  const std::vector<std::string>& cells_;
  size_t last_ = 0;
};

// Reads "...; the same in all rows: NAME=VALUE; NAME=VALUE".
RowValues::Constants ConstantsOf(std::string_view comment) {
  constexpr std::string_view kBegin = "the same in all rows: ";
  RowValues::Constants constants;
  const size_t begin = comment.find(kBegin);
  if (begin == std::string_view::npos) return constants;
  comment.remove_prefix(begin + kBegin.size());
  while (!comment.empty()) {
    const size_t end = std::min(comment.find("; "), comment.size());
    const std::string_view item = comment.substr(0, end);
    const size_t equals = item.find('=');
    if (equals != std::string_view::npos) {
      constants.emplace(item.substr(0, equals), item.substr(equals + 1));
    }
    comment.remove_prefix(std::min(end + 2, comment.size()));
  }
  return constants;
}

// Returns the family of the name of a file, "gemm" of "DIR/gemm_vllm.csv".
const KernelFamily* FamilyOfFile(std::string_view file) {
  const std::string name = std::filesystem::path(file).filename().string();
  const KernelFamily* longest = nullptr;
  for (const KernelFamily& family : KernelFamilies()) {
    const bool begins = name.rfind(std::string(family.name), 0) == 0;
    if (begins &&
        (longest == nullptr || family.name.size() > longest->name.size())) {
      longest = &family;
    }
  }
  return longest;
}

absl::StatusOr<const KernelFamily*> FamilyOf(RowValues& row,
                                             const KernelFamily* of_file) {
  const std::optional<std::string_view> op_name = row.Find("op_name");
  const KernelFamily* family = op_name ? FamilyOfOpName(*op_name) : of_file;
  if (family == nullptr) family = of_file;
  if (family != nullptr) return family;
  std::vector<std::string_view> names;
  for (const KernelFamily& known : KernelFamilies())
    names.push_back(known.name);
  return absl::InvalidArgumentError(
      UnknownName("op_name", op_name.value_or(""), names));
}

// The kernels of a gated delta net, by a part of their names.
absl::StatusOr<std::string> GatedDeltaKernel(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kParts[] = {
      {"conv1d_update", "convolution_step"},
      {"conv1d", "convolution"},
      {"recurrent", "recurrent"},
      {"chunk", "chunked"}};
  for (const auto& [part, kernel] : kParts) {
    if (name.find(part) != std::string_view::npos) return std::string(kernel);
  }
  return absl::InvalidArgumentError(fmt::format(
      "unknown kernel_source {}: expected a name with conv1d, chunk or "
      "recurrent in it",
      Quoted(name)));
}

absl::StatusOr<std::string> WordOf(RowValues& row, std::string_view column) {
  if (column == "kernel") {
    ASTRA_ASSIGN_OR_RETURN(const std::string_view name,
                           row.Text("kernel_source"));
    return GatedDeltaKernel(name);
  }
  ASTRA_ASSIGN_OR_RETURN(const std::string_view word, row.Text(column));
  if (column == "op_name" || FindKernelElement(word) != nullptr) {
    return std::string(word);
  }
  std::vector<std::string_view> names;
  for (const KernelElement& type : KernelElements()) names.push_back(type.name);
  return absl::InvalidArgumentError(UnknownName(column, word, names));
}

// Experts of two matrices, not gated, which vLLM's tables do not tell: hidden
// size, inner size, topk and experts of Nemotron's models. vLLM 0.14 was
// measured with three.
constexpr double kNotGated[][4] = {
    {2688, 1856, 6, 128},  {2048, 5120, 22, 512}, {8192, 5120, 22, 512},
    {4096, 2688, 22, 512}, {1024, 2688, 22, 512}, {2688, 2688, 22, 512}};

double MatricesOf(RowValues& row, const KernelSizes& sizes) {
  constexpr double kGated = 3;
  constexpr double kPlain = 2;
  const std::string_view kernel = row.Find("kernel_source").value_or("");
  if (kernel.find("nongated") != std::string_view::npos) return kPlain;
  if (row.Find("version").value_or("").substr(0, 4) == "0.14") return kGated;
  const bool is_listed = std::any_of(
      std::begin(kNotGated), std::end(kNotGated), [&](const auto& shape) {
        return std::equal(std::begin(shape), std::end(shape), sizes.begin());
      });
  return is_listed ? kPlain : kGated;
}

absl::StatusOr<double> SizeOf(RowValues& row, std::string_view column,
                              const KernelSizes& before) {
  if (column == "matrices") return MatricesOf(row, before);
  if (column == "window_size" && !row.Find(column)) return 0.0;
  KernelRange range = RangeOfSize(column);
  if (column != "num_key_value_heads") return row.Number(column, range);
  range.min = 0;
  ASTRA_ASSIGN_OR_RETURN(const double heads, row.Number(column, range));
  return heads == 0 ? before[0] : heads;
}

absl::StatusOr<double> PointOf(RowValues& row, const KernelAxis& axis) {
  if (!axis.is_discrete) return row.Number(axis.column, RangeOfAxis(axis));
  constexpr std::string_view kPowerLaw = "power_law_";
  ASTRA_ASSIGN_OR_RETURN(const std::string_view text, row.Text(axis.column));
  if (text == "balanced" || text == "uniform") return 0.0;
  if (text.substr(0, kPowerLaw.size()) == kPowerLaw) {
    return ParseNumber("power_law", text.substr(kPowerLaw.size()),
                       RangeOfAxis(axis).min, RangeOfAxis(axis).max);
  }
  return absl::InvalidArgumentError(
      fmt::format("unknown {} {} (known: balanced, power_law_EXPONENT)",
                  axis.column, Quoted(text)));
}

absl::StatusOr<KernelCall> CallOf(RowValues& row, const KernelFamily* of_file) {
  KernelCall call;
  ASTRA_ASSIGN_OR_RETURN(call.family, FamilyOf(row, of_file));
  const KernelFamily& family = *call.family;
  for (const std::string_view column : family.words) {
    ASTRA_ASSIGN_OR_RETURN(std::string word, WordOf(row, column));
    call.words.push_back(std::move(word));
  }
  for (size_t i = 0; i < family.sizes.size(); ++i) {
    ASTRA_ASSIGN_OR_RETURN(call.sizes[i],
                           SizeOf(row, family.sizes[i], call.sizes));
  }
  bool has_step = false;
  for (size_t i = 0; i < family.axes.size(); ++i) {
    ASTRA_ASSIGN_OR_RETURN(call.point[i], PointOf(row, family.axes[i]));
    has_step = has_step || family.axes[i].column == "step";
  }
  if (!has_step && row.Find("step")) {
    ASTRA_ASSIGN_OR_RETURN(call.past, row.Number("step", {0, 1e9}));
  }
  if (family.has_kernels) call.kernel = row.Find("kernel_source").value_or("");
  return call;
}

KernelRow RowOf(RowValues& values, const KernelFamily* of_file) {
  KernelRow row;
  absl::StatusOr<KernelCall> call = CallOf(values, of_file);
  if (!call.ok()) {
    row.problem = std::string(call.status().message());
    return row;
  }
  const absl::StatusOr<double> latency =
      values.Number("latency", {0, kMaxLatencyMs});
  if (!latency.ok()) {
    row.problem = std::string(latency.status().message());
    return row;
  }
  row.call = *std::move(call);
  row.latency_ms = *latency;
  return row;
}

// The rows of one surface.
using Rows = std::vector<const KernelRow*>;

double Quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] +
         (place - static_cast<double>(below)) * (values[above] - values[below]);
}

std::vector<double> AxisOf(const Rows& rows, size_t axis) {
  std::vector<double> values;
  for (const KernelRow* row : rows) values.push_back(row->call.point[axis]);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

size_t PositionOf(const std::vector<double>& axis, double value) {
  return static_cast<size_t>(std::lower_bound(axis.begin(), axis.end(), value) -
                             axis.begin());
}

absl::StatusOr<SurfaceTimes> SurfaceOf(const Rows& rows,
                                       const KernelTable& table,
                                       std::string_view gpu) {
  constexpr double kUsPerMs = 1000;
  constexpr double kFloorShare = 0.005;
  SurfaceTimes times;
  times.family = rows[0]->call.family;
  times.gpu = gpu;
  times.backend = table.backend;
  times.words = rows[0]->call.words;
  std::vector<double> all;
  std::map<KernelSizes, Rows> lines;
  for (const KernelRow* row : rows) {
    all.push_back(kUsPerMs * row->latency_ms);
    lines[row->call.sizes].push_back(row);
  }
  times.floor_us = Quantile(std::move(all), kFloorShare);
  times.axes = {AxisOf(rows, 0), AxisOf(rows, 1)};
  if (lines.size() > kMaxTableCells / times.num_points()) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: {} shapes at {} points are more than {} cells", table.file,
        lines.size(), times.num_points(), kMaxTableCells));
  }
  for (const auto& [sizes, of_line] : lines) {
    times.lines.push_back({sizes, of_line[0]->call.kernel});
    std::vector<double> sums(times.num_points());
    std::vector<int> counts(times.num_points());
    for (const KernelRow* row : of_line) {
      const size_t point =
          PositionOf(times.axes[0], row->call.point[0]) * times.axes[1].size() +
          PositionOf(times.axes[1], row->call.point[1]);
      sums[point] += std::log(kUsPerMs * row->latency_ms);
      ++counts[point];
    }
    for (size_t i = 0; i < sums.size(); ++i) {
      times.log_us.push_back(counts[i] == 0
                                 ? std::numeric_limits<float>::quiet_NaN()
                                 : static_cast<float>(sums[i] / counts[i]));
    }
  }
  return times;
}

}  // namespace

bool IsKernelTable(std::string_view contents) {
  if (!contents.empty() && contents[0] == '#') {
    contents.remove_prefix(std::min(contents.find('\n'), contents.size()));
  }
  return CsvReader("", contents).Find("latency").has_value();
}

absl::StatusOr<KernelTable> ParseKernelTable(std::string_view file,
                                             std::string_view contents) {
  KernelTable table;
  table.file = file;
  RowValues::Constants constants;
  if (!contents.empty() && contents[0] == '#') {
    const size_t end = std::min(contents.find('\n'), contents.size());
    std::string_view comment = contents.substr(0, end);
    if (comment.back() == '\r') comment.remove_suffix(1);
    constants = ConstantsOf(comment);
    contents.remove_prefix(end);  // The end of the line stays, for numbers.
  }
  CsvReader csv(file, contents);
  RowValues::Columns columns;
  for (const CsvCell& cell : csv.header()) {
    columns.emplace(cell.text, table.columns.size());
    table.columns.push_back(cell.text);
  }
  if (constants.count("latency") == 0) csv.Column("latency");
  const KernelFamily* of_file = FamilyOfFile(file);
  while (csv.NextRow()) {
    std::vector<std::string> cells;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      cells.push_back(csv.cell(i).text);
    }
    RowValues values(columns, constants, cells);
    KernelRow row = RowOf(values, of_file);
    row.line = csv.cell(values.last()).line;
    row.column = csv.cell(values.last()).column;
    if (table.rows.empty()) {
      table.backend = LowerCase(values.Find("framework").value_or(""));
    }
    row.cells = std::move(cells);
    table.rows.push_back(std::move(row));
  }
  ASTRA_RETURN_IF_ERROR(csv.status());
  return table;
}

absl::StatusOr<KernelTable> ReadKernelTable(const std::string& path) {
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
  return ParseKernelTable(path, contents);
}

absl::StatusOr<std::vector<SurfaceTimes>> SurfacesOf(const KernelTable& table,
                                                     std::string_view gpu) {
  using Key = std::pair<std::string_view, std::vector<std::string>>;
  std::map<Key, Rows> by_surface;
  for (const KernelRow& row : table.rows) {
    const std::string problem = row.problem.empty() && row.latency_ms <= 0
                                    ? "latency is 0: expected a time above 0"
                                    : row.problem;
    if (!problem.empty()) {
      return absl::InvalidArgumentError(fmt::format(
          "{}:{}:{}: {}", table.file, row.line, row.column, problem));
    }
    by_surface[{row.call.family->name, row.call.words}].push_back(&row);
  }
  std::vector<SurfaceTimes> surfaces;
  for (const auto& [key, rows] : by_surface) {
    ASTRA_ASSIGN_OR_RETURN(SurfaceTimes times, SurfaceOf(rows, table, gpu));
    surfaces.push_back(std::move(times));
  }
  return surfaces;
}

}  // namespace astra
