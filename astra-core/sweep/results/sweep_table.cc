#include "astra-core/sweep/results/sweep_table.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "astra-core/base/names.h"
#include "fmt/core.h"

namespace astra {
namespace {

// The runs of one set of repeats, and their merged result.
class RepeatSet {
 public:
  explicit RepeatSet(size_t num_metrics) : metrics_(num_metrics) {}

  void Add(const SweepRow& run) {
    runs_.push_back(&run);
    if (!HasFinished(run.state)) return;
    for (size_t i = 0; i < metrics_.size(); ++i) {
      if (!run.metrics[i]) continue;
      const double value = *run.metrics[i];
      Range& range = metrics_[i];
      range.min = range.count == 0 ? value : std::min(range.min, value);
      range.max = range.count == 0 ? value : std::max(range.max, value);
      range.sum += value;
      ++range.count;
    }
  }

  // Returns the merged row. `ranged` lists the metrics whose minimum and
  // maximum are added at its end.
  SweepRow Merged(absl::Span<const size_t> ranged) const {
    SweepRow row;
    row.number = runs_.front()->number;
    row.key = runs_.front()->key;
    row.values = runs_.front()->values;
    row.state = MergedState();
    row.reason = MergedReason();
    row.metrics.reserve(metrics_.size() + 2 * ranged.size());
    for (const Range& range : metrics_) row.metrics.push_back(range.Mean());
    for (const size_t metric : ranged) {
      const Range& range = metrics_[metric];
      row.metrics.push_back(range.IfAny(range.min));
      row.metrics.push_back(range.IfAny(range.max));
    }
    for (const SweepRow* run : runs_) {
      if (run->cost) AddCost(*run->cost, row.cost);
      if (row.commands.empty()) row.commands = run->commands;
    }
    return row;
  }

 private:
  struct Range {
    double min = 0;
    double max = 0;
    double sum = 0;
    size_t count = 0;

    std::optional<double> IfAny(double value) const {
      return count == 0 ? std::nullopt : std::optional<double>(value);
    }
    // Clamping keeps the mean within the range in spite of rounding.
    std::optional<double> Mean() const {
      if (count == 0) return std::nullopt;
      return std::clamp(sum / static_cast<double>(count), min, max);
    }
  };

  size_t Count(PointState state) const {
    return static_cast<size_t>(std::count_if(
        runs_.begin(), runs_.end(),
        [&](const SweepRow* run) { return run->state == state; }));
  }

  PointState MergedState() const {
    if (Count(PointState::kInfeasible) > 0) return PointState::kInfeasible;
    if (Count(PointState::kFinished) > 0) return PointState::kFinished;
    if (Count(PointState::kFailed) > 0) return PointState::kFailed;
    return Count(PointState::kIllegal) > 0 ? PointState::kIllegal
                                           : PointState::kPending;
  }

  std::string MergedReason() const {
    std::string reason;
    for (const auto& [state, what] :
         {std::pair(PointState::kInfeasible, "are infeasible"),
          std::pair(PointState::kIllegal, "are illegal"),
          std::pair(PointState::kFailed, "failed")}) {
      const std::string one = ReasonOf(state, what);
      if (!reason.empty() && !one.empty()) reason += "; ";
      reason += one;
    }
    return reason;
  }

  // Returns the first reason among the runs in `state`, with their count if not
  // all runs are in that state.
  std::string ReasonOf(PointState state, std::string_view what) const {
    const auto first =
        std::find_if(runs_.begin(), runs_.end(),
                     [&](const SweepRow* run) { return run->state == state; });
    if (first == runs_.end()) return "";
    const size_t count = Count(state);
    if (count == runs_.size()) return (*first)->reason;
    return fmt::format("{} of {} repeats {}: {}", count, runs_.size(), what,
                       (*first)->reason);
  }

  static void AddCost(const PointCost& cost, std::optional<PointCost>& sum) {
    if (!sum) {
      sum = cost;
      return;
    }
    sum->wall_s += cost.wall_s;
    sum->cpu_s += cost.cpu_s;
    sum->peak_memory_mib = std::max(sum->peak_memory_mib, cost.peak_memory_mib);
    sum->ended = std::max(sum->ended, cost.ended);
    sum->attempts += cost.attempts;
  }

