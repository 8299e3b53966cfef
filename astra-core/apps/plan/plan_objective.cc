#include "astra-core/apps/plan/plan_objective.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/apps/json_parts.h"
#include "astra-core/apps/plan/plan_run.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/main_support.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

struct SizeKey {
  std::string_view name;
  int64_t Layout::*size;
};
constexpr SizeKey kSizes[] = {
    {"tp", &Layout::tensor},
    {"cp", &Layout::context},
    {"pp", &Layout::pipeline},
    {"vpp", &Layout::virtual_stages},
    {"ep", &Layout::expert},
    {"etp", &Layout::expert_tensor},
    {"micro_batch", &Layout::micro_batch},
};
constexpr std::string_view kKeys[] = {"tp",        "cp",  "pp",          "vpp",
                                      "ep",        "etp", "micro_batch", "zero",
                                      "recompute", "sp",  "schedule"};

absl::Status Wrong(std::string_view key, const Json& value,
                   std::string_view expected) {
  return absl::InvalidArgumentError(
      fmt::format("\"{}\" is {}: expected {}", key, value.dump(), expected));
}

absl::StatusOr<int64_t> ReadInteger(std::string_view key, const Json& value,
                                    int64_t least, int64_t most) {
  if (value.is_number_integer() && value.get<int64_t>() >= least &&
      value.get<int64_t>() <= most) {
    return value.get<int64_t>();
  }
  return Wrong(key, value,
               fmt::format("a whole number from {} to {}", least, most));
}

absl::Status ReadKey(const std::string& key, const Json& value,
                     Layout& layout) {
  constexpr int64_t kMostRanks = int64_t{1} << 24;
  constexpr int64_t kMostZero = 3;
  for (const SizeKey& size : kSizes) {
    if (size.name != key) continue;
    ASTRA_ASSIGN_OR_RETURN(layout.*size.size,
                           ReadInteger(key, value, 1, kMostRanks));
    return absl::OkStatus();
  }
  if (key == "zero") {
    ASTRA_ASSIGN_OR_RETURN(const int64_t zero,
                           ReadInteger(key, value, 0, kMostZero));
    layout.zero = static_cast<Zero>(zero);
    return absl::OkStatus();
  }
  if (key == "sp") {
    if (!value.is_boolean()) return Wrong(key, value, "true or false");
    layout.sequence_parallel = value.get<bool>();
    return absl::OkStatus();
  }
  if (!value.is_string()) return Wrong(key, value, "a name");
  const auto name = value.get<std::string>();
  if (key == "schedule") {
    ASTRA_ASSIGN_OR_RETURN(layout.schedule, FindSchedule(name));
    return absl::OkStatus();
  }
  const auto* found =
      std::find(std::begin(kRecomputeNames), std::end(kRecomputeNames), name);
  if (found == std::end(kRecomputeNames)) {
    return absl::InvalidArgumentError(
        UnknownName("recompute", name, kRecomputeNames));
  }
  layout.recompute = static_cast<Recompute>(found - kRecomputeNames);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Layout> ParseLayout(const SimaiPlannerOptions& options,
                                   std::string_view line) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return absl::InvalidArgumentError(
        "expected a JSON object such as {\"tp\": 8, \"pp\": 4}");
  }
  Layout layout;
  const std::vector<Zero>& zeros = options.space.zero;
  const auto usual =
      static_cast<Zero>(options.workloads.front().framework.zero);
  const bool is_usual =
      std::find(zeros.begin(), zeros.end(), usual) != zeros.end();
  layout.zero = is_usual ? usual : zeros.front();
  for (const auto& [key, value] : json.items()) {
    if (std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys)) {
      return absl::InvalidArgumentError(UnknownName("key", key, kKeys));
    }
    ASTRA_RETURN_IF_ERROR(ReadKey(key, value, layout));
  }
  if (!json.contains("sp")) layout.sequence_parallel = layout.tensor > 1;
  if (!json.contains("schedule")) {
    layout.schedule = DefaultSchedule(layout.virtual_stages);
  }
  return layout;
}

absl::StatusOr<std::string> AnswerLayout(const SimaiPlannerOptions& options,
                                         std::string_view line) {
  ASTRA_ASSIGN_OR_RETURN(const Layout layout, ParseLayout(options, line));
  const absl::StatusOr<Plan> plan = RunLayout(options, layout);
  if (absl::IsFailedPrecondition(plan.status())) {
    return JsonLine(
        {{"legal", false}, {"why", std::string(plan.status().message())}});
  }
  if (!plan.ok()) return plan.status();
  Json terms;
  for (size_t i = 0; i < kNumPlanTerms; ++i) {
    terms[std::string(kPlanTermNames[i])] = plan->terms[i];
  }
  return JsonLine({{"legal", true},
                   {"fits", plan->fits},
                   {"iteration_s", plan->seconds},
                   {"tokens_per_s", plan->tokens_per_second},
                   {"mfu", plan->utilisation},
                   {"allocated_bytes", plan->allocated.count()},
                   {"reserved_bytes", plan->reserved.count()},
                   {"terms_s", std::move(terms)}});
}

absl::Status AnswerStdin(const SimaiPlannerOptions& options) {
  int64_t number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    ++number;
    const absl::StatusOr<std::string> answer = AnswerLayout(options, line);
    if (!answer.ok()) {
      return absl::InvalidArgumentError(fmt::format(
          "line {}: {}", number, std::string(answer.status().message())));
    }
    Print(*answer);
    ASTRA_RETURN_IF_ERROR(FlushStdout());
  }
  return absl::OkStatus();
}

}  // namespace astra
