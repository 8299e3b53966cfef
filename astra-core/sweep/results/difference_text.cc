#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/sweep/results/ranking.h"
#include "astra-core/sweep/results/row_text.h"
#include "astra-core/sweep/results/text_columns.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {
namespace {

using Align = TextColumns::Align;

// One of the two sweeps, without repeats.
struct Side {
  const SweepTable& table;
  std::vector<size_t> ranked;
  std::vector<size_t> axes;  // Axes that both sweeps have, in the order of A.

  double ValueAt(size_t row) const {
    return *MetricOf(table, table.rows[row], table.objectives.front().metric);
  }
};

// A point of A and the point of B with the same values on the shared axes.
struct Pair {
  size_t row_a;
  size_t row_b;
  double ratio;     // B / A.
  double distance;  // Distance of the ratio from 1; infinite without a ratio.
};

std::vector<std::string> AxisNames(const SweepTable& table) {
  return {
      table.variables.begin(),
      table.variables.begin() + static_cast<std::ptrdiff_t>(table.num_axes)};
}

absl::Status ShareAxes(Side& a, Side& b) {
  const std::vector<std::string> of_a = AxisNames(a.table);
  const std::vector<std::string> of_b = AxisNames(b.table);
  for (size_t i = 0; i < of_a.size(); ++i) {
    const auto found = std::find(of_b.begin(), of_b.end(), of_a[i]);
    if (found == of_b.end()) continue;
    a.axes.push_back(i);
    b.axes.push_back(static_cast<size_t>(found - of_b.begin()));
  }
  if (!a.axes.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "the sweeps share no axis: {} has {}; {} has {}", Quoted(a.table.name),
      fmt::join(of_a, ", "), Quoted(b.table.name), fmt::join(of_b, ", ")));
}

absl::Status CheckObjectives(const SweepTable& a, const SweepTable& b) {
  const std::string of_a = ObjectiveText(a.objectives.front());
  const std::string of_b = ObjectiveText(b.objectives.front());
  if (of_a == of_b) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "the sweeps differ in their first objective: {} has to {}; {} has to {}",
      Quoted(a.name), of_a, Quoted(b.name), of_b));
}

// Returns the best row for each combination of values of the shared axes.
std::map<std::vector<std::string>, size_t> BestOfShared(const Side& side) {
  std::map<std::vector<std::string>, size_t> best;
  for (const size_t row : side.ranked) {
    std::vector<std::string> values;
    values.reserve(side.axes.size());
    for (const size_t axis : side.axes) {
      values.push_back(side.table.rows[row].values[axis]);
    }
    best.emplace(std::move(values), row);
  }
  return best;
}

// Pairs the rows of both sweeps; the pairs that differ most come first.
std::vector<Pair> FindPairs(const Side& a, const Side& b, size_t* only_in_a,
                            size_t* only_in_b) {
  const auto best_a = BestOfShared(a);
  const auto best_b = BestOfShared(b);
  std::vector<Pair> pairs;
  for (const auto& [values, row_a] : best_a) {
    const auto found = best_b.find(values);
    if (found == best_b.end()) continue;
    const double ratio = MultipleOf(a.ValueAt(row_a), b.ValueAt(found->second));
    const bool is_ratio = std::isfinite(ratio) && ratio > 0;
    pairs.push_back({row_a, found->second, ratio,
                     is_ratio ? std::abs(std::log(ratio))
                              : std::numeric_limits<double>::infinity()});
  }
  *only_in_a = best_a.size() - pairs.size();
  *only_in_b = best_b.size() - pairs.size();
  std::sort(pairs.begin(), pairs.end(), [](const Pair& x, const Pair& y) {
    return x.distance != y.distance ? x.distance > y.distance
                                    : x.row_a < y.row_a;
  });
  return pairs;
}

std::string SideText(std::string_view name, const Side& side) {
  const SweepTable& table = side.table;
  return fmt::format(
      "{}          {}: {}, {} of {} points finished{}\n"
      "best of {}  {}\n",
      name, PlainText(table.name), table.program, CountFinished(table),
      table.rows.size(), InfeasibleText(table), name,
      side.ranked.empty() ? "none"
                          : PointText(table, table.rows[side.ranked.front()]));
}

