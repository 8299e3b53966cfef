#include "collectives/measurements/measured_times.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>

#include "absl/status/status.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "collectives/measurements/measured_file.h"
#include "collectives/measurements/measured_terms.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Largest number of reasons in one note. The texts of some reasons hold values
// of the file, and could be as many as its rows.
constexpr size_t kMaxReasons = 6;

// Counts rows by the reason why they are left out.
class LeftOut {
 public:
  void Add(const std::string& reason) {
    ++num_rows_;
    ++counts_.try_emplace(reason, Count{0, counts_.size()}).first->second.rows;
  }

  size_t num_rows() const { return num_rows_; }

  // Returns "REASON (COUNT); REASON (COUNT)", the most frequent reasons first,
  // and equally frequent ones in the order of the file.
  std::string Text() const {
    std::vector<std::pair<Count, std::string_view>> reasons;
    for (const auto& [reason, count] : counts_) {
      reasons.emplace_back(count, reason);
    }
    std::sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) {
      if (a.first.rows != b.first.rows) return a.first.rows > b.first.rows;
      return a.first.position < b.first.position;
    });
    std::string text;
    size_t num_others = num_rows_;
    for (size_t i = 0; i < std::min(reasons.size(), kMaxReasons); ++i) {
      AppendFormat(&text, "{}{} ({})", i == 0 ? "" : "; ", reasons[i].second,
                   reasons[i].first.rows);
      num_others -= reasons[i].first.rows;
    }
    if (num_others > 0) AppendFormat(&text, "; other reasons ({})", num_others);
    return text;
  }

 private:
  struct Count {
    size_t rows = 0;
    size_t position = 0;  // Number of other reasons that came before.
  };

  std::map<std::string, Count> counts_;
  size_t num_rows_ = 0;
};

Launch LaunchOf(const MeasuredRow& row) {
  return row.environment.launch.value_or(Launch::kHost);
}

// Returns whether NCCL was told the algorithm or the protocol of a row.
bool IsForced(const MeasuredEnvironment& environment) {
  if (environment.is_asked) return true;
  for (const auto& [name, value] : environment.settings) {
    if (name == "NCCL_ALGO" || name == "NCCL_PROTO") return true;
  }
  return false;
}

// Returns why a row is left out; empty if it is used. `filter.gpu` is a model.
std::string ReasonToLeaveOut(const MeasuredRow& row,
                             const MeasuredFilter& filter) {
  if (!row.problem.empty()) return row.problem;
  if (!row.environment.engine.empty()) {
    return "it timed the kernel of an inference engine";
  }
  if (row.grade == 'X') return "graded X, not to be scored";
  if (!filter.gpu.empty() && !row.gpu_model.empty() &&
      LowerCase(row.gpu_model) != LowerCase(filter.gpu)) {
    return fmt::format("measured on {}, not on {}", row.gpu_model, filter.gpu);
  }
  if (filter.launch && *filter.launch != LaunchOf(row)) {
    return fmt::format("measured with launch {}, not {}", Name(LaunchOf(row)),
                       Name(*filter.launch));
  }
  if (row.environment.symmetric != filter.symmetric) {
    return filter.symmetric ? "buffers are not in symmetric memory"
                            : "buffers are in symmetric memory";
  }
  if (IsForced(row.environment)) {
    return "NCCL was told the algorithm or the protocol";
  }
  return "";
}

std::string Describe(const MeasuredGroup& group) {
  return fmt::format("{} on {} x {} GPUs", Name(group.kind), group.num_servers,
                     group.gpus_per_server);
}

// Returns the median; of an even number, the lower of the two in the middle.
double MedianOf(std::vector<double> values) {
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The rows of one curve.
struct CurveRows {
  std::map<Bytes, std::vector<double>> times_us;

  // Shortest time of a rank, by size and name of the call.
  std::map<std::pair<Bytes, std::string>, double> calls_us;

  std::vector<std::string> files;

  // Facts of the first row that states them, and whether another row differs.
  std::string gpu_model;
  std::optional<MeasuredNics> nics;
  std::optional<std::vector<std::pair<std::string, std::string>>> settings;
  std::optional<Launch> launch;
  bool mixes_nics = false;
  bool mixes_settings = false;
  bool mixes_launches = false;
};

// Keeps `value` if it is the first one. Returns whether it differs from the
// first one.
template <class T>
bool DiffersFrom(std::optional<T>& first, const T& value) {
  if (!first) first = value;
  return *first != value;
}

void NoteFacts(const MeasuredRow& row, CurveRows* rows) {
  if (row.num_nodes > 1 && row.nics != MeasuredNics()) {
    rows->mixes_nics |= DiffersFrom(rows->nics, row.nics);
  }
  rows->mixes_settings |= DiffersFrom(rows->settings, row.environment.settings);
  rows->mixes_launches |= DiffersFrom(rows->launch, LaunchOf(row));
}

MeasuredCurve CurveOf(const CurveRows& rows) {
  std::map<Bytes, std::vector<double>> times_us = rows.times_us;
  for (const auto& [call, time_us] : rows.calls_us) {
    times_us[call.first].push_back(time_us);
  }
  MeasuredCurve curve;
  for (auto& [size, times] : times_us) {
    curve.sizes.push_back(size);
    curve.times_us.push_back(MedianOf(std::move(times)));
  }
  for (const std::string& file : rows.files) {
    AppendFormat(&curve.source, "{}{}", curve.source.empty() ? "" : ", ", file);
  }
  return curve;
}

}  // namespace

