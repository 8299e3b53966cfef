#include "astra-core/apps/plan/space_options.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "astra-core/apps/gen_workload_overlap.h"
#include "astra-core/apps/plan/option_lists.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "workload/generator/training.h"
#include "workload/pipeline/schedule.h"
#include "workload/rank_order.h"

namespace astra {
namespace {

absl::StatusOr<std::vector<Zero>> ReadZeros(const CommandLine& flags,
                                            const Framework& framework) {
  std::vector<int64_t> numbers = {0, 1};
  if (framework.fixed_zero || framework.zero > 1) numbers = {framework.zero};
  constexpr int64_t kMostZero = 3;
  ASTRA_RETURN_IF_ERROR(ReadNumbers(flags, "zero", 0, numbers));
  std::vector<Zero> zeros;
  for (const int64_t number : numbers) {
    if (number > kMostZero) {
      return absl::InvalidArgumentError(fmt::format(
          "--zero is {}: expected stages from 0 to {}", number, kMostZero));
    }
    if (framework.fixed_zero && number != framework.zero) {
      return absl::InvalidArgumentError(
          fmt::format("--zero is {}: {} has stage {} only", number,
                      framework.name, framework.zero));
    }
    zeros.push_back(static_cast<Zero>(number));
  }
  return zeros;
}

// Reads alternatives such as "core_attn,core_attn+moe_act".
absl::StatusOr<std::vector<RecomputeModules>> ReadModuleSets(
    const CommandLine& flags, const ModelSpec& model) {
  constexpr std::string_view kOption = "recompute-modules";
  std::vector<RecomputeModules> sets;
  if (!flags.has(kOption)) return std::vector{RecomputeModules()};
  const std::string text = *flags.value(kOption);
  const std::vector<std::string> pieces = absl::StrSplit(text, ',');
  for (const std::string& piece : pieces) {
    const std::vector<std::string> names = absl::StrSplit(piece, '+');
    absl::StatusOr<RecomputeModules> modules = ParseRecomputeModules(names);
    absl::Status status = modules.status();
    if (status.ok()) {
      status = CheckHasModules(model.name, *modules, RecomputeModulesOf(model));
    }
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          fmt::format("--{}: {}", kOption, std::string(status.message())));
    }
    if (std::find(sets.begin(), sets.end(), *modules) != sets.end()) {
      return absl::InvalidArgumentError(fmt::format(
          "--{} is {}: {} stands there twice", kOption, Quoted(text), piece));
    }
    sets.push_back(*modules);
  }
  return sets;
}

// Reads how many layers full recomputation runs again. 0: all.
absl::StatusOr<std::vector<int64_t>> ReadAgain(const CommandLine& flags,
                                               int64_t layers) {
  constexpr std::string_view kOption = "recompute-num-layers";
  if (!flags.has(kOption)) return std::vector<int64_t>{0};
  std::vector<std::string> pieces = absl::StrSplit(*flags.value(kOption), ',');
  std::vector<int64_t> again;
  const auto all = std::find(pieces.begin(), pieces.end(), "all");
  if (all != pieces.end()) {
    again.push_back(0);
    pieces.erase(all);
    if (pieces.empty()) return again;
  }
  std::vector<int64_t> numbers(static_cast<size_t>(layers));
  std::iota(numbers.begin(), numbers.end(), int64_t{1});
  ASTRA_RETURN_IF_ERROR(ParseNumbers(fmt::format("--{}", kOption),
                                     fmt::format("{}", fmt::join(pieces, ",")),
                                     1, numbers));
  again.insert(again.end(), numbers.begin(), numbers.end());
  return again;
}

