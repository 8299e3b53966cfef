#include "network-frontends/flow/max_min.h"

#include <algorithm>
#include <functional>

namespace astra {
namespace {

constexpr double kGrowing = -1;

}  // namespace

void MaxMinProblem::Clear() {
  capacities.clear();
  counts.clear();
  first.assign(1, 0);
  links.clear();
}

void MaxMinSolver::Solve(const MaxMinProblem& problem, MaxMinRates* result) {
  IndexClasses(problem);
  result->rates.assign(problem.num_classes(), kGrowing);
  result->bottlenecks.assign(problem.num_classes(), 0);
  const auto level_of = [&](uint32_t link) {
    return std::max(0.0, links_[link].left) /
           static_cast<double>(links_[link].num_growing);
  };
  filling_.clear();
  for (uint32_t i = 0; i < links_.size(); ++i) {
    if (links_[i].num_growing > 0) filling_.emplace_back(level_of(i), i);
  }
  const std::greater<> later;
  std::make_heap(filling_.begin(), filling_.end(), later);
  double level = 0;
  while (!filling_.empty()) {
    std::pop_heap(filling_.begin(), filling_.end(), later);
    auto& [expected, link] = filling_.back();
    if (links_[link].num_growing == 0) {
      filling_.pop_back();
      continue;
    }
    // Levels must not sink through rounding.
    const double actual = std::max(level, level_of(link));
    if (actual > expected) {
      expected = actual;
      std::push_heap(filling_.begin(), filling_.end(), later);
      continue;
    }
    level = actual;
    Fill(problem, link, level, result);
    filling_.pop_back();
  }
}

void MaxMinSolver::IndexClasses(const MaxMinProblem& problem) {
  links_.clear();
  for (const double capacity : problem.capacities) {
    links_.push_back({capacity, 0});
  }
  for (const uint32_t link : problem.links) ++links_[link].end;
  uint32_t begin = 0;
  for (Link& link : links_) {
    const uint32_t size = link.end;
    link.first = link.end = begin;
    begin += size;
  }
  classes_.resize(begin);
  for (uint32_t c = 0; c < problem.num_classes(); ++c) {
    for (const uint32_t link : problem.path(c)) {
      classes_[links_[link].end++] = c;
      links_[link].num_growing += problem.counts[c];
    }
  }
}

// Fixes the flows that still grow on `link` at `level`.
void MaxMinSolver::Fill(const MaxMinProblem& problem, uint32_t link,
                        double level, MaxMinRates* result) {
  for (uint32_t i = links_[link].first; i < links_[link].end; ++i) {
    const uint32_t c = classes_[i];
    if (result->rates[c] != kGrowing) continue;
    result->rates[c] = level;
    result->bottlenecks[c] = link;
    const double taken = static_cast<double>(problem.counts[c]) * level;
    for (const uint32_t passed : problem.path(c)) {
      links_[passed].left -= taken;
      links_[passed].num_growing -= problem.counts[c];
    }
  }
}

}  // namespace astra
