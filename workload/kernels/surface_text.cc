#include "workload/kernels/surface_text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr double kStep = 0.01;
constexpr char kNone = ' ';
constexpr char kLong = '~';
constexpr int kShortZero = 80;
constexpr int kShortMost = 45;
constexpr int kLongFirst = 35;
constexpr int kLongBase = 91;
constexpr int kLongZero = 4140;
constexpr float kNotMeasured = std::numeric_limits<float>::quiet_NaN();

// Reads a file line by line, and a line part by part.
class Scanner {
 public:
  Scanner(std::string_view file, std::string_view text)
      : file_(file), rest_(text) {}

  // Moves to the next line that is neither empty nor a comment.
  bool NextLine() {
    do {
      if (rest_.empty()) return false;
      const size_t end = std::min(rest_.find('\n'), rest_.size());
      whole_ = line_ = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++number_;
    } while (line_.empty() || line_[0] == '#');
    return true;
  }

  std::string_view line() const { return line_; }
  void Skip(size_t count) { line_.remove_prefix(count); }

  // Takes the text up to `end`, and `end` itself.
  std::string_view Take(char end) {
    const size_t size = std::min(line_.find(end), line_.size());
    const std::string_view part = line_.substr(0, size);
    taken_ = ColumnOf(line_);
    Skip(std::min(size + 1, line_.size()));
    return part;
  }

  // An error at the part that was taken last, or at what follows it.
  absl::Status ErrorAtTaken(std::string_view message) const {
    return Error(taken_, message);
  }
  absl::Status ErrorHere(std::string_view message) const {
    return Error(ColumnOf(line_), message);
  }

 private:
  size_t ColumnOf(std::string_view part) const {
    return static_cast<size_t>(part.data() - whole_.data()) + 1;
  }
  absl::Status Error(size_t column, std::string_view message) const {
    return absl::InvalidArgumentError(
        fmt::format("{}:{}:{}: {}", file_, number_, column, message));
  }

  std::string_view file_;
  std::string_view rest_;
  std::string_view whole_;  // The current line,
  std::string_view line_;   // and what is left of it.
  size_t number_ = 0;
  size_t taken_ = 1;
};

// Takes "KEY=VALUE;" and returns the value.
absl::StatusOr<std::string_view> TakeField(Scanner& scanner,
                                           std::string_view key) {
  const std::string_view field = scanner.Take(';');
  if (field.substr(0, key.size()) != key || field.size() <= key.size() ||
      field[key.size()] != '=') {
    return scanner.ErrorAtTaken(
        fmt::format("expected {}=..., got {}", key, Quoted(field)));
  }
  return field.substr(key.size() + 1);
}

std::vector<std::string> Split(std::string_view list, char between) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = std::min(list.find(between), list.size());
    parts.emplace_back(list.substr(0, end));
    if (end == list.size()) return parts;
    list.remove_prefix(end + 1);
  }
}

absl::StatusOr<double> NumberOf(const Scanner& scanner, std::string_view what,
                                std::string_view text, KernelRange range) {
  absl::StatusOr<double> number = ParseNumber(what, text, range.min, range.max);
  if (number.ok()) return number;
  return scanner.ErrorAtTaken(std::string(number.status().message()));
}

absl::StatusOr<SurfaceHead> ReadHead(Scanner& scanner) {
  SurfaceHead head;
  if (!scanner.NextLine()) {
    return scanner.ErrorHere("expected gpu=...;family=...;backend=...");
  }
  ASTRA_ASSIGN_OR_RETURN(head.gpu, TakeField(scanner, "gpu"));
  ASTRA_ASSIGN_OR_RETURN(const std::string_view family,
                         TakeField(scanner, "family"));
  head.family = FindKernelFamily(family);
  if (head.family == nullptr) {
    std::vector<std::string_view> names;
    for (const KernelFamily& known : KernelFamilies()) {
      names.push_back(known.name);
    }
    return scanner.ErrorAtTaken(UnknownName("family", family, names));
  }
  ASTRA_ASSIGN_OR_RETURN(head.backend, TakeField(scanner, "backend"));
  if (head.family->has_kernels) {
    ASTRA_ASSIGN_OR_RETURN(const std::string_view kernels,
                           TakeField(scanner, "kernels"));
    head.kernels = Split(kernels, ',');
  }
  if (!scanner.line().empty()) return scanner.ErrorHere("expected the end");
  return head;
}

