// A network of a whole cluster, as a job on a part of the cluster sees it when
// nothing else is on it.
//
//   PartNetwork network(NetworkOf(fidelity)->make(options, routes),
//   part.nodes);

#ifndef ASTRA_CORE_JOBS_PART_NETWORK_H_
#define ASTRA_CORE_JOBS_PART_NETWORK_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/network_backend.h"
#include "network-frontends/network_statistics.h"

namespace astra {

class PartNetwork final : public NetworkBackend {
 public:
  // Node i of the part is node `nodes[i]` of `network`.
  PartNetwork(std::unique_ptr<NetworkBackend> network,
              std::vector<NodeId> nodes)
      : network_(std::move(network)), nodes_(std::move(nodes)) {}

  TimePs now() const override { return network_->now(); }
  void Send(const Message& message) override {
    Message sent = message;
    sent.source = nodes_[message.source.index()];
    sent.target = nodes_[message.target.index()];
    network_->Send(sent);
  }
  void AdvanceTo(TimePs limit, std::vector<MessageId>* arrived) override {
    network_->AdvanceTo(limit, arrived);
  }

  // Links, bytes and statistics are those of the whole cluster.
  absl::Span<const double> link_bytes() const override {
    return network_->link_bytes();
  }
  const NetworkStatistics& statistics() override {
    return network_->statistics();
  }
  std::string WhyStuck() const override { return network_->WhyStuck(); }
  TimePs last_give_up() const override { return network_->last_give_up(); }

 private:
  const std::unique_ptr<NetworkBackend> network_;
  const std::vector<NodeId> nodes_;
};

}  // namespace astra

#endif  // ASTRA_CORE_JOBS_PART_NETWORK_H_
