#include "astra-core/apps/generated_workload.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/generator/explain.h"
#include "workload/generator/inference.h"
#include "workload/generator/timed_program.h"
#include "workload/generator/training.h"
#include "workload/operators/aiob_file.h"
#include "workload/operators/roofline.h"

namespace astra {
namespace {

absl::StatusOr<Blueprint> MakeBlueprint(const GenWorkloadOptions& options) {
  if (const auto* setup = std::get_if<TrainingSetup>(&options.setup)) {
    return TrainingBlueprint(options.model, *setup);
  }
  return InferenceBlueprint(options.model,
                            std::get<InferenceSetup>(options.setup));
}

absl::Status CheckPrecision(const GenWorkloadOptions& options) {
  const Precision precision = std::visit(
      [](const auto& setup) { return setup.precision; }, options.setup);
  if (options.gpu.peak_tflops[IndexOf(precision)] == 0) {
    return absl::InvalidArgumentError(
        fmt::format("--dtype {}: {} has no products of that precision",
                    Name(precision), options.gpu.name));
  }
  return absl::OkStatus();
}

// Returns the operators of `blueprint`, each name and shape once, in order.
std::vector<Operator> OperatorsOf(const Blueprint& blueprint) {
  std::vector<Operator> all;
  for (const MockModule& module : blueprint.modules) {
    for (const std::vector<ModuleStep>& steps : module.passes) {
      for (const ModuleStep& step : steps) {
        if (step.kind != StepKind::kCompute) continue;
        if (std::find(all.begin(), all.end(), step.op) == all.end()) {
          all.push_back(step.op);
        }
      }
    }
  }
  return all;
}

// Warns if --attention-speed changes no time, because no attention of
// `blueprint` depends on the speed of its kernels, as in most decode steps.
void WarnOfAttentionSpeed(const GenWorkloadOptions& options,
                          const Blueprint& blueprint, Warnings* warnings) {
  if (options.attention_speed == 1) return;
  GpuSpec unchanged = options.gpu;
  unchanged.calibration.attention_forward /= options.attention_speed;
  unchanged.calibration.attention_backward /= options.attention_speed;
  const Roofline changed_times(options.gpu);
  const Roofline unchanged_times(unchanged);
  for (const Operator& op : OperatorsOf(blueprint)) {
    if (std::holds_alternative<Attention>(op.shape) &&
        changed_times.TimeOf(op).time != unchanged_times.TimeOf(op).time) {
      return;
    }
  }
  warnings->push_back(
      "--attention-speed has no effect: attention is bound by memory, or by "
      "the start of its kernel");
}

// Warns if --engine changes no time.
void WarnOfEngine(const FusedKernels& fused, const Blueprint& blueprint,
                  Warnings* warnings) {
  for (const Operator& op : OperatorsOf(blueprint)) {
    if (fused.Has(op.name)) return;
  }
  warnings->push_back(
      "--engine has no effect: it fuses no operator of the step");
}

// Warns of operators whose sizes lie outside of those that trees were fitted
// to, and of trees that time no operator.
void WarnOfTrees(const FittedModel& fitted, const Blueprint& blueprint,
                 Warnings* warnings) {
  size_t timed = 0, outside = 0;
  std::string names;
  for (const Operator& op : OperatorsOf(blueprint)) {
    if (fitted.operators().Find(ClassOf(op)) == nullptr) continue;
    ++timed;
    if (fitted.TimeOf(op).source != TimeSource::kExtrapolated) continue;
    ++outside;
    constexpr size_t kMostNames = 5;
    if (outside <= kMostNames) names += fmt::format(" {}", op.name);
    if (outside == kMostNames + 1) names += " ...";
  }
  if (timed == 0) {
    warnings->push_back(
        "--operator-table: the trees have no effect: no operator of the "
        "workload is of one of their classes");
  } else if (outside > 0) {
    warnings->push_back(fmt::format(
        "--operator-table: of {} operators that trees time, {} have sizes "
        "outside of those that were sampled:{}",
        timed, outside, names));
  }
}

absl::StatusOr<ModuleTimes> TimesOf(const GenWorkloadOptions& options,
                                    const Blueprint& blueprint,
                                    const ComputeModel& model,
                                    Warnings* warnings) {
  WarnOfAttentionSpeed(options, blueprint, warnings);
  if (options.has_engine) WarnOfEngine(options.fused, blueprint, warnings);
  if (!options.aiob_file) {
    return ModuleTimes(model, options.load, {}, options.fused);
  }
  ASTRA_ASSIGN_OR_RETURN(const AiobFile file, ReadAiob(*options.aiob_file));
  return ModuleTimes(model, options.load, ModulesOf(file, blueprint, warnings),
                     options.fused);
}

}  // namespace

absl::StatusOr<GeneratedWorkload> GenerateWorkload(
    const GenWorkloadOptions& options, Warnings* warnings) {
  ASTRA_RETURN_IF_ERROR(CheckPrecision(options));
  ASTRA_ASSIGN_OR_RETURN(Blueprint blueprint, MakeBlueprint(options));
  const KernelUse use = std::holds_alternative<InferenceSetup>(options.setup)
                            ? KernelUse::kInference
                            : KernelUse::kTraining;
  ASTRA_ASSIGN_OR_RETURN(
      std::unique_ptr<GpuTimes> gpu_times,
      GpuTimes::Create(options.gpu, options.operator_tables, options.table_gpu,
                       {.use = use,
                        .attention = options.attention_speed == 1,
                        .engine = options.engine},
                       warnings));
  if (gpu_times->fitted() != nullptr) {
    WarnOfTrees(*gpu_times->fitted(), blueprint, warnings);
  }
  ASTRA_ASSIGN_OR_RETURN(
      ModuleTimes times,
      TimesOf(options, blueprint, gpu_times->model(), warnings));
  return GeneratedWorkload{std::move(blueprint), std::move(gpu_times),
                           std::move(times)};
}

absl::StatusOr<Program> ProgramOf(const GenWorkloadOptions& options,
                                  const Blueprint& blueprint,
                                  const ModuleTimes& times) {
  const Precision precision = std::visit(
      [](const auto& setup) { return setup.precision; }, options.setup);
  return TimeProgram(blueprint, times, ProgramGpuOf(options.gpu, precision),
                     WorkOf(options));
}

Batch BatchOf(const GenWorkloadOptions& options) {
  if (const auto* setup = std::get_if<TrainingSetup>(&options.setup)) {
    return {setup->global_batch, setup->positions};
  }
  const auto& setup = std::get<InferenceSetup>(options.setup);
  const int64_t replicas = setup.world_size / (setup.tensor * setup.pipeline);
  const bool decodes = setup.phase == InferencePhase::kDecode;
  return {setup.batch * replicas, decodes ? 1 : setup.positions};
}

ProgramWork WorkOf(const GenWorkloadOptions& options) {
  if (const auto* setup = std::get_if<TrainingSetup>(&options.setup)) {
    return WorkOfTraining(options.model, *setup);
  }
  const auto [sequences, positions] = BatchOf(options);
  return {.tokens = sequences * positions};
}

}  // namespace astra
