#include "astra-core/apps/gen_workload_recompute.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_split.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "fmt/core.h"
#include "workload/generator/training.h"

namespace astra {
namespace {

// Refuses an option of another kind of recomputation than the one asked for.
absl::Status CheckKind(const CommandLine& flags, std::string_view option,
                       Recompute kind, const TrainingSetup& setup) {
  if (!flags.has(option) || setup.recompute == kind) return absl::OkStatus();
  const auto name = [](Recompute recompute) {
    return kRecomputeNames[static_cast<size_t>(recompute)];
  };
  return absl::InvalidArgumentError(
      fmt::format("--{} contradicts --recompute {}: it is {}", option,
                  name(setup.recompute), name(kind)));
}

// Reads what selective recomputation runs again.
absl::Status ReadModules(const CommandLine& flags, const ModelSpec& model,
                         const Framework& framework, TrainingSetup& setup) {
  constexpr std::string_view kOption = "recompute-modules";
  if (!flags.has(kOption)) {
    setup.recompute_modules =
        framework.recompute_modules.Common(RecomputeModulesOf(model));
    return absl::OkStatus();
  }
  const std::vector<std::string> names =
      absl::StrSplit(*flags.value(kOption), ',');
  const absl::StatusOr<RecomputeModules> modules = ParseRecomputeModules(names);
  if (!modules.ok()) {
    return absl::InvalidArgumentError(fmt::format(
        "--{}: {}", kOption, std::string(modules.status().message())));
  }
  setup.recompute_modules = *modules;
  return absl::OkStatus();
}

// Reads how many blocks full recomputation runs again.
absl::Status ReadLayers(const CommandLine& flags, TrainingSetup& setup) {
  if (!flags.has("recompute-num-layers")) {
    constexpr std::string_view kNames[] = {"recompute-method"};
    return Refuse(flags, kNames, "there is no --recompute-num-layers");
  }
  constexpr int64_t kMostLayers = 100'000;
  ASTRA_ASSIGN_OR_RETURN(
      setup.recompute_layers,
      flags.integer("recompute-num-layers", 1, 1, kMostLayers));
  constexpr auto kBlock = static_cast<size_t>(RecomputeMethod::kBlock);
  ASTRA_ASSIGN_OR_RETURN(
      const size_t method,
      Choice(flags, "recompute-method", kBlock, kRecomputeMethodNames));
  setup.recompute_method = static_cast<RecomputeMethod>(method);
  return absl::OkStatus();
}

// Returns what is recomputed if --recompute does not say it.
Recompute ImpliedBy(const CommandLine& flags) {
  if (flags.has("recompute-activations") || flags.has("recompute-modules")) {
    return Recompute::kSelective;
  }
  return flags.has("recompute-num-layers") ? Recompute::kFull
                                           : Recompute::kNone;
}

}  // namespace

absl::Status ReadRecompute(const CommandLine& flags, const ModelSpec& model,
                           const Framework& framework, TrainingSetup& setup) {
  ASTRA_ASSIGN_OR_RETURN(
      const size_t recompute,
      Choice(flags, "recompute", static_cast<size_t>(ImpliedBy(flags)),
             kRecomputeNames));
  setup.recompute = static_cast<Recompute>(recompute);
  for (const std::string_view option :
       {"recompute-activations", "recompute-modules"}) {
    ASTRA_RETURN_IF_ERROR(
        CheckKind(flags, option, Recompute::kSelective, setup));
  }
  ASTRA_RETURN_IF_ERROR(
      CheckKind(flags, "recompute-num-layers", Recompute::kFull, setup));
  ASTRA_RETURN_IF_ERROR(ReadModules(flags, model, framework, setup));
  return ReadLayers(flags, setup);
}

}  // namespace astra
