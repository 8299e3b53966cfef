#include "workload/generator/timed_program.h"

#include <cmath>
#include <utility>
#include <vector>

namespace astra {
namespace {

std::vector<Step> TimedSteps(const MockModule& module, ModulePass pass,
                             const ModuleTimes& times) {
  const std::vector<TimePs> step_times = times.StepTimes(module, pass);
  const std::vector<ModuleStep>& steps = module.pass(pass);
  std::vector<Step> timed;
  for (size_t i = 0; i < steps.size(); ++i) {
    const bool continues = steps[i].kind == StepKind::kCompute &&
                           !timed.empty() &&
                           timed.back().kind == StepKind::kCompute;
    if (continues) {
      timed.back().compute += step_times[i];
      continue;
    }
    Step step;
    step.kind = steps[i].kind;
    step.when = steps[i].when;
    step.compute = step_times[i];
    step.communication = steps[i].communication;
    timed.push_back(step);
  }
  return timed;
}

}  // namespace

ProgramGpu ProgramGpuOf(const GpuSpec& gpu, Precision precision) {
  // HBM comes in stacks of powers of two: the "80 GB" of a data sheet are 80
  // GiB.
  constexpr double kGiB = 0x1p30;
  return {
      .memory = Bytes(std::llround(gpu.memory_gb * kGiB)),
      .peak_tflops = gpu.peak_tflops[IndexOf(precision)],
      .communication_slowdown = gpu.calibration.communication_slowdown,
      .name = gpu.name,
  };
}

absl::StatusOr<Program> TimeProgram(const Blueprint& blueprint,
                                    const ModuleTimes& times,
                                    const ProgramGpu& gpu,
                                    const ProgramWork& work) {
  ProgramParts parts;
  parts.sizes = blueprint.sizes;
  parts.forward_only = blueprint.forward_only;
  parts.schedule = blueprint.schedule;
  parts.gpu = gpu;
  parts.work = work;
  parts.routing = blueprint.routing;
  parts.pipeline_message = blueprint.pipeline_message;
  parts.stages = blueprint.stages;
  for (const MockModule& module : blueprint.modules) {
    ProgramModule timed;
    timed.name = module.name;
    timed.memory = module.memory;
    for (const ModulePass pass : kModulePasses) {
      timed.passes[IndexOf(pass)] = TimedSteps(module, pass, times);
    }
    parts.modules.push_back(std::move(timed));
  }
  return Program::Create(std::move(parts));
}

}  // namespace astra
