#include "workload/modules/module_builder.h"

#include <utility>

#include "astra-core/base/check.h"

namespace astra {
namespace {

constexpr int64_t kElementBytes = 2;  // Of hidden states: BF16.

ModuleStep Compute(const Operator& op) {
  ModuleStep step;
  step.op = op;
  return step;
}

ModuleStep Collective(StepKind kind, CollectiveKind collective,
                      ParallelDimension dimension, int64_t bytes) {
  ModuleStep step;
  step.kind = kind;
  step.communication = {collective, dimension, Bytes(bytes)};
  return step;
}

ModuleStep Wait(ParallelDimension dimension) {
  return Collective(StepKind::kWait, CollectiveKind::kAllReduce, dimension, 0);
}

}  // namespace

ModuleBuilder::ModuleBuilder(std::string_view name,
                             const ModuleContext& context)
    : context_(context) {
  module_.name = name;
}

void ModuleBuilder::Linear(const Product& product) {
  const auto& [op, groups, m, k, n, saved_tokens, is_exact] = product;
  const Precision precision = is_exact ? Precision::kBf16 : context_.precision;
  Forward({op, Gemm{groups, m, n, k}, precision});
  Backward({op, Gemm{groups, m, k, n}, precision});
  if (!context_.training) return;
  pass(ModulePass::kWeightGradient)
      .push_back(Compute({op, Gemm{groups, k, n, m}, precision}));
  const int64_t kept = saved_tokens >= 0 ? saved_tokens : groups * m;
  Saved(kept * k * BytesOf(precision));
}

void ModuleBuilder::BeginRegion(int64_t width) {
  constexpr ParallelDimension kTensor = ParallelDimension::kTensor;
  const int64_t bytes = context_.tokens() * width * kElementBytes;
  if (!IsNeeded(kTensor, bytes)) return;
  if (context_.sequence_parallel) {
    ForwardCollective(CollectiveKind::kAllGather, kTensor, bytes);
  }
  if (!context_.training) return;
  if (context_.sequence_parallel) {
    // The inputs again, for the weight gradient, behind the input gradient.
    ModuleStep again = Collective(StepKind::kLaunch, CollectiveKind::kAllGather,
                                  kTensor, bytes);
    again.is_hidden = true;
    input_gradient_begin_.push_back(again);
    input_gradient_end_.push_back(Wait(kTensor));
  }
  const CollectiveKind sum = context_.sequence_parallel
                                 ? CollectiveKind::kReduceScatter
                                 : CollectiveKind::kAllReduce;
  input_gradient_end_.push_back(
      Collective(StepKind::kLaunch, sum, kTensor, bytes));
  weight_gradient_end_.push_back(Wait(kTensor));
}

void ModuleBuilder::EndRegion(int64_t width) {
  constexpr ParallelDimension kTensor = ParallelDimension::kTensor;
  const int64_t bytes = context_.tokens() * width * kElementBytes;
  if (!context_.sequence_parallel) {
    ForwardCollective(CollectiveKind::kAllReduce, kTensor, bytes);
    return;
  }
  ForwardCollective(CollectiveKind::kReduceScatter, kTensor, bytes);
  BackwardCollective(CollectiveKind::kAllGather, kTensor, bytes);
}

void ModuleBuilder::Stream(const Streaming& streaming) {
  const auto of = [&streaming](int64_t accesses) {
    const int64_t bytes = streaming.elements * accesses * kElementBytes;
    return Operator{streaming.op, astra::Stream{bytes}, Precision::kBf16};
  };
  if (streaming.forward > 0) Forward(of(streaming.forward));
  if (streaming.backward > 0) Backward(of(streaming.backward));
  Saved(streaming.saved_bytes);
}

void ModuleBuilder::Forward(const Operator& op) {
  pass(ModulePass::kForward).push_back(Compute(op));
}

void ModuleBuilder::Backward(const Operator& op) {
  if (context_.training) PrependBackward({Compute(op)});
}

void ModuleBuilder::ForwardCollective(CollectiveKind kind,
                                      ParallelDimension dimension,
                                      int64_t bytes) {
  if (!IsNeeded(dimension, bytes)) return;
  pass(ModulePass::kForward)
      .push_back(Collective(StepKind::kBlocking, kind, dimension, bytes));
}

void ModuleBuilder::BackwardCollective(CollectiveKind kind,
                                       ParallelDimension dimension,
                                       int64_t bytes) {
  if (!context_.training || !IsNeeded(dimension, bytes)) return;
  PrependBackward({Collective(StepKind::kBlocking, kind, dimension, bytes)});
}

void ModuleBuilder::ForwardBehind(CollectiveKind kind,
                                  ParallelDimension dimension, int64_t bytes,
                                  const Operator& op) {
  std::vector<ModuleStep>& forward = pass(ModulePass::kForward);
  const bool needed = IsNeeded(dimension, bytes);
  if (needed) {
    forward.push_back(Collective(StepKind::kLaunch, kind, dimension, bytes));
  }
  forward.push_back(Compute(op));
  if (needed) forward.push_back(Wait(dimension));
}

void ModuleBuilder::BackwardBehind(CollectiveKind kind,
                                   ParallelDimension dimension, int64_t bytes,
                                   const Operator& op) {
  if (!context_.training) return;
  if (!IsNeeded(dimension, bytes)) return Backward(op);
  PrependBackward({Collective(StepKind::kLaunch, kind, dimension, bytes),
                   Compute(op), Wait(dimension)});
}

void ModuleBuilder::ReplicatedParameters(int64_t count, bool is_summed) {
  module_.parameters += count;
  module_.replicated_parameters += count;
  if (is_summed) module_.summed_parameters += count;
}

void ModuleBuilder::Saved(int64_t bytes) {
  if (context_.training) module_.saved_bytes += bytes;
}

void ModuleBuilder::SavedScores(int64_t bytes) {
  Saved(bytes);
  if (context_.training) module_.score_bytes += bytes;
}

MockModule ModuleBuilder::Take() {
  const auto append = [this](ModulePass to, std::vector<ModuleStep>& steps) {
    pass(to).insert(pass(to).end(), steps.begin(), steps.end());
    steps.clear();
  };
  PrependBackward(input_gradient_begin_);
  append(ModulePass::kInputGradient, input_gradient_end_);
  append(ModulePass::kWeightGradient, weight_gradient_end_);
  return std::move(module_);
}

bool ModuleBuilder::IsNeeded(ParallelDimension dimension, int64_t bytes) const {
  if (bytes == 0) return false;
  switch (dimension) {
    case ParallelDimension::kTensor:
      return context_.tensor > 1;
    case ParallelDimension::kContext:
      return context_.context > 1;
    case ParallelDimension::kExpert:
      return context_.expert > 1;
    case ParallelDimension::kExpertTensor:
      return context_.expert_tensor > 1;
    case ParallelDimension::kData:
    case ParallelDimension::kDataExpert:
    case ParallelDimension::kPipeline:
      break;
  }
  ASTRA_CHECK(false, "no module communicates over {}", Name(dimension));
}

void ModuleBuilder::PrependBackward(const std::vector<ModuleStep>& steps) {
  std::vector<ModuleStep>& backward = pass(ModulePass::kInputGradient);
  backward.insert(backward.begin(), steps.begin(), steps.end());
}

}  // namespace astra