absl::StatusOr<std::vector<double>> ReadAxis(Scanner& scanner,
                                             const KernelAxis& axis) {
  ASTRA_ASSIGN_OR_RETURN(const std::string_view list,
                         TakeField(scanner, axis.column));
  std::vector<double> values;
  for (const std::string& text : Split(list, ',')) {
    ASTRA_ASSIGN_OR_RETURN(
        const double value,
        NumberOf(scanner, axis.column, text, RangeOfAxis(axis)));
    if (!values.empty() && value <= values.back()) {
      return scanner.ErrorAtTaken(
          fmt::format("{} is not ascending at {}", axis.column, text));
    }
    values.push_back(value);
  }
  return values;
}

// Returns the names of the columns of lines, with commas between.
std::string ColumnsOf(const KernelFamily& family) {
  std::string columns;
  for (const std::string_view size : family.sizes) {
    if (!columns.empty()) columns += ',';
    columns += size;
  }
  return columns + (family.has_kernels ? ",kernel" : "");
}

// Reads the line that begins a surface.
absl::StatusOr<SurfaceTimes> ReadBlock(Scanner& scanner,
                                       const SurfaceHead& head) {
  SurfaceTimes times;
  times.family = head.family;
  times.gpu = head.gpu;
  times.backend = head.backend;
  scanner.Skip(1);
  times.words = Split(scanner.Take(';'), '/');
  if (times.words.size() != head.family->words.size()) {
    return scanner.ErrorAtTaken(
        fmt::format("expected {} words with / between, got {}",
                    head.family->words.size(), times.words.size()));
  }
  ASTRA_ASSIGN_OR_RETURN(const std::string_view floor,
                         TakeField(scanner, "floor_us"));
  ASTRA_ASSIGN_OR_RETURN(times.floor_us,
                         NumberOf(scanner, "floor_us", floor, {1e-6, 1e9}));
  times.axes = {std::vector<double>{0}, std::vector<double>{0}};
  for (size_t i = 0; i < head.family->axes.size(); ++i) {
    ASTRA_ASSIGN_OR_RETURN(times.axes[i],
                           ReadAxis(scanner, head.family->axes[i]));
  }
  if (times.num_points() > kMaxSurfacePoints) {
    return scanner.ErrorAtTaken(fmt::format(
        "{} points, more than {}", times.num_points(), kMaxSurfacePoints));
  }
  ASTRA_ASSIGN_OR_RETURN(const std::string_view columns,
                         TakeField(scanner, "columns"));
  if (columns != ColumnsOf(*head.family)) {
    return scanner.ErrorAtTaken(fmt::format("expected columns={}, got {}",
                                            ColumnsOf(*head.family),
                                            Quoted(columns)));
  }
  if (!scanner.line().empty()) return scanner.ErrorHere("expected the end");
  return times;
}

// Takes the difference at the front of the line.
absl::StatusOr<int> TakeDifference(Scanner& scanner) {
  const std::string_view text = scanner.line();
  const auto code = [text](size_t i) {
    return static_cast<int>(static_cast<unsigned char>(text[i]));
  };
  if (text[0] != kLong) {
    const int difference = code(0) - kShortZero;
    if (std::abs(difference) > kShortMost) {
      return scanner.ErrorHere(
          fmt::format("expected a time, got {}", Quoted(text.substr(0, 1))));
    }
    scanner.Skip(1);
    return difference;
  }
  const auto is_digit = [&](size_t i) {
    return code(i) >= kLongFirst && code(i) < kLongFirst + kLongBase;
  };
  if (text.size() < 3 || !is_digit(1) || !is_digit(2)) {
    return scanner.ErrorHere("expected two characters from # to } behind ~");
  }
  scanner.Skip(3);
  return (code(1) - kLongFirst) * kLongBase + code(2) - kLongFirst - kLongZero;
}

