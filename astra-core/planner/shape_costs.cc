#include "astra-core/planner/shape_costs.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "absl/types/span.h"
#include "astra-core/base/parallel_dimension.h"
#include "astra-core/base/status_macros.h"
#include "workload/generator/blueprint.h"
#include "workload/generator/training.h"
#include "workload/parallel_plan.h"
#include "workload/program.h"

namespace astra {
namespace {

// The clock of a rank that computes and runs collectives beside it.
class UnitClock {
 public:
  UnitClock(const ParallelSizes& sizes, GroupSeconds& groups)
      : sizes_(sizes), views_(ViewsOf(sizes)), groups_(groups) {}

  void Run(absl::Span<const ModuleStep> steps, absl::Span<const TimePs> times) {
    for (size_t i = 0; i < steps.size(); ++i) {
      const ModuleStep& step = steps[i];
      if (step.kind == StepKind::kCompute) {
        now_ += ToSeconds(times[i]);
        continue;
      }
      double& lane = lanes_[IndexOf(step.communication.dimension)];
      if (step.kind != StepKind::kWait) {
        lane = std::max(now_, lane) +
               groups_.Of(step.communication.kind,
                          GroupOf(step.communication.dimension),
                          step.communication.bytes.count());
      }
      const bool waits =
          step.kind == StepKind::kBlocking || step.kind == StepKind::kWait;
      if (waits) now_ = std::max(now_, lane);
    }
  }

  double now() const { return now_; }

 private:
  RankGroup GroupOf(ParallelDimension dimension) const {
    const auto of = [this](const AxisSizes& view, RankAxis axis) {
      return RankGroup{view[static_cast<size_t>(axis)],
                       StrideOf(sizes_.order, view, axis)};
    };
    switch (dimension) {
      case ParallelDimension::kTensor:
        return of(views_.dense, RankAxis::kTensor);
      case ParallelDimension::kContext:
        return of(views_.dense, RankAxis::kContext);
      case ParallelDimension::kExpert:
        return of(views_.expert, RankAxis::kExpert);
      case ParallelDimension::kExpertTensor:
        return of(views_.expert, RankAxis::kTensor);
      case ParallelDimension::kData:
      case ParallelDimension::kDataExpert:
      case ParallelDimension::kPipeline:
        break;
    }
    return {};
  }

  const ParallelSizes& sizes_;
  const RankViews views_;
  GroupSeconds& groups_;
  double now_ = 0;
  std::array<double, kNumParallelDimensions> lanes_{};
};

UnitCost CostOfRun(const Blueprint& blueprint, const ModuleRun& run,
                   const ModuleTimes& times, GroupSeconds& groups) {
  UnitCost cost;
  UnitClock forward(blueprint.sizes, groups);
  UnitClock backward(blueprint.sizes, groups);
  const auto pass = [&](const MockModule& module, ModulePass which,
                        UnitClock& clock) {
    clock.Run(module.pass(which), times.StepTimes(module, which));
  };
  for (const ModuleId id : run.modules) {
    const MockModule& module = blueprint.modules[id.index()];
    pass(module, ModulePass::kForward, forward);
    constexpr int64_t kWeightBytes = 2;
    cost.saved += module.memory.saved.count();
    cost.dense += module.parameters;
    cost.expert += module.expert_parameters;
    cost.casts += module.memory.weights.count() -
                  kWeightBytes * (module.parameters + module.expert_parameters);
  }
  for (auto id = run.modules.rbegin(); id != run.modules.rend(); ++id) {
    const MockModule& module = blueprint.modules[id->index()];
    pass(module, ModulePass::kRecompute, backward);
    pass(module, ModulePass::kInputGradient, backward);
    pass(module, ModulePass::kWeightGradient, backward);
  }
  cost.forward = forward.now();
  cost.backward = backward.now();
  return cost;
}

// Returns the least job of this shape: one stage, and as many replicas as the
// experts need ranks.
TrainingSetup SetupOfShape(const PlanJob& job, const Layout& layout) {
  Layout shape = layout;
  shape.pipeline = 1;
  shape.virtual_stages = 1;
  shape.zero = Zero::kOptimizer;
  shape.schedule = DefaultSchedule(1);
  TrainingSetup setup = SetupOf(job, shape);
  setup.zero = Zero::kOptimizer;  // Some frameworks have another one only.
  const int64_t ranks = layout.tensor * layout.context;
  setup.world_size = std::lcm(ranks, layout.expert * layout.expert_tensor);
  setup.global_batch = setup.data() * layout.micro_batch;
  setup.overlap_gradients = false;
  setup.overlap_parameters = false;
  setup.zero_group.reset();
  setup.stage_layers.clear();
  setup.first_stage_layers.reset();
  setup.last_stage_layers.reset();
  setup.account_for_embedding = false;
  setup.account_for_loss = false;
  return setup;
}

}  // namespace

UnitCost& UnitCost::operator+=(const UnitCost& other) {
  forward += other.forward;
  backward += other.backward;
  saved += other.saved;
  dense += other.dense;
  expert += other.expert;
  casts += other.casts;
  return *this;
}

UnitCost operator-(UnitCost a, const UnitCost& b) {
  a.forward -= b.forward;
  a.backward -= b.backward;
  a.saved -= b.saved;
  a.dense -= b.dense;
  a.expert -= b.expert;
  a.casts -= b.casts;
  return a;
}

absl::StatusOr<ShapeCosts> CostsOf(const PlanJob& job, const Layout& layout,
                                   const ModuleTimes& times,
                                   GroupSeconds& groups) {
  const TrainingSetup setup = SetupOfShape(job, layout);
  // Blocks behind the first of each kind cost the same as that one.
  std::vector<int64_t> likes;
  for (int64_t layer = 0; layer < job.model.layers; ++layer) {
    likes.push_back(FirstLike(job.model, layer));
  }
  ModelSpec model = job.model;
  model.layers = *std::max_element(likes.begin(), likes.end()) + 1;
  ASTRA_ASSIGN_OR_RETURN(const Blueprint blueprint,
                         TrainingBlueprint(model, setup));
  std::vector<UnitCost> units;
  for (const ModuleRun& run : blueprint.stages.front().runs) {
    const UnitCost cost = CostOfRun(blueprint, run, times, groups);
    units.insert(units.end(), static_cast<size_t>(run.times), cost);
  }
  ShapeCosts costs;
  costs.units.push_back(units.front());
  for (const int64_t like : likes) {
    costs.units.push_back(units[static_cast<size_t>(like) + 1]);
  }
  costs.units.push_back(units.back());
  costs.before.emplace_back();
  for (const UnitCost& unit : costs.units) {
    UnitCost sum = costs.before.back();
    costs.before.push_back(sum += unit);
  }
  costs.message_bytes =
      2 * setup.module_context().split_tokens() * job.model.hidden;
  ASTRA_RETURN_IF_ERROR(groups.TakeStatus());
  return costs;
}

}  // namespace astra
