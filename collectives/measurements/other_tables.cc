#include "collectives/measurements/other_tables.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "collectives/measurements/digits.h"
#include "collectives/measurements/measured_terms.h"
#include "collectives/systems/system_library.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr size_t kMaxRows = 1'000'000;
constexpr int64_t kMaxGpus = 1 << 20;
constexpr double kMaxBytes = 1e15;
constexpr double kMaxTime = 1e12;

constexpr std::string_view kMedian = ".median";
constexpr std::string_view kStatistics = "time_stats.";

std::string UpperCase(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  return upper;
}

// Finds the one column such as "time_stats.all_reduce.median".
std::optional<size_t> MedianColumn(const CsvReader& csv) {
  for (size_t i = 0; i < csv.header().size(); ++i) {
    const std::string_view name = csv.header()[i].text;
    if (name.size() > kStatistics.size() + kMedian.size() &&
        name.substr(0, kStatistics.size()) == kStatistics &&
        name.substr(name.size() - kMedian.size()) == kMedian) {
      return i;
    }
  }
  return std::nullopt;
}

// Returns "A100-SXM4-80GB" for "NVIDIAA100-SXM4-80GB", and "GH200-120GB" for
// "NVIDIAGH200120GB": the estimator removes the blanks of the driver's name.
std::string GpuOfDriver(std::string_view name) {
  constexpr std::string_view kVendor = "NVIDIA";
  constexpr size_t kModelDigits = 3;
  if (name.substr(0, kVendor.size()) == kVendor) {
    name.remove_prefix(kVendor.size());
  }
  const auto first = static_cast<size_t>(
      std::find_if(name.begin(), name.end(), IsDigit) - name.begin());
  const auto end = static_cast<size_t>(
      std::find_if_not(name.begin() + static_cast<ptrdiff_t>(first), name.end(),
                       IsDigit) -
      name.begin());
  const size_t model = first + kModelDigits;
  if (end <= model) return std::string(name);
  return fmt::format("{}-{}", name.substr(0, model), name.substr(model));
}

// Facts in the path of an estimator's table.
struct EstimatorName {
  std::string gpu;
  std::string collective;
  double element_bytes = 0;
};

absl::StatusOr<EstimatorName> EstimatorNameOf(std::string_view file) {
  const std::string stem = std::filesystem::path(file).stem().string();
  EstimatorName name;
  std::string_view rest = stem;
  for (size_t i = 0; !rest.empty(); ++i) {
    const size_t end = std::min(rest.find('_'), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (i == 0) name.gpu = GpuOfDriver(word);
    if (i == 1) name.collective = word;
    if (word == "fp16" || word == "bf16") name.element_bytes = 2;
    if (word == "fp32") name.element_bytes = 4;
  }
  constexpr std::string_view kKnown[] = {"allreduce", "allgather", "p2p"};
  const bool is_known = std::find(std::begin(kKnown), std::end(kKnown),
                                  name.collective) != std::end(kKnown);
  if (is_known && name.element_bytes > 0) return name;
  return absl::InvalidArgumentError(fmt::format(
      "{}: the name does not tell what was measured: expected one such as "
      "NVIDIAA100-SXM4-80GB_allreduce_fp16_2_4.csv (allreduce, allgather, p2p; "
      "fp16, bf16, fp32)",
      file));
}

// Returns the folder of an estimator's table that has the name of a bundled
// system, in lower case, or "".
std::string ClusterOf(std::string_view file) {
  for (const std::filesystem::path& folder :
       std::filesystem::path(file).parent_path()) {
    std::string name = LowerCase(folder.string());
    if (FindSystem(name).ok()) return name;
  }
  return "";
}

std::vector<std::string> Cells(std::string_view gpu, std::string_view system,
                               int64_t nodes, int64_t gpus,
                               std::string_view nvlink,
                               std::string_view collective, double bytes,
                               double time_us, std::string_view launch) {
  return {std::string(gpu),
          std::string(system),
          fmt::format("{}", nodes),
          fmt::format("{}", gpus),
          "not stated",
          std::string(nvlink),
          std::string(collective),
          fmt::format("{:.0f}", bytes),
          fmt::format("{:.9g}", time_us),
          std::string(launch)};
}

absl::StatusOr<OtherRows> ReadVidur(std::string_view file, CsvReader& csv) {
  constexpr double kMicrosecondsPerMillisecond = 1000;
  const std::string node =
      std::filesystem::path(file).parent_path().filename().string();
  if (std::none_of(node.begin(), node.end(), IsDigit)) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: the folder does not tell the GPU of this table of Vidur: expected "
        "one such as a100_dgx/all_reduce.csv",
        file));
  }
  const std::string_view nvlink =
      node.find("pairwise") == std::string::npos ? "not stated" : kPairsOfGpus;
  const size_t time = *MedianColumn(csv);
  const size_t size = csv.Column("size");
  const size_t gpus = csv.Column("num_workers");
  const size_t per_node = csv.Column("devices_per_node");
  const size_t collective = csv.Column("collective");
  OtherRows rows;
  while (csv.NextRow() && rows.size() < kMaxRows) {
    const int64_t num_gpus = csv.Integer(gpus, 1, kMaxGpus);
    const int64_t on_node = csv.Integer(per_node, 1, kMaxGpus);
    if (num_gpus % on_node != 0) {
      csv.Fail(csv.cell(gpus),
               fmt::format("{} workers on nodes of {}", num_gpus, on_node));
    }
    const double time_us =
        csv.Number(time, 0, kMaxTime) * kMicrosecondsPerMillisecond;
    rows.push_back(Cells(UpperCase(node), "", num_gpus / on_node, num_gpus,
                         nvlink, csv.cell(collective).text,
                         csv.Number(size, 1, kMaxBytes), time_us, "queued"));
  }
  return rows;
}

