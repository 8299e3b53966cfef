// The bytes that collectives put on links, in closed form.

#ifndef ASTRA_CORE_ENGINE_LINK_BYTES_H_
#define ASTRA_CORE_ENGINE_LINK_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/rank_program.h"
#include "astra-core/engine/result.h"
#include "topology/routes.h"
#include "workload/parallel_plan.h"

namespace astra {

// The bytes of one kind of collective, by block. A block is a set of groups
// that communicate alike.
struct LinkVolume {
  Bytes bytes;                          // Size of one of the collectives.
  std::map<uint32_t, double> of_block;  // Sums of bytes, by block.
};

// By cost key and name of the algorithm in registry.h, which decide how bytes
// are laid on links.
using LinkVolumes = std::map<std::pair<CostKey, std::string_view>, LinkVolume>;

// The blocks that the groups of a kind of collective form.
struct LinkBlocks {
  std::function<size_t(const CostKey&)> count;
  // Appends the groups of a block, which have one size.
  std::function<void(const CostKey&, uint32_t block,
                     std::vector<std::vector<RankId>>*)>
      append;
};

// Returns, by link, the bytes of `volumes`, laid on links as `costs` says.
//
// Errors: those of LayOnLinks and CollectiveTimes.
absl::StatusOr<std::vector<double>> LayVolumes(
    const LinkVolumes& volumes, const LinkBlocks& blocks,
    const CollectiveCosts& costs, const std::optional<NcclSystem>& nccl,
    Routes& routes);

// Returns, by link, the bytes of all collectives of all ranks of `program`. A
// collective that repeats counts each time. Errors: those of LayVolumes().
absl::StatusOr<std::vector<double>> LinkBytes(
    const RankProgram& program, const ParallelPlan& plan,
    const PipelineWiring& wiring, const CollectiveCosts& costs,
    const std::optional<NcclSystem>& nccl, Routes& routes);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_LINK_BYTES_H_
