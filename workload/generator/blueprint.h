// A workload before any operator is timed: its mocked modules, and how often
// each stage runs them. Programs, SimAI's text and --explain are made from a
// blueprint.

#ifndef WORKLOAD_GENERATOR_BLUEPRINT_H_
#define WORKLOAD_GENERATOR_BLUEPRINT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/base/expert_routing.h"
#include "astra-core/base/units.h"
#include "workload/modules/module.h"
#include "workload/program.h"

namespace astra {

// Returns the name of a module without the number that BlueprintBuilder::Add
// appends to distinguish modules of the same name.
std::string_view PlainName(std::string_view module);

struct Blueprint {
  ParallelSizes sizes;
  bool forward_only = false;
  bool sequence_parallel = false;
  PipelineSchedule schedule = DefaultSchedule(/*chunks=*/1);
  Bytes pipeline_message;
  std::optional<ExpertRouting> routing;  // Of a model with experts.
  std::vector<MockModule> modules;       // Modules; no two have the same name.
  // Pipeline stages; they refer to `modules`.
  std::vector<ProgramStage> stages;
};

// The parameters, memory and FLOPs of a stage in one micro-batch: sums over its
// modules, each counted as often as it runs.
struct StageTotals {
  int64_t parameters = 0;  // Parameters outside of experts.
  int64_t expert_parameters = 0;
  int64_t replicated_parameters = 0;
  int64_t summed_parameters = 0;
  int64_t saved_bytes = 0;
  int64_t kv_cache_bytes = 0;
  double forward_flops = 0;
  double backward_flops = 0;  // Without recomputation.
  double recompute_flops = 0;
};
StageTotals Sum(const Blueprint& blueprint, const ProgramStage& stage);

// Returns which of `blueprint.stages` pipeline stage `rank` is, or none beyond
// the last.
std::optional<size_t> StageOf(const Blueprint& blueprint, int64_t rank);

// Builds a blueprint module by module and stage by stage.
class BlueprintBuilder {
 public:
  explicit BlueprintBuilder(Blueprint blueprint)
      : blueprint_(std::move(blueprint)) {}

  // Returns the id of `module`. Adds the module unless an equal one exists.
  // Where a different module has its name, appends "_2", "_3", ... to the name.
  ModuleId Add(MockModule module);
  std::vector<ModuleId> AddAll(std::vector<MockModule> modules);

  // Returns the blueprint as built so far.
  const Blueprint& blueprint() const { return blueprint_; }

  // Appends a stage. If it equals the last stage, only counts that stage once
  // more.
  void AddStage(ProgramStage stage);

  Blueprint Take() { return std::move(blueprint_); }

 private:
  Blueprint blueprint_;
};

// Appends the next modules that a stage runs in `chunk` to `runs`. Equal
// successive runs of a chunk are counted together.
void AppendRun(std::vector<ModuleId> modules, std::vector<ModuleRun>& runs,
               int64_t chunk = 0);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_BLUEPRINT_H_