absl::StatusOr<OtherRows> ReadEstimator(std::string_view file, CsvReader& csv) {
  ASTRA_ASSIGN_OR_RETURN(const EstimatorName name, EstimatorNameOf(file));
  const std::string cluster = ClusterOf(file);
  const size_t shape = csv.Column("shape");
  const size_t nodes = csv.Column("nodes");
  const size_t per_node = csv.Column("GPUsPerNode");
  const size_t time = csv.Column("dur(us)");
  // The table has whole numbers as "2.0".
  const auto count = [&csv](size_t column) {
    return static_cast<int64_t>(csv.Number(column, 1, kMaxGpus));
  };
  OtherRows rows;
  while (csv.NextRow() && rows.size() < kMaxRows) {
    const int64_t num_nodes = count(nodes);
    const int64_t num_gpus = num_nodes * count(per_node);
    // The size in nccl-tests is what an all-gather gathers.
    const double parts =
        name.collective == "allgather" ? static_cast<double>(num_gpus) : 1;
    rows.push_back(Cells(
        name.gpu, cluster, num_nodes, num_gpus, "not stated", name.collective,
        csv.Number(shape, 1, kMaxBytes) * name.element_bytes * parts,
        csv.Number(time, 0, kMaxTime), ""));
  }
  return rows;
}

}  // namespace

std::optional<TableForm> OtherFormOf(const CsvReader& csv) {
  if (MedianColumn(csv) && csv.Find("num_workers")) return TableForm::kVidur;
  if (csv.Find("shape") && csv.Find("GPUsPerNode")) {
    return TableForm::kEstimator;
  }
  return std::nullopt;
}

absl::StatusOr<OtherRows> ReadOtherRows(TableForm form, std::string_view file,
                                        CsvReader& csv) {
  ASTRA_ASSIGN_OR_RETURN(OtherRows rows, form == TableForm::kVidur
                                             ? ReadVidur(file, csv)
                                             : ReadEstimator(file, csv));
  if (csv.status().ok() && rows.size() == kMaxRows && csv.NextRow()) {
    csv.Fail(csv.cell(0), fmt::format("more than {} rows", kMaxRows));
  }
  ASTRA_RETURN_IF_ERROR(csv.status());
  return rows;
}

}  // namespace astra
