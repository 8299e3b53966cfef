#include "workload/modules/recomputation.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <variant>

namespace astra {
namespace {

std::vector<ModuleStep>& AgainIn(MockModule& module) {
  return module.passes[IndexOf(ModulePass::kRecompute)];
}

// Adds `step` to `again`. Modules are repeated one by one, from the last to the
// first, so that tokens on their way to experts and back, for which a later
// module waits, hide behind nothing.
void Repeat(ModuleStep step, std::vector<ModuleStep>& again) {
  const bool is_apart =
      step.kind != StepKind::kCompute &&
      step.communication.dimension == ParallelDimension::kExpert;
  if (is_apart && step.kind == StepKind::kWait) return;
  if (is_apart) step.kind = StepKind::kBlocking;
  again.push_back(std::move(step));
}

// What becomes of a forward step under the policy "op".
struct Fate {
  int64_t kept_bytes = 0;
  bool is_repeated = true;
};

// Returns the bytes of the output of attention and of its sums.
int64_t OutputBytes(const Attention& attention) {
  constexpr int64_t kFloatBytes = 4;
  return attention.batch * attention.queries * attention.heads *
         (kElementBytes * attention.v_dim + kFloatBytes);
}

// Applies the policy "op" to the steps of a block, in order.
class OperatorPolicy {
 public:
  explicit OperatorPolicy(const ModuleContext& context) : context_(context) {}

  // Decides about the next step. Reduces it to the part that is repeated.
  Fate Decide(ModuleStep& step) {
    if (step.kind != StepKind::kCompute) return OfCollective(step);
    if (const auto* attention = std::get_if<Attention>(&step.op.shape)) {
      return {.kept_bytes = OutputBytes(*attention), .is_repeated = false};
    }
    auto* product = std::get_if<Gemm>(&step.op.shape);
    if (product == nullptr || product->groups > 1) return {};
    return OfProduct(step, *product);
  }

  void BeginModule() { last_product_ = {}; }

 private:
  Fate OfCollective(const ModuleStep& step) const {
    const Communication& what = step.communication;
    if (step.kind == StepKind::kWait ||
        what.kind != CollectiveKind::kReduceScatter) {
      return {};
    }
    const int64_t ranks = what.dimension == ParallelDimension::kTensor
                              ? context_.tensor
                              : context_.expert_tensor;
    return {.kept_bytes = what.bytes.count() / ranks, .is_repeated = false};
  }

  // Keeps the outputs of every second product. Slices of a product that runs
  // beside a collective share its fate.
  Fate OfProduct(ModuleStep& step, Gemm& product) {
    const std::vector<int64_t> parts =
        step.products.empty() ? std::vector<int64_t>{product.n} : step.products;
    if (step.op.name != std::exchange(last_product_, step.op.name)) {
      first_of_product_ = count_;
      count_ += parts.size();
    }
    int64_t kept = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      if ((first_of_product_ + i) % 2 == 0) kept += parts[i];
    }
    const Fate fate = {.kept_bytes = kElementBytes * product.m * kept,
                       .is_repeated = kept < product.n};
    product.n -= kept;
    step.products.clear();
    return fate;
  }

  const ModuleContext& context_;
  std::string_view last_product_;  // The last one of the module.
  size_t first_of_product_ = 0;    // Products of the block before it.
  size_t count_ = 0;               // Products of the block up to now.
};

void RecomputeOperators(int64_t input_bytes, const ModuleContext& context,
                        std::vector<MockModule>& block) {
  OperatorPolicy policy(context);
  int64_t live = 0;
  int64_t kept_before = input_bytes;
  for (MockModule& module : block) {
    policy.BeginModule();
    int64_t kept = std::exchange(kept_before, 0);
    for (ModuleStep step : module.pass(ModulePass::kForward)) {
      const Fate fate = policy.Decide(step);
      kept += fate.kept_bytes;
      if (fate.is_repeated) Repeat(step, AgainIn(module));
    }
    // Outputs that only repeated operators need are kept as well, so that more
    // may be kept than the backward pass takes.
    live += std::max<int64_t>(0, module.saved_bytes - kept);
    module.saved_bytes = kept;
    module.recomputed_bytes = live;
  }
}

// Removes the last product, and what follows it, from the end of `again`.
void RemoveOutput(std::vector<ModuleStep>& again) {
  const auto is_product = [](const ModuleStep& step) {
    return step.kind == StepKind::kCompute &&
           !std::holds_alternative<Stream>(step.op.shape);
  };
  const auto last = std::find_if(again.rbegin(), again.rend(), is_product);
  if (last == again.rend()) return;
  const Gemm* gemm = std::get_if<Gemm>(&last->op.shape);
  if (gemm == nullptr || gemm->groups > 1) return;
  again.erase(std::prev(last.base()), again.end());
}

}  // namespace

void RecomputeBlock(int64_t input_bytes, bool stops_early,
                    std::vector<MockModule>& block) {
  int64_t live = 0;
  int64_t kept = input_bytes;
  for (MockModule& module : block) {
    AgainIn(module) = module.pass(ModulePass::kForward);
    live += module.saved_bytes - kept;
    module.saved_bytes = std::exchange(kept, 0);
    module.recomputed_bytes = live;
  }
  if (stops_early) RemoveOutput(AgainIn(block.back()));
}

void RecomputePartly(RecomputeModules modules, int64_t input_bytes,
                     const ModuleContext& context,
                     std::vector<MockModule>& block) {
  if (modules.Has(RecomputeModule::kOperators)) {
    RecomputeOperators(input_bytes, context, block);
    return;
  }
  std::vector<SavedTensor> live;  // Tensors that are there again.
  for (MockModule& module : block) {
    const std::vector<ModuleStep>& forward = module.pass(ModulePass::kForward);
    for (const ModuleStep& step : forward) {
      if (step.part_of.Meets(modules)) Repeat(step, AgainIn(module));
    }
    const RecomputeModules continued = module.continued.Common(modules);
    std::erase_if(live, [continued](const SavedTensor& tensor) {
      return !tensor.made_by.Meets(continued);
    });
    for (const SavedTensor& tensor : module.saved) {
      if (!tensor.made_by.Meets(modules)) continue;
      module.saved_bytes -= tensor.bytes;
      live.push_back(tensor);
    }
    for (const SavedTensor& tensor : live) {
      module.recomputed_bytes += tensor.bytes;
    }
  }
}

RecomputeModules RecomputeModulesOf(const std::vector<MockModule>& block) {
  RecomputeModules modules = RecomputeModule::kOperators;
  for (const MockModule& module : block) {
    for (const ModuleStep& step : module.pass(ModulePass::kForward)) {
      modules.Add(step.part_of);
    }
  }
  return modules;
}

}  // namespace astra
