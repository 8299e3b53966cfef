#include "workload/generator/module_times.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <variant>

#include "astra-core/base/names.h"
#include "fmt/core.h"
#include "workload/operators/microseconds.h"

namespace astra {
namespace {

struct Section {
  std::string_view name;  // Name, or a prefix of it that ends in '_'.
  std::string_view module;
};

constexpr Section kSections[] = {
    {"Emb", "embedding_layer"},         {"layernorm", "attention_column"},
    {"atten_qkv", "attention_column"},  {"atten_flash", "attention_row"},
    {"atten_core_", "attention_row"},   {"atten_linear", "attention_row"},
    {"layernorm2", "mlp_column"},       {"mlp_linear_1", "mlp_column"},
    {"mlp_gelu", "mlp_column"},         {"mlp_linear_2", "mlp_row"},
    {"layernorm_post", "final_column"}, {"logit_time", "final_column"},
    {"param_time", "optimizer"},
};

const Section* FindSection(std::string_view name) {
  const auto found = std::find_if(
      std::begin(kSections), std::end(kSections), [&](const Section& section) {
        return section.name.back() == '_' ? name.rfind(section.name, 0) == 0
                                          : name == section.name;
      });
  return found == std::end(kSections) ? nullptr : found;
}

bool Computes(const MockModule& module) {
  const auto& forward = module.pass(ModulePass::kForward);
  return std::any_of(forward.begin(), forward.end(), [](const auto& step) {
    return step.kind == StepKind::kCompute;
  });
}

}  // namespace

OperatorTime ModuleTimes::TimeOf(const Operator& op) const {
  OperatorTime time = model_.TimeOf(op);
  if (!std::holds_alternative<Stream>(op.shape)) {
    time.time = ShareOf(1 / load_, time.time);
  }
  if (fused_.Has(op.name)) {
    constexpr double kUsPerSecond = 1e6;
    const double seconds = fused_.SecondsOf(op.name, ToSeconds(time.time));
    time.time = std::max(TimePs(1), FromMicroseconds(kUsPerSecond * seconds));
    time.bound = "memory";  // Only its bytes are left.
  }
  return time;
}

std::vector<TimePs> ModuleTimes::StepTimes(const MockModule& module,
                                           ModulePass pass) const {
  std::vector<TimePs> times;
  TimePs sum;
  for (const ModuleStep& step : module.pass(pass)) {
    times.push_back(step.kind == StepKind::kCompute ? TimeOf(step.op).time
                                                    : TimePs(0));
    sum += times.back();
  }
  const std::optional<TimePs> measured = Measured(module, pass);
  if (!measured || sum == TimePs(0)) return times;
  // Rounds such that the sum of times up to each step is right.
  const double scale =
      static_cast<double>(measured->count()) / static_cast<double>(sum.count());
  TimePs before;
  TimePs scaled_before;
  for (TimePs& time : times) {
    before += time;
    const TimePs scaled = ShareOf(scale, before);
    time = scaled - scaled_before;
    scaled_before = scaled;
  }
  return times;
}

TimePs ModuleTimes::Total(const MockModule& module, ModulePass pass) const {
  TimePs sum;
  for (const TimePs time : StepTimes(module, pass)) sum += time;
  return sum;
}

TimePs ModuleTimes::OfStage(const Blueprint& blueprint,
                            const ProgramStage& stage) const {
  TimePs sum;
  for (const ModuleRun& run : stage.runs) {
    for (const ModuleId id : run.modules) {
      for (const ModulePass pass : kModulePasses) {
        sum += run.times * Total(blueprint.modules[id.index()], pass);
      }
    }
  }
  return sum;
}

std::optional<TimePs> ModuleTimes::Measured(const MockModule& module,
                                            ModulePass pass) const {
  // Recomputing the whole forward pass takes as long as the forward pass.
  if (pass == ModulePass::kRecompute &&
      module.pass(pass) == module.pass(ModulePass::kForward)) {
    pass = ModulePass::kForward;
  }
  const auto found = measured_.find(std::string(PlainName(module.name)));
  return found == measured_.end() ? std::nullopt : found->second[IndexOf(pass)];
}

MeasuredModules ModulesOf(const AiobFile& file, const Blueprint& blueprint,
                          std::vector<std::string>* warnings) {
  MeasuredModules measured;
  for (const AiobSection& section : file.sections) {
    const Section* known = FindSection(section.name);
    const bool runs = known != nullptr &&
                      std::any_of(blueprint.modules.begin(),
                                  blueprint.modules.end(), [&](const auto& m) {
                                    return PlainName(m.name) == known->module;
                                  });
    if (!runs) {
      warnings->push_back(
          fmt::format("the measured section {} has no effect: no module of "
                      "this workload is it",
                      Quoted(section.name)));
      continue;
    }
    auto& passes = measured[std::string(known->module)];
    const auto add = [&](ModulePass pass) {
      auto& time = passes[IndexOf(pass)];
      time = time.value_or(TimePs(0)) + section.average;
    };
    add(ModulePass::kForward);
    if (known->module == "optimizer" || blueprint.forward_only) continue;
    add(ModulePass::kInputGradient);
    add(ModulePass::kWeightGradient);
  }
  for (const MockModule& module : blueprint.modules) {
    if (!Computes(module) ||
        measured.count(std::string(PlainName(module.name))) != 0)
      continue;
    warnings->push_back(fmt::format(
        "the measured times have no section for {}: its time is a formula's",
        module.name));
  }
  return measured;
}

}  // namespace astra
