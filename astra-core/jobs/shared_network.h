// One network for several jobs. Each job has a view of it: a network with the
// job's own nodes and with a clock that begins when the view is made.
//
//   SharedNetwork shared(network, /*num_jobs=*/2);
//   std::unique_ptr<NetworkBackend> view = shared.ViewFor(0, part.nodes);
//   ...  // The engines of the jobs send, and go on until their views pause.
//   shared.Advance(limit);
//   for (uint32_t job : ...) if (shared.HasArrivals(job)) ...
//
// A view never takes the network beyond the present instant. Where its job asks
// for more, it says how far the job wants to go, and pauses.

#ifndef ASTRA_CORE_JOBS_SHARED_NETWORK_H_
#define ASTRA_CORE_JOBS_SHARED_NETWORK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/network_backend.h"
#include "topology/topology.h"

namespace astra {

class SharedNetwork {
 public:
  // `network` must outlive the object, and tells it of arrivals. What a job
  // writes to and reads from storage is a job of its own here.
  SharedNetwork(NetworkBackend& network, const Topology& topology,
                uint32_t num_jobs);
  SharedNetwork(const SharedNetwork&) = delete;
  SharedNetwork& operator=(const SharedNetwork&) = delete;

  TimePs now() const { return network_.now(); }

  // Returns a view for `job`, whose node i is node `nodes[i]` of the network.
  // `nodes` and the SharedNetwork must outlive the view. Requires that no
  // message of the job is under way.
  std::unique_ptr<NetworkBackend> ViewFor(uint32_t job,
                                          const std::vector<NodeId>& nodes);

  // Takes the network to the first instant at which a message arrives, but not
  // beyond `limit`.
  void Advance(TimePs limit);

  // Returns whether messages of `job` have arrived that it has not taken.
  bool HasArrivals(uint32_t job) const { return !jobs_[job].arrived.empty(); }

  // Returns the instant to which `job`, which has paused, wants to go.
  TimePs WantedBy(uint32_t job) const { return jobs_[job].wanted; }

  // See NetworkBackend.
  std::string WhyStuck() const { return network_.WhyStuck(); }

  // Returns the bytes of messages of `job` that have arrived over each link, by
  // link; of networks that know the paths of messages.
  absl::Span<const double> LinkBytesOf(uint32_t job) const {
    return jobs_[job].link_bytes;
  }

 private:
  class View;

  struct Job {
    std::vector<MessageId> arrived;  // By the ids of the job.
    TimePs wanted;
    std::vector<double> link_bytes;
  };

  // Messages of all jobs have different ids: job i has i, i + n, i + 2 n, ...
  MessageId IdOf(uint32_t job, MessageId message) const {
    return MessageId(message.index() * num_jobs() + job);
  }
  uint32_t num_jobs() const { return static_cast<uint32_t>(jobs_.size()); }

  NetworkBackend& network_;
  std::vector<Job> jobs_;
  std::vector<MessageId> arrived_;  // Scratch.
};

}  // namespace astra

#endif  // ASTRA_CORE_JOBS_SHARED_NETWORK_H_
