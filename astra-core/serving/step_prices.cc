#include "astra-core/serving/step_prices.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "astra-core/base/check.h"
#include "astra-core/base/parallel_dimension.h"
#include "astra-core/base/status_macros.h"
#include "workload/program.h"

namespace astra {
namespace {

RankGroup GroupOf(ParallelDimension dimension, const InferenceSetup& setup) {
  switch (dimension) {
    case ParallelDimension::kTensor:
      return {setup.tensor, 1};
    case ParallelDimension::kExpert:
      return {setup.expert, setup.expert_tensor_size()};
    case ParallelDimension::kExpertTensor:
      return {setup.expert_tensor_size(), 1};
    case ParallelDimension::kPipeline:
      return {2, setup.world_size / setup.pipeline};
    case ParallelDimension::kContext:
    case ParallelDimension::kData:
    case ParallelDimension::kDataExpert:
      break;
  }
  return {};
}

// Returns whether a step of a module works on single sequences: attention, and
// the up-projection of latent keys, of which prefill makes whole keys and
// decode only queries.
bool IsAttention(const MockModule& module, const ModuleStep& step,
                 const ModuleStep* next) {
  if (step.kind != StepKind::kCompute) return false;
  if (PlainName(module.name) == "attention_kv_column") return true;
  const auto is_of_keys = [](const Operator& op) {
    return op.name == "kv_up" || std::holds_alternative<Attention>(op.shape) ||
           std::holds_alternative<DeltaRule>(op.shape);
  };
  if (is_of_keys(step.op)) return true;
  return step.op.name == "cast" && next != nullptr &&
         next->kind == StepKind::kCompute && next->op.name == "kv_up";
}

// Returns whether a module works on the tokens of all ranks of data-parallel
// attention.
bool IsOfExperts(const MockModule& module) {
  constexpr std::string_view kModules[] = {"moe_dispatch", "moe_gather",
                                           "moe_experts", "moe_combine"};
  return std::find(std::begin(kModules), std::end(kModules),
                   PlainName(module.name)) != std::end(kModules);
}

// Returns whether a step works on the sequences that get a token.
bool IsSampling(const MockModule& module, const ModuleStep& step) {
  if (PlainName(module.name) != "final_column") return false;
  return step.kind != StepKind::kCompute || step.op.name == "logits" ||
         step.op.name == "sample";
}

}  // namespace

StepSeconds& StepSeconds::operator+=(const StepSeconds& other) {
  compute += other.compute;
  memory += other.memory;
  collectives += other.collectives;
  kernels += other.kernels;
  host += other.host;
  traffic += other.traffic;
  return *this;
}

StepSeconds Between(const StepSeconds& a, const StepSeconds& b, double share) {
  const auto mix = [share](double from, double to) {
    return from + share * (to - from);
  };
  StepSeconds mixed = {.compute = mix(a.compute, b.compute),
                       .memory = mix(a.memory, b.memory),
                       .collectives = mix(a.collectives, b.collectives),
                       .kernels = mix(a.kernels, b.kernels),
                       .host = mix(a.host, b.host)};
  if (a.traffic.parts().empty() && b.traffic.parts().empty()) return mixed;
  mixed.traffic = a.traffic.Scaled(1 - share);
  mixed.traffic += b.traffic.Scaled(share);
  return mixed;
}

InferenceSetup SetupOf(const ServingLayout& layout) {
  InferenceSetup setup;
  setup.world_size = layout.num_gpus();
  setup.tensor = layout.tensor;
  setup.pipeline = layout.pipeline;
  setup.expert = layout.expert;
  if (layout.expert > 1) {
    setup.expert_tensor =
        layout.tensor * layout.attention_ranks / layout.expert;
  }
  setup.precision = layout.precision;
  setup.expert_load = layout.expert_load;
  return setup;
}

StepPrices::StepPrices(ModelSpec model, const ServingLayout& layout,
                       const ComputeModel& times, FusedKernels fused,
                       GroupSeconds& graph, GroupSeconds& eager,
                       std::optional<int64_t> stage)
    : model_(std::move(model)),
      layout_(layout),
      times_(times),
      fused_(std::move(fused)),
      graph_(graph),
      eager_(eager),
      stage_(stage) {
  // Tables have points beyond the longest sequence. No time depends on this.
  if (model_.positions == Positions::kLearned) {
    model_.max_positions = ModelShape::kMaxPositions;
  }
}

absl::Status StepPrices::Check() {
  for (const InferencePhase phase :
       {InferencePhase::kPrefill, InferencePhase::kDecode}) {
    const InferenceSetup setup = StepOf(phase, 1, 2);
    for (const Part part :
         {Part::kShared, Part::kExperts, Part::kAttention, Part::kSample}) {
      ASTRA_RETURN_IF_ERROR(Price(setup, part, graph_).status());
      ASTRA_RETURN_IF_ERROR(Price(setup, part, eager_).status());
    }
  }
  return absl::OkStatus();
}

StepSeconds StepPrices::Shared(int64_t tokens, bool in_graph) {
  return PriceOrDie(StepOf(InferencePhase::kPrefill, tokens, 1), Part::kShared,
                    in_graph ? graph_ : eager_);
}

StepSeconds StepPrices::Experts(int64_t tokens, bool in_graph) {
  return PriceOrDie(StepOf(InferencePhase::kPrefill, tokens, 1), Part::kExperts,
                    in_graph ? graph_ : eager_);
}

StepSeconds StepPrices::Prefill(int64_t parts, int64_t tokens, int64_t cached) {
  return PriceOrDie(StepOf(InferencePhase::kPrefill, parts, tokens, cached),
                    Part::kAttention, eager_);
}

StepSeconds StepPrices::Decode(int64_t batch, int64_t context,
                               int64_t queries) {
  InferenceSetup setup = StepOf(InferencePhase::kDecode, batch, context);
  setup.queries = queries;
  return PriceOrDie(setup, Part::kAttention, graph_);
}

StepSeconds StepPrices::Sample(int64_t sequences, bool in_graph) {
  return PriceOrDie(StepOf(InferencePhase::kPrefill, sequences, 1),
                    Part::kSample, in_graph ? graph_ : eager_);
}

InferenceSetup StepPrices::StepOf(InferencePhase phase, int64_t batch,
                                  int64_t positions, int64_t cached) const {
  InferenceSetup setup = SetupOf(layout_);
  setup.phase = phase;
  setup.batch = batch;
  setup.positions = positions;
  setup.cached = cached;
  return setup;
}

StepSeconds StepPrices::PriceOrDie(const InferenceSetup& setup, Part part,
                                   GroupSeconds& groups) {
  const absl::StatusOr<StepSeconds> price = Price(setup, part, groups);
  ASTRA_CHECK(price.ok(), "{}", price.status().ToString());
  return *price;
}

absl::StatusOr<StepSeconds> StepPrices::Price(const InferenceSetup& setup,
                                              Part part, GroupSeconds& groups) {
  ASTRA_ASSIGN_OR_RETURN(const Blueprint blueprint,
                         InferenceBlueprint(model_, setup));
  StepSeconds sum;
  int64_t first = 0;
  for (const ProgramStage& stage : blueprint.stages) {
    const int64_t priced = PricedOf(first, stage.count);
    first += stage.count;
    if (priced == 0) continue;
    for (const ModuleRun& run : stage.runs) {
      for (const ModuleId id : run.modules) {
        AddModule(blueprint.modules[id.index()], part,
                  static_cast<double>(priced * run.times), groups, sum);
      }
    }
  }
  const int64_t messages = PricedOf(0, setup.pipeline - 1);
  if (part == Part::kShared && messages > 0) {
    AddCollective(
        CollectiveKind::kSendRecv, GroupOf(ParallelDimension::kPipeline, setup),
        blueprint.pipeline_message, static_cast<double>(messages), groups, sum);
  }
  ASTRA_RETURN_IF_ERROR(groups.TakeStatus());
  return sum;
}

int64_t StepPrices::PricedOf(int64_t first, int64_t count) const {
  if (!stage_) return count;
  return *stage_ >= first && *stage_ < first + count ? 1 : 0;
}

StepPrices::Part StepPrices::PartOf(const MockModule& module,
                                    const ModuleStep& step,
                                    const ModuleStep* next) const {
  if (IsAttention(module, step, next)) return Part::kAttention;
  if (IsSampling(module, step)) return Part::kSample;
  return has_attention_ranks() && IsOfExperts(module) ? Part::kExperts
                                                      : Part::kShared;
}

void StepPrices::AddModule(const MockModule& module, Part part, double times,
                           GroupSeconds& groups, StepSeconds& sum) const {
  const std::vector<ModuleStep>& steps = module.pass(ModulePass::kForward);
  const InferenceSetup setup = SetupOf(layout_);
  for (size_t i = 0; i < steps.size(); ++i) {
    const ModuleStep& step = steps[i];
    const ModuleStep* next = i + 1 < steps.size() ? &steps[i + 1] : nullptr;
    if (PartOf(module, step, next) != part) continue;
    if (step.kind == StepKind::kWait) continue;
    if (step.kind != StepKind::kCompute) {
      sum.kernels += times;
      AddCollective(step.communication.kind,
                    GroupOf(step.communication.dimension, setup),
                    step.communication.bytes, times, groups, sum);
      continue;
    }
    const OperatorTime time = times_.TimeOf(step.op);
    double& seconds = time.bound == "compute" ? sum.compute : sum.memory;
    seconds += times * SecondsOf(step.op, time);
    if (time.host == TimePs{}) {
      sum.kernels += times;
    } else {
      sum.host += times * ToSeconds(time.host);
    }
  }
}

void StepPrices::AddCollective(CollectiveKind kind, RankGroup group,
                               Bytes bytes, double times, GroupSeconds& groups,
                               StepSeconds& sum) const {
  const double seconds = times * groups.Of(kind, group, bytes.count());
  sum.collectives += seconds;
  if (!watches_traffic_) return;
  const auto traffic = groups.TrafficOf(kind, group, bytes.count());
  if (!traffic) return;
  sum.traffic.Add({.kind = {kind, group, traffic->algorithm},
                   .seconds = seconds,
                   .bytes = times * traffic->bytes_per_byte *
                            static_cast<double>(bytes.count())});
}

double StepPrices::SecondsOf(const Operator& op,
                             const OperatorTime& time) const {
  double seconds = fused_.SecondsOf(op.name, ToSeconds(time.time));
  const auto* attention = std::get_if<Attention>(&op.shape);
  if (layout_.fp8_cache && attention != nullptr && attention->queries == 1) {
    seconds *= kFp8CacheShare;
  }
  const bool is_of_experts =
      op.name == "experts_up" || op.name == "experts_down";
  if (layout_.mxfp4_experts && is_of_experts && time.bound != "compute") {
    seconds *= kMxfp4Share;
  }
  return seconds;
}

}  // namespace astra