// Returns text such as "the best over dp" for the axes that only `side` has.
std::string OthersText(std::string_view name, const Side& side) {
  std::vector<std::string> others;
  for (size_t i = 0; i < side.table.num_axes; ++i) {
    if (std::find(side.axes.begin(), side.axes.end(), i) == side.axes.end()) {
      others.push_back(side.table.variables[i]);
    }
  }
  if (others.empty()) return "";
  return fmt::format("of {}       the best over {}\n", name,
                     fmt::join(others, ", "));
}

std::string RatiosText(const std::vector<Pair>& pairs) {
  double min = std::numeric_limits<double>::infinity();
  double max = 0;
  double sum = 0;
  for (const Pair& pair : pairs) {
    if (!std::isfinite(pair.distance)) return "";
    min = std::min(min, pair.ratio);
    max = std::max(max, pair.ratio);
    sum += std::log(pair.ratio);
  }
  const double mean = std::exp(sum / static_cast<double>(pairs.size()));
  return fmt::format("B / A      {} to {}, geometric mean {}\n", RatioText(min),
                     RatioText(max), RatioText(mean));
}

std::string PairsText(const Side& a, const Side& b,
                      const std::vector<Pair>& pairs, size_t top) {
  TextColumns columns;
  for (const size_t axis : a.axes) {
    columns.AddColumn(a.table.variables[axis], Align::kLeft);
  }
  for (const std::string_view header :
       {"point A", "point B", "A", "B", "B / A"}) {
    columns.AddColumn(header, Align::kRight);
  }
  const size_t shown = std::min(top, pairs.size());
  for (size_t i = 0; i < shown; ++i) {
    const Pair& pair = pairs[i];
    const SweepRow& row_a = a.table.rows[pair.row_a];
    std::vector<std::string> cells;
    for (const size_t axis : a.axes) {
      cells.push_back(PlainText(row_a.values[axis]));
    }
    cells.push_back(fmt::format("{}", row_a.number));
    cells.push_back(fmt::format("{}", b.table.rows[pair.row_b].number));
    cells.push_back(ShortNumber(a.ValueAt(pair.row_a)));
    cells.push_back(ShortNumber(b.ValueAt(pair.row_b)));
    cells.push_back(RatioText(pair.ratio));
    columns.AddRow(std::move(cells));
  }
  return fmt::format("\n{} of A and B, those that differ most first\n{}{}",
                     a.table.objectives.front().metric, columns.Text(),
                     MoreText(pairs.size(), shown));
}

}  // namespace

absl::StatusOr<std::string> DescribeDifference(const SweepTable& a,
                                               const SweepTable& b,
                                               size_t top) {
  if (a.has_repeats) return DescribeDifference(MergeRepeats(a), b, top);
  if (b.has_repeats) return DescribeDifference(a, MergeRepeats(b), top);
  ASTRA_RETURN_IF_ERROR(CheckObjectives(a, b));
  Side side_a{a, RankedRows(a), {}};
  Side side_b{b, RankedRows(b), {}};
  ASTRA_RETURN_IF_ERROR(ShareAxes(side_a, side_b));
  size_t only_in_a = 0;
  size_t only_in_b = 0;
  const std::vector<Pair> pairs =
      FindPairs(side_a, side_b, &only_in_a, &only_in_b);
  std::vector<std::string> shared;
  shared.reserve(side_a.axes.size());
  for (const size_t axis : side_a.axes) {
    shared.push_back(side_a.table.variables[axis]);
  }
  std::string text = fmt::format(
      "objective  {}\n{}{}"
      "shared     {} by {}; {} only in A, {} only in B\n{}{}",
      ObjectiveText(a.objectives.front()), SideText("A", side_a),
      SideText("B", side_b), Counted(pairs.size(), "point"),
      fmt::join(shared, ", "), only_in_a, only_in_b, OthersText("A", side_a),
      OthersText("B", side_b));
  if (pairs.empty()) return text;
  return text + RatiosText(pairs) + PairsText(side_a, side_b, pairs, top);
}

}  // namespace astra
