// Options of simai_planner and searches with them, for tests.

#ifndef TESTS_ASTRA_CORE_APPS_PLAN_PLAN_TEST_JOB_H_
#define TESTS_ASTRA_CORE_APPS_PLAN_PLAN_TEST_JOB_H_

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "astra-core/apps/plan/plan_pricing.h"
#include "astra-core/apps/plan/plan_run.h"
#include "astra-core/apps/plan/simai_planner_options.h"
#include "astra-core/planner/plan_search.h"
#include "tests/testing/matchers.h"

namespace astra::testing {

inline absl::StatusOr<SimaiPlannerOptions> TryReadPlanner(
    const std::string& text) {
  const std::vector<std::string> words =
      absl::StrSplit(text, ' ', absl::SkipEmpty());
  std::vector<const char*> argv = {"simai_planner"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  const auto flags = CommandLine::Parse(
      SimaiPlannerOptionSpecs(), static_cast<int>(argv.size()), argv.data());
  if (!flags.ok()) return flags.status();
  return ReadSimaiPlannerOptions(*flags);
}

inline SimaiPlannerOptions ReadPlanner(const std::string& text) {
  return ValueOrDie(TryReadPlanner(text));
}

inline SearchResult SearchAs(const SimaiPlannerOptions& options,
                             const SearchOptions& search) {
  const auto pricing = ValueOrDie(PlanPricing::Create(options));
  return ValueOrDie(Search(options.job, options.space, search, pricing->model(),
                           pricing->groups()));
}

}  // namespace astra::testing

#endif  // TESTS_ASTRA_CORE_APPS_PLAN_PLAN_TEST_JOB_H_
