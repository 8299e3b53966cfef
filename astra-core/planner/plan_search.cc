#include "astra-core/planner/plan_search.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <queue>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/planner/layout_estimate.h"
#include "astra-core/planner/pipeline_shape.h"
#include "astra-core/planner/plan_rules.h"
#include "astra-core/planner/shape_costs.h"
#include "workload/generator/module_times.h"
#include "workload/parallel_plan.h"

namespace astra {
namespace {

bool IsSharded(Zero zero) { return zero >= Zero::kGradients; }

// The times of the job's GPU under one load.
struct LoadedTimes {
  LoadedTimes(const ComputeModel& model, double load)
      : times(model, load), optimizer(times) {}

  ModuleTimes times;
  OptimizerRates optimizer;
};

// Layouts that differ in the schedule, the chunks and the ZeRO stage only.
struct Node {
  double bound = 0;
  int64_t number = 0;  // Of the first layout.
  uint32_t costs = 0;  // Position among all costs,
  uint32_t again = 0;  // and of those if all blocks run again.
  int32_t pipeline = 1;
  bool is_sharded = false;
};

// Returns a rule without its numbers, so that equal rules count together.
std::string RuleOf(const absl::Status& status) {
  std::string rule;
  bool was_digit = false;
  for (const char c : status.message()) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit) rule += c;
    if (is_digit && !was_digit) rule += 'N';
    was_digit = is_digit;
  }
  return rule;
}

// Returns the choice whose costs are those of blocks that `recompute` does not
// run again, or of all blocks if it does not leave out any.
RecomputeChoice WithoutNumber(const RecomputeChoice& recompute) {
  if (recompute.IsPartial()) return {};
  return {.kind = recompute.kind, .modules = recompute.modules};
}

class PlanSearch {
 public:
  PlanSearch(const PlanJob& job, const PlanSpace& space,
             const SearchOptions& options, const ComputeModel& model,
             GroupSeconds& groups)
      : job_(job),
        space_(space),
        options_(options),
        groups_(groups),
        cuts_(job),
        whole_(model, job.loads[static_cast<size_t>(Zero::kOptimizer)]),
        sharded_(model, job.loads[static_cast<size_t>(Zero::kParameters)]) {
    for (const Zero zero : space.zero) {
      (IsSharded(zero) ? num_sharded_ : num_whole_) += 1;
    }
    inner_ = Count(space.virtual_stages) * Count(space.schedules);
    below_ = Count(space.pipeline) * inner_ * (num_whole_ + num_sharded_);
    for (const RecomputeChoice& choice : space.recompute) {
      has_none_ |= choice == RecomputeChoice();
      has_full_ |= choice == RecomputeChoice{.kind = Recompute::kFull};
    }
  }

  absl::StatusOr<SearchResult> Run() {
    ASTRA_RETURN_IF_ERROR(MakeNodes());
    std::sort(nodes_.begin(), nodes_.end(), [](const Node& a, const Node& b) {
      return std::pair(a.bound, a.number) < std::pair(b.bound, b.number);
    });
    for (const Node& node : nodes_) {
      if (!options_.exhaustive && best_.size() == options_.most &&
          node.bound > best_.top().seconds) {
        result_.beyond_bound += NumZeros(node) * inner_;
        continue;
      }
      ASTRA_RETURN_IF_ERROR(Visit(node));
    }
    ASTRA_RETURN_IF_ERROR(groups_.TakeStatus());
    while (!best_.empty()) {
      result_.best.push_back(best_.top());
      best_.pop();
    }
    std::reverse(result_.best.begin(), result_.best.end());
    return std::move(result_);
  }

 private:
  struct KnownCosts {
    RecomputeChoice recompute;
    bool is_sharded;
    uint32_t costs;
  };

  struct IsFaster {
    bool operator()(const EstimatedLayout& a, const EstimatedLayout& b) const {
      return std::pair(a.seconds, a.number) < std::pair(b.seconds, b.number);
    }
  };