absl::StatusOr<std::vector<RecomputeChoice>> ReadFull(const CommandLine& flags,
                                                      int64_t layers) {
  ASTRA_ASSIGN_OR_RETURN(const std::vector<int64_t> again,
                         ReadAgain(flags, layers));
  std::vector<size_t> methods = {static_cast<size_t>(RecomputeMethod::kBlock)};
  if (flags.has("recompute-method")) {
    constexpr std::string_view kNames[] = {"recompute-method"};
    if (!flags.has("recompute-num-layers")) {
      ASTRA_RETURN_IF_ERROR(
          Refuse(flags, kNames, "there is no --recompute-num-layers"));
    }
    ASTRA_ASSIGN_OR_RETURN(
        methods, ReadNames(flags, "recompute-method", kRecomputeMethodNames));
  }
  std::vector<RecomputeChoice> choices;
  for (const int64_t number : again) {
    if (number == 0) choices.push_back({.kind = Recompute::kFull});
    for (const size_t method : methods) {
      if (number == 0) break;
      choices.push_back({.kind = Recompute::kFull,
                         .method = static_cast<RecomputeMethod>(method),
                         .layers = number});
    }
  }
  return choices;
}

// Refuses options of a kind of recomputation that is not among `kinds`.
absl::Status CheckKinds(const CommandLine& flags,
                        const std::vector<size_t>& kinds) {
  const auto check = [&](Recompute kind, std::string_view option) {
    const auto place = static_cast<size_t>(kind);
    if (std::find(kinds.begin(), kinds.end(), place) != kinds.end()) {
      return absl::OkStatus();
    }
    return Refuse(flags, {&option, 1},
                  fmt::format("--recompute has no {}", kRecomputeNames[place]));
  };
  ASTRA_RETURN_IF_ERROR(check(Recompute::kSelective, "recompute-modules"));
  ASTRA_RETURN_IF_ERROR(check(Recompute::kFull, "recompute-num-layers"));
  return check(Recompute::kFull, "recompute-method");
}

absl::StatusOr<std::vector<RecomputeChoice>> ReadRecomputeChoices(
    const CommandLine& flags, const ModelSpec& model) {
  std::vector<size_t> kinds(std::size(kPlanRecomputeNames));
  std::iota(kinds.begin(), kinds.end(), size_t{0});
  if (flags.has("recompute")) {
    ASTRA_ASSIGN_OR_RETURN(kinds,
                           ReadNames(flags, "recompute", kPlanRecomputeNames));
  }
  ASTRA_RETURN_IF_ERROR(CheckKinds(flags, kinds));
  ASTRA_ASSIGN_OR_RETURN(const std::vector<RecomputeModules> sets,
                         ReadModuleSets(flags, model));
  ASTRA_ASSIGN_OR_RETURN(const std::vector<RecomputeChoice> full,
                         ReadFull(flags, model.layers));
  std::vector<RecomputeChoice> choices;
  for (const size_t kind : kinds) {
    if (kPlanRecomputeNames[kind] == "fit") {
      choices.push_back(JustFits());
    } else if (static_cast<Recompute>(kind) == Recompute::kNone) {
      choices.emplace_back();
    } else if (static_cast<Recompute>(kind) == Recompute::kFull) {
      choices.insert(choices.end(), full.begin(), full.end());
    } else {
      for (const RecomputeModules set : sets) {
        choices.push_back({.kind = Recompute::kSelective, .modules = set});
      }
    }
  }
  return choices;
}

// Reads alternatives such as "none,gradients,gradients+tp".
absl::Status ReadOverlapSets(const CommandLine& flags,
                             std::vector<std::optional<Overlaps>>& sets) {
  if (!flags.has("overlap")) return absl::OkStatus();
  sets.clear();
  const std::string text = *flags.value("overlap");
  const std::vector<std::string> pieces = absl::StrSplit(text, ',');
  for (const std::string& piece : pieces) {
    ASTRA_ASSIGN_OR_RETURN(const Overlaps overlaps,
                           ParseOverlapOption(piece, '+'));
    if (std::find(sets.begin(), sets.end(), overlaps) != sets.end()) {
      return absl::InvalidArgumentError(
          fmt::format("--overlap is {}: {} stands there twice", Quoted(text),
                      JoinedNames(overlaps)));
    }
    sets.emplace_back(overlaps);
  }
  return absl::OkStatus();
}

