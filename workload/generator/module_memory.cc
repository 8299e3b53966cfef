#include "workload/generator/module_memory.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "astra-core/base/release.h"
#include "workload/generator/sharding.h"

namespace astra {
namespace {

constexpr int64_t kWeightBytes = 2;  // BF16, even when products are in FP8.
constexpr int64_t kFloatBytes = 4;

DenseAndExpert CountsOf(const MockModule& module) {
  return {module.parameters, module.expert_parameters};
}

// Returns the bytes of both copies of a module's product weights in a precision
// that they are cast to.
int64_t CastCopyBytes(const MockModule& module) {
  constexpr double kCopies = 2;
  int64_t bytes = 0;
  for (const ModuleStep& step : module.pass(ModulePass::kWeightGradient)) {
    const Gemm* product = std::get_if<Gemm>(&step.op.shape);
    if (product == nullptr || !IsCast(step.op.precision)) continue;
    const auto elements =
        static_cast<double>(product->groups * product->m * product->n);
    bytes += std::llround(kCopies * elements * BytesOf(step.op.precision));
  }
  return bytes;
}

ModuleMemory OwnMemory(const MockModule& module, const TrainingSetup& setup) {
  const int64_t all = CountsOf(module).sum();
  const int64_t share = ShareOf(CountsOf(module), setup).sum();
  const auto held = [&](Zero from) { return setup.zero >= from ? share : all; };
  const bool is_fp32 = setup.zero == Zero::kParameters && setup.fp32_shards;
  ModuleMemory memory;
  // Shards in FP32 are counted in the optimizer.
  memory.weights = Bytes(is_fp32 ? 0 : kWeightBytes * held(Zero::kParameters));
  // ZeRO 3 keeps no whole weight that could have a copy.
  if (setup.zero < Zero::kParameters) {
    memory.weights += Bytes(CastCopyBytes(module));
  }
  memory.gradients = Bytes((is_fp32 ? kFloatBytes : setup.gradient_bytes) *
                           held(Zero::kGradients));
  memory.optimizer =
      Bytes((kFloatBytes + 2 * setup.moment_bytes) * held(Zero::kOptimizer));
  memory.saved = Bytes(module.saved_bytes);
  memory.workspace = Bytes(module.workspace_bytes);
  return memory;
}

int64_t ParametersOf(const ModuleRun& run, const Blueprint& blueprint) {
  int64_t count = 0;
  for (const ModuleId id : run.modules) {
    count += CountsOf(blueprint.modules[id.index()]).sum();
  }
  return count;
}

// Returns the bytes that exist of the unit runs[i] and of the next unit while
// its modules run. In the backward pass the next unit is the previous run.
int64_t UnitBytes(const std::vector<ModuleRun>& runs, size_t i,
                  const Blueprint& blueprint, const TrainingSetup& setup) {
  if (setup.zero < Zero::kGradients) return 0;
  const int64_t unit = ParametersOf(runs[i], blueprint);
  const int64_t gradients = setup.gradient_bytes * unit;
  if (setup.zero < Zero::kParameters) return gradients;
  int64_t next = runs[i].times > 1 ? unit : 0;
  if (i > 0) next = std::max(next, ParametersOf(runs[i - 1], blueprint));
  if (i + 1 < runs.size()) {
    next = std::max(next, ParametersOf(runs[i + 1], blueprint));
  }
  return gradients + kWeightBytes * (unit + next);
}

// Returns the bytes of the messages between stages that are under way while a
// module runs.
Bytes MessageBuffers(const Blueprint& blueprint, const TrainingSetup& setup) {
  constexpr int64_t kUnderWay = 2;  // One that comes and one that leaves.
  return setup.chunks() > 1 && setup.overlap_messages
             ? kUnderWay * blueprint.pipeline_message
             : Bytes(0);
}

void SetWorkspaces(const ProgramStage& stage, const TrainingSetup& setup,
                   Blueprint& blueprint) {
  for (size_t i = 0; i < stage.runs.size(); ++i) {
    const int64_t unit = UnitBytes(stage.runs, i, blueprint, setup);
    for (const ModuleId id : stage.runs[i].modules) {
      MockModule& module = blueprint.modules[id.index()];
      module.memory.workspace = std::max(
          module.memory.workspace,
          Bytes(module.workspace_bytes + module.recomputed_bytes + unit) +
              MessageBuffers(blueprint, setup));
    }
  }
}

// Returns the workspace of the optimizer of `stage`.
Bytes OptimizerWorkspace(const Blueprint& blueprint, const ProgramStage& stage,
                         const TrainingSetup& setup) {
  const StageTotals totals = Sum(blueprint, stage);
  const DenseAndExpert all = {totals.parameters, totals.expert_parameters};
  const int64_t copied = setup.gradient_bytes < kFloatBytes ? kFloatBytes : 0;
  return Bytes((setup.optimizer_workspace + copied) *
               ShareOf(all, setup).sum());
}

// Returns the bytes of one BF16 gradient for each distinct shape of weights of
// `stage` whose products keep one in that release of Transformer Engine.
Bytes WeightGradientBuffers(const Blueprint& blueprint,
                            const ProgramStage& stage, const Release& release) {
  const bool keeps_grouped = release >= Release{2, 10};
  const bool keeps_single = release >= Release{2, 3};
  std::set<std::pair<int64_t, int64_t>> shapes;
  for (const ModuleRun& run : stage.runs) {
    for (const ModuleId id : run.modules) {
      const MockModule& module = blueprint.modules[id.index()];
      for (const ModuleStep& step : module.pass(ModulePass::kWeightGradient)) {
        const Gemm* product = std::get_if<Gemm>(&step.op.shape);
        if (product == nullptr) continue;
        const bool is_kept =
            module.expert_parameters > 0 ? keeps_grouped : keeps_single;
        if (is_kept) shapes.emplace(product->m, product->n);
      }
    }
  }
  int64_t elements = 0;
  for (const auto& [rows, columns] : shapes) elements += rows * columns;
  return Bytes(kWeightBytes * elements);
}

}  // namespace

void SetMemory(const TrainingSetup& setup, Blueprint& blueprint) {
  for (MockModule& module : blueprint.modules) {
    module.memory = OwnMemory(module, setup);
  }
  for (const ProgramStage& stage : blueprint.stages) {
    SetWorkspaces(stage, setup, blueprint);
    for (const ModuleId id : stage.after) {
      MockModule& module = blueprint.modules[id.index()];
      if (PlainName(module.name) != "optimizer") continue;
      module.memory.workspace = std::max(
          module.memory.workspace, OptimizerWorkspace(blueprint, stage, setup));
      module.memory.gradients = std::max(
          module.memory.gradients,
          WeightGradientBuffers(blueprint, stage, setup.transformer_engine));
    }
  }
}

}  // namespace astra