  template <class T>
  static int64_t Count(const std::vector<T>& values) {
    return static_cast<int64_t>(values.size());
  }

  // Returns whether every micro-batch gathers or reduces with `zero`.
  bool ActsSharded(Zero zero, int64_t pipeline) const {
    return IsSharded(zero) && !(job_.stages_stay_whole && pipeline > 1);
  }

  // Returns how many ZeRO stages of the space act so.
  int64_t NumZeros(bool is_sharded, int64_t pipeline) const {
    if (ActsSharded(Zero::kParameters, pipeline)) {
      return is_sharded ? num_sharded_ : num_whole_;
    }
    return is_sharded ? 0 : num_whole_ + num_sharded_;
  }
  int64_t NumZeros(const Node& node) const {
    return NumZeros(node.is_sharded, node.pipeline);
  }

  void Refuse(PlanRule rule, int64_t count) {
    Refuse(rule, kPlanRuleTexts[static_cast<size_t>(rule)], count);
  }
  void Refuse(PlanRule rule, std::string_view text, int64_t count) {
    if (count <= 0) return;
    const std::string name(text);
    const int64_t total = result_.illegal[name] += count;
    const bool is_most =
        rule == last_rule_ && total > result_.illegal[result_.last_rule];
    if (rule <= last_rule_ && !is_most) return;
    last_rule_ = rule;
    result_.last_rule = name;
  }

  // Returns number `index` of the choices of what decides about a
  // micro-batch's costs. Neighbours differ in recomputation only. SP without TP
  // and the method of CP 1 are as the space has them.
  Layout ChoiceAt(int64_t index) const {
    const auto next = [&index](const auto& values) {
      const int64_t count = Count(values);
      return values[static_cast<size_t>(std::exchange(index, index / count) %
                                        count)];
    };
    Layout layout;
    layout.recompute = next(space_.recompute);
    layout.overlaps = next(space_.overlaps);
    layout.order = next(space_.orders);
    layout.sequence_parallel = next(space_.sequence_parallel);
    layout.context_method = next(space_.context_methods);
    layout.micro_batch = next(space_.micro_batch);
    layout.expert_tensor = next(space_.expert_tensor);
    layout.expert = next(space_.expert);
    layout.context = next(space_.context);
    layout.tensor = next(space_.tensor);
    if (layout.expert_tensor == 0) layout.expert_tensor = layout.tensor;
    return layout;
  }

  Layout ShapeAt(int64_t index) const {
    Layout layout = ChoiceAt(index);
    layout.sequence_parallel &= layout.tensor > 1;
    if (layout.context == 1) layout.context_method = ContextMethod::kRing;
    return layout;
  }

  // Returns the rule by which a shape repeats another one, if it does.
  std::optional<PlanRule> RepeatedBy(const Layout& layout) const {
    const bool has_both = space_.sequence_parallel.size() > 1;
    if (has_both && layout.sequence_parallel && layout.tensor == 1) {
      return PlanRule::kNoTensor;
    }
    const bool is_first =
        layout.context_method == space_.context_methods.front();
    if (layout.context == 1 && !is_first) return PlanRule::kNoContext;
    return std::nullopt;
  }

  // Makes the nodes, and counts the layouts of all others as illegal.
  absl::Status MakeNodes() {
    const int64_t shapes = space_.size() / below_;
    for (int64_t i = 0; i < shapes; ++i) {
      if (i % Count(space_.recompute) == 0) known_.clear();
      const std::optional<PlanRule> repeated = RepeatedBy(ChoiceAt(i));
      if (repeated) {
        Refuse(*repeated, below_);
        continue;
      }
      ASTRA_RETURN_IF_ERROR(MakeNodes(ShapeAt(i), i * below_));
    }
    return absl::OkStatus();
  }

