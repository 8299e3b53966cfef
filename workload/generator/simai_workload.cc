#include "workload/generator/simai_workload.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/attention/registry.h"

namespace astra {
namespace {

using Dimension = ParallelDimension;

// SimAI's names of modules; an empty name keeps our own.
struct LayerName {
  std::string_view module;  // Prefix of the module's name.
  std::string_view training;
  std::string_view inference;
};

constexpr LayerName kLayerNames[] = {
    {"mlp_", "", "dense_mlp"},
    {"shared_column", "mlp_column", "shared_experts"},
    {"shared_row", "mlp_row", "shared_experts"},
    {"moe_router", "mlp_moelayer", "moe_route"},
    {"moe_dispatch", "mlp_moelayer", "moe_route"},
    {"moe_", "mlp_moelayer", "moe_expert"},
};

std::string LayerNameOf(std::string_view module, const Blueprint& blueprint) {
  const std::string_view plain = PlainName(module);
  const std::string_view attention = InferredLayerOf(plain);
  if (blueprint.forward_only && !attention.empty()) {
    return std::string(attention);
  }
  for (const LayerName& name : kLayerNames) {
    if (plain.rfind(name.module, 0) != 0) continue;
    if (blueprint.forward_only) return std::string(name.inference);
    if (!name.training.empty()) return std::string(name.training);
    break;
  }
  const bool is_split = blueprint.sequence_parallel || blueprint.forward_only;
  if (!is_split) {
    if (plain == "attention_column" || plain == "attention_row") {
      return "attention_layer";
    }
    if (plain == "mlp_column" || plain == "mlp_row") return "mlp_layer";
  }
  return std::string(plain);
}

// Returns whether the layers of `earlier` and `later` are merged: they must
// have the same name.
bool IsOneLayer(const MockModule& earlier, const MockModule& later,
                const Blueprint& blueprint) {
  const std::string name = LayerNameOf(later.name, blueprint);
  if (LayerNameOf(earlier.name, blueprint) != name) return false;
  if (blueprint.forward_only) return true;
  return name == "attention_layer"
             ? later.name.rfind("attention_row", 0) == 0
             : name == "mlp_layer" && later.name.rfind("mlp_row", 0) == 0;
}

// The computation and the collectives of a module in one phase of the format.
struct PhaseParts {
  TimePs compute;
  std::vector<Communication> communications;
};

using Phases = std::array<PhaseParts, kNumPhases>;

void AddTo(Phases& sum, const Phases& more) {
  for (size_t i = 0; i < kNumPhases; ++i) {
    sum[i].compute += more[i].compute;
    sum[i].communications.insert(sum[i].communications.end(),
                                 more[i].communications.begin(),
                                 more[i].communications.end());
  }
}

TimePs WholeNanoseconds(TimePs time) {
  return Nanoseconds((time.count() + 500) / 1000);
}

// Appends the layers of a module, or of two modules merged into one. The
// simulators run backward passes from the last layer to the first, so the
// layers of a module carry its backward collectives in reverse order.
void Append(std::string_view name, const Phases& phases,
            std::vector<SimaiLayer>& layers) {
  size_t count = 1;
  for (const PhaseParts& parts : phases) {
    count = std::max(count, parts.communications.size());
  }
  for (size_t i = 0; i < count; ++i) {
    SimaiLayer layer;
    layer.name =
        count == 1 ? std::string(name) : fmt::format("{}{}", name, i + 1);
    for (const Phase phase : kPhases) {
      const PhaseParts& parts = phases[IndexOf(phase)];
      SimaiPhase& to = layer.phases[IndexOf(phase)];
      const size_t place = phase == Phase::kForward ? i : count - 1 - i;
      if (place == 0) to.compute = WholeNanoseconds(parts.compute);
      if (place < parts.communications.size()) {
        to.communication = parts.communications[place];
      }
    }
    layers.push_back(std::move(layer));
  }
}

class Writer {
 public:
  Writer(const Blueprint& blueprint, const ModuleTimes& times)
      : blueprint_(blueprint), times_(times) {}

  absl::StatusOr<std::vector<SimaiLayer>> Layers(
      const ProgramStage& stage) const;

 private:
  // Layers that run once an iteration, and where AICB puts them.
  struct Once {
    std::vector<SimaiLayer> first;
    std::vector<SimaiLayer> last;
  };

  absl::StatusOr<Communication> Expressed(const Communication& communication,
                                          Phase phase) const;
  absl::Status AddPass(const MockModule& module, ModulePass pass, Phase phase,
                       bool is_outer, Phases& phases) const;
  absl::StatusOr<Phases> PhasesOf(const MockModule& module,
                                  bool is_outer) const;
  absl::StatusOr<std::vector<SimaiLayer>> MicroBatch(const ProgramStage& stage,
                                                     bool is_outer) const;
  Once OnceLayers(const ProgramStage& stage) const;

