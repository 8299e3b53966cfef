#include "workload/generator/explain.h"

#include <cmath>
#include <iterator>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "fmt/core.h"
#include "fmt/ranges.h"
#include "workload/generator/training.h"
#include "workload/operators/gpu_origins.h"
#include "workload/parallel_plan.h"

namespace astra {
namespace {

std::string Gib(double bytes) {
  return fmt::format("{:.3f} GiB", bytes / (1 << 30));
}

struct ShapeWriter {
  std::string operator()(const Gemm& gemm) const {
    const std::string one = fmt::format("{} x {} x {}", gemm.m, gemm.n, gemm.k);
    return gemm.groups == 1 ? one : fmt::format("{} of {}", gemm.groups, one);
  }
  std::string operator()(const Attention& a) const {
    return fmt::format("{} x {} queries, {} keys, {}/{} heads of {}/{}{}{}{}",
                       a.batch, a.queries, a.keys, a.heads, a.kv_heads,
                       a.qk_dim, a.v_dim, a.causal ? "" : ", all seen",
                       a.window > 0 ? fmt::format(", window {}", a.window) : "",
                       a.backward ? ", backward" : "");
  }
  std::string operator()(const DeltaRule& rule) const {
    return fmt::format("{} x {} positions, {} heads of {}/{}{}", rule.batch,
                       rule.positions, rule.heads, rule.key_dim, rule.value_dim,
                       rule.backward ? ", backward" : "");
  }
  std::string operator()(const Stream& stream) const {
    return fmt::format("{} B", stream.bytes);
  }
};

std::string ExplainModel(const ModelSpec& model) {
  const int64_t count = CountParameters(model);
  std::string text =
      fmt::format("model      {}: {} parameters", model.name, count);
  if (model.experts) {
    text += fmt::format(", {} active", CountActiveParameters(model));
  }
  if (model.published_parameters) {
    const auto published = static_cast<double>(*model.published_parameters);
    text +=
        fmt::format("; published {}, {:+.3f} %", *model.published_parameters,
                    100 * (static_cast<double>(count) - published) / published);
  }
  text += '\n';
  for (const std::string& source : model.sources) {
    text += fmt::format("  source   {}\n", source);
  }
  return text;
}

std::string ExplainLayout(const Blueprint& blueprint) {
  const ParallelSizes& sizes = blueprint.sizes;
  const absl::StatusOr<ParallelPlan> plan = ParallelPlan::Create(sizes);
  if (!plan.ok()) return {};
  const auto size = [&](ParallelDimension d) { return plan->GroupSize(d); };
  using D = ParallelDimension;
  return fmt::format(
      "layout     TP {} x CP {} x DP {} x PP {} = {} GPUs; ETP {}, EP {}, "
      "DP_EP {}; VPP {}, {} micro-batches\n",
      size(D::kTensor), size(D::kContext), size(D::kData) / size(D::kContext),
      size(D::kPipeline), sizes.num_ranks, size(D::kExpertTensor),
      size(D::kExpert), size(D::kDataExpert), sizes.virtual_stages,
      sizes.micro_batches);
}

std::string ExplainSchedule(const Blueprint& blueprint) {
  if (blueprint.sizes.pipeline == 1) return {};
  std::string text = fmt::format("schedule   {}\n", Name(blueprint.schedule));
  if (blueprint.schedule->holds_model_twice) {
    text +=
        "  weights  each part of the model is on two stages; that the "
        "gradients of the two are summed is left out\n";
  }
  return text;
}

std::string ExplainStages(const Blueprint& blueprint,
                          const ModuleTimes& times) {
  std::string text = fmt::format(
      "stages     (of one GPU; of one micro-batch{})\n",
      blueprint.schedule->holds_model_twice ? " in each direction" : "");
  int64_t first = 0;
  for (const ProgramStage& stage : blueprint.stages) {
    const StageTotals totals = Sum(blueprint, stage);
    const std::string name =
        stage.count == 1 ? fmt::format("{}", first)
                         : fmt::format("{}-{}", first, first + stage.count - 1);
    text += fmt::format(
        "  {:<8} {} parameters, {} of experts; {} kept for the backward pass",
        name, totals.parameters, totals.expert_parameters,
        Gib(static_cast<double>(totals.saved_bytes)));
    if (blueprint.forward_only) {
      text += fmt::format(", KV cache {}",
                          Gib(static_cast<double>(totals.kv_cache_bytes)));
    }
    text += fmt::format(
        "\n           forward {:.3f} TFLOP, backward {:.3f}, recomputed "
        "{:.3f}; "
        "compute {:.3f} us\n",
        totals.forward_flops * 1e-12, totals.backward_flops * 1e-12,
        totals.recompute_flops * 1e-12,
        ToMicroseconds(times.OfStage(blueprint, stage)));
    first += stage.count;
  }
  return text;
}

// Explains what all GPUs together compute in an iteration.
// Lists the constants by how much is known of them, but for those that the
// maker of the GPU states.
std::string ExplainGrades(const GpuSpec& gpu) {
  std::string text;
  for (const OriginGrade grade :
       {OriginGrade::kMeasured, OriginGrade::kDerived, OriginGrade::kGuessed}) {
    std::vector<std::string> names;
    for (const ConstantOrigin& origin : gpu.origins) {
      if (origin.grade != grade) continue;
      names.insert(names.end(), origin.constants.begin(),
                   origin.constants.end());
    }
    if (names.empty()) continue;
    text += fmt::format("  {:<8} {}\n", Name(grade), fmt::join(names, ", "));
  }
  return text;
}

std::string ExplainWork(const GpuSpec& gpu, const Blueprint& blueprint,
                        const ProgramWork& work, int64_t positions,
                        double load) {
  double flops = 0;
  for (const ProgramStage& stage : blueprint.stages) {
    const StageTotals totals = Sum(blueprint, stage);
    flops += static_cast<double>(stage.count) *
             (totals.forward_flops + totals.backward_flops);
  }
  // A micro-batch runs one of the two chunks of each stage.
  if (blueprint.schedule->holds_model_twice) flops /= 2;
  const ParallelSizes& sizes = blueprint.sizes;
  const int64_t ranks_of_stage = sizes.num_ranks / sizes.pipeline;
  flops *= static_cast<double>(ranks_of_stage) *
           static_cast<double>(sizes.micro_batches);
  const auto tokens = static_cast<double>(work.tokens);
  std::string text = fmt::format(
      "work       {} sequences of {} positions = {} tokens; {:.6g} TFLOP in "
      "all, {:.6g} GFLOP a token",
      work.tokens / positions, positions, work.tokens, flops * 1e-12,
      flops / tokens * 1e-9);
  if (!blueprint.forward_only) {
    text += fmt::format(" (6 N + attention: {:.6g})",
                        work.model_flops / tokens * 1e-9);
  }
  text +=
      fmt::format("\nGPU        {}; {}\n", gpu.name, gpu.calibration.origin);
  text += ExplainGrades(gpu);
  if (load < 1) {
    text += fmt::format(
        "  load     products and attention at {} of their rate alone\n", load);
  }
  return text;
}

std::string ExplainCollective(const ModuleStep& step) {
  const std::string_view when = step.when == StepWhen::kEach ? ""
                                : step.when == StepWhen::kFirst
                                    ? ", first micro-batch only"
                                    : ", last micro-batch only";
  if (step.kind == StepKind::kWait) {
    return fmt::format("      wait for {}\n",
                       Name(step.communication.dimension));
  }
  return fmt::format("      {} {} over {}, {} B{}\n", Name(step.kind),
                     Name(step.communication.kind),
                     Name(step.communication.dimension),
                     step.communication.bytes.count(), when);
}

std::string SourceOf(const OperatorTime& time) {
  if (time.from.empty()) return std::string(Name(time.source));
  return fmt::format("{} from {}", Name(time.source), time.from);
}

void ExplainPass(const MockModule& module, ModulePass pass,
                 const ModuleTimes& times, std::string& text) {
  const std::vector<ModuleStep>& steps = module.pass(pass);
  const std::vector<TimePs> step_times = times.StepTimes(module, pass);
  if (!steps.empty()) text += fmt::format("    {}\n", Name(pass));
  for (size_t i = 0; i < steps.size(); ++i) {
    const ModuleStep& step = steps[i];
    if (step.kind != StepKind::kCompute) {
      text += ExplainCollective(step);
      continue;
    }
    // Equal steps, such as parts of one product or steps of a ring, share one
    // line.
    size_t count = 1;
    while (i + 1 < steps.size() && steps[i + 1] == step) {
      ++count;
      ++i;
    }
    const OperatorTime time = times.TimeOf(step.op);
    const bool whole = times.IsMeasured(module, pass);
    // The time of a measured product is without load; training is slower.
    const bool is_loaded = times.load() < 1 &&
                           time.source != TimeSource::kRoofline &&
                           !std::holds_alternative<Stream>(step.op.shape);
    text += fmt::format(
        "      {:<18}{} {}{}: {:.6g} GFLOP, {:.6g} MB, {:.3f} us, {}\n",
        step.op.name, Name(step.op.precision),
        count == 1 ? "" : fmt::format("{} times ", count), FormatShape(step.op),
        Flops(step.op) * 1e-9, BytesMoved(step.op) * 1e-6,
        ToMicroseconds(step_times[i]),
        whole ? "measured as a share of the module"
              : fmt::format("{}{} (bound by {}, +-{:.0f} %)", SourceOf(time),
                            is_loaded ? " / training load" : "", time.bound,
                            100 * time.error));
  }
}

// Returns how often a micro-batch runs the module, over all stages.
int64_t Occurrences(const Blueprint& blueprint, size_t module) {
  int64_t count = 0;
  for (const ProgramStage& stage : blueprint.stages) {
    for (const ModuleRun& run : stage.runs) {
      for (const ModuleId id : run.modules) {
        if (id.index() == module) count += stage.count * run.times;
      }
    }
  }
  return count;
}

// Returns the FLOPs of a token in one layer that predicts a further token: its
// block, which is like the last one, the projection and the head.
double TokenPredictionFlops(const ModelSpec& model, int64_t positions) {
  ModelSpec shorter = model;
  --shorter.layers;
  const double block = TrainingFlopsPerToken(model, positions) -
                       TrainingFlopsPerToken(shorter, positions);
  constexpr double kPasses = 6;  // Two FLOPs in each of three products.
  return block +
         kPasses * static_cast<double>(model.hidden *
                                       (2 * model.hidden + model.vocabulary));
}

}  // namespace

std::string FormatShape(const Operator& op) {
  return std::visit(ShapeWriter(), op.shape);
}

double TrainingFlopsPerToken(const ModelSpec& model, int64_t positions) {
  // A look-up is not a product. A tied table takes part in one, for the logits.
  const int64_t looked_up =
      model.tied_embeddings ? 0 : model.vocabulary * model.hidden;
  const int64_t learned = model.positions == Positions::kLearned
                              ? model.max_positions * model.hidden
                              : 0;
  const auto products =
      static_cast<double>(CountActiveParameters(model) - looked_up - learned);
  double scores = 0;
  for (int64_t layer = 0; layer < model.layers; ++layer) {
    scores += std::visit(
        [=](const auto& kind) { return kind.Scores(layer, positions); },
        model.AttentionOf(layer));
  }
  return 6 * products + 6 * scores;
}

ProgramWork WorkOfTraining(const ModelSpec& model, const TrainingSetup& setup) {
  const int64_t tokens = setup.global_batch * setup.positions;
  const double flops = TrainingFlopsPerToken(model, setup.positions) +
                       static_cast<double>(setup.mtp_layers) *
                           TokenPredictionFlops(model, setup.positions);
  return {.tokens = tokens, .model_flops = flops * static_cast<double>(tokens)};
}

std::string ExplainBlueprint(const ModelSpec& model, const GpuSpec& gpu,
                             const Blueprint& blueprint,
                             const ProgramWork& work, int64_t positions,
                             const ModuleTimes& times) {
  std::string text = ExplainModel(model);
  text += ExplainLayout(blueprint);
  text += ExplainSchedule(blueprint);
  text += ExplainStages(blueprint, times);
  text += ExplainWork(gpu, blueprint, work, positions, times.load());
  if (blueprint.pipeline_message > Bytes(0)) {
    text += fmt::format("pipeline   a message of {} B between stages\n",
                        blueprint.pipeline_message.count());
  }
  text += "modules    (products are m x n x k)\n";
  for (size_t i = 0; i < blueprint.modules.size(); ++i) {
    const MockModule& module = blueprint.modules[i];
    const int64_t count = Occurrences(blueprint, i);
    text += fmt::format(
        "  {}, {}: {} parameters, {} B kept\n", module.name,
        count == 0 ? "after the micro-batches" : fmt::format("{} times", count),
        module.parameters + module.expert_parameters, module.saved_bytes);
    for (const ModulePass pass : kModulePasses) {
      ExplainPass(module, pass, times, text);
    }
  }
  return text;
}

}  // namespace astra
