// The network as the engine of a job beside serving sees it: its own ranks, and
// a clock that begins with its iteration. Requests are served while the engine
// asks for time to pass.

#ifndef ASTRA_CORE_SERVING_FABRIC_JOB_NETWORK_H_
#define ASTRA_CORE_SERVING_FABRIC_JOB_NETWORK_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "astra-core/serving/fabric/serving_fabric.h"
#include "network-frontends/network_backend.h"
#include "network-frontends/network_statistics.h"

namespace astra {

class JobNetwork final : public NetworkBackend {
 public:
  // `nodes` has the node of the whole cluster for each node of the job. Both
  // must outlive the object. Requires that no message of the job is under way.
  JobNetwork(ServingFabric& fabric, const std::vector<NodeId>& nodes)
      : fabric_(fabric), nodes_(nodes), start_(fabric.network().now()) {}

  TimePs now() const override { return fabric_.network().now() - start_; }
  void Send(const Message& message) override;
  void AdvanceTo(TimePs limit, std::vector<MessageId>* arrived) override;

  // Links, bytes and statistics are those of the whole cluster.
  absl::Span<const double> link_bytes() const override {
    return fabric_.network().link_bytes();
  }
  const NetworkStatistics& statistics() override {
    return fabric_.network().statistics();
  }
  std::string WhyStuck() const override { return fabric_.network().WhyStuck(); }

 private:
  ServingFabric& fabric_;
  const std::vector<NodeId>& nodes_;
  const TimePs start_;
};

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_FABRIC_JOB_NETWORK_H_
