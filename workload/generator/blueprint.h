// A workload before anything is timed: mocked modules, and which stage runs
// them how often. From it come programs, SimAI's text, and --explain.

#ifndef WORKLOAD_GENERATOR_BLUEPRINT_H_
#define WORKLOAD_GENERATOR_BLUEPRINT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/base/units.h"
#include "workload/modules/module.h"
#include "workload/program.h"

namespace astra {

// The name of a module without the number that tells it from others of that
// name; see BlueprintBuilder::Add.
std::string_view PlainName(std::string_view module);

struct Blueprint {
  ParallelSizes sizes;
  bool forward_only = false;
  bool sequence_parallel = false;
  PipelineSchedule schedule = PipelineSchedule::k1F1B;
  Bytes pipeline_message;
  std::vector<MockModule> modules;   // No two of one name.
  std::vector<ProgramStage> stages;  // Of `modules`.
};

// What a stage holds and runs in one micro-batch: sums over its modules, each
// as often as it runs.
struct StageTotals {
  int64_t parameters = 0;  // Outside of experts.
  int64_t expert_parameters = 0;
  int64_t replicated_parameters = 0;
  int64_t summed_parameters = 0;
  int64_t saved_bytes = 0;
  int64_t kv_cache_bytes = 0;
  double forward_flops = 0;
  double backward_flops = 0;  // Without what is recomputed.
  double recompute_flops = 0;
};
StageTotals Sum(const Blueprint& blueprint, const ProgramStage& stage);

// Which of `blueprint.stages` pipeline stage `rank` is; none beyond the last.
std::optional<size_t> StageOf(const Blueprint& blueprint, int64_t rank);

// Puts a blueprint together.
class BlueprintBuilder {
 public:
  explicit BlueprintBuilder(Blueprint blueprint)
      : blueprint_(std::move(blueprint)) {}

  // The id of `module`, which is added unless an equal one is there. Where
  // another has its name, "_2", "_3", ... is appended.
  ModuleId Add(MockModule module);
  std::vector<ModuleId> AddAll(std::vector<MockModule> modules);

  // What there is so far.
  const Blueprint& blueprint() const { return blueprint_; }

  // Appends a stage, or counts the last one once more if it is the same.
  void AddStage(ProgramStage stage);

  Blueprint Take() { return std::move(blueprint_); }

 private:
  Blueprint blueprint_;
};

// Appends to `runs` what a stage runs next, in `chunk`; successive equal runs
// of a chunk are then counted together.
void AppendRun(std::vector<ModuleId> modules, std::vector<ModuleRun>& runs,
               int64_t chunk = 0);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_BLUEPRINT_H_
