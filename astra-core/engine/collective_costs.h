// Says how long the collectives of a workload take in the groups that run them,
// by closed forms or as NCCL would run them.

#ifndef ASTRA_CORE_ENGINE_COLLECTIVE_COSTS_H_
#define ASTRA_CORE_ENGINE_COLLECTIVE_COSTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/engine/collective_family.h"
#include "astra-core/engine/pipeline_links.h"
#include "astra-core/engine/result.h"
#include "collectives/bus_bandwidth_file.h"
#include "collectives/closed_form.h"
#include "collectives/nccl/collective_time.h"
#include "collectives/nccl/nccl_options.h"
#include "collectives/registry.h"
#include "collectives/systems/system_spec.h"
#include "topology/routes.h"
#include "workload/parallel_plan.h"
#include "workload/program.h"

namespace astra {

// One kind of collective over all the groups of one dimension.
struct CollectiveCost {
  // What `forms` are of: the ring or direct messages, or SimAI's algorithm.
  CollectiveAlgorithm algorithm{};
  ClosedForms forms;         // By group.
  bool is_measured = false;  // The user's bus bandwidth decides the time.
  // As NCCL runs each size, by class of groups; none unless the system is known
  // and no bus bandwidth decides.
  std::map<Bytes, std::vector<TimedCollective>> sized;
  std::vector<uint32_t> class_of_group;  // For `sized`.
  // The same as messages, where they were asked for.
  std::map<Bytes, std::vector<NcclMessages>> messages;
  // By name of the algorithm in registry.h, by link; for `sized`.
  std::map<std::string_view, std::vector<double>> link_bytes_per_byte;

  // Returns the time and the algorithm of a collective of `bytes`. Requires
  // that the workload has such a collective.
  TimedCollective Time(uint32_t group, Bytes bytes) const;

  // By link: the bytes for each byte of the buffer. `registry_name` is what
  // Time() of the first group says.
  absl::Span<const double> LinkBytesPerByte(
      std::string_view registry_name) const;
};

using CollectiveSizes = std::map<CostKey, std::set<Bytes>>;

// The sizes of the collectives that move bytes between two ranks or more,
// pipeline messages among them.
CollectiveSizes UsedCollectives(const Program& program,
                                const ParallelPlan& plan);

// The system that collectives run on, and how NCCL is set.
struct NcclSystem {
  SystemSpec system;
  NcclOptions options;
};

// How the costs of collectives are found.
struct CostSetting {
  CollectiveFamily family = CollectiveFamily::kRing;
  const std::optional<NcclSystem>& nccl;  // Present with kNccl.
  const NcclOptions& simai;               // Read with kSimai.
  const BusBandwidths& measured;          // These go before the family.
  bool with_messages = false;  // Say what the messages of NCCL are, too.
};

// Returns the costs of the used collectives. The groups of what is sent over
// the pipeline are `pairs`, without which it is left out.
//
// Errors: those of LayOnLinks, CollectiveTimes and SimaiAlgorithm.
absl::StatusOr<CollectiveCosts> FindCosts(const CollectiveSizes& used,
                                          const ParallelPlan& plan,
                                          const PipelinePairs& pairs,
                                          const CostSetting& setting,
                                          Routes& routes);

// Returns the costs of one kind of collective over `groups`, by group. Those
// whose numbers stand in one of `waves` run it at once; no other group has a
// cost.
//
// Errors: those of FindCosts.
absl::StatusOr<CollectiveCost> CostOfWaves(
    const CostKey& key, const std::set<Bytes>& sizes,
    absl::Span<const std::vector<RankId>> groups,
    absl::Span<const std::vector<uint32_t>> waves, const CostSetting& setting,
    Routes& routes);

// Returns which of `pairs`, senders first, send at once, by their numbers: no
// rank sends two messages of a wave or receives two.
std::vector<std::vector<uint32_t>> WavesOf(
    absl::Span<const std::vector<RankId>> pairs);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_COLLECTIVE_COSTS_H_
