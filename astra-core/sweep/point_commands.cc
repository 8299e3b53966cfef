#include "astra-core/sweep/point_commands.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/files.h"
#include "astra-core/base/sha256.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/sweep/sweep_sections.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr size_t kKeyDigits = 24;

std::string JoinedPath(const std::string& folder, std::string_view path) {
  return (std::filesystem::path(folder) / path).string();
}

// Concatenates texts such that different lists of texts give different results.
class KeyText {
 public:
  void Add(std::string_view text) {
    text_ += fmt::format("{}:", text.size());
    text_ += text;
  }
  void Add(absl::Span<const std::string> texts) {
    Add(fmt::format("{}", texts.size()));
    for (const std::string& text : texts) Add(text);
  }
  std::string Key() const { return Sha256(text_).substr(0, kKeyDigits); }

 private:
  std::string text_;
};

std::vector<std::string> SplitAtCommas(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const size_t comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

// Builds the steps of one point.
class PointPreparer {
 public:
  PointPreparer(const Sweep& sweep, const SweepPoint& point,
                const std::string& program_folder, FileHashes& hashes)
      : sweep_(sweep), program_folder_(program_folder), hashes_(hashes) {
    prepared_.point = point;
  }

  absl::StatusOr<PreparedPoint> Prepare() {
    prepared_.steps.reserve(sweep_.sections.size());
    for (const SweepSection& section : sweep_.sections) {
      ASTRA_RETURN_IF_ERROR(AddStep(section));
    }
    return std::move(prepared_);
  }

 private:
  absl::Status WrongAt(const SweepOption& option, std::string_view message) {
    const std::vector<std::string> names = AxisVariableNames(sweep_);
    const std::string at =
        names.empty()
            ? ""
            : fmt::format(" (at {})",
                          DescribeVariables(names, prepared_.point.variables));
    return absl::InvalidArgumentError(
        fmt::format("{}: {}{}", option.where, message, at));
  }

  absl::Status AddStep(const SweepSection& section) {
    PointStep step = {.program = section.program, .arguments = {}, .key = ""};
    std::vector<std::string> input_hashes;
    for (const SweepOption& option : section.options) {
      ASTRA_RETURN_IF_ERROR(AddOption(option, step.arguments, input_hashes));
    }
    ASTRA_ASSIGN_OR_RETURN(
        const std::string executable,
        hashes_.Of(JoinedPath(program_folder_, section.program->name)));
    std::vector<std::string> earlier;
    earlier.reserve(prepared_.steps.size());
    for (const PointStep& other : prepared_.steps) earlier.push_back(other.key);
    const bool reads_earlier = section.program->role == ProgramRole::kRun;

    KeyText text;
    text.Add(section.program->name);
    text.Add(executable);
    text.Add(step.arguments);
    text.Add(input_hashes);
    if (reads_earlier) text.Add(earlier);
    step.key = text.Key();
    prepared_.steps.push_back(std::move(step));
    return absl::OkStatus();
  }

  absl::Status AddOption(const SweepOption& option,
                         std::vector<std::string>& arguments,
                         std::vector<std::string>& input_hashes) {
    absl::StatusOr<std::string> value =
        option.value.Fill(prepared_.point.variables);
    if (!value.ok()) {
      return WrongAt(option,
                     fmt::format("--{}: {}", option.name,
                                 std::string(value.status().message())));
    }
    if (option.is_flag) {
      const absl::StatusOr<bool> flag = FlagOf(option, *value);
      if (!flag.ok()) {
        return WrongAt(option, std::string(flag.status().message()));
      }
      if (*flag) arguments.push_back("--" + option.name);
      return absl::OkStatus();
    }
    if (option.is_file) {
      ASTRA_RETURN_IF_ERROR(AddInputs(option, *value, input_hashes));
    }
    arguments.push_back("--" + option.name);
    arguments.push_back(*std::move(value));
    return absl::OkStatus();
  }

  // Records the hashes of the files that `value` of `option` names.
  absl::Status AddInputs(const SweepOption& option, std::string_view value,
                         std::vector<std::string>& input_hashes) {
    const std::vector<std::string> paths =
        option.is_list ? SplitAtCommas(value)
                       : std::vector<std::string>{std::string(value)};
    for (const std::string& path : paths) {
      ASTRA_ASSIGN_OR_RETURN(const std::optional<std::string> sha256,
                             hashes_.OfAny(JoinedPath(sweep_.folder, path)));
      if (!sha256 && option.must_exist) {
        return WrongAt(option, fmt::format("{}: no such file", path));
      }
      if (!sha256) continue;  // The value names something other than a file.
      input_hashes.push_back(*sha256);
      const bool is_known = std::any_of(
          prepared_.inputs.begin(), prepared_.inputs.end(),
          [&](const PointInput& input) { return input.path == path; });
      if (is_known) continue;
      prepared_.inputs.push_back({.path = path, .sha256 = *sha256});
    }
    return absl::OkStatus();
  }

  const Sweep& sweep_;
  const std::string& program_folder_;
  FileHashes& hashes_;
  PreparedPoint prepared_;
};

}  // namespace

absl::StatusOr<std::string> FileHashes::Of(const std::string& path) {
  const auto known = hashes_.find(path);
  if (known != hashes_.end() && known->second) return *known->second;
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
  std::string sha256 = Sha256(contents);
  hashes_[path] = sha256;
  return sha256;
}

absl::StatusOr<std::optional<std::string>> FileHashes::OfAny(
    const std::string& path) {
  const auto known = hashes_.find(path);
  if (known != hashes_.end()) return known->second;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    hashes_[path] = std::nullopt;
    return std::nullopt;
  }
  return Of(path);
}

absl::StatusOr<PreparedPoint> PreparePoint(const Sweep& sweep,
                                           const SweepPoint& point,
                                           const std::string& program_folder,
                                           FileHashes& hashes) {
  return PointPreparer(sweep, point, program_folder, hashes).Prepare();
}

absl::StatusOr<std::vector<PreparedPoint>> PreparePoints(
    const Sweep& sweep, const SweepPoints& points,
    const std::string& program_folder, FileHashes& hashes) {
  std::vector<PreparedPoint> prepared;
  prepared.reserve(points.points.size());
  for (const SweepPoint& point : points.points) {
    ASTRA_ASSIGN_OR_RETURN(PreparedPoint next,
                           PreparePoint(sweep, point, program_folder, hashes));
    prepared.push_back(std::move(next));
  }
  return prepared;
}

}  // namespace astra
