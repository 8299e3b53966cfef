#include "astra-core/sweep/execution/run_metrics.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/csv_reader.h"
#include "astra-core/base/files.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSections[] = {"result", "iteration", "memory",
                                     "simulated"};

// Numbers that identify something or count the simulator's own work.
constexpr std::string_view kNoMetrics[] = {
    "reported_rank",  // Found in the section "result".
    "rank_programs",
    "sizes",
    "stage",        // Found in the section "memory".
    "packet_hops",  // Found in the section "simulated".
    "records_left_out",
};

// Endings of names that give the unit of a number.
constexpr std::string_view kUnits[] = {"_ps",   "_ns",  "_us",  "_ms",
                                       "_s",    "_gib", "_mib", "_bytes",
                                       "_GBps", "_Gbps"};

constexpr double kPsPerMs = 1e9;

// Returns the unit that ends `name`, including its '_'; empty if there is none.
std::string_view UnitOf(std::string_view name) {
  for (const std::string_view unit : kUnits) {
    if (name.size() > unit.size() &&
        name.substr(name.size() - unit.size()) == unit) {
      return unit;
    }
  }
  return "";
}

class MetricList {
 public:
  // Adds a metric unless one of the same name exists.
  void Add(std::string name, double value) {
    if (!names_.insert(name).second) return;
    metrics_.push_back({std::move(name), value});
  }

  // Adds all numbers in `object` and in its nested objects. `prefix` precedes
  // their names; `unit` applies to names without a unit.
  void AddAll(const Json& object, const std::string& prefix,
              std::string_view unit, int depth) {
    for (const auto& [key, value] : object.items()) {
      if (value.is_number()) {
        AddNumber(prefix, key, unit, value.get<double>());
      } else if (value.is_boolean()) {
        AddNumber(prefix, key, unit, value.get<bool>() ? 1 : 0);
      } else if (value.is_object() && depth < kMaxDepth) {
        const std::string_view own = UnitOf(key);
        AddAll(value,
               fmt::format("{}{}_", prefix,
                           key.substr(0, key.size() - own.size())),
               own.empty() ? unit : own, depth + 1);
      }
    }
  }

  std::vector<Metric> Take() && { return std::move(metrics_); }

 private:
  // Result files nest two levels deep, so this is ample.
  static constexpr int kMaxDepth = 8;

  void AddNumber(const std::string& prefix, const std::string& key,
                 std::string_view unit, double value) {
    const bool is_metric =
        std::find(std::begin(kNoMetrics), std::end(kNoMetrics), key) ==
        std::end(kNoMetrics);
    if (!is_metric) return;
    const std::string_view own = UnitOf(key);
    const std::string_view name =
        std::string_view(key).substr(0, key.size() - own.size());
    if (!own.empty()) unit = own;
    if (unit == "_ps") {
      Add(fmt::format("{}{}_ms", prefix, name), value / kPsPerMs);
    } else {
      Add(fmt::format("{}{}{}", prefix, name, unit), value);
    }
  }

  std::vector<Metric> metrics_;
  std::set<std::string> names_;
};

absl::Status AddRunJson(std::string_view file, std::string_view contents,
                        MetricList& metrics) {
  const Json json = Json::parse(contents, nullptr, false);
  const bool is_run =
      json.is_object() && json.contains("program") && json.contains("result");
  if (!is_run) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: is no run.json: expected a JSON object with \"program\" and "
        "\"result\"",
        file));
  }
  for (const char* section : kSections) {
    const auto found = json.find(section);
    if (found == json.end()) continue;
    if (!found->is_object()) {
      return absl::InvalidArgumentError(fmt::format(
          "{}: is no run.json: \"{}\" is no object", file, section));
    }
    metrics.AddAll(*found, "", "", 1);
  }
  return absl::OkStatus();
}

// Adds the metrics of the last row, which has the largest size.
absl::Status AddCollectiveCsv(std::string_view file, std::string_view contents,
                              MetricList& metrics) {
  constexpr std::string_view kColumns[] = {"bytes", "time_us", "algbw_GBps",
                                           "busbw_GBps"};
  CsvReader csv(file, contents);
  std::vector<Metric> last;
  std::vector<size_t> positions;
  for (const std::string_view column : kColumns) {
    positions.push_back(csv.Column(column));
  }
  while (csv.NextRow()) {
    last.clear();
    for (size_t i = 0; i < positions.size(); ++i) {
      last.push_back(
          {std::string(kColumns[i]),
           csv.Number(positions[i], 0, std::numeric_limits<double>::max())});
    }
  }
  ASTRA_RETURN_IF_ERROR(csv.status());
  for (Metric& metric : last) metrics.Add(std::move(metric.name), metric.value);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Metric>> ParseRunMetrics(std::string_view file,
                                                    std::string_view contents) {
  MetricList metrics;
  ASTRA_RETURN_IF_ERROR(AddRunJson(file, contents, metrics));
  return std::move(metrics).Take();
}

absl::StatusOr<std::vector<Metric>> ReadRunMetrics(const std::string& folder) {
  MetricList metrics;
  const std::string run = folder + "/run.json";
  ASTRA_ASSIGN_OR_RETURN(const std::string run_text, ReadFile(run));
  ASTRA_RETURN_IF_ERROR(AddRunJson(run, run_text, metrics));
  const std::string collective = folder + "/collective.csv";
  std::error_code error;
  if (std::filesystem::exists(collective, error)) {
    ASTRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(collective));
    ASTRA_RETURN_IF_ERROR(AddCollectiveCsv(collective, text, metrics));
  }
  return std::move(metrics).Take();
}

}  // namespace astra