  const Blueprint& blueprint_;
  const ModuleTimes& times_;
};

absl::Status Unexpressed(std::string_view what) {
  return absl::UnimplementedError(fmt::format(
      "SimAI's text format has no {}; write a program (--format program)",
      what));
}

absl::StatusOr<Communication> Writer::Expressed(
    const Communication& communication, Phase phase) const {
  const ParallelSizes& sizes = blueprint_.sizes;
  const int64_t expert_tensor = sizes.expert_tensor.value_or(sizes.tensor);
  Communication expressed = communication;
  // The format has one word, ALLTOALL, for all all-to-alls.
  if (IsAllToAll(communication.kind)) {
    expressed.kind = CollectiveKind::kAllToAll;
  }
  switch (communication.dimension) {
    case Dimension::kContext:
    case Dimension::kPipeline:
      return Unexpressed("collectives over CP");
    case Dimension::kExpertTensor:
      if (expert_tensor != sizes.tensor) {
        return Unexpressed("collectives over ETP other than TP");
      }
      expressed.dimension = Dimension::kTensor;
      break;
    case Dimension::kData:
      // Only the weight gradient can use DP. Without experts, DP_EP means the
      // same.
      if (phase == Phase::kWeightGradient) break;
      if (sizes.expert != 1 || expert_tensor != sizes.tensor) {
        return Unexpressed("parameters gathered over DP beside experts");
      }
      expressed.dimension = Dimension::kDataExpert;
      break;
    case Dimension::kTensor:
      if (phase == Phase::kWeightGradient) {
        return Unexpressed("collectives over TP in the weight gradient");
      }
      break;
    case Dimension::kExpert:
    case Dimension::kDataExpert:
      break;
  }
  return expressed;
}

absl::Status Writer::AddPass(const MockModule& module, ModulePass pass,
                             Phase phase, bool is_outer, Phases& phases) const {
  PhaseParts& parts = phases[IndexOf(phase)];
  parts.compute += times_.Total(module, pass);
  // Recomputed collectives repeat those of the forward pass, in its order.
  size_t repeated = 0;
  for (const ModuleStep& step : module.pass(pass)) {
    const bool runs = step.when == StepWhen::kEach || is_outer;
    if (step.kind == StepKind::kCompute || step.kind == StepKind::kWait ||
        step.is_hidden || !runs) {
      continue;
    }
    ASTRA_ASSIGN_OR_RETURN(const Communication communication,
                           Expressed(step.communication, phase));
    if (pass == ModulePass::kRecompute) {
      phases[IndexOf(Phase::kForward)].communications[repeated++].bytes +=
          communication.bytes;
    } else {
      parts.communications.push_back(communication);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Phases> Writer::PhasesOf(const MockModule& module,
                                        bool is_outer) const {
  constexpr std::pair<ModulePass, Phase> kPasses[] = {
      {ModulePass::kForward, Phase::kForward},
      {ModulePass::kRecompute, Phase::kInputGradient},
      {ModulePass::kInputGradient, Phase::kInputGradient},
      {ModulePass::kWeightGradient, Phase::kWeightGradient},
  };
  Phases phases;
  for (const auto& [pass, phase] : kPasses) {
    ASTRA_RETURN_IF_ERROR(AddPass(module, pass, phase, is_outer, phases));
  }
  return phases;
}

// Writes a micro-batch. `is_outer` marks the first one of the file: its forward
// pass comes first, and its backward pass last, which completes the gradients.
absl::StatusOr<std::vector<SimaiLayer>> Writer::MicroBatch(
    const ProgramStage& stage, bool is_outer) const {
  std::vector<std::optional<Phases>> known(blueprint_.modules.size());
  std::vector<SimaiLayer> layers;
  const MockModule* before = nullptr;
  Phases phases;
  const auto flush = [&] {
    if (before == nullptr) return;
    Append(LayerNameOf(before->name, blueprint_), phases, layers);
  };
  for (const ModuleRun& run : stage.runs) {
    for (int64_t time = 0; time < run.times; ++time) {
      for (const ModuleId id : run.modules) {
        const MockModule& module = blueprint_.modules[id.index()];
        std::optional<Phases>& own = known[id.index()];
        if (!own) {
          ASTRA_ASSIGN_OR_RETURN(own, PhasesOf(module, is_outer));
        }
        if (before != nullptr && IsOneLayer(*before, module, blueprint_)) {
          AddTo(phases, *own);
        } else {
          flush();
          phases = *own;
        }
        before = &module;
      }
    }
  }
  flush();
  return layers;
}

// Writes the collectives of gradients and parameters first, as AICB does; they
// run last in the backward pass.
Writer::Once Writer::OnceLayers(const ProgramStage& stage) const {
  constexpr std::string_view kOrder[] = {
      "grad_gather", "grad_param_comm", "grad_param_compute",
      "layernorm",   "moe_grad_norm1",  "moe_grad_norm2"};
  std::array<std::vector<SimaiLayer>, std::size(kOrder)> first;
  Once once;
  const auto add = [&](size_t place, Phase phase, const SimaiPhase& what) {
    SimaiLayer layer;
    layer.name = kOrder[place];
    layer.phases[IndexOf(phase)] = what;
    first[place].push_back(std::move(layer));
  };
  for (const ModuleId id : stage.after) {
    const MockModule& module = blueprint_.modules[id.index()];
    const std::string_view name = PlainName(module.name);
    const TimePs compute = times_.Total(module, ModulePass::kForward);
    if (compute > TimePs(0)) {
      add(2, Phase::kInputGradient, {WholeNanoseconds(compute), std::nullopt});
    }
    for (const ModuleStep& step : module.pass(ModulePass::kForward)) {
      if (step.kind == StepKind::kCompute) continue;
      const Communication& what = step.communication;
      const bool is_expert = what.dimension == Dimension::kDataExpert;
      if (name == "param_gather") {
        add(is_expert ? 4 : 0, Phase::kWeightGradient, {TimePs(0), what});
      } else if (name == "grad_reduce") {
        add(is_expert ? 5 : 1, Phase::kWeightGradient, {TimePs(0), what});
      } else if (name == "layernorm") {
        add(3, Phase::kInputGradient, {TimePs(0), what});
      } else {
        SimaiLayer layer;
        layer.name = fmt::format("{}{}", name, once.last.size() + 1);
        layer.phases[IndexOf(Phase::kForward)].communication = what;
        once.last.push_back(std::move(layer));
      }
    }
  }
  // The optimizer must not run beside the reduction of experts' gradients. Its
  // computation therefore goes into the layer that runs before them.
  auto& expert_layers = first[5].empty() ? first[4] : first[5];
  for (size_t i = 0; !expert_layers.empty() && i < first[2].size(); ++i) {
    const size_t phase = IndexOf(Phase::kInputGradient);
    expert_layers.back().phases[phase].compute +=
        std::exchange(first[2][i].phases[phase].compute, TimePs(0));
  }
  for (std::vector<SimaiLayer>& layers : first) {
    std::move(layers.begin(), layers.end(), std::back_inserter(once.first));
  }
  return once;
}

absl::StatusOr<std::vector<SimaiLayer>> Writer::Layers(
    const ProgramStage& stage) const {
  ASTRA_ASSIGN_OR_RETURN(const std::vector<SimaiLayer> outer,
                         MicroBatch(stage, /*is_outer=*/true));
  ASTRA_ASSIGN_OR_RETURN(const std::vector<SimaiLayer> inner,
                         MicroBatch(stage, /*is_outer=*/false));
  const Once once = OnceLayers(stage);
  const int64_t count = blueprint_.sizes.micro_batches;
  const auto each = static_cast<int64_t>(outer.size());
  const auto others =
      static_cast<int64_t>(once.first.size() + once.last.size());
  if (count > (kMaxSimaiLayers - others) / each) {
    return absl::ResourceExhaustedError(fmt::format(
        "{} micro-batches of {} layers each are too many for SimAI's text "
        "format (at most {} layers); write a program (--format program)",
        count, each, kMaxSimaiLayers));
  }
  std::vector<SimaiLayer> layers = once.first;
  const auto append = [&layers](const std::vector<SimaiLayer>& more) {
    layers.insert(layers.end(), more.begin(), more.end());
  };
  append(outer);
  for (int64_t i = 1; i < count; ++i) append(inner);
  append(once.last);
  return layers;
}

}  // namespace

size_t SlowestStage(const Blueprint& blueprint, const ModuleTimes& times) {
  size_t slowest = 0;
  TimePs longest(-1);
  for (size_t i = 0; i < blueprint.stages.size(); ++i) {
    const TimePs sum = times.OfStage(blueprint, blueprint.stages[i]);
    if (sum > longest) {
      longest = sum;
      slowest = i;
    }
  }
  return slowest;
}

absl::StatusOr<SimaiText> SimaiTextOf(const Blueprint& blueprint, size_t stage,
                                      const ModuleTimes& times) {
  const ParallelSizes& sizes = blueprint.sizes;
  if (sizes.context > 1) return Unexpressed("context parallelism");
  if (sizes.order != RankOrder()) return Unexpressed("other order of ranks");
  if (blueprint.schedule->holds_model_twice) {
    return Unexpressed("micro-batches that run one chunk of a stage only");
  }
  Writer writer(blueprint, times);
  SimaiText text;
  text.sizes = sizes;
  if (sizes.expert_tensor == sizes.tensor) text.sizes.expert_tensor.reset();
  text.pipeline_message = blueprint.pipeline_message;
  ASTRA_ASSIGN_OR_RETURN(text.layers, writer.Layers(blueprint.stages[stage]));
  return text;
}

}  // namespace astra