  absl::Status MakeNodes(const Layout& layout, int64_t number) {
    for (const int64_t pipeline : space_.pipeline) {
      const int64_t inner = inner_ * (num_whole_ + num_sharded_);
      const int64_t first = std::exchange(number, number + inner);
      const std::optional<PlanRule> broken = BrokenRule(layout, pipeline);
      if (broken) {
        Refuse(*broken, inner);
        continue;
      }
      for (const bool is_sharded : {false, true}) {
        if (NumZeros(is_sharded, pipeline) == 0) continue;
        if (is_sharded && pipeline > 1) {
          Refuse(PlanRule::kSharding, inner_ * num_sharded_);
          continue;
        }
        const absl::Status added = AddNode(layout, pipeline, is_sharded, first);
        if (absl::IsFailedPrecondition(added)) {
          // The rule holds for all pipelines, those counted before aside.
          RefuseRest(RuleOf(added), layout, pipeline);
          return absl::OkStatus();
        }
        ASTRA_RETURN_IF_ERROR(added);
      }
    }
    return absl::OkStatus();
  }

  // Counts the layouts with the pipelines from `pipeline` on as illegal by a
  // rule of training, unless they break another rule first.
  void RefuseRest(const std::string& rule, const Layout& layout,
                  int64_t pipeline) {
    const int64_t inner = inner_ * (num_whole_ + num_sharded_);
    for (const int64_t other : space_.pipeline) {
      if (other < pipeline) continue;
      const std::optional<PlanRule> broken = BrokenRule(layout, other);
      if (broken) {
        Refuse(*broken, inner);
      } else {
        Refuse(PlanRule::kTraining, rule, inner);
      }
    }
  }

  std::optional<PlanRule> BrokenRule(const Layout& layout,
                                     int64_t pipeline) const {
    const int64_t ranks = layout.tensor * layout.context * pipeline;
    const int64_t gpus = job_.num_gpus();
    if (ranks > gpus || gpus % ranks != 0) return PlanRule::kWorld;
    const int64_t stage = gpus / pipeline;
    if (stage % (layout.expert * layout.expert_tensor) != 0) {
      return PlanRule::kExperts;
    }
    const int64_t pass = gpus / ranks * layout.micro_batch;
    if (job_.setups[0].global_batch % pass != 0) return PlanRule::kBatch;
    const bool has_orders =
        space_.orders.size() > 1 || layout.order != RankOrder();
    return has_orders ? BrokenByOrder(layout, pipeline) : std::nullopt;
  }

  std::optional<PlanRule> BrokenByOrder(Layout layout, int64_t pipeline) const {
    layout.pipeline = pipeline;
    const ParallelSizes sizes = SetupOf(job_, layout).sizes();
    if (!ParallelPlan::Create(sizes).ok()) return PlanRule::kOrderOfStages;
    for (const RankOrder& order : space_.orders) {
      if (order == layout.order) break;
      if (NumbersAlike(sizes, order)) return PlanRule::kSameOrder;
    }
    return std::nullopt;
  }

  // Returns the position of the costs of a layout, of which its recomputation
  // is that of all blocks or none.
  absl::StatusOr<uint32_t> FindCosts(const Layout& layout, bool is_sharded) {
    for (const KnownCosts& known : known_) {
      if (known.is_sharded == is_sharded &&
          known.recompute == layout.recompute) {
        return known.costs;
      }
    }
    const LoadedTimes& times = is_sharded ? sharded_ : whole_;
    ASTRA_ASSIGN_OR_RETURN(ShapeCosts costs,
                           CostsOf(job_, layout, times.times, groups_));
    costs_.push_back(std::move(costs));
    known_.push_back({layout.recompute, is_sharded,
                      static_cast<uint32_t>(costs_.size() - 1)});
    return known_.back().costs;
  }

