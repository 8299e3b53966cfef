// The layouts among which the planner searches: values for each choice, all
// combinations of which are candidates.

#ifndef ASTRA_CORE_PLANNER_PLAN_SPACE_H_
#define ASTRA_CORE_PLANNER_PLAN_SPACE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "astra-core/planner/layout.h"

namespace astra {

// Each list is sorted, has no value twice, and is not empty.
struct PlanSpace {
  std::vector<int64_t> tensor = {1};
  std::vector<int64_t> context = {1};
  std::vector<int64_t> expert = {1};
  // 0 stands for the size of TP, as in Megatron-LM without its option.
  std::vector<int64_t> expert_tensor = {1};
  std::vector<int64_t> pipeline = {1};
  std::vector<int64_t> virtual_stages = {1};
  std::vector<int64_t> micro_batch = {1};
  std::vector<Zero> zero = {Zero::kOptimizer};
  // JustFits() stands for the least number of blocks of each layout.
  std::vector<RecomputeChoice> recompute = {{}};
  // Where TP is 1 only layouts without count.
  std::vector<bool> sequence_parallel = {true};
  // Where CP is 1 only layouts with the first one count.
  std::vector<ContextMethod> context_methods = {ContextMethod::kRing};
  // Of those that are the same for a layout, only the first one counts.
  std::vector<std::optional<Overlaps>> overlaps = {std::nullopt};
  // In each, DP and PP come last. Of those that number the ranks of a layout
  // alike, only the first one counts.
  std::vector<RankOrder> orders = {RankOrder()};
  std::vector<PipelineSchedule> schedules;

  // Returns the number of candidates.
  int64_t size() const;
};

// Returns the values that are searched unless the user gives others:
//
//   TP, CP             powers of two, up to the GPUs of an NVLink domain
//   EP                 powers of two, up to the experts; ETP 1
//   PP                 powers of two and divisors of the blocks, up to these
//   VPP                1, 2, 3, 4, 5, 6 and 8 where blocks suffice
//   micro-batch        powers of two up to 8
//   ZeRO               those of the framework, or all
//   recomputation      none, selective, full, and of as few blocks as fits
//   schedule           1f1b, or interleaved where VPP is above 1
//   CP's method        ring
//   overlaps           those of the framework
//   order of ranks     tp-cp-ep-dp-pp
PlanSpace DefaultSpace(const PlanJob& job, int64_t domain);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_PLAN_SPACE_H_
