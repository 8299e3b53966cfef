#include "astra-core/planner/plan_search.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <queue>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/planner/layout_estimate.h"
#include "astra-core/planner/pipeline_shape.h"
#include "astra-core/planner/shape_costs.h"
#include "workload/generator/module_times.h"

namespace astra {
namespace {

// Names of rules that the search checks itself, as broken by a candidate. All
// others are those of CheckTraining, with the numbers left out.
constexpr const char* kWorld = "TP x CP x PP does not divide the GPUs";
constexpr const char* kExperts =
    "ETP x EP does not divide the ranks of a stage";
constexpr const char* kBatch =
    "DP x micro-batch does not divide the global batch";
constexpr const char* kNoTensor = "SP without TP";
constexpr const char* kChunks =
    "VPP above 1 without the interleaved schedule, or the reverse";
constexpr const char* kNoPipeline = "a pipeline's schedule with PP 1";
constexpr const char* kSharding = "ZeRO 2 or 3 with a pipeline";

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
  uint32_t costs = 0;  // Position among all costs.
  bool is_sharded = false;
  int64_t pipeline = 1;
  int64_t micro_batches = 1;
  int64_t number = 0;  // Of the first layout.
  Layout layout;
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
  }

  absl::StatusOr<SearchResult> Run() {
    ASTRA_RETURN_IF_ERROR(MakeNodes());
    std::sort(nodes_.begin(), nodes_.end(), [](const Node& a, const Node& b) {
      return std::pair(a.bound, a.number) < std::pair(b.bound, b.number);
    });
    for (const Node& node : nodes_) {
      if (!options_.exhaustive && best_.size() == options_.most &&
          node.bound > best_.top().seconds) {
        result_.beyond_bound += NumZeros(node.is_sharded) * inner_;
        continue;
      }
      ASTRA_RETURN_IF_ERROR(Visit(node));
    }
    ASTRA_RETURN_IF_ERROR(groups_.status());
    while (!best_.empty()) {
      result_.best.push_back(best_.top());
      best_.pop();
    }
    std::reverse(result_.best.begin(), result_.best.end());
    return std::move(result_);
  }

 private:
  struct IsFaster {
    bool operator()(const EstimatedLayout& a, const EstimatedLayout& b) const {
      return std::pair(a.seconds, a.number) < std::pair(b.seconds, b.number);
    }
  };

  template <class T>
  static int64_t Count(const std::vector<T>& values) {
    return static_cast<int64_t>(values.size());
  }

  int64_t NumZeros(bool is_sharded) const {
    return is_sharded ? num_sharded_ : num_whole_;
  }

  void Refuse(const std::string& rule, int64_t count) {
    if (count > 0) result_.illegal[rule] += count;
  }

  // Calls `visit` for each choice of what decides about a micro-batch's costs.
  template <class Visit>
  absl::Status ForEachShape(Visit visit) const {
    Layout layout;
    for (const int64_t tensor : space_.tensor) {
      layout.tensor = tensor;
      for (const int64_t context : space_.context) {
        layout.context = context;
        for (const int64_t expert : space_.expert) {
          layout.expert = expert;
          for (const int64_t expert_tensor : space_.expert_tensor) {
            layout.expert_tensor = expert_tensor == 0 ? tensor : expert_tensor;
            for (const int64_t micro_batch : space_.micro_batch) {
              layout.micro_batch = micro_batch;
              for (const Recompute recompute : space_.recompute) {
                layout.recompute = recompute;
                for (const bool sequence_parallel : space_.sequence_parallel) {
                  layout.sequence_parallel = sequence_parallel && tensor > 1;
                  ASTRA_RETURN_IF_ERROR(
                      visit(layout, sequence_parallel && tensor == 1));
                }
              }
            }
          }
        }
      }
    }
    return absl::OkStatus();
  }

  // Makes the nodes, and counts the layouts of all others as illegal.
  absl::Status MakeNodes() {
    const bool has_both = space_.sequence_parallel.size() > 1;
    int64_t number = 0;
    return ForEachShape([&](const Layout& layout, bool lacks_tensor) {
      const int64_t below =
          Count(space_.pipeline) * inner_ * (num_whole_ + num_sharded_);
      const int64_t first = std::exchange(number, number + below);
      if (lacks_tensor && has_both) {
        Refuse(kNoTensor, below);
        return absl::OkStatus();
      }
      return MakeNodes(layout, first, below);
    });
  }

  absl::Status MakeNodes(const Layout& layout, int64_t number, int64_t below) {
    std::array<std::optional<uint32_t>, 2> costs;  // By whether it is sharded.
    for (const int64_t pipeline : space_.pipeline) {
      const int64_t inner = inner_ * (num_whole_ + num_sharded_);
      const int64_t first = std::exchange(number, number + inner);
      const char* broken = BrokenRule(layout, pipeline);
      if (broken != nullptr) {
        Refuse(broken, inner);
        continue;
      }
      for (const bool is_sharded : {false, true}) {
        if (NumZeros(is_sharded) == 0) continue;
        if (is_sharded && pipeline > 1) {
          Refuse(kSharding, inner_ * num_sharded_);
          continue;
        }
        std::optional<uint32_t>& position = costs[is_sharded ? 1 : 0];
        if (!position) {
          const absl::StatusOr<uint32_t> added = AddCosts(layout, is_sharded);
          if (!added.ok()) {
            if (!absl::IsFailedPrecondition(added.status())) {
              return added.status();
            }
            // The rule holds for all pipelines, those counted before aside.
            RefuseRest(RuleOf(added.status()), layout, pipeline, below);
            return absl::OkStatus();
          }
          position = *added;
        }
        AddNode(layout, pipeline, is_sharded, *position, first);
      }
    }
    return absl::OkStatus();
  }

