// A layout whose whole iteration was run, or will be.

#ifndef ASTRA_CORE_APPS_PLAN_PLAN_H_
#define ASTRA_CORE_APPS_PLAN_PLAN_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "astra-core/apps/gen_workload_options.h"
#include "astra-core/apps/plan/simai_planner_options.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/base/units.h"
#include "astra-core/planner/plan_search.h"

namespace astra {

// The parts of an iteration of the rank that ends last; they add up to it.
enum class PlanTerm : uint8_t {
  kCompute,
  kSlowed,  // By collectives beside the computation.
  kTensor,  // Waiting for collectives of TP and ETP,
  kContext,
  kExpert,
  kData,  // of DP and DP_EP,
  kMessages,
  kBubble,
};
inline constexpr std::string_view kPlanTermNames[] = {
    "compute",    "slowed",     "exposed TP",  "exposed CP",
    "exposed EP", "exposed DP", "PP messages", "bubble"};
inline constexpr size_t kNumPlanTerms = std::size(kPlanTermNames);

struct Plan {
  EstimatedLayout estimate;
  double seconds = 0;                         // Of the whole iteration.
  std::optional<double> closer_seconds;       // With the other fidelity.
  std::array<double, kNumPlanTerms> terms{};  // Seconds.
  double tokens_per_second = 0;
  double utilisation = 0;  // Of the peak (MFU), 0 to 1.
  Bytes allocated;         // On the fullest stage,
  Bytes reserved;          // with what PyTorch reserves there.
  bool fits = false;       // Into the memory of a GPU.
  int64_t fullest_stage = 0;
  std::string peak;           // What is going on there at the peak.
  bool is_efficient = false;  // No other plan is faster and takes less memory.
};

// Returns what gen_workload reads where a command line makes the layout.
GenWorkloadOptions WorkloadOf(const SimaiPlannerOptions& options,
                              const Layout& layout);

// Returns `run` for a layout: without a dispatcher where no token goes to
// another rank.
RunOptions RunOf(RunOptions run, const Layout& layout);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_PLAN_H_
