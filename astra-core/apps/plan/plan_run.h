// Runs the whole iteration of the layouts that a search found.

#ifndef ASTRA_CORE_APPS_PLAN_PLAN_RUN_H_
#define ASTRA_CORE_APPS_PLAN_PLAN_RUN_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/apps/plan/simai_planner_options.h"
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

struct PlanRuns {
  std::vector<Plan> plans;    // The fastest first.
  int64_t beyond_memory = 0;  // Layouts that did not fit after all.
};

// Returns what gen_workload reads where a command line makes the layout.
GenWorkloadOptions WorkloadOf(const SimaiPlannerOptions& options,
                              const Layout& layout);

// Searches the space of the options. Errors: those of Search, and of what reads
// the cluster.
absl::StatusOr<SearchResult> SearchLayouts(const SimaiPlannerOptions& options);

// Returns the memory of a layout, and whether it fits, without running it: the
// other figures are 0.
//
// Errors: those of RunLayout.
absl::StatusOr<Plan> MemoryOfLayout(const SimaiPlannerOptions& options,
                                    const Layout& layout);

// Runs a layout whether it fits into the memory or not.
//
// Errors: FailedPrecondition for a layout that breaks a rule; those of the
// programs.
absl::StatusOr<Plan> RunLayout(const SimaiPlannerOptions& options,
                               const Layout& layout);

// Runs the best layouts of `search` until as many as the options ask for have
// fitted into the memory, and the first of these with the closer fidelity.
//
// Errors: those of the programs.
absl::StatusOr<PlanRuns> RunPlans(const SimaiPlannerOptions& options,
                                  const SearchResult& search);

// Returns the bytes that a layout may allocate on a GPU, so that what PyTorch
// reserves and the driver takes fits, too.
int64_t UsableMemory(const GpuSpec& gpu);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_PLAN_RUN_H_