  // Counts the layouts with the pipelines from `pipeline` on as illegal by
  // `rule`, unless they break another rule first.
  void RefuseRest(const std::string& rule, const Layout& layout,
                  int64_t pipeline, int64_t /*below*/) {
    const int64_t inner = inner_ * (num_whole_ + num_sharded_);
    for (const int64_t other : space_.pipeline) {
      if (other < pipeline) continue;
      const char* broken = BrokenRule(layout, other);
      Refuse(broken != nullptr ? broken : rule, inner);
    }
  }

  const char* BrokenRule(const Layout& layout, int64_t pipeline) const {
    const int64_t ranks = layout.tensor * layout.context * pipeline;
    const int64_t gpus = job_.num_gpus();
    if (ranks > gpus || gpus % ranks != 0) return kWorld;
    const int64_t stage = gpus / pipeline;
    if (stage % (layout.expert * layout.expert_tensor) != 0) return kExperts;
    const int64_t pass = gpus / ranks * layout.micro_batch;
    return job_.setups[0].global_batch % pass == 0 ? nullptr : kBatch;
  }

  absl::StatusOr<uint32_t> AddCosts(const Layout& layout, bool is_sharded) {
    const LoadedTimes& times = is_sharded ? sharded_ : whole_;
    ASTRA_ASSIGN_OR_RETURN(ShapeCosts costs,
                           CostsOf(job_, layout, times.times, groups_));
    costs_.push_back(std::move(costs));
    return static_cast<uint32_t>(costs_.size() - 1);
  }

  void AddNode(const Layout& layout, int64_t pipeline, bool is_sharded,
               uint32_t costs, int64_t number) {
    Node node;
    node.layout = layout;
    node.layout.pipeline = pipeline;
    node.costs = costs;
    node.is_sharded = is_sharded;
    node.pipeline = pipeline;
    node.number = number;
    const int64_t data =
        job_.num_gpus() / (layout.tensor * layout.context * pipeline);
    node.micro_batches =
        job_.setups[0].global_batch / (data * layout.micro_batch);
    // Sums in another order may differ in the last digits.
    constexpr double kRounding = 1 - 1e-9;
    node.bound =
        kRounding * LeastSeconds(costs_[costs], pipeline, node.micro_batches);
    nodes_.push_back(node);
  }

  // Estimates the layouts of a node.
  absl::Status Visit(const Node& node) {
    Layout layout = node.layout;
    int64_t number = node.number;
    for (const int64_t virtual_stages : space_.virtual_stages) {
      layout.virtual_stages = virtual_stages;
      for (const PipelineSchedule schedule : space_.schedules) {
        layout.schedule = schedule;
        const int64_t first =
            std::exchange(number, number + num_whole_ + num_sharded_);
        const bool has_chunks = schedule->has_virtual_stages;
        if (has_chunks != (virtual_stages > 1)) {
          Refuse(kChunks, NumZeros(node.is_sharded));
          continue;
        }
        if (node.pipeline == 1 && schedule != DefaultSchedule(1)) {
          Refuse(kNoPipeline, NumZeros(node.is_sharded));
          continue;
        }
        const absl::StatusOr<const PipelineCut*> cut =
            cuts_.Find(layout, node.micro_batches);
        if (!cut.ok()) {
          if (!absl::IsFailedPrecondition(cut.status())) return cut.status();
          Refuse(RuleOf(cut.status()), NumZeros(node.is_sharded));
          continue;
        }
        VisitZeros(node, **cut, layout, first);
      }
    }
    return absl::OkStatus();
  }

  void VisitZeros(const Node& node, const PipelineCut& cut, Layout& layout,
                  int64_t number) {
    for (const Zero zero : space_.zero) {
      ++number;
      if (IsSharded(zero) != node.is_sharded) continue;
      layout.zero = zero;
      const TrainingSetup setup = SetupOf(job_, layout);
      const LayoutParts parts = {layout, setup, costs_[node.costs], cut};
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
  std::vector<ShapeCosts> costs_;
  std::vector<Node> nodes_;
  // The best, the slowest of them on top.
  std::priority_queue<EstimatedLayout, std::vector<EstimatedLayout>, IsFaster>
      best_;
  SearchResult result_;
};

}  // namespace

absl::StatusOr<SearchResult> Search(const PlanJob& job, const PlanSpace& space,
                                    const SearchOptions& options,
                                    const ComputeModel& model,
                                    GroupSeconds& groups) {
  return PlanSearch(job, space, options, model, groups).Run();
}

}  // namespace astra
