#include "workload/generator/optimizer.h"

#include <utility>

#include "fmt/format.h"
#include "workload/parallel_plan.h"

namespace astra {
namespace {

constexpr int64_t kParameterBytes = 2;  // BF16, also when products are in FP8.
constexpr ParallelDimension kData = ParallelDimension::kData;
constexpr ParallelDimension kDataExpert = ParallelDimension::kDataExpert;

// How many ranks hold the same parameters.
struct Replicas {
  int64_t dense;
  int64_t expert;
};

Replicas ReplicasOf(const TrainingSetup& setup) {
  const int64_t stage = setup.world_size / setup.pipeline;
  const int64_t tensor = setup.expert_tensor.value_or(setup.tensor);
  return {stage / setup.tensor, stage / (tensor * setup.expert)};
}

struct Counts {
  int64_t dense = 0;
  int64_t expert = 0;
};

// Adds collectives of `bytes` for each parameter, over DP and over DP_EP.
void AddCollectives(StepKind step, StepWhen when, CollectiveKind kind,
                    const Counts& counts, int64_t bytes,
                    const TrainingSetup& setup,
                    std::vector<ModuleStep>& steps) {
  const auto [dense, expert] = ReplicasOf(setup);
  const auto add = [&](ParallelDimension dimension, int64_t replicas,
                       int64_t count) {
    if (replicas == 1 || count == 0) return;
    ModuleStep collective;
    collective.kind = step;
    collective.when = when;
    collective.communication = {kind, dimension, Bytes(count * bytes)};
    steps.push_back(collective);
  };
  add(kData, dense, counts.dense);
  add(kDataExpert, expert, counts.expert);
}

CollectiveKind Reduction(const TrainingSetup& setup) {
  return setup.zero == Zero::kNone ? CollectiveKind::kAllReduce
                                   : CollectiveKind::kReduceScatter;
}

ModuleStep StreamStep(std::string_view op, int64_t bytes) {
  ModuleStep step;
  step.op = {op, Stream{bytes}, Precision::kFp32};
  return step;
}

MockModule AfterModule(std::string_view name, std::vector<ModuleStep> steps) {
  MockModule module;
  module.name = name;
  module.passes[IndexOf(ModulePass::kForward)] = std::move(steps);
  return module;
}

MockModule Optimizer(const Counts& counts, const TrainingSetup& setup) {
  const auto [dense, expert] = ReplicasOf(setup);
  const bool sharded = setup.zero != Zero::kNone;
  const int64_t share = sharded ? counts.dense / dense + counts.expert / expert
                                : counts.dense + counts.expert;
  constexpr int64_t kStates = 3;      // A weight and two moments in FP32,
  constexpr int64_t kStateBytes = 8;  // which are read and written.
  constexpr int64_t kAdamBytes = kStates * kStateBytes + kParameterBytes;
  std::vector<ModuleStep> steps;
  steps.push_back(StreamStep("gradient_norm", share * setup.gradient_bytes));
  for (int i = 0; setup.tensor > 1 && i < 4; ++i) {
    ModuleStep number;
    number.kind = StepKind::kBlocking;
    number.communication = {CollectiveKind::kAllReduce,
                            ParallelDimension::kTensor, Bytes(4)};
    steps.push_back(number);
  }
  steps.push_back(
      StreamStep("adam", share * (setup.gradient_bytes + kAdamBytes)));
  const int64_t zeroed =
      setup.zero >= Zero::kGradients ? share : counts.dense + counts.expert;
  steps.push_back(StreamStep("gradient_zero", zeroed * setup.gradient_bytes));
  return AfterModule("optimizer", std::move(steps));
}

}  // namespace

std::vector<MockModule> WithSharding(std::vector<MockModule> modules,
                                     std::string_view unit,
                                     const TrainingSetup& setup) {
  Counts counts;
  for (const MockModule& module : modules) {
    counts.dense += module.parameters;
    counts.expert += module.expert_parameters;
  }
  MockModule begin;
  MockModule end;
  const auto pass = [](MockModule & module, ModulePass which) -> auto& {
    return module.passes[IndexOf(which)];
  };
  if (setup.zero == Zero::kParameters) {
    const auto gather = [&](std::vector<ModuleStep>& steps) {
      AddCollectives(StepKind::kPrefetch, StepWhen::kEach,
                     CollectiveKind::kAllGather, counts, kParameterBytes, setup,
                     steps);
    };
    gather(pass(begin, ModulePass::kForward));
    // The embedding needs no parameters for its gradient.
    if (unit != "embedding") gather(pass(end, ModulePass::kInputGradient));
  } else if (setup.overlap_parameters) {
    AddCollectives(StepKind::kPrefetch, StepWhen::kFirst,
                   CollectiveKind::kAllGather, counts, kParameterBytes, setup,
                   pass(begin, ModulePass::kForward));
  }
  if (setup.zero >= Zero::kGradients || setup.overlap_gradients) {
    const StepWhen when =
        setup.zero >= Zero::kGradients ? StepWhen::kEach : StepWhen::kLast;
    AddCollectives(StepKind::kLaunch, when, Reduction(setup), counts,
                   setup.gradient_bytes, setup,
                   pass(begin, ModulePass::kWeightGradient));
  }
  begin.name = fmt::format("{}_begin", unit);
  end.name = fmt::format("{}_end", unit);
  const auto is_empty = [](const MockModule& module) {
    for (const auto& steps : module.passes) {
      if (!steps.empty()) return false;
    }
    return true;
  };
  if (!is_empty(begin)) modules.insert(modules.begin(), std::move(begin));
  if (!is_empty(end)) modules.push_back(std::move(end));
  return modules;
}

std::vector<MockModule> OptimizerModules(const Blueprint& blueprint,
                                         const ProgramStage& stage,
                                         const TrainingSetup& setup) {
  const StageTotals totals = Sum(blueprint, stage);
  const Counts counts = {totals.parameters, totals.expert_parameters};
  std::vector<MockModule> modules;
  std::vector<ModuleStep> steps;
  if (setup.zero < Zero::kGradients && !setup.overlap_gradients) {
    AddCollectives(StepKind::kBlocking, StepWhen::kEach, Reduction(setup),
                   counts, setup.gradient_bytes, setup, steps);
    if (!steps.empty()) {
      modules.push_back(AfterModule("grad_reduce", std::move(steps)));
    }
  }
  if (setup.sequence_parallel && setup.tensor > 1) {
    ModuleStep sum;
    sum.kind = StepKind::kBlocking;
    sum.communication = {
        CollectiveKind::kAllReduce, ParallelDimension::kTensor,
        Bytes(totals.summed_parameters * setup.gradient_bytes)};
    modules.push_back(AfterModule("layernorm", {sum}));
  }
  modules.push_back(Optimizer(counts, setup));
  const bool gathers =
      setup.zero == Zero::kOptimizer || setup.zero == Zero::kGradients;
  if (gathers && !setup.overlap_parameters) {
    steps.clear();
    AddCollectives(StepKind::kBlocking, StepWhen::kEach,
                   CollectiveKind::kAllGather, counts, kParameterBytes, setup,
                   steps);
    if (!steps.empty()) {
      modules.push_back(AfterModule("param_gather", std::move(steps)));
    }
  }
  return modules;
}

}  // namespace astra
