#include "workload/modules/module_builder.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "astra-core/base/check.h"

namespace astra {
namespace {

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

void Append(const std::vector<ModuleStep>& more,
            std::vector<ModuleStep>& steps) {
  steps.insert(steps.end(), more.begin(), more.end());
}

ModuleStep Wait(ParallelDimension dimension) {
  return Collective(StepKind::kWait, CollectiveKind::kAllReduce, dimension, 0);
}

bool IsProduct(const ModuleStep& step) {
  return step.kind == StepKind::kCompute &&
         std::holds_alternative<Gemm>(step.op.shape);
}

// Returns a product with 1 / `of` of its rows.
ModuleStep Slice(const ModuleStep& product, int64_t of) {
  ModuleStep slice = product;
  std::get<Gemm>(slice.op.shape).m /= of;
  return slice;
}

// Overlaps a product with the gather of its rows. `of` - 1 slices run beside
// the gather; the slice of the rows that come last runs behind it.
std::vector<ModuleStep> BesideGather(const ModuleStep& gather,
                                     const ModuleStep& product, int64_t of) {
  std::vector<ModuleStep> steps(static_cast<size_t>(of), Slice(product, of));
  steps.insert(steps.end() - 1, Wait(gather.communication.dimension));
  steps.insert(steps.begin(), gather)->kind = StepKind::kLaunch;
  return steps;
}

// Overlaps a product with the scatter of its rows. The first slice runs before
// it.
std::vector<ModuleStep> BesideScatter(const ModuleStep& scatter,
                                      const ModuleStep& product, int64_t of) {
  std::vector<ModuleStep> steps(static_cast<size_t>(of), Slice(product, of));
  steps.push_back(Wait(scatter.communication.dimension));
  steps.insert(steps.begin() + 1, scatter)->kind = StepKind::kLaunch;
  return steps;
}

int64_t ScaledBytes(int64_t elements, double bytes) {
  return std::llround(static_cast<double>(elements) * bytes);
}

}  // namespace

ModuleBuilder::ModuleBuilder(std::string_view name,
                             const ModuleContext& context)
    : context_(context) {
  module_.name = name;
}

void ModuleBuilder::Linear(const Product& product) {
  const auto& [op, groups, m, k, n, saved_tokens, shares_input, saved_bits,
               parts, is_exact, casts_inputs, casts_gradients, routed] =
      product;
  RecomputeModules makers = made_by_;
  const Precision precision = is_exact ? Precision::kBf16 : context_.precision;
  Gemm gemm = {.groups = groups, .m = m, .n = n, .k = k, .routed = routed};
  const bool starts_each =
      context_.training && groups > 1 && !context_.fused_experts;
  gemm.starts_each_group = starts_each;
  const bool is_cast = IsCast(precision);
  if (is_cast) makers.Add(OpenModules());  // A copy that the product makes.
  ModuleStep forward = Compute({op, gemm, precision});
  forward.products = parts;
  ForwardProduct(forward, is_cast && casts_inputs, Overlaps() && !is_exact);
  if (!context_.training) return;
  std::swap(gemm.n, gemm.k);
  Backward({op, gemm, precision});
  if (is_cast && casts_gradients) Backward(Cast(groups * m * n));
  std::vector<ModuleStep>& weight_gradient = pass(ModulePass::kWeightGradient);
  if (is_cast && !casts_inputs) {
    weight_gradient.push_back(Compute(
        {"transpose",
         astra::Stream{ScaledBytes(groups * m * k, 2 * BytesOf(precision))}}));
  }
  gemm = {.groups = groups, .m = k, .n = n, .k = m};
  if (groups > 1) {
    gemm.sum_bytes = context_.gradient_bytes;
    gemm.starts_each_group = starts_each;
  }
  weight_gradient.push_back(Compute({op, gemm, precision}));
  const int64_t kept = saved_tokens >= 0 ? saved_tokens : groups * m;
  constexpr double kBitsPerByte = 8;
  const double bytes = saved_bits > 0
                           ? static_cast<double>(saved_bits) / kBitsPerByte
                           : BytesOf(precision);
  if (is_cast || !shares_input) Save(ScaledBytes(kept * k, bytes), makers);
  Workspace(groups * m * (k + n) * kElementBytes +
            std::exchange(gathered_bytes_, 0));
}

Operator ModuleBuilder::Cast(int64_t elements) const {
  const double copies = context_.training ? 2 : 1;
  const double bytes = kElementBytes + copies * BytesOf(context_.precision);
  return {"cast", astra::Stream{ScaledBytes(elements, bytes)},
          context_.precision};
}

void ModuleBuilder::ForwardProduct(const ModuleStep& product, bool is_cast,
                                   bool overlaps) {
  std::vector<ModuleStep>& steps = pass(ModulePass::kForward);
  const auto& gemm = std::get<Gemm>(product.op.shape);
  const Operator cast = Cast(gemm.groups * gemm.m * gemm.k);
  const bool begins =
      !steps.empty() && steps.back().kind == StepKind::kBlocking &&
      steps.back().communication.dimension == ParallelDimension::kTensor;
  if (!overlaps || !begins) {
    if (is_cast) Forward(cast);
    AddForward(product);
    return;
  }
  const ModuleStep gather = steps.back();
  steps.pop_back();
  if (is_cast) Forward(cast);
  Append(BesideGather(gather, product, context_.tensor), steps);
  made_by_ = OpenModules();
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
    // The weight gradient needs the inputs again; they are gathered during the
    // input gradient.
    gathered_bytes_ += bytes;
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
  std::vector<ModuleStep>& steps = pass(ModulePass::kForward);
  if (!Overlaps() || steps.empty() || !IsProduct(steps.back())) {
    ForwardCollective(CollectiveKind::kReduceScatter, kTensor, bytes);
    BackwardCollective(CollectiveKind::kAllGather, kTensor, bytes);
    return;
  }
  const auto collective = [&](CollectiveKind kind) {
    return Collective(StepKind::kLaunch, kind, kTensor, bytes);
  };
  const ModuleStep product = steps.back();
  steps.pop_back();
  Append(BesideScatter(collective(CollectiveKind::kReduceScatter), product,
                       context_.tensor),
         steps);
  std::vector<ModuleStep>& back = pass(ModulePass::kInputGradient);
  const auto gradient = std::find_if(back.begin(), back.end(), IsProduct);
  const std::vector<ModuleStep> casts(back.begin(), gradient);
  const std::vector<ModuleStep> beside = BesideGather(
      collective(CollectiveKind::kAllGather), *gradient, context_.tensor);
  back.erase(back.begin(), gradient + 1);
  PrependBackward(beside);
  PrependBackward(casts);
}

void ModuleBuilder::Stream(const Streaming& streaming) {
  const auto of = [&streaming](int64_t accesses) {
    const int64_t bytes = streaming.elements * accesses * kElementBytes;
    return Operator{streaming.op, astra::Stream{bytes}, Precision::kBf16};
  };
  const RecomputeModules makers = made_by_;
  if (streaming.forward > 0) Forward(of(streaming.forward));
  if (streaming.backward > 0) Backward(of(streaming.backward));
  Save(streaming.saved_bytes, makers);
  Workspace(streaming.workspace_bytes >= 0
                ? streaming.workspace_bytes
                : 2 * streaming.elements * kElementBytes);
}

void ModuleBuilder::AddForward(const ModuleStep& step) {
  pass(ModulePass::kForward).push_back(step);
  if (step.kind == StepKind::kCompute) made_by_ = OpenModules();
}

void ModuleBuilder::Forward(const Operator& op) { AddForward(Compute(op)); }

void ModuleBuilder::Backward(const Operator& op) {
  if (context_.training) PrependBackward({Compute(op)});
}

void ModuleBuilder::ForwardCollective(CollectiveKind kind,
                                      ParallelDimension dimension,
                                      int64_t bytes) {
  if (!IsNeeded(dimension, bytes)) return;
  AddForward(Collective(StepKind::kBlocking, kind, dimension, bytes));
}

void ModuleBuilder::BackwardCollective(CollectiveKind kind,
                                       ParallelDimension dimension,
                                       int64_t bytes) {
  if (!context_.training || !IsNeeded(dimension, bytes)) return;
  PrependBackward({Collective(StepKind::kBlocking, kind, dimension, bytes)});
}

void ModuleBuilder::ForwardBehind(CollectiveKind kind,
                                  ParallelDimension dimension, int64_t bytes,
                                  const std::vector<Operator>& ops) {
  ForwardLaunch(kind, dimension, bytes);
  for (const Operator& op : ops) Forward(op);
  if (bytes > 0) ForwardWait(dimension);
}

void ModuleBuilder::BackwardBehind(CollectiveKind kind,
                                   ParallelDimension dimension, int64_t bytes,
                                   const std::vector<Operator>& ops) {
  if (bytes > 0) BackwardWait(dimension);
  for (size_t i = ops.size(); i-- > 0;) Backward(ops[i]);
  BackwardLaunch(kind, dimension, bytes);
}

void ModuleBuilder::ForwardLaunch(CollectiveKind kind,
                                  ParallelDimension dimension, int64_t bytes) {
  if (!IsNeeded(dimension, bytes)) return;
  AddForward(Collective(StepKind::kLaunch, kind, dimension, bytes));
}

void ModuleBuilder::ForwardWait(ParallelDimension dimension) {
  if (!IsNeeded(dimension, 1)) return;
  AddForward(Wait(dimension));
}

void ModuleBuilder::BackwardLaunch(CollectiveKind kind,
                                   ParallelDimension dimension, int64_t bytes) {
  if (!context_.training || !IsNeeded(dimension, bytes)) return;
  PrependBackward({Collective(StepKind::kLaunch, kind, dimension, bytes)});
}

void ModuleBuilder::BackwardWait(ParallelDimension dimension) {
  if (!context_.training || !IsNeeded(dimension, 1)) return;
  PrependBackward({Wait(dimension)});
}

void ModuleBuilder::Begin(RecomputeModule module) {
  open_.push_back({module, pass(ModulePass::kForward).size()});
}

void ModuleBuilder::Continue(RecomputeModule module) {
  Begin(module);
  module_.continued.Add(module);
  made_by_.Add(module);
}

void ModuleBuilder::End(RecomputeModule module) {
  ASTRA_CHECK(!open_.empty() && open_.back().module == module,
              "{} ends inside of another module", Name(module));
  std::vector<ModuleStep>& steps = pass(ModulePass::kForward);
  for (size_t i = open_.back().first_step; i < steps.size(); ++i) {
    steps[i].part_of.Add(module);
  }
  open_.pop_back();
  if (KeepsOutputs(module)) made_by_.Remove(module);
}

RecomputeModules ModuleBuilder::OpenModules() const {
  RecomputeModules modules;
  for (const OpenModule& open : open_) modules.Add(open.module);
  return modules;
}

void ModuleBuilder::ReplicatedParameters(int64_t count, bool is_summed) {
  module_.parameters += count;
  module_.replicated_parameters += count;
  if (is_summed) module_.summed_parameters += count;
}

void ModuleBuilder::Saved(int64_t bytes) { Save(bytes, made_by_); }

void ModuleBuilder::Save(int64_t bytes, RecomputeModules makers) {
  if (!context_.training || bytes == 0) return;
  module_.saved_bytes += bytes;
  module_.saved.push_back({bytes, makers});
}

void ModuleBuilder::Workspace(int64_t bytes) {
  if (!context_.training) return;
  peak_bytes_ = std::max(peak_bytes_, module_.saved_bytes + bytes);
}

MockModule ModuleBuilder::Take() {
  while (!open_.empty()) End(open_.back().module);
  const auto append = [this](ModulePass to, std::vector<ModuleStep>& steps) {
    Append(steps, pass(to));
    steps.clear();
  };
  PrependBackward(input_gradient_begin_);
  append(ModulePass::kInputGradient, input_gradient_end_);
  append(ModulePass::kWeightGradient, weight_gradient_end_);
  module_.workspace_bytes =
      std::max<int64_t>(0, peak_bytes_ - module_.saved_bytes);
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
