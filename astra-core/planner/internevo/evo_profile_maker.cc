#include "astra-core/planner/internevo/evo_profile_maker.h"

#include <utility>

#include "astra-core/base/collective_kind.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/units.h"
#include "collectives/nccl/collective_time.h"
#include "workload/operators/operator.h"

namespace astra {
namespace {

CollectiveKind KindOf(EvoOp op) {
  constexpr CollectiveKind kKinds[] = {
      CollectiveKind::kAllToAll,      CollectiveKind::kAllReduce,
      CollectiveKind::kReduceScatter, CollectiveKind::kAllGather,
      CollectiveKind::kBroadcast,     CollectiveKind::kSendRecv};
  return kKinds[static_cast<size_t>(op)];
}

// Returns the ranks of all groups that lie like `group`.
std::vector<std::vector<RankId>> GroupsLike(const EvoGroup& group,
                                            const EvoCluster& cluster) {
  std::vector<std::vector<RankId>> groups;
  const int64_t per_server = cluster.gpus_per_server;
  const int64_t block = group.inter * per_server;
  for (int64_t server = 0; server + block <= cluster.world; server += block) {
    for (int64_t first = 0; first + group.intra <= per_server;
         first += group.intra) {
      std::vector<RankId>& ranks = groups.emplace_back();
      for (int64_t i = 0; i < group.size(); ++i) {
        const int64_t rank =
            server + i / group.intra * per_server + first + i % group.intra;
        ranks.emplace_back(static_cast<uint32_t>(rank));
      }
    }
  }
  return groups;
}

}  // namespace

std::vector<EvoProduct> ModelProducts(const ComputeModel& model) {
  std::vector<EvoProduct> products;
  for (const int64_t rows : kEvoRows) {
    for (const int64_t hidden : kEvoHidden) {
      const OperatorTime time =
          model.TimeOf({"linear", Gemm{.m = rows, .n = hidden, .k = hidden}});
      products.push_back({rows, hidden, ToSeconds(time.time)});
    }
  }
  return products;
}

absl::StatusOr<EvoCurve> ModelCollective(const EvoKey& key,
                                         const EvoCluster& cluster,
                                         const SystemSpec& system,
                                         const NcclOptions& options,
                                         Routes& routes) {
  ASTRA_ASSIGN_OR_RETURN(
      CollectiveTimes times,
      CollectiveTimes::Create(KindOf(key.op), GroupsLike(key.group, cluster),
                              system, options, routes));
  std::vector<EvoPoint> points;
  for (const int64_t bytes : kEvoBytes) {
    ASTRA_ASSIGN_OR_RETURN(const TimedCollective time,
                           times.Time(0, Bytes(bytes)));
    points.push_back({static_cast<double>(bytes), ToSeconds(time.time)});
  }
  return EvoCurve(std::move(points));
}

}  // namespace astra
