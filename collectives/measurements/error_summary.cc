#include "collectives/measurements/error_summary.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "astra-core/base/check.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Width of names. Longer ones, such as addresses of sources, keep their end.
constexpr size_t kNameWidth = 56;

struct Pair {
  const MeasuredRow* row;
  const Outcome* outcome;
};
using Pairs = std::vector<Pair>;
using Filter = std::function<bool(const MeasuredRow&)>;

// Returns a percentile of `sorted`, which is not empty.
double Percentile(const std::vector<double>& sorted, size_t percent) {
  const size_t rank = (percent * sorted.size() + 99) / 100;
  return sorted[std::max<size_t>(rank, 1) - 1];
}

bool IsScored(const MeasuredRow& row) {
  return row.grade != 'C' && row.grade != 'X';
}

bool IsLarge(const MeasuredRow& row) { return row.size >= MiB(1); }

Filter HasGrade(char grade) {
  return [grade](const MeasuredRow& row) { return row.grade == grade; };
}

std::string Shortened(std::string_view name, size_t width) {
  if (name.size() <= width) return std::string(name);
  return fmt::format("...{}", name.substr(name.size() - width + 3));
}

std::string FormatLine(std::string_view name, const Pairs& pairs,
                       const Filter& filter) {
  std::vector<double> errors;
  for (const Pair& pair : pairs) {
    if (filter(*pair.row)) {
      errors.push_back(ErrorPercent(*pair.row, *pair.outcome));
    }
  }
  const ErrorSummary summary = SummarizeErrors(std::move(errors));
  if (summary.num_rows == 0) return "";
  return fmt::format("{:<{}} {:>7} {:>+9.1f} {:>9.1f} {:>9.1f}\n", name,
                     kNameWidth, summary.num_rows, summary.median,
                     summary.median_abs, summary.p90_abs);
}

// Returns a line for each different key, in the order of keys, named by
// `name_of`.
template <class KeyOf, class NameOf>
std::string FormatGroups(std::string_view title, const Pairs& pairs,
                         const KeyOf& key_of, const NameOf& name_of) {
  using Key = decltype(key_of(*pairs[0].row));
  std::map<Key, Pairs> groups;
  for (const Pair& pair : pairs) groups[key_of(*pair.row)].push_back(pair);
  std::string text = fmt::format("\nby {}\n", title);
  for (const auto& [key, group] : groups) {
    text +=
        FormatLine(fmt::format("  {}", Shortened(name_of(key), kNameWidth - 2)),
                   group, [](const MeasuredRow&) { return true; });
  }
  return text;
}

// Returns the exponent of the largest power of ten within the size.
int DecadeOf(const MeasuredRow& row) {
  int decade = 0;
  for (int64_t rest = row.size.count(); rest >= 10; rest /= 10) ++decade;
  return decade;
}

std::string FormatTotals(const Pairs& pairs) {
  std::string text;
  const auto add = [&](std::string_view name, const Filter& filter) {
    text += FormatLine(name, pairs, filter);
    text += FormatLine(
        fmt::format("  1 MiB and more, {}", name), pairs,
        [&](const MeasuredRow& row) { return filter(row) && IsLarge(row); });
    text += FormatLine(
        fmt::format("  below 1 MiB, {}", name), pairs,
        [&](const MeasuredRow& row) { return filter(row) && !IsLarge(row); });
  };
  add("all but grades C and X", IsScored);
  add("grade A", HasGrade('A'));
  add("grade B", HasGrade('B'));
  add("no grade", [](const MeasuredRow& row) { return !row.grade; });
  text += FormatLine("grade C, not in any other line", pairs, HasGrade('C'));
  text += FormatLine("grade X, not in any other line", pairs, HasGrade('X'));
  return text;
}

std::string FormatAllGroups(const Pairs& scored) {
  const auto same = [](const auto& key) { return key; };
  std::string text;
  text += FormatGroups(
      "source", scored, [](const MeasuredRow& row) { return row.source; },
      same);
  text += FormatGroups(
      "GPU", scored, [](const MeasuredRow& row) { return row.gpu; }, same);
  text += FormatGroups(
      "collective", scored,
      [](const MeasuredRow& row) { return row.collective; },
      [](CollectiveKind kind) { return NcclTestsName(kind); });
  text += FormatGroups(
      "servers and GPUs", scored,
      [](const MeasuredRow& row) {
        return std::pair(row.num_nodes, row.num_gpus);
      },
      [](std::pair<uint32_t, uint32_t> key) {
        return fmt::format("{} x {}", key.first, key.second / key.first);
      });
  text += FormatGroups("size", scored, DecadeOf, [](int decade) {
    return fmt::format("1e{} B to below 1e{} B", decade, decade + 1);
  });
  return text;
}

std::string FormatReasons(absl::Span<const Outcome> outcomes) {
  std::map<std::string_view, size_t> reasons;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.ok()) ++reasons[outcome.status];
  }
  std::string text = reasons.empty() ? "" : "\nnot predicted\n";
  for (const auto& [reason, count] : reasons) {
    text += fmt::format("{:>7}  {}\n", count, reason);
  }
  return text;
}

}  // namespace

ErrorSummary SummarizeErrors(std::vector<double> errors) {
  ErrorSummary summary;
  summary.num_rows = errors.size();
  if (errors.empty()) return summary;
  std::sort(errors.begin(), errors.end());
  summary.median = Percentile(errors, 50);
  for (double& error : errors) error = std::abs(error);
  std::sort(errors.begin(), errors.end());
  summary.median_abs = Percentile(errors, 50);
  summary.p90_abs = Percentile(errors, 90);
  return summary;
}

std::string FormatErrorSummary(const MeasuredTable& table,
                               absl::Span<const Outcome> outcomes) {
  ASTRA_CHECK(outcomes.size() == table.rows.size(), "{} outcomes of {} rows",
              outcomes.size(), table.rows.size());
  Pairs predicted;
  Pairs scored;
  size_t num_stated = 0;
  size_t num_matched = 0;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const MeasuredRow& row = table.rows[i];
    const std::optional<bool> agrees = AgreesOnAlgorithm(row, outcomes[i]);
    if (agrees) ++num_stated;
    if (agrees == true) ++num_matched;
    if (!outcomes[i].ok()) continue;
    predicted.push_back({&row, &outcomes[i]});
    if (IsScored(row)) scored.push_back(predicted.back());
  }
  std::string text = fmt::format(
      "{} measured rows, {} predicted; errors in percent of the measured "
      "time\n",
      outcomes.size(), predicted.size());
  if (!predicted.empty()) {
    text += fmt::format("\n{:<{}} {:>7} {:>9} {:>9} {:>9}\n", "", kNameWidth,
                        "rows", "median", "|median|", "|p90|");
    text += FormatTotals(predicted);
  }
  if (!scored.empty()) text += FormatAllGroups(scored);
  text += FormatReasons(outcomes);
  text += fmt::format("\nalgorithm: stated {}, matched {}\n", num_stated,
                      num_matched);
  return text;
}

}  // namespace astra
