// Serves requests and simulates a network under one clock, so that whatever
// moves at the same time shares links: KV caches, the collectives of steps and
// weights, and on a network of several jobs also what the others send.
//
//   ServingFabric fabric(*network);
//   KvMessages caches(fabric, kv, prefill, decode);   // See kv_messages.h.
//   options.transfer = [&](const KvTransfer& t) { return caches.Start(t); };
//   ASTRA_ASSIGN_OR_RETURN(auto process, StartServing(options, ...));
//   fabric.Attach(*process);
//   ASTRA_RETURN_IF_ERROR(fabric.GoOn().status());
//
// One clock: the network is simulated up to the next event of the serving
// process. Things of one instant happen in this order: arrivals of messages by
// their number, and events of serving by (kind, index). The result thus depends
// on nothing but the inputs. The network may be one that several jobs share:
// GoOn() then returns when another has to go on first.
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
#include "absl/status/statusor.h"
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

  // Serves until all requests have ended and nothing is under way, which
  // returns true. On a network that several jobs share it returns false where
  // another job has to go on first; then call it again.
  //
  // Errors: those of Serve(); FailedPrecondition if a message never arrives.
  absl::StatusOr<bool> GoOn();

  NetworkBackend& network() { return network_; }

  // Returns the instant at which the last request ended; none before.
  std::optional<TimePs> served_at() const { return served_at_; }

 private:
  void Arrive(MessageId id);
  absl::Status HandleServing();

  // Messages that began together.
  struct Batch {
    size_t missing = 0;
    std::function<void()> on_arrival;
  };

  NetworkBackend& network_;
  ServingProcess* process_ = nullptr;
  std::optional<TimePs> served_at_;
  Slots<Batch> batches_;
  size_t batches_under_way_ = 0;
  Slots<uint32_t> batch_of_;        // By message.
  std::vector<MessageId> arrived_;  // Kept for its memory.
};

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_FABRIC_SERVING_FABRIC_H_