  std::vector<const SweepRow*> runs_;
  std::vector<Range> metrics_;
};

// Returns the distinct metrics of the objectives.
std::vector<size_t> ObjectiveMetrics(const SweepTable& table) {
  std::vector<size_t> metrics;
  for (const SweepObjective& objective : table.objectives) {
    const std::optional<size_t> metric = FindMetric(table, objective.metric);
    const bool is_new = metric && std::find(metrics.begin(), metrics.end(),
                                            *metric) == metrics.end();
    if (is_new) metrics.push_back(*metric);
  }
  return metrics;
}

// Returns the sets of repeats, in the order of their first runs.
std::vector<RepeatSet> FindRepeatSets(const SweepTable& table) {
  std::vector<RepeatSet> sets;
  std::map<std::vector<std::string>, size_t> set_of;
  for (const SweepRow& row : table.rows) {
    // The seed is the last of the axes.
    const auto seed =
        row.values.begin() + static_cast<std::ptrdiff_t>(table.num_axes - 1);
    const auto [found, is_new] =
        set_of.emplace(std::vector(row.values.begin(), seed), sets.size());
    if (is_new) sets.emplace_back(table.metrics.size());
    sets[found->second].Add(row);
  }
  return sets;
}

std::string DistinctColumn(const std::string& name, std::string_view ending,
                           std::set<std::string>& taken) {
  std::string distinct = name;
  while (!taken.insert(LowerCase(distinct)).second) distinct += ending;
  return distinct;
}

}  // namespace

std::string_view PointStateName(PointState state) {
  switch (state) {
    case PointState::kPending:
      return "pending";
    case PointState::kFinished:
      return "finished";
    case PointState::kInfeasible:
      return "infeasible";
    case PointState::kIllegal:
      return "illegal";
    case PointState::kFailed:
      return "failed";
  }
  return "";
}

PointState StateOf(const PointRecord& record) {
  if (record.finished) return PointState::kFinished;
  return record.illegal ? PointState::kIllegal : PointState::kFailed;
}

bool HasFinished(PointState state) {
  return state == PointState::kFinished || state == PointState::kInfeasible;
}

std::optional<size_t> FindMetric(const SweepTable& table,
                                 std::string_view name) {
  const auto found =
      std::find(table.metrics.begin(), table.metrics.end(), name);
  if (found == table.metrics.end()) return std::nullopt;
  return static_cast<size_t>(found - table.metrics.begin());
}

SweepTable MergeRepeats(const SweepTable& table) {
  if (!table.has_repeats) return table;
  SweepTable merged = table;
  const size_t seed = table.num_axes - 1;
  const auto offset = static_cast<std::ptrdiff_t>(seed);
  merged.has_repeats = false;
  merged.num_axes = seed;
  merged.variables.erase(merged.variables.begin() + offset);
  merged.axis_values.erase(merged.axis_values.begin() + offset);
  const std::vector<size_t> ranged = ObjectiveMetrics(table);
  for (const size_t metric : ranged) {
    merged.metrics.push_back(table.metrics[metric] + "_min");
    merged.metrics.push_back(table.metrics[metric] + "_max");
  }
  merged.rows.clear();
  for (const RepeatSet& set : FindRepeatSets(table)) {
    SweepRow row = set.Merged(ranged);
    row.values.erase(row.values.begin() + offset);
    merged.rows.push_back(std::move(row));
  }
  return merged;
}

ColumnNames DistinctColumns(absl::Span<const std::string_view> fixed,
                            absl::Span<const std::string> variables,
                            absl::Span<const std::string> metrics) {
  std::set<std::string> taken;
  for (const std::string_view name : fixed) taken.insert(LowerCase(name));
  ColumnNames names;
  names.variables.reserve(variables.size());
  for (const std::string& name : variables) {
    names.variables.push_back(DistinctColumn(name, "_variable", taken));
  }
  names.metrics.reserve(metrics.size());
  for (const std::string& name : metrics) {
    names.metrics.push_back(DistinctColumn(name, "_metric", taken));
  }
  return names;
}

}  // namespace astra