  // Errors: those of CostsOf.
  absl::Status AddNode(const Layout& layout, int64_t pipeline, bool is_sharded,
                       int64_t number) {
    Node node;
    Layout priced = layout;
    priced.recompute = WithoutNumber(layout.recompute);
    ASTRA_ASSIGN_OR_RETURN(node.costs, FindCosts(priced, is_sharded));
    node.again = node.costs;
    if (layout.recompute.IsPartial()) {
      priced.recompute = {.kind = Recompute::kFull};
      ASTRA_ASSIGN_OR_RETURN(node.again, FindCosts(priced, is_sharded));
    }
    node.is_sharded = is_sharded;
    node.pipeline = static_cast<int32_t>(pipeline);
    node.number = number;
    // Sums in another order may differ in the last digits.
    constexpr double kRounding = 1 - 1e-9;
    node.bound = kRounding * LeastSeconds(costs_[node.costs], pipeline,
                                          MicroBatches(layout, pipeline));
    nodes_.push_back(node);
    return absl::OkStatus();
  }

  int64_t MicroBatches(const Layout& layout, int64_t pipeline) const {
    const int64_t data =
        job_.num_gpus() / (layout.tensor * layout.context * pipeline);
    return job_.setups[0].global_batch / (data * layout.micro_batch);
  }

  // Estimates the layouts of a node.
  absl::Status Visit(const Node& node) {
    Layout layout = ShapeAt(node.number / below_);
    layout.pipeline = node.pipeline;
    const int64_t micro_batches = MicroBatches(layout, node.pipeline);
    int64_t number = node.number;
    for (const int64_t virtual_stages : space_.virtual_stages) {
      layout.virtual_stages = virtual_stages;
      for (const PipelineSchedule schedule : space_.schedules) {
        layout.schedule = schedule;
        const int64_t first =
            std::exchange(number, number + num_whole_ + num_sharded_);
        const bool has_chunks = schedule->has_virtual_stages;
        if (has_chunks != (virtual_stages > 1)) {
          Refuse(PlanRule::kChunks, NumZeros(node));
          continue;
        }
        if (node.pipeline == 1 && schedule != DefaultSchedule(1)) {
          Refuse(PlanRule::kNoPipeline, NumZeros(node));
          continue;
        }
        const absl::StatusOr<const PipelineCut*> cut =
            cuts_.Find(layout, micro_batches);
        if (!cut.ok()) {
          if (!absl::IsFailedPrecondition(cut.status())) return cut.status();
          Refuse(PlanRule::kCut, RuleOf(cut.status()), NumZeros(node));
          continue;
        }
        if (layout.recompute.layers > (*cut)->most_layers) {
          Refuse(PlanRule::kLayers, NumZeros(node));
          continue;
        }
        VisitZeros(node, **cut, layout, first);
      }
    }
    return absl::OkStatus();
  }

  void VisitZeros(const Node& node, const PipelineCut& cut, Layout layout,
                  int64_t number) {
    const RecomputeChoice recompute = layout.recompute;
    for (const Zero zero : space_.zero) {
      ++number;
      if (ActsSharded(zero, node.pipeline) != node.is_sharded) continue;
      layout.zero = zero;
      layout.recompute = recompute;
      const TrainingSetup setup = SetupOf(job_, layout);
      if (RepeatsOverlaps(layout, setup)) {
        Refuse(PlanRule::kSameOverlap, 1);
        continue;
      }
      const LayoutParts parts = {layout, setup, costs_[node.costs], cut,
                                 costs_[node.again]};
      if (layout.recompute.just_fits && !SetLeastBlocks(parts, layout)) {
        continue;
      }
      const int64_t bytes = EstimateMemory(parts);
      if (result_.least.bytes == 0 || bytes < result_.least.bytes) {
        result_.least = {layout, 0, bytes, number - 1};
      }
      if (bytes > options_.memory_bytes) {
        ++result_.beyond_memory;
        continue;
      }
      ++result_.estimated;
      const OptimizerRates& rates =
          (node.is_sharded ? sharded_ : whole_).optimizer;
      Keep({layout, EstimateSeconds(parts, rates, groups_), bytes, number - 1});
    }
  }

