// Which GPUs of a replica send to which others, on other servers, in the
// collectives of a pattern.
//
//   ASTRA_ASSIGN_OR_RETURN(const std::vector<PairShare> pairs,
//                          PairsOf(pattern, place, replica, topology));
//   for (const PairShare& pair : pairs) Send(pair.share * bytes);
//
// Model. All steps of the algorithm of collectives/registry.h are added up by
// pair of ranks, over all groups of the stage, which run at once. Pairs within
// a server are left out.

#ifndef ASTRA_CORE_SERVING_FABRIC_STEP_PATTERN_H_
#define ASTRA_CORE_SERVING_FABRIC_STEP_PATTERN_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/ids.h"
#include "astra-core/serving/kv_path.h"
#include "astra-core/serving/replica_steps.h"
#include "topology/topology.h"

namespace astra {

struct PairShare {
  NodeId source;
  NodeId target;
  double share = 0;  // Bytes for each byte of the buffer, above 0.
};

// Returns the pairs of a replica, ordered by source and target. `replica`
// counts whole replicas. Errors: those of the algorithm and of PlaceGroup.
absl::StatusOr<std::vector<PairShare>> PairsOf(const StagePattern& pattern,
                                               const PoolPlace& place,
                                               uint32_t replica,
                                               const Topology& topology);

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_FABRIC_STEP_PATTERN_H_
