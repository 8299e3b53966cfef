#include "astra-core/apps/plan/plan_objective.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "astra-core/apps/gen_workload_overlap.h"
#include "astra-core/apps/json_parts.h"
#include "astra-core/apps/plan/plan_pricing.h"
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
constexpr std::string_view kKeys[] = {"tp",
                                      "cp",
                                      "pp",
                                      "vpp",
                                      "ep",
                                      "etp",
                                      "micro_batch",
                                      "zero",
                                      "recompute",
                                      "sp",
                                      "schedule",
                                      "cp_method",
                                      "overlap",
                                      "order",
                                      "recompute_modules",
                                      "recompute_layers",
                                      "recompute_method"};

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

// Returns the position of `name` in `names`.
absl::StatusOr<size_t> PlaceOf(const std::string& key, const std::string& name,
                               absl::Span<const std::string_view> names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  return absl::InvalidArgumentError(UnknownName(key, name, names));
}

absl::Status ReadRecompute(const std::string& key, const std::string& name,
                           RecomputeChoice& recompute) {
  if (key == "recompute_modules") {
    const std::vector<std::string> names = absl::StrSplit(name, '+');
    ASTRA_ASSIGN_OR_RETURN(recompute.modules, ParseRecomputeModules(names));
    return absl::OkStatus();
  }
  if (key == "recompute_method") {
    ASTRA_ASSIGN_OR_RETURN(const size_t method,
                           PlaceOf(key, name, kRecomputeMethodNames));
    recompute.method = static_cast<RecomputeMethod>(method);
    return absl::OkStatus();
  }
  ASTRA_ASSIGN_OR_RETURN(const size_t kind,
                         PlaceOf(key, name, kRecomputeNames));
  recompute.kind = static_cast<Recompute>(kind);
  return absl::OkStatus();
}

// Checks that all keys of recomputation have an effect. Sets what is absent.
absl::Status CompleteRecompute(const Json& json, RecomputeChoice& recompute) {
  const auto check = [&](std::string_view key, bool has_effect,
                         std::string_view why) {
    if (has_effect || !json.contains(key)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        fmt::format("\"{}\" has no effect: {}", key, why));
  };
  ASTRA_RETURN_IF_ERROR(check("recompute_modules",
                              recompute.kind == Recompute::kSelective,
                              "\"recompute\" is not \"selective\""));
  ASTRA_RETURN_IF_ERROR(check("recompute_layers",
                              recompute.kind == Recompute::kFull,
                              "\"recompute\" is not \"full\""));
  ASTRA_RETURN_IF_ERROR(check("recompute_method", recompute.layers > 0,
                              "there is no \"recompute_layers\""));
  if (recompute.layers > 0 && !json.contains("recompute_method")) {
    recompute.method = RecomputeMethod::kBlock;
  }
  return absl::OkStatus();
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
  if (key == "recompute_layers") {
    ASTRA_ASSIGN_OR_RETURN(layout.recompute.layers,
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
  if (key == "order") {
    ASTRA_ASSIGN_OR_RETURN(layout.order, ParseRankOrder(name));
    return absl::OkStatus();
  }
  if (key == "cp_method") {
    ASTRA_ASSIGN_OR_RETURN(const size_t method,
                           PlaceOf(key, name, kContextMethodNames));
    layout.context_method = static_cast<ContextMethod>(method);
    return absl::OkStatus();
  }
  if (key == "overlap") {
    ASTRA_ASSIGN_OR_RETURN(layout.overlaps, ParseOverlapOption(name, '+'));
    return absl::OkStatus();
  }
  return ReadRecompute(key, name, layout.recompute);
}

// Returns the answer to a layout that breaks a rule.
std::string Illegal(absl::string_view why) {
  return JsonLine({{"legal", false}, {"why", std::string(why)}});
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
  ASTRA_RETURN_IF_ERROR(CompleteRecompute(json, layout.recompute));
  if (json.contains("cp_method") && layout.context == 1) {
    return absl::InvalidArgumentError("\"cp_method\" has no effect: CP is 1");
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
  const Framework& framework = options.workloads.front().framework;
  const auto zero = static_cast<int64_t>(layout.zero);
  if (framework.fixed_zero && zero != framework.zero) {
    return Illegal(fmt::format("\"zero\" is {}: {} has stage {} only", zero,
                               framework.name, framework.zero));
  }
  const absl::StatusOr<Plan> plan = RunLayout(options, layout);
  if (absl::IsFailedPrecondition(plan.status())) {
    return Illegal(plan.status().message());
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
  ASTRA_RETURN_IF_ERROR(ReadPlanCluster(options).status());
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