// Appends the times of a line. `above` holds the last steps at each point.
absl::Status ReadTimes(Scanner& scanner, std::vector<int>& above,
                       std::vector<float>& log_us) {
  int left = 0;
  int above_left = 0;
  bool is_empty = true;
  for (int& step : above) {
    if (scanner.line().empty() || scanner.line()[0] == kNone) {
      if (!scanner.line().empty()) scanner.Skip(1);
      log_us.push_back(kNotMeasured);
      continue;
    }
    ASTRA_ASSIGN_OR_RETURN(const int difference, TakeDifference(scanner));
    const int value = left + step - above_left + difference;
    constexpr int kMostSteps = 10'000;  // No time is so far from 1 us.
    if (std::abs(value) > kMostSteps) {
      return scanner.ErrorHere("a time beyond all bounds before this");
    }
    above_left = step;
    left = step = value;
    log_us.push_back(static_cast<float>(kStep * value));
    is_empty = false;
  }
  if (!scanner.line().empty()) {
    return scanner.ErrorHere("more times than points");
  }
  return is_empty ? scanner.ErrorHere("expected a time") : absl::OkStatus();
}

absl::Status ReadLine(Scanner& scanner, const SurfaceHead& head,
                      std::vector<int>& above, SurfaceTimes& times) {
  SurfaceTimes::Line line;
  for (size_t i = 0; i < head.family->sizes.size(); ++i) {
    const std::string_view column = head.family->sizes[i];
    ASTRA_ASSIGN_OR_RETURN(
        line.sizes[i],
        NumberOf(scanner, column, scanner.Take(','), RangeOfSize(column)));
  }
  if (!times.lines.empty() && line.sizes <= times.lines.back().sizes) {
    return scanner.ErrorAtTaken("sizes are not ascending");
  }
  if (head.family->has_kernels) {
    const std::string_view text = scanner.Take(',');
    ASTRA_ASSIGN_OR_RETURN(
        const double kernel,
        NumberOf(scanner, "kernel", text,
                 {0, static_cast<double>(head.kernels.size() - 1)}));
    line.kernel = head.kernels[static_cast<size_t>(kernel)];
  }
  times.lines.push_back(std::move(line));
  return ReadTimes(scanner, above, times.log_us);
}

}  // namespace

absl::StatusOr<SurfaceHead> ParseSurfaceHead(std::string_view file,
                                             std::string_view text) {
  Scanner scanner(file, text);
  return ReadHead(scanner);
}

absl::StatusOr<std::vector<SurfaceTimes>> ParseSurfaceText(
    std::string_view file, std::string_view text) {
  Scanner scanner(file, text);
  ASTRA_ASSIGN_OR_RETURN(const SurfaceHead head, ReadHead(scanner));
  std::vector<SurfaceTimes> surfaces;
  std::vector<int> above;
  while (scanner.NextLine()) {
    if (scanner.line()[0] == '@') {
      ASTRA_ASSIGN_OR_RETURN(SurfaceTimes times, ReadBlock(scanner, head));
      above.assign(times.num_points(), 0);
      surfaces.push_back(std::move(times));
      continue;
    }
    if (surfaces.empty()) return scanner.ErrorHere("expected @WORDS;...");
    ASTRA_RETURN_IF_ERROR(ReadLine(scanner, head, above, surfaces.back()));
  }
  return surfaces;
}

}  // namespace astra
