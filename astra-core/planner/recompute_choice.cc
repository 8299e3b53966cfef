#include "astra-core/planner/recompute_choice.h"

#include <string_view>

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {
RecomputeChoice JustFits() {
  return {.kind = Recompute::kFull,
          .method = RecomputeMethod::kBlock,
          .just_fits = true};
}

void SetRecompute(const RecomputeChoice& choice, TrainingSetup& setup) {
  setup.recompute = choice.kind;
  if (!choice.modules.empty()) setup.recompute_modules = choice.modules;
  if (choice.layers == 0) return;
  setup.recompute_method = choice.method;
  setup.recompute_layers = choice.layers;
}

std::string JoinedNames(RecomputeModules modules) {
  return fmt::format("{}", fmt::join(NamesOf(modules), "+"));
}

std::string Describe(const RecomputeChoice& choice) {
  switch (choice.kind) {
    case Recompute::kNone:
      return "";
    case Recompute::kSelective:
      return choice.modules.empty() ? "selective recomputation"
                                    : fmt::format("recomputation of {}",
                                                  JoinedNames(choice.modules));
    case Recompute::kFull:
      break;
  }
  if (choice.layers == 0) return "full recomputation";
  const std::string_view unit = choice.layers == 1 ? "layer" : "layers";
  return fmt::format("full recomputation {} {} {}{}",
                     choice.IsPartial() ? "of" : "by", choice.layers, unit,
                     choice.just_fits ? ", which just fits" : "");
}

std::vector<std::string> OptionsOf(const RecomputeChoice& choice) {
  if (choice.kind == Recompute::kNone) return {};
  std::vector<std::string> words = {fmt::format(
      "--recompute={}", kRecomputeNames[static_cast<size_t>(choice.kind)])};
  if (!choice.modules.empty()) {
    words.push_back(fmt::format("--recompute-modules={}",
                                fmt::join(NamesOf(choice.modules), ",")));
  }
  if (choice.layers > 0) {
    words.push_back(fmt::format("--recompute-num-layers={}", choice.layers));
    if (!choice.IsPartial()) words.emplace_back("--recompute-method=uniform");
  }
  return words;
}

}  // namespace astra
