#include "astra-core/sweep/execution/point_record.h"

#include <cmath>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

using Json = nlohmann::ordered_json;

// The fields of a JSON object. After the first error, all values read are
// empty.
class Fields {
 public:
  Fields(std::string_view file, const Json& object)
      : file_(file), object_(&object) {}

  std::string Text(const char* name) {
    const Json& field = Find(name);
    if (field.is_string()) return field.get<std::string>();
    Fail(name, "a text");
    return "";
  }

  bool Flag(const char* name) {
    const Json& field = Find(name);
    if (field.is_boolean()) return field.get<bool>();
    Fail(name, "true or false");
    return false;
  }

  // Reads a number of at least 0.
  double Number(const char* name) {
    const Json& field = Find(name);
    if (field.is_number() && field.get<double>() >= 0) {
      return field.get<double>();
    }
    Fail(name, "a number of at least 0");
    return 0;
  }

  int64_t Integer(const char* name, int64_t min, int64_t max) {
    const Json& field = Find(name);
    // The parser stores whole numbers of at least 0 as unsigned.
    const bool fits = field.is_number_unsigned()
                          ? field.get<uint64_t>() <= static_cast<uint64_t>(max)
                          : field.is_number_integer();
    if (fits) {
      const auto value = field.get<int64_t>();
      if (min <= value && value <= max) return value;
    }
    Fail(name, fmt::format("a whole number from {} to {}", min, max));
    return min;
  }

  const Json& List(const char* name) {
    const Json& field = Find(name);
    if (!field.is_array()) Fail(name, "a list");
    return field;
  }

  const Json& Object(const char* name) {
    const Json& field = Find(name);
    if (!field.is_object()) Fail(name, "an object");
    return field;
  }

  void Fail(const char* name, std::string_view expected) {
    if (!status_.ok()) return;
    status_ = absl::InvalidArgumentError(fmt::format(
        "{}: \"{}\" of a record is {}: expected {}", file_, name,
        object_->contains(name) ? "something else" : "missing", expected));
  }

  const absl::Status& status() const { return status_; }

 private:
  const Json& Find(const char* name) const {
    const auto found = object_->find(name);
    return found == object_->end() ? null_ : *found;
  }

  std::string_view file_;
  const Json* object_;
  Json null_;
  absl::Status status_;
};

std::vector<std::string> ReadCommands(Fields& record) {
  const Json& list = record.List("commands");
  std::vector<std::string> commands;
  commands.reserve(list.size());
  for (const Json& command : list) {
    if (!command.is_string()) {
      record.Fail("commands", "a list of texts");
      break;
    }
    commands.push_back(command.get<std::string>());
  }
  return commands;
}

absl::Status ReadInputs(std::string_view file, const Json& list,
                        std::vector<PointInput>& inputs) {
  inputs.reserve(list.size());
  for (const Json& item : list) {
    Fields fields(file, item);
    inputs.push_back({fields.Text("path"), fields.Text("sha256")});
    ASTRA_RETURN_IF_ERROR(fields.status());
  }
  return absl::OkStatus();
}

std::vector<Metric> ReadMetrics(Fields& record) {
  const Json& object = record.Object("metrics");
  std::vector<Metric> metrics;
  if (!object.is_object()) return metrics;
  metrics.reserve(object.size());
  for (const auto& [name, value] : object.items()) {
    if (!value.is_number()) {
      record.Fail("metrics", "an object of numbers");
      break;
    }
    metrics.push_back({name, value.get<double>()});
  }
  return metrics;
}

absl::Status ReadCost(std::string_view file, const Json& object,
                      PointCost& cost) {
  Fields fields(file, object);
  cost.wall_s = fields.Number("wall_s");
  cost.cpu_s = fields.Number("cpu_s");
  cost.peak_memory_mib = fields.Number("peak_memory_mib");
  cost.host = fields.Text("host");
  cost.ended = fields.Text("ended");
  cost.attempts =
      fields.Integer("attempts", 1, std::numeric_limits<int64_t>::max());
  return fields.status();
}

}  // namespace

std::string FormatPointRecord(const PointRecord& record) {
  Json json = {{"key", record.key},
               {"finished", record.finished},
               {"illegal", record.illegal},
               {"exit_code", record.exit_code},
               {"reason", record.reason},
               {"version", record.version},
               {"commands", record.commands},
               {"inputs", Json::array()},
               {"metrics", Json::object()},
               {"cost",
                {{"wall_s", record.cost.wall_s},
                 {"cpu_s", record.cost.cpu_s},
                 {"peak_memory_mib", record.cost.peak_memory_mib},
                 {"host", record.cost.host},
                 {"ended", record.cost.ended},
                 {"attempts", record.cost.attempts}}}};
  for (const PointInput& input : record.inputs) {
    json["inputs"].push_back({{"path", input.path}, {"sha256", input.sha256}});
  }
  for (const Metric& metric : record.metrics) {
    // JSON has neither infinity nor "not a number".
    if (std::isfinite(metric.value))
      json["metrics"][metric.name] = metric.value;
  }
  // Paths and reasons may contain bytes that are not UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::StatusOr<PointRecord> ParsePointRecord(std::string_view file,
                                             std::string_view contents,
                                             std::string_view key) {
  const Json json = Json::parse(contents, nullptr, false);
  if (!json.is_object()) {
    return absl::InvalidArgumentError(
        fmt::format("{}: is no record of a run: expected a JSON object", file));
  }
  Fields fields(file, json);
  PointRecord record;
  record.key = fields.Text("key");
  record.finished = fields.Flag("finished");
  // Older records have no field "illegal".
  record.illegal = json.contains("illegal") && fields.Flag("illegal");
  record.exit_code = static_cast<int>(
      fields.Integer("exit_code", 0, std::numeric_limits<int>::max()));
  record.reason = fields.Text("reason");
  record.version = fields.Text("version");
  record.commands = ReadCommands(fields);
  const Json& inputs = fields.List("inputs");
  record.metrics = ReadMetrics(fields);
  const Json& cost = fields.Object("cost");
  ASTRA_RETURN_IF_ERROR(fields.status());
  if (record.key != key) {
    return absl::InvalidArgumentError(
        fmt::format("{}: is the record of {}: expected that of {}", file,
                    Quoted(record.key), Quoted(key)));
  }
  ASTRA_RETURN_IF_ERROR(ReadInputs(file, inputs, record.inputs));
  ASTRA_RETURN_IF_ERROR(ReadCost(file, cost, record.cost));
  return record;
}

std::optional<PointRecord> ReadPointRecord(const SweepFolder& folder,
                                           std::string_view key,
                                           std::string* fault) {
  fault->clear();
  const std::string file = folder.RecordFile(key);
  std::error_code error;
  if (!std::filesystem::exists(file, error) && !error) return std::nullopt;
  absl::Status status;
  if (const absl::StatusOr<std::string> contents = ReadFile(file);
      contents.ok()) {
    absl::StatusOr<PointRecord> record = ParsePointRecord(file, *contents, key);
    if (record.ok()) return *std::move(record);
    status = record.status();
  } else {
    status = contents.status();
  }
  *fault = fmt::format("{}; its point counts as not run",
                       std::string(status.message()));
  return std::nullopt;
}

}  // namespace astra
