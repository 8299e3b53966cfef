#include "astra-core/apps/sweep/simai_sweep_plan.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "astra-core/apps/sweep/simai_sweep_programs.h"
#include "astra-core/base/files.h"
#include "astra-core/base/json_writer.h"
#include "astra-core/base/log.h"
#include "astra-core/base/names.h"
#include "astra-core/base/shell_word.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/version.h"
#include "astra-core/sweep/results/flat_json.h"
#include "astra-core/sweep/sweep_file.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Returns the folder from which paths in the sweep file count.
std::string WholeFolderOf(const std::string& file) {
  const std::string folder = FolderOf(file);
  std::error_code error;
  const std::filesystem::path whole =
      folder.empty() ? std::filesystem::current_path(error)
                     : std::filesystem::absolute(folder, error);
  return error ? folder : whole.string();
}

// Returns the version of the program that runs, such as "0.1.0 (3f2a91bc)".
// Programs that are built from one version may differ.
absl::StatusOr<std::string> ProgramVersion(const Sweep& sweep,
                                           const std::string& folder,
                                           FileHashes& hashes) {
  const std::string_view program = sweep.run_program().name;
  ASTRA_ASSIGN_OR_RETURN(const std::string hash,
                         hashes.Of(fmt::format("{}/{}", folder, program)));
  return fmt::format("{} ({})", Version(), hash.substr(0, 8));
}

absl::StatusOr<PlannedSweep> Plan(const std::string& file,
                                  const std::string& text,
                                  const std::string& origin,
                                  const std::optional<std::string>& name,
                                  const std::optional<std::string>& folder,
                                  const std::string& program_folder) {
  ASTRA_ASSIGN_OR_RETURN(Sweep sweep,
                         ReadSweep(file, text, origin, SweptPrograms()));
  if (name) sweep.name = *name;
  ASTRA_ASSIGN_OR_RETURN(SweepPoints points, ExpandSweep(sweep));
  FileHashes hashes;
  ASTRA_ASSIGN_OR_RETURN(std::vector<PreparedPoint> prepared,
                         PreparePoints(sweep, points, program_folder, hashes));
  ASTRA_ASSIGN_OR_RETURN(std::string version,
                         ProgramVersion(sweep, program_folder, hashes));
  SweepFolder place(folder.value_or("results/" + sweep.name));
  return PlannedSweep{file,
                      std::move(sweep),
                      std::move(points),
                      std::move(prepared),
                      std::move(place),
                      std::move(version)};
}

absl::Status NoSweepFolder(const std::string& path, std::string_view why) {
  return absl::InvalidArgumentError(fmt::format(
      "{}: {}; expected the folder of a sweep that was run, such as "
      "results/NAME",
      path, why));
}

// KeepSweepFile() writes this record of its origin beside the sweep file.
struct Origin {
  std::string name;
  std::string relative_to;
  std::string programs;
  int64_t keep_bytes = 0;
  int64_t timeout_ms = 0;  // 0: no limit.
};

// Returns the origin; none if the folder has no such file.
absl::StatusOr<std::optional<Origin>> ReadOrigin(const SweepFolder& folder) {
  const absl::StatusOr<std::string> text = ReadFile(folder.origin_file());
  if (!text.ok()) return std::optional<Origin>();
  FlatJson json;
  bool is_right = json.Read(*text);
  Origin origin;
  for (const auto& [key, value] :
       {std::pair("name", &origin.name),
        std::pair("relative_to", &origin.relative_to),
        std::pair("programs", &origin.programs)}) {
    const auto found = std::find_if(
        json.texts.begin(), json.texts.end(),
        [key = key](const auto& field) { return field.first == key; });
    is_right = is_right && found != json.texts.end();
    if (is_right) *value = found->second;
  }
  for (const auto& [key, value] :
       {std::pair("keep_bytes", &origin.keep_bytes),
        std::pair("timeout_ms", &origin.timeout_ms)}) {
    const auto found = std::find_if(
        json.numbers.begin(), json.numbers.end(),
        [key = key](const Metric& field) { return field.name == key; });
    is_right = is_right && found != json.numbers.end() && found->value >= 0 &&
               found->value < 0x1p63;
    if (is_right) *value = static_cast<int64_t>(found->value);
  }
  if (is_right) return std::optional<Origin>(std::move(origin));
  return absl::InvalidArgumentError(
      fmt::format("{}: is not as simai_sweep wrote it; simai_sweep run SWEEP "
                  "--output {} writes it anew",
                  folder.origin_file(), ShellWord(folder.path())));
}

absl::Status CheckFolder(const std::string& path) {
  if (IsFolder(path)) return absl::OkStatus();
  std::error_code error;
  return NoSweepFolder(path, std::filesystem::exists(path, error)
                                 ? "is no folder"
                                 : "no such folder");
}

}  // namespace

absl::StatusOr<PlannedSweep> PlanSweepFile(const std::string& operand,
                                           const SweepRunOptions& options) {
  if (IsFolder(operand)) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: is a folder; expected a sweep file (simai_sweep resume goes on "
        "with a folder)",
        operand));
  }
  ASTRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(operand));
  std::error_code error;
  const std::string origin =
      options.relative_to
          ? std::filesystem::absolute(*options.relative_to, error).string()
          : WholeFolderOf(operand);
  if (!IsFolder(origin)) {
    return absl::InvalidArgumentError(
        fmt::format("--relative-to is {}: no such folder", Quoted(origin)));
  }
  if (options.name && !IsFileName(*options.name)) {
    return absl::InvalidArgumentError(fmt::format(
        "--name is {}: expected a name for a folder", Quoted(*options.name)));
  }
  return Plan(operand, text, origin, options.name, options.folder,
              options.program_folder);
}

