// Estimates how long collectives take on a system: one call for tools and
// schedulers.
//
//   ASTRA_ASSIGN_OR_RETURN(CollectiveEstimator estimator,
//                          CollectiveEstimator::Create("dgx-h100", 16, 8, {}));
//   ASTRA_ASSIGN_OR_RETURN(CollectiveEstimate all_reduce,
//                          estimator.Estimate(CollectiveKind::kAllReduce,
//                                             Bytes(1 << 30)));
//   all_reduce.time_us

#ifndef COLLECTIVES_NCCL_ESTIMATOR_H_
#define COLLECTIVES_NCCL_ESTIMATOR_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "collectives/nccl/collective_time.h"
#include "collectives/nccl/nccl_options.h"
#include "collectives/systems/system_spec.h"
#include "collectives/time_source.h"
#include "topology/routes.h"
#include "topology/topology.h"

namespace astra {

struct CollectiveEstimate {
  double time_us = 0;
  double algbw_GBps = 0;  // Algorithm bandwidth: buffer size over time.
  double busbw_GBps = 0;  // Bus bandwidth as nccl-tests defines it.
  std::string algorithm;  // Such as "Ring"; "P2P" for sends and receives.
  std::string protocol;
  uint32_t channels = 0;
  bool is_latency_bound = false;
  std::string bottleneck;  // Link that sets the pace.
  CollectiveTimeSource source = CollectiveTimeSource::kModel;
};

class CollectiveEstimator {
 public:
  // Creates an estimator for a group of all `num_gpus` GPUs, in servers of
  // `gpus_per_server` (0: as many as the system has). `system` is a name, an
  // alias or a file.
  //
  // Errors: those of LoadSystem and BuildSystemTopology; InvalidArgument for
  // fewer than 2 GPUs.
  static absl::StatusOr<CollectiveEstimator> Create(std::string_view system,
                                                    uint32_t num_gpus,
                                                    uint32_t gpus_per_server,
                                                    const NcclOptions& options);

  // Creates an estimator for the group of `ranks`, in group order, on a
  // topology. Empty `ranks` are all ranks.
  //
  // Errors: InvalidArgument for fewer than 2 ranks, one that `topology` lacks,
  // or one that is named twice.
  static absl::StatusOr<CollectiveEstimator> Create(const SystemSpec& system,
                                                    Topology topology,
                                                    std::vector<RankId> ranks,
                                                    const NcclOptions& options);

  // Estimates a collective of `bytes`. In a send-recv each rank sends `bytes`
  // to the next one, as in nccl-tests.
  //
  // Errors: those of CollectiveTimes; InvalidArgument for fewer than 1 byte;
  // ResourceExhausted beyond kMaxCollectiveTime.
  absl::StatusOr<CollectiveEstimate> Estimate(CollectiveKind kind, Bytes bytes);

  // Returns the candidates of NCCL for `bytes` as text; see TuningText.
  absl::StatusOr<std::string> Tuning(CollectiveKind kind, Bytes bytes);

  const Topology& topology() const;
  const std::vector<RankId>& ranks() const;
  // Returns the ranks of which Estimate gives the time, in group order: all, or
  // those two neighbours between which a send-recv takes longest. Errors: those
  // of Estimate.
  absl::StatusOr<std::vector<RankId>> TimedRanks(CollectiveKind kind,
                                                 Bytes bytes) const;
  const SystemSpec& system() const;

 private:
  struct State;  // It stays in place: its parts point at one another.
  explicit CollectiveEstimator(std::shared_ptr<State> state)
      : state_(std::move(state)) {}
  // Returns the index of the group that takes longest for `bytes`.
  absl::StatusOr<size_t> SlowestOf(CollectiveKind kind, Bytes bytes) const;

  std::shared_ptr<State> state_;
};

}  // namespace astra

#endif  // COLLECTIVES_NCCL_ESTIMATOR_H_
