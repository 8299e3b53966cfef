#include "astra-core/apps/plan/plan_change.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/command_line.h"
#include "fmt/core.h"

namespace astra {
namespace {

std::string PrefixOf(std::string_view option) {
  return fmt::format("--{}=", option);
}

bool HasLegalLayout(const SimaiPlannerOptions& options) {
  SimaiPlannerOptions unlimited = options;
  constexpr double kUnlimitedGb = 1e9;
  unlimited.job.gpu.memory_gb = kUnlimitedGb;
  unlimited.candidates = 1;
  const absl::StatusOr<SearchResult> search = SearchLayouts(unlimited);
  return search.ok() && !search->best.empty();
}

// Returns the value for `option` nearest to `asked`, of those in `values`, with
// which there is a legal layout.
std::optional<int64_t> NearestLegal(const SimaiPlannerOptions& options,
                                    std::string_view option, int64_t asked,
                                    std::vector<int64_t> values) {
  std::stable_sort(values.begin(), values.end(), [asked](int64_t a, int64_t b) {
    return std::abs(a - asked) < std::abs(b - asked);
  });
  for (const int64_t value : values) {
    const absl::StatusOr<SimaiPlannerOptions> changed =
        WithOption(options, option, fmt::format("{}", value));
    if (changed.ok() && HasLegalLayout(*changed)) return value;
  }
  return std::nullopt;
}

struct Axis {
  std::string_view option;
  std::vector<int64_t> PlanSpace::*values;
};
constexpr Axis kAxes[] = {
    {"tp", &PlanSpace::tensor},
    {"pp", &PlanSpace::pipeline},
    {"vpp", &PlanSpace::virtual_stages},
    {"cp", &PlanSpace::context},
    {"ep", &PlanSpace::expert},
    {"etp", &PlanSpace::expert_tensor},
    {"micro-batch", &PlanSpace::micro_batch},
};

// Returns whether the user gave the option.
bool IsGiven(const SimaiPlannerOptions& options, std::string_view option) {
  const std::string prefix = PrefixOf(option);
  return std::any_of(
      options.words.begin(), options.words.end(),
      [&prefix](const std::string& word) { return word.starts_with(prefix); });
}

// Returns "--OPTION VALUE" for one option that helps; empty if none does.
std::string Advice(const SimaiPlannerOptions& options) {
  const auto advise = [&](std::string_view option, int64_t asked,
                          const std::vector<int64_t>& values) {
    const std::optional<int64_t> value =
        NearestLegal(options, option, asked, values);
    return value ? fmt::format("--{} {}", option, *value) : std::string();
  };
  for (const Axis& axis : kAxes) {
    if (!IsGiven(options, axis.option)) continue;
    constexpr int64_t kMost = 64;
    std::vector<int64_t> values;
    for (int64_t value = 1; value <= kMost; ++value) values.push_back(value);
    std::string advice =
        advise(axis.option, (options.space.*axis.values).front(), values);
    if (!advice.empty()) return advice;
  }
  const int64_t gpus = options.job.num_gpus();
  const int64_t batch = options.job.setups[0].global_batch;
  constexpr int64_t kMostTried = 32;
  std::vector<int64_t> batches;
  std::vector<int64_t> numbers;
  for (int64_t i = 1; i <= kMostTried; ++i) {
    for (const int64_t sign : {1, -1}) {
      if (batch + sign * i >= 1) batches.push_back(batch + sign * i);
      if (gpus + sign * i >= 1) numbers.push_back(gpus + sign * i);
    }
  }
  std::string advice = advise("global-batch", batch, batches);
  if (!advice.empty() || options.run.topology_file) return advice;
  return advise("gpus", gpus, numbers);
}

}  // namespace

absl::StatusOr<SimaiPlannerOptions> WithOption(
    const SimaiPlannerOptions& options, std::string_view name,
    const std::string& value) {
  const std::string prefix = PrefixOf(name);
  std::vector<std::string> words;
  std::copy_if(
      options.words.begin(), options.words.end(), std::back_inserter(words),
      [&prefix](const std::string& word) { return !word.starts_with(prefix); });
  words.push_back(prefix + value);
  std::vector<const char*> argv = {"simai_planner"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  ASTRA_ASSIGN_OR_RETURN(
      const CommandLine flags,
      CommandLine::Parse(SimaiPlannerOptionSpecs(),
                         static_cast<int>(argv.size()), argv.data()));
  return ReadSimaiPlannerOptions(flags);
}

absl::StatusOr<WhatIf> PlanWith(const SimaiPlannerOptions& options,
                                std::string_view option,
                                const std::string& value, std::string change) {
  constexpr size_t kCandidates = 10;
  WhatIf result;
  result.change = std::move(change);
  absl::StatusOr<SimaiPlannerOptions> changed =
      WithOption(options, option, value);
  if (!changed.ok()) {
    result.why_not = std::string(changed.status().message());
    return result;
  }
  changed->candidates = kCandidates;
  result.num_gpus = changed->job.num_gpus();
  const absl::StatusOr<SearchResult> search = SearchLayouts(*changed);
  if (!search.ok()) {
    result.why_not = std::string(search.status().message());
    return result;
  }
  ASTRA_ASSIGN_OR_RETURN(PlanRuns runs, RunPlans(*changed, *search));
  if (runs.plans.empty()) {
    result.why_not = "no layout fits";
  } else {
    result.best = std::move(runs.plans.front());
    result.layout = DescribeLayout(changed->job, result.best->estimate.layout);
  }
  return result;
}

absl::Status NothingIsLegal(const SimaiPlannerOptions& options,
                            const SearchResult& search) {
  std::string message = fmt::format("none of {} candidates is a legal layout",
                                    options.space.size());
  if (!search.last_rule.empty()) {
    message += fmt::format(": of {}, {}", search.illegal.at(search.last_rule),
                           search.last_rule);
  }
  const std::string advice = Advice(options);
  if (!advice.empty()) {
    message += fmt::format("; the nearest that is legal is {}", advice);
  }
  return absl::InvalidArgumentError(message);
}

}  // namespace astra
