// One way to spread the training of a model over a cluster, of those that the
// planner compares.

#ifndef ASTRA_CORE_PLANNER_LAYOUT_H_
#define ASTRA_CORE_PLANNER_LAYOUT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "astra-core/planner/recompute_choice.h"
#include "workload/generator/training_setup.h"
#include "workload/models/model_spec.h"
#include "workload/operators/gpu_spec.h"
#include "workload/pipeline/schedule.h"

namespace astra {

struct Layout {
  int64_t tensor = 1;
  int64_t context = 1;
  int64_t expert = 1;
  int64_t expert_tensor = 1;
  int64_t pipeline = 1;
  int64_t virtual_stages = 1;
  int64_t micro_batch = 1;
  Zero zero = Zero::kOptimizer;
  RecomputeChoice recompute;
  bool sequence_parallel = false;
  ContextMethod context_method = ContextMethod::kRing;  // With CP above 1.
  std::optional<Overlaps> overlaps;  // None: those of the framework.
  RankOrder order = {};
  PipelineSchedule schedule = DefaultSchedule(1);

  friend bool operator==(const Layout&, const Layout&) = default;
};

constexpr size_t kNumZeroStages = 4;

// What all layouts of a plan have in common.
struct PlanJob {
  ModelSpec model;
  GpuSpec gpu;
  // What the framework and the options say, by ZeRO stage. The sizes of the
  // groups and of the micro-batch are 1 in them.
  std::array<TrainingSetup, kNumZeroStages> setups;
  // By the ZeRO stage of a setup that SetupOf returns; see ModuleTimes.
  std::array<double, kNumZeroStages> loads{};
  Overlaps overlaps;               // Of the framework.
  bool fills_last_stages = false;  // See FillLastStages.
  bool stages_stay_whole = false;  // See KeepStagesWhole.

  int64_t num_gpus() const { return setups[0].world_size; }
};

std::string_view NameOf(ContextMethod method);

// Returns the names of what is hidden, or "none".
std::string JoinedNames(const Overlaps& overlaps,
                        std::string_view separator = "+");

// Returns how the job is trained with `layout`.
TrainingSetup SetupOf(const PlanJob& job, const Layout& layout);

// Returns the sizes that differ from 1, such as "TP 8 PP 4 DP 16, ZeRO 1,
// micro-batch 2".
std::string DescribeLayout(const PlanJob& job, const Layout& layout);

// Returns the options of gen_workload that make the layout.
std::vector<std::string> OptionsOf(const PlanJob& job, const Layout& layout);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_LAYOUT_H_
