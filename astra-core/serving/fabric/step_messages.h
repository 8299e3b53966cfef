// Carries the collectives of a pool's steps between servers as messages on the
// network that serving shares.
//
//   StepMessages steps(fabric, place, replica_steps.patterns(), routes,
//                      [] { return NewNetwork(); });
//   pool.network = &steps;
//
// Model. A step has thousands of collectives, a few in each layer. Those of one
// kind, group and algorithm are carried together, as one message for each pair
// of ranks on different servers with the bytes of all of them; kinds follow one
// another. On an idle network these messages take a part of the closed form of
// these collectives: the bytes over the rate of the busiest link. The rest of
// it, latencies and what happens within servers, stays as it is. A step that
// meets nothing thus takes its closed form, and each step that meets other
// messages takes as much longer as its own do.
//
// The time on the idle network is measured by running the messages alone on a
// network of the same kind, for powers of two of the bytes, and is linear
// between them. If it is longer than the closed form, for example because ECMP
// puts two queue pairs on one link, the messages carry fewer bytes.

#ifndef ASTRA_CORE_SERVING_FABRIC_STEP_MESSAGES_H_
#define ASTRA_CORE_SERVING_FABRIC_STEP_MESSAGES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/units.h"
#include "astra-core/serving/fabric/serving_fabric.h"
#include "astra-core/serving/fabric/step_pattern.h"
#include "astra-core/serving/kv_path.h"
#include "astra-core/serving/replica_steps.h"
#include "network-frontends/network_backend.h"
#include "topology/topology.h"
#include "workload/serving/stage_network.h"

namespace astra {

// Returns an idle network at time 0 on the topology of the fabric.
using NewNetwork = std::function<std::unique_ptr<NetworkBackend>()>;

class StepMessages final : public StageNetwork {
 public:
  // All must outlive the object. `patterns` is that of the steps of the pool.
  StepMessages(ServingFabric& fabric, const PoolPlace& place,
               const std::vector<StagePattern>& patterns,
               const Topology& topology, NewNetwork new_network)
      : fabric_(fabric),
        place_(place),
        patterns_(patterns),
        topology_(topology),
        new_network_(std::move(new_network)) {}

  TimePs TimeAlone(uint32_t replica,
                   absl::Span<const StageMessages> messages) override;
  void Start(uint32_t pass, uint32_t replica,
             absl::Span<const StageMessages> messages) override;

  // Returns the first error of patterns, whose collectives then send nothing.
  const absl::Status& status() const { return status_; }

  int64_t bytes_sent() const { return bytes_sent_; }
  // Returns what steps have lost to others: how much longer than alone their
  // messages took, over all steps, and the same alone.
  TimePs lost() const { return lost_; }
  TimePs alone() const { return alone_; }

 private:
  // The messages of a pattern in one replica.
  struct Traffic {
    std::vector<PairShare> pairs;
    std::vector<std::optional<double>> alone_ps;  // By power of two of bytes.
  };
  // What is sent of StageMessages, and what it takes alone.
  struct Fit {
    double bytes = 0;
    TimePs alone;
  };
  // Messages of a pass that have not been sent.
  struct Pass {
    uint32_t id = 0;
    uint32_t replica = 0;
    std::vector<StageMessages> messages;
    size_t next = 0;
    TimePs start;
    TimePs alone;
  };

  Traffic& TrafficOf(uint32_t replica, uint32_t pattern);
  Fit FitOf(uint32_t replica, const StageMessages& messages);
  double AloneAt(Traffic& traffic, double bytes);
  double AtPower(Traffic& traffic, uint32_t power);
  std::vector<FabricMessage> MessagesOf(const Traffic& traffic, double bytes);
  void SendNext(Pass pass);

  ServingFabric& fabric_;
  const PoolPlace place_;
  const std::vector<StagePattern>& patterns_;
  const Topology& topology_;
  const NewNetwork new_network_;
  std::map<std::pair<uint32_t, uint32_t>, Traffic> traffic_;
  absl::Status status_;
  int64_t bytes_sent_ = 0;
  TimePs lost_;
  TimePs alone_;
};

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_FABRIC_STEP_MESSAGES_H_