absl::StatusOr<PlannedSweep> PlanSweepFolder(const std::string& operand,
                                             SweepRunOptions* options) {
  ASTRA_RETURN_IF_ERROR(CheckFolder(operand));
  const SweepFolder folder(operand);
  const absl::StatusOr<std::string> text = ReadFile(folder.sweep_file());
  ASTRA_ASSIGN_OR_RETURN(const std::optional<Origin> origin,
                         ReadOrigin(folder));
  if (!origin || !text.ok()) {
    return NoSweepFolder(operand, "holds no sweep.json and sweep.yaml");
  }
  if (!options->programs_given) options->program_folder = origin->programs;
  if (!options->keep_given) options->keep_bytes = origin->keep_bytes;
  if (!options->options.timeout && origin->timeout_ms > 0) {
    options->options.timeout = std::chrono::milliseconds(origin->timeout_ms);
  }
  return Plan(folder.sweep_file(), *text, origin->relative_to, origin->name,
              folder.path(), options->program_folder);
}

absl::Status KeepSweepFile(const PlannedSweep& plan,
                           const SweepRunOptions& options) {
  std::error_code error;
  JsonWriter origin;
  origin.BeginObject()
      .Field("file", plan.file)
      .Field("name", plan.sweep.name)
      .Field("relative_to", plan.sweep.folder)
      .Field("programs",
             std::filesystem::absolute(options.program_folder, error).string())
      .Field("keep_bytes", options.keep_bytes)
      .Field("timeout_ms",
             options.options.timeout ? options.options.timeout->count() : 0)
      .EndObject();
  ASTRA_RETURN_IF_ERROR(WriteFile(plan.folder.sweep_file(), plan.sweep.text));
  return WriteFile(plan.folder.origin_file(), origin.text() + "\n");
}

absl::Status CheckSweepOfFolder(const PlannedSweep& plan) {
  ASTRA_ASSIGN_OR_RETURN(const std::optional<Origin> origin,
                         ReadOrigin(plan.folder));
  if (!origin || origin->name == plan.sweep.name) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "{}: holds the sweep {}, not {}; give another --output",
      plan.folder.path(), Quoted(origin->name), Quoted(plan.sweep.name)));
}

std::vector<const PreparedPoint*> PointsWithKeys(
    const PlannedSweep& plan, const std::set<std::string>& keys) {
  std::set<std::string> left = keys;
  std::vector<const PreparedPoint*> points;
  points.reserve(left.size());
  for (const PreparedPoint& point : plan.prepared) {
    if (left.erase(point.key()) > 0) points.push_back(&point);
  }
  return points;
}

absl::StatusOr<std::vector<const PreparedPoint*>> PointsWithNumbers(
    const PlannedSweep& plan, absl::Span<const uint32_t> numbers) {
  std::set<std::string> keys;
  for (const uint32_t number : numbers) {
    if (number > plan.prepared.size()) {
      return absl::InvalidArgumentError(
          fmt::format("--point {}: the sweep has points 1 to {}", number,
                      plan.prepared.size()));
    }
    keys.insert(plan.prepared[number - 1].key());
  }
  return PointsWithKeys(plan, keys);
}

SweepRun RunOf(const PlannedSweep& plan, const SweepRunOptions& options,
               absl::Span<const PreparedPoint* const> points) {
  std::error_code error;
  return SweepRun{
      .folder = plan.folder,
      .name = plan.sweep.name,
      .sweep_text = plan.sweep.text,
      .origin = plan.sweep.folder,
      .program_folder =
          std::filesystem::absolute(options.program_folder, error).string(),
      .sweep_program =
          std::filesystem::read_symlink("/proc/self/exe", error).string(),
      .version = plan.version,
      .keep_bytes = options.keep_bytes,
      .points = points,
  };
}

std::optional<PointRecord> ReadRecordOrWarn(const SweepFolder& folder,
                                            std::string_view key) {
  std::string fault;
  std::optional<PointRecord> record = ReadPointRecord(folder, key, &fault);
  if (!fault.empty()) Log("simai_sweep").Warning(fault);
  return record;
}

absl::Status CollectRecords(const SweepFolder& folder, SweepStore& store) {
  ASTRA_ASSIGN_OR_RETURN(const std::set<std::string> keys, store.PendingKeys());
  std::vector<PointRecord> records;
  for (const std::string& key : keys) {
    std::optional<PointRecord> record = ReadRecordOrWarn(folder, key);
    if (record) records.push_back(*std::move(record));
  }
  return store.Add(records);
}

absl::StatusOr<SweepStore> OpenCollected(const std::string& operand) {
  ASTRA_RETURN_IF_ERROR(CheckFolder(operand));
  const SweepFolder folder(operand);
  std::error_code error;
  if (!std::filesystem::exists(folder.database(), error)) {
    if (!std::filesystem::exists(folder.origin_file(), error)) {
      return NoSweepFolder(operand, "holds no sweep.db");
    }
    return absl::InvalidArgumentError(fmt::format(
        "{}: holds points that are not collected yet: simai_sweep resume {} "
        "does so",
        operand, ShellWord(operand)));
  }
  std::string holder;
  const absl::StatusOr<std::optional<SweepLock>> lock =
      SweepLock::Take(folder, &holder);
  // Another process holds the folder and collects by itself, or the folder
  // cannot be written by this user.
  if (!lock.ok() || !lock->has_value()) {
    return SweepStore::OpenToRead(folder.database());
  }
  ASTRA_ASSIGN_OR_RETURN(SweepStore store, SweepStore::Open(folder.database()));
  ASTRA_RETURN_IF_ERROR(CollectRecords(folder, store));
  return store;
}

}  // namespace astra
