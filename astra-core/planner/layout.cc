#include "astra-core/planner/layout.h"

#include <string_view>
#include <utility>

#include "astra-core/base/append_format.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "workload/generator/model_parts.h"

namespace astra {

std::string_view NameOf(ContextMethod method) {
  return kContextMethodNames[static_cast<size_t>(method)];
}

std::string JoinedNames(const Overlaps& overlaps, std::string_view separator) {
  const std::vector<std::string_view> names = NamesOf(overlaps);
  return names.empty() ? "none"
                       : fmt::format("{}", fmt::join(names, separator));
}

TrainingSetup SetupOf(const PlanJob& job, const Layout& layout) {
  TrainingSetup setup = job.setups[static_cast<size_t>(layout.zero)];
  setup.tensor = layout.tensor;
  setup.context = layout.context;
  setup.expert = layout.expert;
  if (job.model.experts) setup.expert_tensor = layout.expert_tensor;
  setup.pipeline = layout.pipeline;
  setup.virtual_stages = layout.virtual_stages;
  setup.micro_batch = layout.micro_batch;
  SetRecompute(layout.recompute, setup);
  setup.sequence_parallel = layout.sequence_parallel;
  setup.schedule = layout.schedule;
  setup.context_method = layout.context_method;
  setup.order = layout.order;
  SetOverlaps(layout.overlaps.value_or(job.overlaps),
              job.model.HasSharedExperts(), setup);
  if (job.stages_stay_whole) KeepStagesWhole(setup);
  if (job.fills_last_stages) FillLastStages(job.model, setup);
  return setup;
}

std::string DescribeLayout(const PlanJob& job, const Layout& layout) {
  const int64_t data =
      job.num_gpus() / (layout.tensor * layout.context * layout.pipeline);
  std::string text;
  for (const auto& [name, size] :
       {std::pair("TP", layout.tensor), std::pair("CP", layout.context),
        std::pair("PP", layout.pipeline),
        std::pair("VPP", layout.virtual_stages), std::pair("EP", layout.expert),
        std::pair("DP", data)}) {
    if (size > 1) AppendFormat(&text, "{} {} ", name, size);
  }
  if (job.model.experts && layout.expert_tensor != layout.tensor) {
    AppendFormat(&text, "ETP {} ", layout.expert_tensor);
  }
  if (text.empty()) text = "1 GPU ";
  text.pop_back();
  if (layout.tensor > 1 && !layout.sequence_parallel) text += ", no SP";
  if (layout.context_method != ContextMethod::kRing) {
    AppendFormat(&text, ", {} CP", NameOf(layout.context_method));
  }
  if (layout.pipeline > 1 &&
      layout.schedule != DefaultSchedule(layout.virtual_stages)) {
    AppendFormat(&text, ", {}", Name(layout.schedule));
  }
  AppendFormat(&text, ", ZeRO {}, micro-batch {}",
               static_cast<int>(layout.zero), layout.micro_batch);
  const std::string recomputation = Describe(layout.recompute);
  if (!recomputation.empty()) text += ", " + recomputation;
  if (layout.overlaps) {
    AppendFormat(&text, ", overlap {}", JoinedNames(*layout.overlaps));
  }
  if (layout.order != RankOrder()) {
    AppendFormat(&text, ", order {}", Name(layout.order));
  }
  return text;
}

std::vector<std::string> OptionsOf(const PlanJob& job, const Layout& layout) {
  std::vector<std::string> words;
  const auto add = [&words](std::string_view name, int64_t value) {
    words.push_back(fmt::format("--{}={}", name, value));
  };
  add("tp", layout.tensor);
  if (layout.context > 1) add("cp", layout.context);
  if (layout.context_method != ContextMethod::kRing) {
    words.push_back(
        fmt::format("--cp-method={}", NameOf(layout.context_method)));
  }
  if (layout.overlaps) {
    words.push_back(
        fmt::format("--overlap={}", JoinedNames(*layout.overlaps, ",")));
  }
  if (layout.order != RankOrder()) {
    words.push_back(fmt::format("--order={}", Name(layout.order)));
  }
  if (layout.pipeline > 1) add("pp", layout.pipeline);
  if (layout.virtual_stages > 1) add("vpp", layout.virtual_stages);
  if (layout.expert > 1) add("ep", layout.expert);
  if (job.model.experts) add("etp", layout.expert_tensor);
  if (layout.sequence_parallel) words.emplace_back("--sp");
  add("micro-batch", layout.micro_batch);
  add("zero", static_cast<int64_t>(layout.zero));
  for (std::string& word : OptionsOf(layout.recompute)) {
    words.push_back(std::move(word));
  }
  if (layout.pipeline > 1 &&
      layout.schedule != DefaultSchedule(layout.virtual_stages)) {
    words.push_back(fmt::format("--schedule={}", Name(layout.schedule)));
  }
  return words;
}

}  // namespace astra
