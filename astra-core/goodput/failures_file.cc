#include "astra-core/goodput/failures_file.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/yaml_reader.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr std::string_view kMark = "simai_failures";
constexpr int64_t kVersion = 1;
constexpr double kMostSeconds = 1e15;

constexpr std::pair<std::string_view, double> kUnits[] = {
    {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};

double ReadDuration(std::string_view key, double least, YamlFields& fields) {
  const std::string text = fields.Text(key);
  const absl::StatusOr<double> duration = ParseDuration(text);
  if (duration.ok() && *duration > least) return *duration;
  if (fields.has(key)) {
    fields.Error(key, duration.ok() ? "expected above 0"
                                    : std::string(duration.status().message()));
  }
  return 1;
}

FailureKind ReadKind(int64_t num_gpus, YamlFields& fields) {
  FailureKind kind;
  kind.name = fields.Text("name");
  if (fields.has("name") && !IsFileName(kind.name)) {
    fields.Error("name",
                 fmt::format("expected a name, not {}", Quoted(kind.name)));
  }
  const bool is_per_gpu = fields.Value("per_gpu") != nullptr;
  if (is_per_gpu) {
    kind.mean_s =
        ReadDuration("per_gpu", 0, fields) / static_cast<double>(num_gpus);
    if (fields.Value("mean") != nullptr) {
      fields.Error("mean", "no effect beside per_gpu");
    }
  } else {
    kind.mean_s = ReadDuration("mean", 0, fields);
  }
  kind.restart_s = ReadDuration("restart", -1, fields);
  fields.Close();
  return kind;
}

}  // namespace

absl::StatusOr<double> ParseDuration(std::string_view text) {
  const size_t end = text.find_first_not_of("0123456789.eE+-");
  const std::string_view unit =
      end == std::string_view::npos ? "" : text.substr(end);
  const auto* known =
      std::find_if(std::begin(kUnits), std::end(kUnits),
                   [unit](const auto& each) { return each.first == unit; });
  const absl::StatusOr<double> number =
      ParseNumber("", text.substr(0, end), 0, kMostSeconds);
  if (known != std::end(kUnits) && number.ok() &&
      *number * known->second <= kMostSeconds) {
    return *number * known->second;
  }
  return absl::InvalidArgumentError(fmt::format(
      "{} is not a duration: expected a number and ms, s, min, h or d, such as "
      "15min",
      Quoted(text)));
}

std::string DurationText(double seconds) {
  const auto* unit = std::begin(kUnits);
  for (const auto& each : kUnits) {
    if (seconds >= each.second) unit = &each;
  }
  return fmt::format("{:.4g} {}", seconds / unit->second, unit->first);
}

absl::StatusOr<std::vector<FailureKind>> ParseFailures(
    std::string_view file, std::string_view contents, int64_t num_gpus) {
  YamlDocument document(file, contents);
  YamlFields root = document.Root("a file of failures");
  root.Integer(kMark, kVersion, kVersion);
  std::vector<FailureKind> kinds;
  for (YamlFields& fields : root.Maps("failures", "a failure")) {
    kinds.push_back(ReadKind(num_gpus, fields));
  }
  if (kinds.empty()) root.Error("failures", "expected at least one failure");
  root.Close();
  if (!document.status().ok()) return document.status();
  return kinds;
}

}  // namespace astra
