#include "astra-core/apps/analytical_work.h"

#include <cstdint>
#include <filesystem>
#include <system_error>
#include <vector>

#include "workload/pipeline/schedule.h"

namespace astra {
namespace {

// Measured costs; see docs/performance.md.
constexpr double kTextBytesPerCable = 32;
constexpr double kSecondsPerCable = 3e-6;
constexpr double kBytesPerCable = 400;
constexpr double kSecondsPerStep = 1.5e-6;
constexpr double kBytesPerStep = 180;

// Returns the steps that all stages run for one micro-batch, with repeats.
double StepsOfMicroBatch(const Program& program) {
  double steps = 0;
  for (const ProgramStage& stage : program.stages()) {
    for (const ModuleRun& run : stage.runs) {
      double once = 0;
      for (const ModuleId id : run.modules) {
        for (const std::vector<Step>& pass : program.module(id).passes) {
          once += static_cast<double>(pass.size());
        }
      }
      steps += static_cast<double>(stage.count) *
               static_cast<double>(run.times) * once;
    }
  }
  return steps;
}

}  // namespace

double EstimateCables(const RunOptions& options, const Program& program) {
  if (!options.topology_file) {
    constexpr double kCablesPerGpu = 2;  // To an NVSwitch and to a switch.
    return kCablesPerGpu * static_cast<double>(program.sizes().num_ranks);
  }
  std::error_code error;
  const uintmax_t size =
      std::filesystem::file_size(*options.topology_file, error);
  return error ? 0 : static_cast<double>(size) / kTextBytesPerCable;
}

WorkBudget AnalyticalWork(const Program& program, double num_cables,
                          bool is_whole) {
  WorkBudget work = {.seconds = kSecondsPerCable * num_cables,
                     .memory_bytes = kBytesPerCable * num_cables};
  if (!program.simulates_pipeline()) return work;
  if (is_whole || !program.schedule()->has_steady_state) {
    const double steps = StepsOfMicroBatch(program) *
                         static_cast<double>(program.sizes().micro_batches);
    work.seconds += kSecondsPerStep * steps;
    work.memory_bytes += kBytesPerStep * steps;
  }
  return work;
}

}  // namespace astra
