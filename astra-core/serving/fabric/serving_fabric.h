// Serves requests and simulates a network under one clock, so that KV caches
// which move at the same time, and the messages of a training job beside them,
// share links.
//
//   ServingFabric fabric(*network, kv, prefill, decode);
//   options.transfer = [&](const KvTransfer& t) { return fabric.Start(t); };
//   ASTRA_ASSIGN_OR_RETURN(auto process, StartServing(options, ...));
//   fabric.Attach(*process);
//   ASTRA_RETURN_IF_ERROR(fabric.ServeToTheEnd());
//
// Model. A transfer is one message for each flow of KvLayout, all of which are
// sent when it begins; it ends when the last arrives. Messages from one GPU to
// another form one queue pair, which ECMP keeps on one path.
//
// One clock: the network is simulated up to the next event of the serving
// process or the instant that the job's engine asks for, whichever comes first.
// Things of one instant happen in this order: arrivals of messages by their
// number, events of serving by (kind, index), and the engine of the job. The
// result thus depends on nothing but the inputs.
//
// Only KV caches and the job are on the network. Tensor parallelism within a
// server has its NVLinks to itself, since KV caches leave through NICs, so that
// the closed form of step_prices.h is exact for it. Left out: collectives of
// replicas that span servers keep their closed form and disturb nothing, and
// KV caches that move within a server do not slow its collectives.

#ifndef ASTRA_CORE_SERVING_FABRIC_SERVING_FABRIC_H_
#define ASTRA_CORE_SERVING_FABRIC_SERVING_FABRIC_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "astra-core/serving/kv_layout.h"
#include "astra-core/serving/kv_path.h"
#include "network-frontends/network_backend.h"
#include "workload/serving/kv_transfer.h"
#include "workload/serving/simulation.h"

namespace astra {

class ServingFabric {
 public:
  // `network` and `kv` must outlive the object.
  ServingFabric(NetworkBackend& network, const KvLayout& kv,
                const PoolPlace& from, const PoolPlace& to)
      : network_(network), kv_(kv), from_(from), to_(to) {}

  ServingFabric(const ServingFabric&) = delete;
  ServingFabric& operator=(const ServingFabric&) = delete;

  // `process` must outlive the object, and must start its transfers here.
  void Attach(ServingProcess& process) { process_ = &process; }

  // Starts a transfer at the present instant of the network; see
  // StartKvTransfer.
  std::optional<TimePs> Start(const KvTransfer& transfer);

  // Serves until all requests have ended. Errors: those of Serve();
  // FailedPrecondition if a transfer never arrives.
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

  int64_t bytes_sent() const { return bytes_sent_; }

 private:
  bool is_serving() const {
    return process_ != nullptr && status_.ok() && !served_at_;
  }
  // Advances to the next thing that happens. Returns whether messages of the
  // job have arrived.
  bool Turn(TimePs limit, std::vector<MessageId>* of_job);
  void Arrive(MessageId id);
  void HandleServing();
  uint32_t NewMessage(uint32_t transfer);

  NetworkBackend& network_;
  const KvLayout& kv_;
  const PoolPlace from_;
  const PoolPlace to_;
  ServingProcess* process_ = nullptr;
  absl::Status status_;
  std::optional<TimePs> served_at_;
  std::vector<int64_t> missing_;       // Messages, by transfer.
  std::vector<uint32_t> transfer_of_;  // Transfer, by message.
  std::vector<uint32_t> unused_;       // Messages that have arrived.
  std::vector<MessageId> arrived_;     // Kept for its memory.
  int64_t bytes_sent_ = 0;             // Of KV caches.
};

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_FABRIC_SERVING_FABRIC_H_
