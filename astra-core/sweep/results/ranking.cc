#include "astra-core/sweep/results/ranking.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace astra {
namespace {

// A row and its values of the objectives, with signs such that less is better.
struct Candidate {
  std::vector<double> values;
  size_t row;
};

// Returns the rows that finished, are feasible and have the metrics of the
// first `num_objectives` objectives.
std::vector<Candidate> FindCandidates(const SweepTable& table,
                                      size_t num_objectives) {
  std::vector<size_t> metrics;
  metrics.reserve(num_objectives);
  for (size_t i = 0; i < num_objectives; ++i) {
    const auto metric = FindMetric(table, table.objectives[i].metric);
    if (!metric) return {};
    metrics.push_back(*metric);
  }
  std::vector<Candidate> candidates;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    if (table.rows[row].state != PointState::kFinished) continue;
    Candidate candidate{{}, row};
    candidate.values.reserve(num_objectives);
    for (size_t i = 0; i < num_objectives; ++i) {
      const std::optional<double> value = table.rows[row].metrics[metrics[i]];
      if (!value) break;
      candidate.values.push_back(table.objectives[i].maximize ? -*value
                                                              : *value);
    }
    if (candidate.values.size() == num_objectives) {
      candidates.push_back(std::move(candidate));
    }
  }
  return candidates;
}

// Sorts by values, the first objective first; equal candidates keep their
// order.
void Sort(std::vector<Candidate>& candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) {
                     return a.values < b.values;
                   });
}

// Returns whether `a` is at least as good in all objectives and better in one.
bool Dominates(const Candidate& a, const Candidate& b) {
  return a.values != b.values &&
         std::equal(a.values.begin(), a.values.end(), b.values.begin(),
                    [](double of_a, double of_b) { return of_a <= of_b; });
}

}  // namespace

std::vector<size_t> RankedRows(const SweepTable& table) {
  std::vector<Candidate> candidates = FindCandidates(table, 1);
  Sort(candidates);
  std::vector<size_t> rows;
  rows.reserve(candidates.size());
  for (const Candidate& candidate : candidates) rows.push_back(candidate.row);
  return rows;
}

std::vector<size_t> ParetoRows(const SweepTable& table) {
  std::vector<Candidate> candidates =
      FindCandidates(table, table.objectives.size());
  // In this order no candidate is dominated by a later one. With up to two
  // objectives, the last of the front has the best second value so far.
  Sort(candidates);
  const bool last_decides = table.objectives.size() <= 2;
  std::vector<Candidate> front;
  for (Candidate& candidate : candidates) {
    const auto end =
        last_decides && !front.empty() ? front.rbegin() + 1 : front.rend();
    const bool is_dominated = std::any_of(
        front.rbegin(), end,
        [&](const Candidate& other) { return Dominates(other, candidate); });
    if (!is_dominated) front.push_back(std::move(candidate));
  }
  std::vector<size_t> rows;
  rows.reserve(front.size());
  for (const Candidate& candidate : front) rows.push_back(candidate.row);
  std::sort(rows.begin(), rows.end());
  return rows;
}

double MultipleOf(double base, double value) {
  if (value == base) return 1;
  return base == 0 ? std::numeric_limits<double>::infinity() : value / base;
}

std::vector<std::vector<AxisStepBest>> BestByAxis(const SweepTable& table) {
  std::vector<std::vector<AxisStepBest>> axes(table.num_axes);
  const std::vector<size_t> ranked = RankedRows(table);
  if (ranked.empty()) return axes;
  const size_t metric = *FindMetric(table, table.objectives.front().metric);
  const double best = *table.rows[ranked.front()].metrics[metric];
  for (size_t axis = 0; axis < table.num_axes; ++axis) {
    std::map<std::string, size_t> best_of;  // Best row of each value.
    for (const size_t row : ranked) {
      best_of.emplace(table.rows[row].values[axis], row);
    }
    for (const std::string& value : table.axis_values[axis]) {
      const auto found = best_of.find(value);
      if (found == best_of.end()) continue;
      const double of_step = *table.rows[found->second].metrics[metric];
      axes[axis].push_back({value, found->second, MultipleOf(best, of_step)});
    }
  }
  return axes;
}

}  // namespace astra
