#include "workload/program.h"

#include <algorithm>
#include <set>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "astra-core/base/field_error.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/parallel_plan.h"

namespace astra {
namespace {

PipelineShape ShapeOf(const ParallelSizes& sizes) {
  return {.stages = sizes.pipeline,
          .chunks = sizes.virtual_stages,
          .micro_batches = sizes.micro_batches};
}

PipelineShape SimulatedShape(const ProgramParts& parts) {
  return parts.schedule->simulates_stages ? ShapeOf(parts.sizes)
                                          : PipelineShape();
}

// Returns `step` without the fields that its kind does not use.
Step Normalised(const Step& step) {
  Step result;
  result.kind = step.kind;
  result.when = step.when;
  if (step.kind == StepKind::kCompute) {
    result.compute = step.compute;
  } else if (step.kind == StepKind::kWait) {
    result.communication.dimension = step.communication.dimension;
  } else {
    result.communication = step.communication;
  }
  return result;
}

// Returns the place of a mistake, such as "module "mlp", forward step 2".
std::string Place(const ProgramModule& module, ModulePass pass, size_t step) {
  return fmt::format("module {}, {} step {}", Quoted(module.name), Name(pass),
                     step + 1);
}

// Returns what is wrong with `step`; empty if nothing is.
std::string MistakeOf(const Step& step) {
  if (step.kind == StepKind::kCompute) {
    if (step.compute < TimePs(0) || step.compute > Program::kMaxCompute) {
      return fmt::format("the time is {}, expected 0 to {}", step.compute,
                         Program::kMaxCompute);
    }
    return "";
  }
  const auto& [kind, dimension, bytes] = step.communication;
  if (dimension == ParallelDimension::kPipeline) {
    return "over PP, where there is nothing but the pipeline message";
  }
  if (step.kind == StepKind::kWait) return "";
  if (kind == CollectiveKind::kSendRecv) {
    return "send-recv, which is for the pipeline message only";
  }
  if (bytes < Bytes(0) || bytes > Program::kMaxBytes) {
    return fmt::format("the size is {}, expected 0 to {}", bytes,
                       Program::kMaxBytes);
  }
  return "";
}

bool HasBackward(const ProgramModule& module) {
  return std::any_of(std::begin(kModulePasses), std::end(kModulePasses),
                     [&](ModulePass pass) {
                       return pass != ModulePass::kForward &&
                              !module.passes[IndexOf(pass)].empty();
                     });
}

bool HasBackwardCollective(const ProgramModule& module) {
  for (const ModulePass pass :
       {ModulePass::kInputGradient, ModulePass::kWeightGradient}) {
    for (const Step& step : module.passes[IndexOf(pass)]) {
      if (step.communication.bytes > Bytes(0)) return true;
    }
  }
  return false;
}

// Returns what is wrong with `memory`; empty if nothing is.
std::string MistakeOf(const ModuleMemory& memory) {
  const auto& [weights, gradients, optimizer, saved, workspace, cache] = memory;
  for (const Bytes bytes :
       {weights, gradients, optimizer, saved, workspace, cache}) {
    if (bytes >= Bytes(0) && bytes <= Program::kMaxMemory) continue;
    return fmt::format("memory of {}, expected 0 to {}", bytes,
                       Program::kMaxMemory);
  }
  return "";
}

// Returns what is wrong with the fields of module `m` that only layers of
// SimAI's text have; empty if nothing is.
std::string MistakeOfLayer(const ProgramParts& parts, size_t m) {
  const ProgramModule& layer = parts.modules[m];
  if (layer.update < TimePs(0) || layer.update > Program::kMaxCompute) {
    return fmt::format("the update takes {}, expected 0 to {}", layer.update,
                       Program::kMaxCompute);
  }
  if (layer.rerun_from && layer.rerun_from->index() > m) {
    return fmt::format("it reruns modules from {} on, which is behind it",
                       *layer.rerun_from);
  }
  const bool is_plain = layer.update == TimePs(0) && !layer.rerun_from;
  if (is_plain || !parts.schedule->simulates_stages) return "";
  return fmt::format("schedule {} has neither updates nor reruns",
                     Name(parts.schedule));
}

absl::Status CheckModules(const ProgramParts& parts) {
  std::set<std::string_view> names;
  for (size_t m = 0; m < parts.modules.size(); ++m) {
    const ProgramModule& module = parts.modules[m];
    const std::string path = fmt::format("modules.{}", m);
    if (module.name.empty() || !IsPlain(module.name)) {
      return FieldError(
          path + ".name",
          fmt::format("module {}: expected a name without control characters",
                      Quoted(module.name)));
    }
    const bool needs_own_name = parts.schedule->simulates_stages;
    if (needs_own_name && !names.insert(module.name).second) {
      return FieldError(path + ".name", fmt::format("module {} is there twice",
                                                    Quoted(module.name)));
    }
    for (const ModulePass pass : kModulePasses) {
      const std::vector<Step>& steps = module.passes[IndexOf(pass)];
      for (size_t i = 0; i < steps.size(); ++i) {
        const std::string mistake = MistakeOf(steps[i]);
        if (mistake.empty()) continue;
        return FieldError(
            fmt::format("{}.{}.{}", path, Name(pass), i),
            fmt::format("{}: {}", Place(module, pass, i), mistake));
      }
    }
    const std::string misplaced = MistakeOfLayer(parts, m);
    if (!misplaced.empty()) {
      return FieldError(
          path, fmt::format("module {}: {}", Quoted(module.name), misplaced));
    }
    const std::string mistake = MistakeOf(module.memory);
    if (!mistake.empty()) {
      return FieldError(
          path + ".memory",
          fmt::format("module {}: {}", Quoted(module.name), mistake));
    }
    if (parts.forward_only && HasBackward(module)) {
      return FieldError(
          path,
          fmt::format("module {} has a backward pass, but inference has none",
                      Quoted(module.name)));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckRouting(const ProgramParts& parts) {
  if (!parts.routing) return absl::OkStatus();
  const std::optional<RoutingMistake> mistake = FindMistake(*parts.routing);
  if (!mistake) return absl::OkStatus();
  return FieldError(fmt::format("routing.{}", mistake->field),
                    fmt::format("{} is {}: {}", mistake->field, mistake->value,
                                mistake->rule));
}

absl::Status CheckSchedule(const ProgramParts& parts) {
  const ParallelSizes& sizes = parts.sizes;
  if (parts.forward_only && sizes.virtual_stages > 1) {
    return FieldError(
        "sizes.vpp",
        fmt::format("vpp is {}, but inference has one chunk for each stage",
                    sizes.virtual_stages));
  }
  const ProgramGpu& gpu = parts.gpu;
  constexpr double kMost = 0.999;
  if (!(gpu.communication_slowdown >= 0 &&
        gpu.communication_slowdown <= kMost)) {
    return FieldError(
        "gpu.communication_slowdown",
        fmt::format("the slowdown by communication is {}, expected 0 to {}",
                    gpu.communication_slowdown, kMost));
  }
  const bool is_plausible = gpu.peak_tflops >= 0 &&
                            gpu.peak_tflops <= Program::kMaxTflops &&
                            parts.work.model_flops >= 0 &&
                            parts.work.model_flops <= Program::kMaxFlops;
  if (!is_plausible) {
    const bool is_peak = gpu.peak_tflops > Program::kMaxTflops;
    return FieldError(is_peak ? "gpu.peak_tflops" : "work.model_flops",
                      fmt::format("a peak of {} TFLOP/s and {} FLOPs of the "
                                  "model, expected 0 to {} and "
                                  "0 to {}",
                                  gpu.peak_tflops, parts.work.model_flops,
                                  Program::kMaxTflops, Program::kMaxFlops));
  }
  absl::Status shape = CheckShape(parts.schedule, ShapeOf(sizes));
  if (shape.ok()) return shape;
  return FieldError("schedule", std::string(shape.message()));
}

// The work of a stage, or of a part of it, in an iteration. With 128 bits, no
// product of two 64-bit numbers overflows.
struct Load {
  absl::int128 occurrences = 0;
  absl::int128 steps = 0;
  absl::int128 compute_ps = 0;
  absl::int128 bytes = 0;
  absl::int128 memory = 0;  // All kinds except `saved`.
  absl::int128 saved = 0;

  void Add(int64_t times, const Load& load) {
    occurrences += times * load.occurrences;
    steps += times * load.steps;
    compute_ps += times * load.compute_ps;
    bytes += times * load.bytes;
    memory += times * load.memory;
    saved += times * load.saved;
  }
};

Load LoadOf(const ProgramModule& module,
            absl::Span<const ModulePass> passes = kModulePasses) {
  Load load;
  load.occurrences = 1;
  const auto& [weights, gradients, optimizer, saved, workspace, cache] =
      module.memory;
  load.memory = (weights + gradients + optimizer + workspace + cache).count();
  load.saved = saved.count();
  for (const ModulePass pass : passes) {
    const std::vector<Step>& steps = module.passes[IndexOf(pass)];
    load.steps += steps.size();
    for (const Step& step : steps) {
      const bool computes = step.kind == StepKind::kCompute;
      const bool moves = !computes && step.kind != StepKind::kWait;
      load.compute_ps += computes ? step.compute.count() : 0;
      load.bytes += moves ? step.communication.bytes.count() : 0;
    }
  }
  return load;
}

// Checks the stages one by one and records which modules they run.
class StageChecker {
 public:
  explicit StageChecker(const ProgramParts& parts)
      : parts_(parts), is_run_(parts.modules.size()) {
    for (const ProgramModule& module : parts.modules) {
      loads_.push_back(LoadOf(module));
    }
    AddReruns();
  }

  absl::Status Check(const ProgramStage& stage) {
    ++number_;
    if (stage.count < 1) {
      return Error(
          fmt::format("the count is {}, expected at least 1", stage.count));
    }
    num_stages_ += stage.count;
    ASTRA_RETURN_IF_ERROR(CheckChunks(stage));
    Load load;
    for (const ModuleRun& run : stage.runs) {
      if (run.times < 1 || run.times > Program::kMaxOccurrences) {
        return Error(fmt::format("{} times, expected 1 to {}", run.times,
                                 Program::kMaxOccurrences));
      }
      ASTRA_RETURN_IF_ERROR(AddModules(run.modules, run.times, load));
    }
    if (load.occurrences == 0) return Error("it runs no module");
    for (const ModuleId id : stage.after) {
      if (id.index() >= loads_.size() || !HasBackward(module(id))) continue;
      return Error(fmt::format(
          "module {} of \"after\" has a backward pass, which would never run",
          Quoted(module(id).name)));
    }
    Load iteration;
    ASTRA_RETURN_IF_ERROR(AddModules(stage.after, 1, iteration));
    Load once = load;
    once.Add(1, iteration);
    iteration.Add(SimulatedShape(parts_).micro_batches, load);
    return CheckLoads(once, iteration);
  }

  absl::Status CheckAll() const {
    if (num_stages_ != parts_.sizes.pipeline) {
      return FieldError(
          "stages",
          fmt::format("the counts of the stages add up to {}, but PP is {}",
                      static_cast<int64_t>(num_stages_),
                      parts_.sizes.pipeline));
    }
    const auto idle = std::find(is_run_.begin(), is_run_.end(), false);
    if (idle == is_run_.end()) return absl::OkStatus();
    const auto index = static_cast<size_t>(idle - is_run_.begin());
    return FieldError(fmt::format("modules.{}", index),
                      fmt::format("module {} is run by no stage",
                                  Quoted(parts_.modules[index].name)));
  }

 private:
  const ProgramModule& module(ModuleId id) const {
    return parts_.modules[id.index()];
  }

  // Adds to each module that reruns others their forward load, as a difference
  // of prefix sums.
  void AddReruns() {
    const bool has_reruns = std::any_of(
        parts_.modules.begin(), parts_.modules.end(),
        [](const ProgramModule& module) { return module.rerun_from; });
    if (!has_reruns) return;
    std::vector<Load> sums(1);
    for (size_t m = 0; m < parts_.modules.size(); ++m) {
      Load forward = LoadOf(parts_.modules[m], {ModulePass::kForward});
      forward.memory = forward.saved = 0;
      forward.Add(1, sums.back());
      sums.push_back(forward);
    }
    for (size_t m = 0; m < parts_.modules.size(); ++m) {
      const std::optional<ModuleId> from = parts_.modules[m].rerun_from;
      if (!from) continue;
      loads_[m].Add(1, sums[m]);
      loads_[m].Add(-1, sums[from->index()]);
    }
  }

  absl::Status Error(std::string_view message) const {
    return FieldError(fmt::format("stages.{}", number_ - 1),
                      fmt::format("stage entry {}: {}", number_, message));
  }

  absl::Status CheckChunks(const ProgramStage& stage) const {
    const int64_t num_chunks = SimulatedShape(parts_).chunks;
    int64_t chunk = 0;
    for (const ModuleRun& run : stage.runs) {
      if (run.chunk < 0 || run.chunk >= num_chunks) {
        return Error(fmt::format("a run is of chunk {}, but vpp is {}",
                                 run.chunk, num_chunks));
      }
      if (run.chunk != chunk && run.chunk != chunk + 1) {
        return Error(fmt::format(
            "a run of chunk {} follows one of chunk {}, expected {} or {}",
            run.chunk, chunk, chunk, chunk + 1));
      }
      chunk = run.chunk;
    }
    if (stage.runs.empty() || chunk + 1 == num_chunks) return absl::OkStatus();
    return Error(fmt::format("chunk {} runs no module, but vpp is {}",
                             chunk + 1, num_chunks));
  }

  absl::Status AddModules(absl::Span<const ModuleId> ids, int64_t times,
                          Load& load) {
    for (const ModuleId id : ids) {
      if (id.index() >= loads_.size()) {
        return Error(fmt::format("module {} does not exist: there are {}", id,
                                 loads_.size()));
      }
      is_run_[id.index()] = true;
      load.Add(times, loads_[id.index()]);
    }
    return absl::OkStatus();
  }

  // `once` is the load of one micro-batch and `after`; `iteration` is the load
  // of all micro-batches and `after`.
  absl::Status CheckLoads(const Load& once, const Load& iteration) const {
    if (once.occurrences > Program::kMaxOccurrences) {
      return Error(fmt::format("it runs more than {} modules",
                               Program::kMaxOccurrences));
    }
    if (once.steps > Program::kMaxSteps) {
      return Error(
          fmt::format("it runs more than {} steps", Program::kMaxSteps));
    }
    if (iteration.compute_ps > Program::kMaxCompute.count()) {
      return Error(
          fmt::format("it computes for more than {}", Program::kMaxCompute));
    }
    if (once.memory > Program::kMaxBytes.count() ||
        iteration.saved > Program::kMaxBytes.count()) {
      return Error(fmt::format("its modules keep more than {} in all",
                               Program::kMaxBytes));
    }
    if (iteration.bytes > Program::kMaxBytes.count()) {
      return Error(fmt::format("its collectives are of more than {} in all",
                               Program::kMaxBytes));
    }
    return absl::OkStatus();
  }

  const ProgramParts& parts_;
  std::vector<Load> loads_;  // By module.
  std::vector<bool> is_run_;
  size_t number_ = 0;
  absl::int128 num_stages_ = 0;
};

}  // namespace

std::string_view Name(StepKind kind) {
  constexpr std::string_view kNames[] = {"compute", "blocking", "launch",
                                         "prefetch", "wait"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view Name(StepWhen when) {
  constexpr std::string_view kNames[] = {"each", "first", "last"};
  return kNames[static_cast<size_t>(when)];
}

std::string_view Name(ModulePass pass) {
  constexpr std::string_view kNames[] = {"forward", "recompute",
                                         "input_gradient", "weight_gradient"};
  return kNames[IndexOf(pass)];
}

const ProgramStage& Program::stage(int64_t stage) const {
  int64_t end = 0;
  for (const ProgramStage& each : parts_.stages) {
    end += each.count;
    if (stage < end) return each;
  }
  ASTRA_CHECK(false, "stage {} of {}", stage, end);
}

PipelineShape Program::shape() const { return SimulatedShape(parts_); }

absl::StatusOr<Program> Program::Create(ProgramParts parts) {
  ASTRA_RETURN_IF_ERROR(ParallelPlan::Create(parts.sizes).status());
  if (!parts.sizes.expert_tensor) {
    parts.sizes.expert_tensor = parts.sizes.tensor;
  }
  for (ProgramModule& module : parts.modules) {
    for (std::vector<Step>& steps : module.passes) {
      std::transform(steps.begin(), steps.end(), steps.begin(), Normalised);
    }
  }
  if (parts.pipeline_message < Bytes(0) ||
      parts.pipeline_message > Program::kMaxBytes) {
    return FieldError(
        "pipeline_message",
        fmt::format("the pipeline message is {}, expected 0 to {}",
                    parts.pipeline_message, Program::kMaxBytes));
  }
  ASTRA_RETURN_IF_ERROR(CheckSchedule(parts));
  ASTRA_RETURN_IF_ERROR(CheckRouting(parts));
  ASTRA_RETURN_IF_ERROR(CheckModules(parts));
  StageChecker stages(parts);
  for (const ProgramStage& stage : parts.stages) {
    ASTRA_RETURN_IF_ERROR(stages.Check(stage));
  }
  ASTRA_RETURN_IF_ERROR(stages.CheckAll());
  return Program(std::move(parts));
}

bool IsTraining(const Program& program) {
  if (program.forward_only()) return false;
  if (program.simulates_pipeline()) return true;
  const auto modules = program.modules();
  return std::any_of(modules.begin(), modules.end(), HasBackwardCollective);
}

}  // namespace astra
