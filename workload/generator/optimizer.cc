#include "workload/generator/optimizer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "fmt/core.h"
#include "workload/generator/sharding.h"
#include "workload/parallel_plan.h"

namespace astra {
namespace {

constexpr int64_t kParameterBytes = 2;  // BF16, even when products are in FP8.
constexpr ParallelDimension kData = ParallelDimension::kData;
constexpr ParallelDimension kDataExpert = ParallelDimension::kDataExpert;

// Returns how many ranks gather parameters from one another: 1 where each rank
// keeps all of them. A zero_group gathers as if over all of DP.
DenseAndExpert GatherersOf(const TrainingSetup& setup) {
  const DenseAndExpert sharers = SharersOf(setup);
  const DenseAndExpert replicas = ReplicasOf(setup);
  return {sharers.dense == 1 ? 1 : replicas.dense,
          sharers.expert == 1 ? 1 : replicas.expert};
}

// Adds collectives over DP and over DP_EP, of `bytes` for each parameter.
void AddCollectives(StepKind step, StepWhen when, CollectiveKind kind,
                    const DenseAndExpert& counts, int64_t bytes,
                    const TrainingSetup& setup,
                    std::vector<ModuleStep>& steps) {
  const auto [dense, expert] = kind == CollectiveKind::kAllGather
                                   ? GatherersOf(setup)
                                   : ReplicasOf(setup);
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
  // A zero_group of all ranks is the same as none.
  const bool keeps_all = setup.zero == Zero::kNone ||
                         setup.zero_group.value_or(ReplicasOf(setup).dense) <
                             ReplicasOf(setup).dense;
  return keeps_all ? CollectiveKind::kAllReduce
                   : CollectiveKind::kReduceScatter;
}

ModuleStep StreamStep(std::string_view op, Stream stream) {
  ModuleStep step;
  step.op = {op, stream, Precision::kFp32};
  return step;
}

MockModule AfterModule(std::string_view name, std::vector<ModuleStep> steps) {
  MockModule module;
  module.name = name;
  module.passes[IndexOf(ModulePass::kForward)] = std::move(steps);
  return module;
}

MockModule Optimizer(const DenseAndExpert& counts, const TrainingSetup& setup) {
  const int64_t share = ShareOf(counts, setup).sum();
  // A weight in FP32 and two moments are read and written.
  const int64_t adam_bytes = 2 * (4 + 2 * setup.moment_bytes) + kParameterBytes;
  std::vector<ModuleStep> steps;
  steps.push_back(StreamStep("gradient_norm", {share * setup.gradient_bytes}));
  for (int i = 0; setup.tensor > 1 && i < 4; ++i) {
    ModuleStep number;
    number.kind = StepKind::kBlocking;
    number.communication = {CollectiveKind::kAllReduce,
                            ParallelDimension::kTensor, Bytes(4)};
    steps.push_back(number);
  }
  steps.push_back(
      StreamStep("adam", {share * (setup.gradient_bytes + adam_bytes)}));
  const int64_t zeroed = setup.zero >= Zero::kGradients ? share : counts.sum();
  steps.push_back(StreamStep("gradient_zero", {zeroed * setup.gradient_bytes}));
  if (setup.iteration_host_ns > 0) {
    steps.push_back(StreamStep("host", {.host_ns = setup.iteration_host_ns}));
  }
  return AfterModule("optimizer", std::move(steps));
}

// Adds the collectives of a unit. Its bucket has `counts` parameters.
void AddCollectivesAround(const DenseAndExpert& counts,
                          const TrainingSetup& setup, TrainedUnit& unit) {
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
    // The gradient of the embedding does not need its parameters.
    if (unit.name != "embedding") gather(pass(end, ModulePass::kInputGradient));
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
  begin.name = fmt::format("{}_begin", unit.name);
  end.name = fmt::format("{}_end", unit.name);
  const auto is_empty = [](const MockModule& module) {
    for (const auto& steps : module.passes) {
      if (!steps.empty()) return false;
    }
    return true;
  };
  std::vector<MockModule>& modules = unit.modules;
  if (!is_empty(begin)) modules.insert(modules.begin(), std::move(begin));
  if (!is_empty(end)) modules.push_back(std::move(end));
}

}  // namespace

void AddSharding(const TrainingSetup& setup, int64_t bucket,
                 std::vector<TrainedUnit>& units) {
  if (setup.zero >= Zero::kGradients) bucket = 0;
  DenseAndExpert open;  // Parameters that are in no bucket yet.
  for (size_t i = units.size(); i-- > 0;) {
    for (const MockModule& module : units[i].modules) {
      open.dense += module.parameters;
      open.expert += module.expert_parameters;
    }
    DenseAndExpert full;
    if (i == 0 || open.dense >= bucket) {
      full.dense = std::exchange(open.dense, 0);
    }
    if (i == 0 || open.expert >= bucket) {
      full.expert = std::exchange(open.expert, 0);
    }
    AddCollectivesAround(full, setup, units[i]);
  }
}

int64_t BucketOf(const TrainingSetup& setup, int64_t stage, int64_t chunk) {
  if (stage > 0 || chunk > 0) return std::numeric_limits<int64_t>::max();
  constexpr int64_t kMillion = 1'000'000;
  return setup.bucket_size.value_or(
      std::max(40 * kMillion, kMillion * ReplicasOf(setup).dense));
}

std::vector<MockModule> OptimizerModules(const Blueprint& blueprint,
                                         const ProgramStage& stage,
                                         const TrainingSetup& setup) {
  const StageTotals totals = Sum(blueprint, stage);
  const DenseAndExpert counts = {totals.parameters, totals.expert_parameters};
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