// Reads alternatives such as "tp-cp-ep-dp-pp,tp-cp-ep-pp-dp".
absl::Status ReadOrders(const CommandLine& flags,
                        std::vector<RankOrder>& orders) {
  if (!flags.has("order")) return absl::OkStatus();
  orders.clear();
  const std::string text = *flags.value("order");
  const std::vector<std::string> pieces = absl::StrSplit(text, ',');
  for (const std::string& piece : pieces) {
    const absl::StatusOr<RankOrder> order = ParseRankOrder(piece);
    if (!order.ok()) {
      return absl::InvalidArgumentError(
          fmt::format("--{}", std::string(order.status().message())));
    }
    if (std::find(orders.begin(), orders.end(), *order) != orders.end()) {
      return absl::InvalidArgumentError(fmt::format(
          "--order is {}: {} stands there twice", Quoted(text), piece));
    }
    // The time of a micro-batch must not depend on the number of stages.
    const bool is_data_late = order->axes[3] >= RankAxis::kData;
    if (!is_data_late || order->axes[4] < RankAxis::kData) {
      return absl::InvalidArgumentError(fmt::format(
          "--order {}: the planner searches orders that end with dp and pp",
          piece));
    }
    orders.push_back(*order);
  }
  return absl::OkStatus();
}

absl::Status ReadSizes(const CommandLine& flags, const PlanJob& job,
                       PlanSpace& space) {
  if (!job.model.experts) {
    constexpr std::string_view kOfExperts[] = {"ep", "etp", "dispatcher"};
    ASTRA_RETURN_IF_ERROR(Refuse(
        flags, kOfExperts, fmt::format("{} has no experts", job.model.name)));
  }
  const std::pair<std::string_view, std::vector<int64_t>*> sizes[] = {
      {"tp", &space.tensor},
      {"cp", &space.context},
      {"ep", &space.expert},
      {"etp", &space.expert_tensor},
      {"pp", &space.pipeline},
      {"vpp", &space.virtual_stages},
      {"micro-batch", &space.micro_batch},
  };
  for (const auto& [option, values] : sizes) {
    ASTRA_RETURN_IF_ERROR(ReadNumbers(flags, option, 1, *values));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PlanSpace> ReadSpace(const CommandLine& flags,
                                    const PlanJob& job,
                                    const Framework& framework,
                                    int64_t domain) {
  PlanSpace space = DefaultSpace(job, domain);
  ASTRA_RETURN_IF_ERROR(ReadSizes(flags, job, space));
  ASTRA_ASSIGN_OR_RETURN(space.zero, ReadZeros(flags, framework));
  ASTRA_ASSIGN_OR_RETURN(space.recompute,
                         ReadRecomputeChoices(flags, job.model));
  if (flags.has("cp-method")) {
    if (flags.has("cp") && space.context.back() == 1) {
      constexpr std::string_view kNames[] = {"cp-method"};
      ASTRA_RETURN_IF_ERROR(Refuse(flags, kNames, "CP is 1"));
    }
    ASTRA_ASSIGN_OR_RETURN(const std::vector<size_t> places,
                           ReadNames(flags, "cp-method", kContextMethodNames));
    space.context_methods.clear();
    for (const size_t place : places) {
      space.context_methods.push_back(static_cast<ContextMethod>(place));
    }
  }
  ASTRA_RETURN_IF_ERROR(ReadOverlapSets(flags, space.overlaps));
  ASTRA_RETURN_IF_ERROR(ReadOrders(flags, space.orders));
  if (flags.has("schedule")) {
    const std::vector<PipelineSchedule> all = PipelineSchedules();
    std::vector<std::string_view> names;
    names.reserve(all.size());
    for (const PipelineSchedule schedule : all) names.push_back(Name(schedule));
    ASTRA_ASSIGN_OR_RETURN(const std::vector<size_t> places,
                           ReadNames(flags, "schedule", names));
    space.schedules.clear();
    for (const size_t place : places) space.schedules.push_back(all[place]);
  }
  if (flags.has("sp")) {
    constexpr std::string_view kSwitch[] = {"off", "on"};
    ASTRA_ASSIGN_OR_RETURN(const std::vector<size_t> places,
                           ReadNames(flags, "sp", kSwitch));
    space.sequence_parallel.clear();
    for (const size_t place : places) {
      space.sequence_parallel.push_back(place == 1);
    }
  }
  return space;
}

}  // namespace astra