  // Returns whether earlier overlaps of the space are the same for `layout`.
  bool RepeatsOverlaps(const Layout& layout, const TrainingSetup& setup) const {
    for (const std::optional<Overlaps>& overlaps : space_.overlaps) {
      if (overlaps == layout.overlaps) return false;
      Layout other = layout;
      other.overlaps = overlaps;
      if (OverlapsOf(SetupOf(job_, other)) == OverlapsOf(setup)) return true;
    }
    return false;
  }

  // Sets the number of blocks with which `layout`, the one of `parts`, just
  // fits. Returns false, and counts why, if that is no layout of its own.
  bool SetLeastBlocks(const LayoutParts& parts, Layout& layout) {
    const std::optional<int64_t> blocks =
        LeastBlocksAgain(parts, options_.memory_bytes);
    if (!blocks) {
      layout.recompute.layers = parts.cut.most_layers;
      return true;  // That does not fit either.
    }
    const bool is_all = *blocks == parts.cut.most_layers;
    if ((*blocks == 0 && has_none_) || (is_all && has_full_)) {
      Refuse(is_all ? PlanRule::kFitsWithAll : PlanRule::kFitsWithout, 1);
      return false;
    }
    layout.recompute.layers = *blocks;
    if (*blocks == 0) layout.recompute = {};
    return true;
  }

  void Keep(const EstimatedLayout& layout) {
    if (best_.size() == options_.most) {
      if (!IsFaster()(layout, best_.top())) return;
      best_.pop();
    }
    best_.push(layout);
  }

  const PlanJob& job_;
  const PlanSpace& space_;
  const SearchOptions& options_;
  GroupSeconds& groups_;
  PipelineCuts cuts_;
  const LoadedTimes whole_;
  const LoadedTimes sharded_;
  int64_t num_whole_ = 0;    // ZeRO stages of the space below 2,
  int64_t num_sharded_ = 0;  // and from 2 on.
  int64_t inner_ = 1;        // Combinations of chunks and schedules.
  int64_t below_ = 1;        // Layouts of a shape.
  bool has_none_ = false;
  bool has_full_ = false;  // Of the choices of recomputation.
  std::vector<ShapeCosts> costs_;
  // Costs of the shapes that differ in recomputation only.
  std::vector<KnownCosts> known_;
  std::vector<Node> nodes_;
  // The best, the slowest of them on top.
  std::priority_queue<EstimatedLayout, std::vector<EstimatedLayout>, IsFaster>
      best_;
  std::optional<PlanRule> last_rule_;  // The one of `result_.last_rule`.
  SearchResult result_;
};

}  // namespace

absl::StatusOr<SearchResult> Search(const PlanJob& job, const PlanSpace& space,
                                    const SearchOptions& options,
                                    const ComputeModel& model,
                                    GroupSeconds& groups) {
  return PlanSearch(job, space, options, model, groups).Run();
}

absl::StatusOr<EstimatedLayout> EstimateLayout(const PlanJob& job,
                                               const Layout& layout,
                                               const ComputeModel& model,
                                               GroupSeconds& groups) {
  const TrainingSetup setup = SetupOf(job, layout);
  const LoadedTimes times(model, job.loads[static_cast<size_t>(setup.zero)]);
  Layout whole = layout;
  whole.recompute = WithoutNumber(layout.recompute);
  ASTRA_ASSIGN_OR_RETURN(const ShapeCosts costs,
                         CostsOf(job, whole, times.times, groups));
  whole.recompute = {.kind = Recompute::kFull};
  ASTRA_ASSIGN_OR_RETURN(const ShapeCosts again,
                         CostsOf(job, whole, times.times, groups));
  PipelineCuts cuts(job);
  ASTRA_ASSIGN_OR_RETURN(const PipelineCut* cut,
                         cuts.Find(layout, setup.micro_batches()));
  const LayoutParts parts = {layout, setup, costs, *cut, again};
  const double seconds = EstimateSeconds(parts, times.optimizer, groups);
  ASTRA_RETURN_IF_ERROR(groups.TakeStatus());
  return EstimatedLayout{layout, seconds, EstimateMemory(parts)};
}

}  // namespace astra
