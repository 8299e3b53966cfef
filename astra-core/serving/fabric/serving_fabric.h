// Serves requests and simulates a network under one clock, so that whatever
// moves at the same time shares links: KV caches, the collectives of steps,
// weights, and the messages of a training job.
//
//   ServingFabric fabric(*network);
//   KvMessages caches(fabric, kv, prefill, decode);   // See kv_messages.h.
//   options.transfer = [&](const KvTransfer& t) { return caches.Start(t); };
//   ASTRA_ASSIGN_OR_RETURN(auto process, StartServing(options, ...));
//   fabric.Attach(*process);
//   ASTRA_RETURN_IF_ERROR(fabric.ServeToTheEnd());
//
// One clock: the network is simulated up to the next event of the serving
// process or the instant that the job's engine asks for, whichever comes first.
// Things of one instant happen in this order: arrivals of messages by their
// number, events of serving by (kind, index), and the engine of the job. The
// result thus depends on nothing but the inputs.
//
// Collectives within a server have its NVLinks to themselves, since all that is
// on the network leaves through NICs, so that the closed form of step_prices.h
// is exact for them. Left out: KV caches that move within a server do not slow
// its collectives.

#ifndef ASTRA_CORE_SERVING_FABRIC_SERVING_FABRIC_H_
#define ASTRA_CORE_SERVING_FABRIC_SERVING_FABRIC_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/network_backend.h"
#include "workload/serving/simulation.h"
#include "workload/serving/slots.h"

namespace astra {

// Channels keep the queue pairs of what serving sends apart.
enum class FabricChannel : uint8_t { kCaches, kSteps, kWeights };

// A message between two GPUs.
struct FabricMessage {
  NodeId source;
  NodeId target;
  Bytes bytes;
};

class ServingFabric {
 public:
  // `network` must outlive the object.
  explicit ServingFabric(NetworkBackend& network) : network_(network) {}

  ServingFabric(const ServingFabric&) = delete;
  ServingFabric& operator=(const ServingFabric&) = delete;

  // `process` must outlive the object, and must start what it sends here.
  void Attach(ServingProcess& process) { process_ = &process; }
  ServingProcess& process() { return *process_; }

  // Sends `messages` at the present instant, and calls `on_arrival` when the
  // last of them arrives. Those from one GPU to another on one channel form one
  // queue pair, which ECMP keeps on one path. Requires a message.
  void Send(FabricChannel channel, absl::Span<const FabricMessage> messages,
            std::function<void()> on_arrival);

  // Serves until all requests have ended. Errors: those of Serve();
  // FailedPrecondition if a message never arrives.
  absl::Status ServeToTheEnd();

  // The following are for a job on the same network; see job_network.h.

  NetworkBackend& network() { return network_; }

  // Sends a message of the job. Requires an id below 2^31.
  void SendOfJob(const Message& message);

  // Simulates network and serving to the first instant at which messages of the
  // job arrive, but not beyond `limit`; appends these messages.
  void AdvanceTo(TimePs limit, std::vector<MessageId>* of_job);

  // Returns the instant at which the last request ended; none before.
  std::optional<TimePs> served_at() const { return served_at_; }

  // Returns the first error of serving.
  const absl::Status& status() const { return status_; }

 private:
  bool is_serving() const {
    return process_ != nullptr && status_.ok() && !served_at_;
  }
  // Advances to the next thing that happens. Returns whether messages of the
  // job have arrived.
  bool Turn(TimePs limit, std::vector<MessageId>* of_job);
  void Arrive(MessageId id);
  void HandleServing();

  // Messages that began together.
  struct Batch {
    size_t missing = 0;
    std::function<void()> on_arrival;
  };

  NetworkBackend& network_;
  ServingProcess* process_ = nullptr;
  absl::Status status_;
  std::optional<TimePs> served_at_;
  Slots<Batch> batches_;
  Slots<uint32_t> batch_of_;        // By message.
  std::vector<MessageId> arrived_;  // Kept for its memory.
};

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_FABRIC_SERVING_FABRIC_H_