// Collects the rows of files, one file after the other.
class MeasuredTimesBuilder {
 public:
  explicit MeasuredTimesBuilder(const MeasuredFilter& filter)
      : filter_(filter) {
    if (!filter_.gpu.empty()) filter_.gpu = GpuModelOf(filter_.gpu);
  }

  absl::Status AddFile(const std::string& name, std::string_view contents) {
    ASTRA_ASSIGN_OR_RETURN(const MeasuredFile file,
                           ParseMeasuredFile(name, contents));
    if (file.rows.empty()) {
      return absl::InvalidArgumentError(fmt::format("{}: no row", name));
    }
    LeftOut left_out;
    bool misses_gpu = false;
    for (size_t i = 0; i < file.rows.size(); ++i) {
      const MeasuredRow& row = file.rows[i];
      const std::string reason = ReasonToLeaveOut(row, filter_);
      if (!reason.empty()) {
        left_out.Add(reason);
        continue;
      }
      misses_gpu |= row.gpu_model.empty();
      ASTRA_RETURN_IF_ERROR(
          AddRow(name, row, file.calls.empty() ? "" : file.calls[i]));
    }
    return AddNotes(name, file.rows.size(), left_out, misses_gpu);
  }

  absl::StatusOr<MeasuredTimes> Build() && {
    MeasuredCurves curves;
    for (const auto& [group, rows] : groups_) {
      curves.emplace(group, CurveOf(rows));
      NoteIf(rows.mixes_nics, group, "over different NICs");
      NoteIf(rows.mixes_settings, group, "with different settings of NCCL");
      NoteIf(rows.mixes_launches, group, "with different launches");
    }
    return MeasuredTimes(std::move(curves), std::move(notes_));
  }

 private:
  absl::Status AddRow(const std::string& name, const MeasuredRow& row,
                      const std::string& call) {
    const MeasuredGroup group = {row.collective, row.num_nodes,
                                 row.num_gpus_per_node()};
    CurveRows& rows = groups_[group];
    if (rows.gpu_model.empty()) rows.gpu_model = row.gpu_model;
    if (!row.gpu_model.empty() && row.gpu_model != rows.gpu_model) {
      return absl::InvalidArgumentError(fmt::format(
          "{}: {} was measured on {} and on {}: say which GPU is meant", name,
          Describe(group), rows.gpu_model, row.gpu_model));
    }
    NoteFacts(row, &rows);
    if (rows.files.empty() || rows.files.back() != name) {
      rows.files.push_back(name);
    }
    if (call.empty()) {
      rows.times_us[row.size].push_back(row.time_us);
      return absl::OkStatus();
    }
    double& time_us =
        rows.calls_us.try_emplace({row.size, call}, row.time_us).first->second;
    time_us = std::min(time_us, row.time_us);
    return absl::OkStatus();
  }

  absl::Status AddNotes(const std::string& name, size_t num_rows,
                        const LeftOut& left_out, bool misses_gpu) {
    if (left_out.num_rows() == num_rows) {
      return absl::InvalidArgumentError(
          fmt::format("{}: none of its {} rows can be used: {}", name, num_rows,
                      left_out.Text()));
    }
    if (left_out.num_rows() > 0) {
      notes_.push_back(fmt::format("{}: {} of {} rows are left out: {}", name,
                                   left_out.num_rows(), num_rows,
                                   left_out.Text()));
    }
    if (misses_gpu && !filter_.gpu.empty()) {
      notes_.push_back(fmt::format(
          "{}: the GPU is not stated, and is taken for {}", name, filter_.gpu));
    }
    return absl::OkStatus();
  }

  void NoteIf(bool condition, const MeasuredGroup& group,
              std::string_view difference) {
    if (!condition) return;
    notes_.push_back(fmt::format("measured times of {} join rows {}",
                                 Describe(group), difference));
  }

  MeasuredFilter filter_;  // Its `gpu` is a model, as of GpuModelOf().
  std::map<MeasuredGroup, CurveRows> groups_;
  std::vector<std::string> notes_;
};

namespace {

absl::Status CheckNames(absl::Span<const std::string> names) {
  if (names.empty()) {
    return absl::InvalidArgumentError("no file of measured times is given");
  }
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (seen.insert(name).second) continue;
    return absl::InvalidArgumentError(
        fmt::format("{}: given twice as measured times", name));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MeasuredTimes> MeasuredTimes::Read(
    absl::Span<const std::string> paths, const MeasuredFilter& filter) {
  ASTRA_RETURN_IF_ERROR(CheckNames(paths));
  MeasuredTimesBuilder builder(filter);
  for (const std::string& path : paths) {
    ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
    ASTRA_RETURN_IF_ERROR(builder.AddFile(path, contents));
  }
  return std::move(builder).Build();
}

absl::StatusOr<MeasuredTimes> MeasuredTimes::Parse(
    absl::Span<const NamedFile> files, const MeasuredFilter& filter) {
  std::vector<std::string> names;
  for (const NamedFile& file : files) names.push_back(file.name);
  ASTRA_RETURN_IF_ERROR(CheckNames(names));
  MeasuredTimesBuilder builder(filter);
  for (const NamedFile& file : files) {
    ASTRA_RETURN_IF_ERROR(builder.AddFile(file.name, file.contents));
  }
  return std::move(builder).Build();
}

}  // namespace astra
