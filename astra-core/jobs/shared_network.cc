#include "astra-core/jobs/shared_network.h"

#include <string>

#include "absl/types/span.h"
#include "network-frontends/network_statistics.h"

namespace astra {

class SharedNetwork::View final : public NetworkBackend {
 public:
  View(SharedNetwork& shared, uint32_t job, const std::vector<NodeId>& nodes)
      : shared_(shared), job_(job), nodes_(nodes), start_(shared.now()) {}

  TimePs now() const override { return shared_.now() - start_; }

  void Send(const Message& message) override {
    Message sent = message;
    sent.id = shared_.IdOf(job_, message.id);
    sent.source = nodes_[message.source.index()];
    sent.target = nodes_[message.target.index()];
    shared_.network_.Send(sent);
  }

  void AdvanceTo(TimePs limit, std::vector<MessageId>* arrived) override {
    Job& job = shared_.jobs_[job_];
    if (job.arrived.empty() && limit == now()) shared_.Advance(shared_.now());
    arrived->insert(arrived->end(), job.arrived.begin(), job.arrived.end());
    job.arrived.clear();
    job.wanted = start_ + limit;
  }

  // Links, bytes and statistics are those of all jobs.
  absl::Span<const double> link_bytes() const override {
    return shared_.network_.link_bytes();
  }
  const NetworkStatistics& statistics() override {
    return shared_.network_.statistics();
  }
  std::string WhyStuck() const override { return shared_.network_.WhyStuck(); }

 private:
  SharedNetwork& shared_;
  const uint32_t job_;
  const std::vector<NodeId>& nodes_;
  const TimePs start_;
};

SharedNetwork::SharedNetwork(NetworkBackend& network, const Topology& topology,
                             uint32_t num_jobs)
    : network_(network), jobs_(num_jobs) {
  for (Job& job : jobs_) job.link_bytes.resize(topology.links().size());
  network_.LogArrivals(
      [this](const FlowRecord& message, absl::Span<const LinkId> path) {
        if (message.channel == kBackgroundChannel) return;
        Job& job = jobs_[message.message.index() % this->num_jobs()];
        for (const LinkId link : path) {
          job.link_bytes[link.index()] +=
              static_cast<double>(message.bytes.count());
        }
      });
}

std::unique_ptr<NetworkBackend> SharedNetwork::ViewFor(
    uint32_t job, const std::vector<NodeId>& nodes) {
  return std::make_unique<View>(*this, job, nodes);
}

void SharedNetwork::Advance(TimePs limit) {
  arrived_.clear();
  network_.AdvanceTo(limit, &arrived_);
  for (const MessageId message : arrived_) {
    const uint32_t job = message.index() % num_jobs();
    jobs_[job].arrived.emplace_back(message.index() / num_jobs());
  }
}

}  // namespace astra
